#include "base/error.h"

namespace whit {

void assertion_failed(const char* condition, const char* file, int line, const std::string& detail) {
  throw InternalError(concat("whit internal error (please report it): ", condition, " does not hold at ", file, ":", line,
                             detail.empty() ? "" : ": ", detail));
}

}  // namespace whit
