#include "base/settings.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace whit {

namespace {

bool parse(const char* text, int64_t& value) {
  const char* end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, value);
  return result.ec == std::errc() && result.ptr == end && end != text;
}

}  // namespace

int64_t setting(const char* name, int64_t otherwise) {
  int64_t value = otherwise;
  const std::string prefixed = std::string("WHIT_") + name;
  if (const char* own = std::getenv(prefixed.c_str()); own && *own) {
    if (!parse(own, value)) fail(ErrorKind::Value, prefixed, "=", own, " is not a whole number");
    return value;
  }
  if (const char* common = std::getenv(name); common && parse(common, value)) return value;
  return otherwise;
}

std::string text_setting(const char* name) {
  const std::string prefixed = std::string("WHIT_") + name;
  if (const char* own = std::getenv(prefixed.c_str()); own && *own) return own;
  const char* common = std::getenv(name);
  return common ? common : "";
}

std::string setting_source(const char* name) {
  const std::string prefixed = std::string("WHIT_") + name;
  const char* own = std::getenv(prefixed.c_str());
  return own && *own ? prefixed : name;
}

int debug_level() {
  static const int level = int(setting("DEBUG", 0));
  return level;
}

}  // namespace whit
