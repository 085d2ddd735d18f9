// Memory of the CPU, shared by all its compilers: blocks aligned to 64 bytes that are kept when freed and given out again, so a steady
// loop makes no system call and touches no fresh page. All functions may be called from any thread.
#pragma once

#include <cstddef>

namespace whit {

/// A block of at least `bytes` bytes, not cleared. Throws UserError OutOfMemory.
void* host_alloc(size_t bytes);
void host_free(void* memory) noexcept;

/// The bytes that were asked for when the block that starts here was given out; 0 for any other address.
size_t host_size(const void* memory);

struct HostMemoryUse {
  size_t live = 0;    ///< bytes given out
  size_t cached = 0;  ///< bytes kept for reuse
  size_t peak = 0;    ///< the most that was ever given out at once
};
HostMemoryUse host_memory_use();

/// Returns all that is kept for reuse to the system.
void host_trim();

}  // namespace whit
