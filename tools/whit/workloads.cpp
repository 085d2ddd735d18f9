#include "workloads.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>

#include "engine/device.h"
#include "engine/handle.h"

namespace whit::tool {

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  for (const auto& group : {training_workloads(), compiler_workloads(), operator_workloads()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

Sample timed(const std::function<void()>& call, double work) {
  const int64_t launches = counters().kernels;
  const auto start = std::chrono::steady_clock::now();
  call();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {.seconds = seconds, .work = work, .kernels = counters().kernels - launches};
}

namespace {

// The sum of four evenly drawn 16-bit numbers has nearly the shape of a normal distribution; this gives it mean 0 and deviation 1.
float nearly_normal(uint64_t word) {
  const int64_t sum = int64_t((word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48));
  return float(sum - 2 * 0xffff) * (1.7320508f / 65536);
}

}  // namespace

Tensor random_input(const Sizes& shape) {
  static std::mt19937_64 random;
  size_t count = 1;
  for (const int64_t size : shape) count *= size_t(size);
  constexpr std::align_val_t kAlignment{64};  // what a device of the host takes over without a copy
  std::shared_ptr<float> values(static_cast<float*>(::operator new(count * sizeof(float), kAlignment)),
                                [](float* memory) { ::operator delete(memory, kAlignment); });
  for (size_t i = 0; i < count; ++i) values.get()[i] = nearly_normal(random());
  return Tensor::from_blob(values.get(), shape, {}, values);
}

void finish(Tensor tensor) {
  tensor.realize();
  device(open_device(tensor.device())).synchronize();
}

}  // namespace whit::tool
