#include "backends/support/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace whit {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t(2) << 20;
constexpr size_t kLargest = size_t(1) << 46;      // more than any machine has; keeps the arithmetic on sizes in range
constexpr size_t kAlwaysKept = size_t(64) << 20;  // kept for reuse beyond what a repeated loop can want

// Sizes grow in eight steps per doubling, so a block is at most an eighth larger than what it holds.
struct SizeClass {
  unsigned number;
  size_t bytes;
};
SizeClass class_of(size_t bytes) {
  const size_t units = std::max<size_t>((bytes + kAlignment - 1) / kAlignment, 1);
  if (units <= 8) return {unsigned(units), units * kAlignment};
  const unsigned shift = unsigned(std::bit_width(units - 1)) - 4;
  const size_t steps = ((units - 1) >> shift) + 1;  // 9 … 16
  return {shift * 8 + unsigned(steps), (steps << shift) * kAlignment};
}

void* allocate_block(size_t bytes) {
  if (bytes < 2 * kHugePage) return std::aligned_alloc(kAlignment, bytes);
  void* memory = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) & ~(kHugePage - 1));
#ifdef MADV_HUGEPAGE
  if (memory) madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: a large tensor costs a fault per 2 MiB instead of per 4 KiB
#endif
  return memory;
}

class HostMemory {
 public:
  static HostMemory& shared() {
    static HostMemory& memory = *new HostMemory;  // never destroyed: static Tensors free their memory after it would be
    return memory;
  }

  void* alloc(size_t bytes) {
    if (bytes > kLargest) fail(ErrorKind::OutOfMemory, "out of memory: ", bytes, " bytes were asked for");
    const SizeClass size = class_of(bytes);
    const std::lock_guard lock(mutex_);
    if (free_.size() <= size.number) free_.resize(size.number + 1);
    std::vector<void*>& kept = free_[size.number];
    void* memory = nullptr;
    if (kept.empty()) {
      memory = allocate_block(size.bytes);
      if (!memory) {
        trim_to(0);
        memory = allocate_block(size.bytes);
      }
      if (!memory) fail(ErrorKind::OutOfMemory, "out of memory: ", bytes, " bytes were asked for with ", use_.live, " in use");
    } else {
      memory = kept.back();
      kept.pop_back();
      use_.cached -= size.bytes;
    }
    live_.emplace(memory, bytes);
    use_.live += size.bytes;
    use_.peak = std::max(use_.peak, use_.live);
    return memory;
  }

  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(memory);
    WHIT_ASSERT(found != live_.end(), "a block is freed that was not given out");
    const SizeClass size = class_of(found->second);
    live_.erase(found);
    free_[size.number].push_back(memory);
    use_.live -= size.bytes;
    use_.cached += size.bytes;
    // A loop that repeats never holds more than its peak, so what lies beyond that is of no use to it.
    const size_t limit = use_.peak - use_.live + kAlwaysKept;
    if (use_.cached > limit) trim_to(limit);
  }

  size_t size(const void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(memory);
    return found == live_.end() ? 0 : found->second;
  }

  HostMemoryUse use() {
    const std::lock_guard lock(mutex_);
    return use_;
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    trim_to(0);
  }

 private:
  // Large blocks go first: they are the fewest, and the system takes them back whole.
  void trim_to(size_t limit) {
    for (size_t number = free_.size(); number-- > 0 && use_.cached > limit;)
      for (std::vector<void*>& kept = free_[number]; !kept.empty() && use_.cached > limit; kept.pop_back()) {
        std::free(kept.back());
        use_.cached -= bytes_of_class(unsigned(number));
      }
  }

  static size_t bytes_of_class(unsigned number) {
    if (number <= 8) return number * kAlignment;
    const unsigned shift = (number - 9) / 8;
    return (size_t(number - shift * 8) << shift) * kAlignment;
  }

  std::mutex mutex_;
  std::unordered_map<const void*, size_t> live_;  // the bytes asked for
  std::vector<std::vector<void*>> free_;          // by class
  HostMemoryUse use_;
};

}  // namespace

void* host_alloc(size_t bytes) { return HostMemory::shared().alloc(bytes); }
void host_free(void* memory) noexcept { HostMemory::shared().free(memory); }
size_t host_size(const void* memory) { return HostMemory::shared().size(memory); }
HostMemoryUse host_memory_use() { return HostMemory::shared().use(); }
void host_trim() { HostMemory::shared().trim(); }

}  // namespace whit
