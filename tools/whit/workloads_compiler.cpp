// What compiling costs: rewriting, one small kernel, a long chain.
#include <memory>

#include "rules/simplify.h"
#include "workloads.h"

namespace whit::tool {

namespace {

Workload rewriting() {
  return {.name = "rewrite",
          .description = "simplification of 100,000 random index expressions",
          .rate = kVisits,
          .prepare = []() -> std::function<Sample()> {
            return [] {
              const RewriteBenchmark done = rewrite_benchmark();
              return Sample{done.seconds, double(done.visits)};
            };
          }};
}

// Gives each call a size of its own, 1000 and up, so that nothing compiled before serves it.
std::function<std::function<Sample()>()> on_fresh_sizes(Tensor (*apply)(const Tensor&)) {
  return [apply]() -> std::function<Sample()> {
    const auto size = std::make_shared<int64_t>(1000);
    return [apply, size] {
      const Tensor input = random_input({(*size)++});
      return timed([&] { apply(input).to_vector(); });
    };
  };
}

Workload kernel_latency() {
  return {.name = "kernel_latency",
          .description = "(x * 2 + 1).relu() on 1,000 floats, compiled anew each time: realize to result",
          .repeats = 30,
          .prepare = on_fresh_sizes([](const Tensor& x) { return (x * 2 + 1).relu(); })};
}

Tensor long_chain(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 2000; ++i) y = y * 0.999 + 0.001 * i;
  return y;
}

Workload chain4000() {
  return {.name = "chain4000",
          .description = "4,000 dependent operations on 1,000 floats: built, scheduled, compiled and run",
          .prepare = on_fresh_sizes(long_chain)};
}

}  // namespace

std::vector<Workload> compiler_workloads() { return {rewriting(), kernel_latency(), chain4000()}; }

}  // namespace whit::tool
