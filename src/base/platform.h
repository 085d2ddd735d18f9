// What differs between systems and processors, so that no other file needs a preprocessor conditional for it.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif

#include <thread>

namespace whit {

/// Tells the core that this thread spins, so that a sibling thread gets its share.
inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How many cores this process may run on: those of its affinity mask where the system has one. At least 1.
inline unsigned available_cores() {
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own, so it grows until it is accepted.
  for (int limit = CPU_SETSIZE; limit <= CPU_SETSIZE << 8; limit *= 2) {
    cpu_set_t* mask = CPU_ALLOC(limit);
    if (!mask) break;
    bool known = sched_getaffinity(0, CPU_ALLOC_SIZE(limit), mask) == 0;
    int count = known ? CPU_COUNT_S(CPU_ALLOC_SIZE(limit), mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return static_cast<unsigned>(count);
  }
#endif
  unsigned count = std::thread::hardware_concurrency();
  return count ? count : 1;
}

}  // namespace whit
