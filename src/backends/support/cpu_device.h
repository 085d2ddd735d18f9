// What the compilers of CPU share: one memory, facts about this processor, and launches that are dealt to the thread pool.
#pragma once

#include "base/function_ref.h"
#include "runtime/backend.h"

namespace whit {

/// A device whose handles are addresses from host_alloc (or any address of this process).
class CpuDevice : public OpenDevice {
 public:
  void* alloc(size_t bytes) override;
  void free(void* memory, size_t bytes) override;
  void copy_in(void* memory, size_t offset, const void* host, size_t bytes) override;
  void copy_out(void* host, const void* memory, size_t offset, size_t bytes) override;
};

/// The target of a compiler that makes machine code for this processor: its vectors, fused multiply-add, threads, rough speeds.
Target host_target(std::string name);

/// How launches of one kernel are dealt out.
struct LaunchCost {
  double seconds = 0;  ///< on one thread, estimated
  LaunchCost() = default;
  LaunchCost(const LinearKernel& kernel, const Target& target);
};

/// Runs `body` over [0, count) on the thread pool, in chunks that are worth handing to another thread; what is smaller than two such
/// chunks runs on the caller's thread.
void run_chunks(const LaunchCost& cost, int64_t count, FunctionRef<void(int64_t begin, int64_t end)> body);

/// A kernel in machine code.
using KernelEntry = void (*)(void* const* buffers, const int64_t* variables, int64_t begin, int64_t end);
void launch_entry(KernelEntry entry, const LaunchCost& cost, std::span<void* const> buffers, std::span<const size_t> offsets,
                  std::span<const int64_t> variables, int64_t count);

}  // namespace whit
