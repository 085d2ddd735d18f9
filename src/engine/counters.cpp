#include "engine/counters.h"

#include <algorithm>
#include <mutex>

#include "engine/handle.h"

namespace whit {

namespace {
struct Shared {
  std::mutex mutex;
  Counters counters;
};
Shared& shared() {
  static Shared* all = new Shared;
  return *all;
}
}  // namespace

Counters counters() {
  const std::lock_guard lock(shared().mutex);
  return shared().counters;
}

void count_bytes(int64_t change) {
  const std::lock_guard lock(shared().mutex);
  Counters& c = shared().counters;
  c.bytes_in_use += change;
  c.bytes_peak = std::max(c.bytes_peak, c.bytes_in_use);
}

void count_launch(double flops, double bytes) {
  const std::lock_guard lock(shared().mutex);
  Counters& c = shared().counters;
  ++c.kernels;
  c.flops += flops;
  c.bytes_moved += bytes;
}

void count_plan(bool found) {
  const std::lock_guard lock(shared().mutex);
  ++(found ? shared().counters.plans_found : shared().counters.plans_built);
}

void count_compiled(int64_t kernels) {
  const std::lock_guard lock(shared().mutex);
  shared().counters.kernels_compiled += kernels;
}

}  // namespace whit
