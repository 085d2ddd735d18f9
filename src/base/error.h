// Raising errors: UserError through `fail`, and WHIT_ASSERT for what must hold whatever the input.
#pragma once

#include <locale>
#include <sstream>
#include <string>
#include <whit/error.h>

namespace whit {

/// Joins its arguments as text.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // a program's own locale must not put separators into numbers
  (out << ... << parts);
  return out.str();
}

/// Throws a UserError whose message is the joined parts.
template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw UserError(kind, concat(parts...));
}

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, const std::string& detail);

}  // namespace whit

/// Checks an invariant of ours in every build type; the detail is evaluated only when it fails.
#define WHIT_ASSERT(condition, ...)       \
  (static_cast<bool>(condition) ? void(0) \
                                : ::whit::assertion_failed(#condition, __FILE__, __LINE__, ::whit::concat("" __VA_OPT__(, ) __VA_ARGS__)))
