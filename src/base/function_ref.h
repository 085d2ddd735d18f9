// A view of something callable: two words, no allocation. The callable must outlive every call through the view, so this is a
// type for parameters, not for members that stay.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace whit {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
  // Not itself, which is copied, and not a function, whose address doesn't fit a data pointer: pass a lambda.
  template <class Callable>
  static constexpr bool kViewable =
      !std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> && !std::is_function_v<std::remove_reference_t<Callable>> &&
      std::is_invocable_r_v<Result, Callable&, Arguments...>;

 public:
  template <class Callable, std::enable_if_t<kViewable<Callable>, int> = 0>
  FunctionRef(Callable&& callable)  // NOLINT(google-explicit-constructor): a lambda is passed as it stands
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::add_pointer_t<Callable>>(object))(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace whit
