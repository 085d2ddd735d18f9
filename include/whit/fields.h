// The fields of a struct, found without registering them: how the parameters of a model are collected.
//
// A model is any struct of tensors, of other such structs, and of vectors, arrays, optionals, tuples, maps and pointers of them. An
// aggregate (a struct without constructors or private members) of up to 16 fields needs nothing; any other class says what it holds:
//
//   auto fields() const { return std::tie(weight, bias); }
//
// Names are those of `static constexpr std::array field_names{"weight", "bias"};` where a class has that, else 0, 1, 2, ….
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#include <whit/tensor.h>

namespace whit::nn {

/// True for classes that are passed over because no tensor is in them. Specialise it for one of your own that fields() can't be added to.
template <class T>
inline constexpr bool holds_no_tensors = std::is_scalar_v<T> || std::is_empty_v<T>;
template <class Char, class... Rest>
inline constexpr bool holds_no_tensors<std::basic_string<Char, Rest...>> = true;
template <class Char>
inline constexpr bool holds_no_tensors<std::basic_string_view<Char>> = true;
template <class Signature>
inline constexpr bool holds_no_tensors<std::function<Signature>> = true;
template <>
inline constexpr bool holds_no_tensors<Scalar> = true;
template <>
inline constexpr bool holds_no_tensors<Axes> = true;
template <>
inline constexpr bool holds_no_tensors<PerAxis> = true;

namespace detail {

inline constexpr size_t kMaxFields = 16;

/// Stands for an initial value of any field.
struct AnyField {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): it has to convert
};

template <class T, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(void(I), AnyField{})...}; };
}
/// How many fields an aggregate has: the most values it can be initialised with.
template <class T, size_t Count = kMaxFields + 1>
constexpr size_t field_count() {
  if constexpr (Count == 0 || takes<T>(std::make_index_sequence<Count>()))
    return Count;
  else
    return field_count<T, Count - 1>();
}

/// References to the fields of an aggregate.
template <size_t Count, class T>
auto tie_fields(const T& model) {
  // clang-format off
  if constexpr (Count == 0) return std::tie();
  else if constexpr (Count == 1) { auto& [a] = model; return std::tie(a); }
  else if constexpr (Count == 2) { auto& [a, b] = model; return std::tie(a, b); }
  else if constexpr (Count == 3) { auto& [a, b, c] = model; return std::tie(a, b, c); }
  else if constexpr (Count == 4) { auto& [a, b, c, d] = model; return std::tie(a, b, c, d); }
  else if constexpr (Count == 5) { auto& [a, b, c, d, e] = model; return std::tie(a, b, c, d, e); }
  else if constexpr (Count == 6) { auto& [a, b, c, d, e, f] = model; return std::tie(a, b, c, d, e, f); }
  else if constexpr (Count == 7) { auto& [a, b, c, d, e, f, g] = model; return std::tie(a, b, c, d, e, f, g); }
  else if constexpr (Count == 8) { auto& [a, b, c, d, e, f, g, h] = model; return std::tie(a, b, c, d, e, f, g, h); }
  else if constexpr (Count == 9) { auto& [a, b, c, d, e, f, g, h, i] = model; return std::tie(a, b, c, d, e, f, g, h, i); }
  else if constexpr (Count == 10) { auto& [a, b, c, d, e, f, g, h, i, j] = model; return std::tie(a, b, c, d, e, f, g, h, i, j); }
  else if constexpr (Count == 11) { auto& [a, b, c, d, e, f, g, h, i, j, k] = model; return std::tie(a, b, c, d, e, f, g, h, i, j, k); }
  else if constexpr (Count == 12) { auto& [a, b, c, d, e, f, g, h, i, j, k, l] = model; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l); }
  else if constexpr (Count == 13) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = model; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m); }
  else if constexpr (Count == 14) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = model; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n); }
  else if constexpr (Count == 15) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = model; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o); }
  else { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = model; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p); }
  // clang-format on
}

template <class T>
constexpr bool lists_fields = requires(const T& model) {
  model.fields();
};
template <class T>
constexpr bool names_fields = requires {
  T::field_names.size();
};
template <class T>
constexpr bool is_map = requires {
  typename T::mapped_type;
};
template <class T>
constexpr bool is_range = requires(const T& values) {
  values.begin() != values.end();
};
template <class T>
constexpr bool is_nullable = requires(const T& value) {
  *value;
}
&&std::is_constructible_v<bool, const T&>;
template <class T>
constexpr bool is_tuple = requires {
  std::tuple_size<T>::value;
};
template <class T>
inline constexpr bool is_variant = false;
template <class... Types>
inline constexpr bool is_variant<std::variant<Types...>> = true;

inline std::string joined(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}
inline std::string key_text(std::string_view key) { return std::string(key); }
template <Integer T>
std::string key_text(T key) {
  return std::to_string(key);
}

template <class T, class Visit>
void visit_tensors(const T& model, const std::string& prefix, const Visit& visit);

template <class T, class Visit, class Fields, size_t... I>
void visit_fields(const Fields& fields, const std::string& prefix, const Visit& visit, std::index_sequence<I...>) {
  if constexpr (names_fields<T>) {
    static_assert(T::field_names.size() == sizeof...(I), "field_names gives one name for each field");
    (visit_tensors(std::get<I>(fields), joined(prefix, T::field_names[I]), visit), ...);
  } else {
    (visit_tensors(std::get<I>(fields), joined(prefix, std::to_string(I)), visit), ...);
  }
}

template <class T, class Visit, class Fields>
void visit_tuple(const Fields& fields, const std::string& prefix, const Visit& visit) {
  visit_fields<T>(fields, prefix, visit, std::make_index_sequence<std::tuple_size_v<Fields>>());
}

template <class T, class Visit>
void visit_range(const T& values, const std::string& prefix, const Visit& visit) {
  if constexpr (is_map<T>) {
    for (const auto& [key, value] : values) visit_tensors(value, joined(prefix, key_text(key)), visit);
  } else if constexpr (!holds_no_tensors<typename T::value_type>) {
    size_t number = 0;
    for (const auto& value : values) visit_tensors(value, joined(prefix, std::to_string(number++)), visit);
  }
}

/// Calls visit(name, tensor) for every tensor in a model, in the order of its fields.
template <class T, class Visit>
void visit_tensors(const T& model, const std::string& prefix, const Visit& visit) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (model.defined()) visit(prefix, model);
  } else if constexpr (lists_fields<T>) {
    visit_tuple<T>(model.fields(), prefix, visit);
  } else if constexpr (is_nullable<T> && !std::is_pointer_v<T>) {
    if (model) visit_tensors(*model, prefix, visit);
  } else if constexpr (is_variant<T>) {
    std::visit([&](const auto& value) { visit_tensors(value, prefix, visit); }, model);
  } else if constexpr (holds_no_tensors<T>) {
  } else if constexpr (is_range<T>) {
    visit_range(model, prefix, visit);
  } else if constexpr (is_tuple<T>) {
    visit_tuple<T>(model, prefix, visit);
  } else {
    static_assert(std::is_aggregate_v<T>,
                  "what this class holds can't be seen: give it `auto fields() const { return std::tie(its members); }`");
    static_assert(!std::is_aggregate_v<T> || field_count<T>() <= kMaxFields, "a struct of more than 16 fields needs `auto fields() const`");
    if constexpr (std::is_aggregate_v<T> && field_count<T>() <= kMaxFields)
      visit_tuple<T>(tie_fields<field_count<T>()>(model), prefix, visit);
  }
}

}  // namespace detail

}  // namespace whit::nn
