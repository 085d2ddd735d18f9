#include "backends/support/cpu_device.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "backends/support/host_memory.h"
#include "base/error.h"
#include "runtime/thread_pool.h"

namespace whit {

namespace {

constexpr double kChunkSeconds = 20e-6;  // below this, waking another thread costs more than it saves
constexpr double kClock = 3e9;
constexpr double kBytesPerSecondOfOne = 10e9;  // what one core gets from memory

void find_vectors(Target& target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  target.vector_bytes = wide ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
  target.vector_registers = wide ? 32 : 16;
  target.fused_multiply_add = __builtin_cpu_supports("fma");
#elif defined(__aarch64__)
  target.vector_bytes = 16;
  target.vector_registers = 32;
  target.fused_multiply_add = true;
#else
  target.vector_bytes = 0;
#endif
}

}  // namespace

void* CpuDevice::alloc(size_t bytes) { return host_alloc(bytes); }
void CpuDevice::free(void* memory, size_t) { host_free(memory); }
void CpuDevice::copy_in(void* memory, size_t offset, const void* host, size_t bytes) {
  std::memcpy(static_cast<std::byte*>(memory) + offset, host, bytes);
}
void CpuDevice::copy_out(void* host, const void* memory, size_t offset, size_t bytes) {
  std::memcpy(host, static_cast<const std::byte*>(memory) + offset, bytes);
}

Target host_target(std::string name) {
  Target target;
  target.name = std::move(name);
  find_vectors(target);
  if (target.fused_multiply_add) target.claims = target.claims | OpSet(Op::MulAdd);
  target.threads = ThreadPool::shared().size();
  target.nominal_threads = 4;
  target.bytes_per_second = kBytesPerSecondOfOne * target.nominal_threads;
  target.flops_per_second = kClock * target.nominal_threads * std::max(target.vector_bytes / 4, 1u) * (target.fused_multiply_add ? 4 : 2);
  target.launch_seconds = 2e-6;
  return target;
}

LaunchCost::LaunchCost(const LinearKernel& kernel, const Target& target) {
  // Arithmetic seldom comes near the peak: half of it is assumed.
  const double work = kernel.flops * target.nominal_threads / (target.flops_per_second / 2);
  const double traffic = kernel.bytes * target.nominal_threads / target.bytes_per_second;
  seconds = std::max(work, traffic);
}

void run_chunks(const LaunchCost& cost, int64_t count, FunctionRef<void(int64_t, int64_t)> body) {
  if (count <= 0) return;
  const double chunks = std::clamp(cost.seconds / kChunkSeconds, 1.0, double(count));
  ThreadPool::shared().run(count, std::max<int64_t>(count / int64_t(chunks), 1), body);
}

void launch_entry(KernelEntry entry, const LaunchCost& cost, std::span<void* const> buffers, std::span<const size_t> offsets,
                  std::span<const int64_t> variables, int64_t count) {
  WHIT_ASSERT(buffers.size() == offsets.size(), buffers.size(), " buffers and ", offsets.size(), " offsets");
  constexpr size_t kFew = 64;
  void* few[kFew];
  std::vector<void*> many(buffers.size() > kFew ? buffers.size() : 0);
  void** addresses = many.empty() ? few : many.data();
  for (size_t i = 0; i < buffers.size(); ++i) addresses[i] = static_cast<std::byte*>(buffers[i]) + offsets[i];
  run_chunks(cost, count, [&](int64_t begin, int64_t end) { entry(addresses, variables.data(), begin, end); });
}

}  // namespace whit
