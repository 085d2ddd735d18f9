// What this process has cost so far: time since it was started, and the most memory it held.
#pragma once

#include <cstdint>

namespace whit::tool {

/// Seconds since the process was started, loading of the program included where the system tells.
double seconds_since_start();

/// The most memory that was resident at once, in bytes; 0 where the system doesn't tell.
int64_t peak_memory();
/// Makes peak_memory count from now, where the system allows that.
void reset_peak_memory();

}  // namespace whit::tool
