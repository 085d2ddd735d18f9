// Settings from the environment. `WHIT_X` wins over `X`; an unprefixed value that does not parse is another program's, and ignored.
#pragma once

#include <cstdint>
#include <string>

namespace whit {

/// An integer setting, read anew at each call; `otherwise` where it is not set. A WHIT_ value that is no number is a UserError.
int64_t setting(const char* name, int64_t otherwise);
/// A text setting; empty where it is not set.
std::string text_setting(const char* name);
/// The variable that a setting is read from, for messages: WHIT_X where that is set, else X.
std::string setting_source(const char* name);

/// DEBUG, read once: 1 plans, 2 kernels, 3 schedules, 4 source, 5 graphs, 6 rewrites.
int debug_level();

}  // namespace whit
