// What the functions of Tensor take beside Tensors: numbers, lists of axes and sizes, indices, options.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include <whit/dtype.h>
#include <whit/site.h>

namespace whit {

class Tensor;

template <class T>
concept Number = std::is_arithmetic_v<T>;
template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// The sizes of the axes of a tensor, outermost first; empty for a scalar.
using Sizes = std::vector<int64_t>;

/// A C++ number as a literal. Its type is weak: it takes the type of the tensor it meets. It never widens one, except that a float makes
/// integers and bool float32, and an integer makes bool int32. Alone it is bool, int32 (int64 where it doesn't fit) or float32.
struct Scalar {
  enum class Kind : uint8_t { boolean, integer, floating };
  Kind kind;
  bool beyond_int64 = false;  ///< an unsigned value above the greatest int64: `integer` holds its bits
  int64_t integer = 0;        ///< of boolean and integer
  double real;

  template <Number T>
  Scalar(T value)
      : kind(std::is_same_v<T, bool> ? Kind::boolean
             : std::is_integral_v<T> ? Kind::integer
                                     : Kind::floating),
        real(double(value)) {
    if constexpr (std::is_integral_v<T>) integer = int64_t(value);
    if constexpr (std::is_unsigned_v<T>) beyond_int64 = integer < 0;
  }
};

/// A side of a binary operation: a Tensor or a literal, and the line it was written on.
struct Operand {
  const Tensor* tensor = nullptr;
  Scalar scalar = 0;
  Site site;

  Operand(const Tensor& value, Site at = {}) : tensor(&value), site(at) {}
  Operand(Scalar value, Site at = {}) : scalar(value), site(at) {}
  template <Number T>
  Operand(T value, Site at = {}) : scalar(value), site(at) {}
};

/// The axes of a reduction: one, several, or (without any) all. Negative ones count from the end.
class Axes {
 public:
  Axes() = default;
  template <Integer T>
  Axes(T axis) : list_{int64_t(axis)} {}
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}
  Axes(std::vector<int64_t> axes) : list_(std::move(axes)) {}
  const std::vector<int64_t>& list() const { return list_; }

 private:
  std::vector<int64_t> list_;
};

/// One number for all spatial axes, or one for each.
class PerAxis {
 public:
  PerAxis() = default;  ///< left to the function
  template <Integer T>
  PerAxis(T value) : list_{int64_t(value)}, one_for_all_(true) {}
  PerAxis(std::initializer_list<int64_t> values) : list_(values) {}
  PerAxis(std::vector<int64_t> values) : list_(std::move(values)) {}
  const std::vector<int64_t>& list() const { return list_; }
  bool one_for_all() const { return one_for_all_; }

 private:
  std::vector<int64_t> list_;
  bool one_for_all_ = false;
};

/// Nested lists of literals, all of one depth and length: `{{1, 2}, {3, 4}}`.
class NestedList {
 public:
  template <Number T>
  NestedList(T value) : value_(value) {}
  NestedList(std::initializer_list<NestedList> items) : items_(items), is_list_(true) {}
  bool is_list() const { return is_list_; }
  const Scalar& value() const { return value_; }
  const std::vector<NestedList>& items() const { return items_; }

 private:
  Scalar value_ = 0;
  std::vector<NestedList> items_;
  bool is_list_ = false;
};

/// A new axis of size 1 where an index is expected; an open end of a Slice.
inline constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndex {};
/// As many whole axes as the other indices leave.
inline constexpr EllipsisIndex Ellipsis;

/// `start:stop:step` as in Python: negative places count from the end, ends that are left out reach to the border, step may be negative.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};

/// What a created tensor is made of; what is left out takes its default (float32 unless the function says otherwise, the default device).
struct Options {
  DType dtype = DType::none;
  std::string device = {};
};

/// Of convolutions. Padding is one number, one for each spatial axis, or a pair (before, after) for each, flat, the last axis first.
struct ConvOptions {
  PerAxis stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  PerAxis output_padding = 0;  ///< of conv_transpose2d
};

/// Of pooling. The stride is the kernel's size unless given; padding as in ConvOptions.
struct PoolOptions {
  PerAxis stride, padding = 0, dilation = 1;
  bool ceil_mode = false;         ///< also windows that hang over the end
  bool count_include_pad = true;  ///< avg_pool2d: padding counts in the divisor
};

/// How the losses of a batch become one.
enum class Reduction { mean, sum, none };

}  // namespace whit
