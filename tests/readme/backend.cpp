// Runs a kernel on the backend that CONTRIBUTING.md shows, which no registry knows.
#include <whit/whit.h>

#include <cstdio>
#include <vector>

#include "codegen/pipeline.h"
#include "engine/capture.h"
#include "engine/handle.h"
#include "runtime/backend.h"

namespace whit::backends {
Backend* sim();
}

int main() {
  using namespace whit;
  Backend* backend = backends::sim();
  if (const std::string reason = backend->unavailable(); !reason.empty()) {
    std::printf("not run: %s\n", reason.c_str());
    return 0;
  }
  const std::unique_ptr<OpenDevice> device = backend->open(0);

  Device::set_default("NULL");
  constexpr int64_t kSize = 1000;
  const Tensor x = Tensor::empty({kSize});
  const NodeRef node = (x * 2 + 1).handle()->node();
  const Capture captured = capture({node.get()}, default_device());
  const Plan plan = make_plan(captured.request);
  const LinearKernel kernel = lower_kernel(plan.kernels[0], device->target(), "kernel");
  const LinearKernel* kernels[] = {&kernel};
  const std::shared_ptr<Program> program = device->compile(kernels)[0];

  const std::vector<int>& slots = plan.steps[0].buffers;  // the plan buffer of each slot; the input is the first one
  std::vector<float> values(kSize);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  std::vector<void*> memory;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    memory.push_back(device->alloc(values.size() * sizeof(float)));
    device->copy_in(memory.back(), 0, values.data(), values.size() * sizeof(float));
  }
  const int64_t count = kernel.parallel ? kernel.parallel->source(0)->arg(0) : 1;
  device->launch(*program, memory, std::vector<size_t>(slots.size()), {}, count);
  device->synchronize();

  int wrong = 0;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    std::vector<float> result(values.size());
    device->copy_out(result.data(), memory[slot], 0, result.size() * sizeof(float));
    for (size_t i = 0; i < values.size(); ++i) wrong += result[i] != (slots[slot] == 0 ? values[i] : values[i] * 2 + 1);
    device->free(memory[slot], values.size() * sizeof(float));
  }
  std::printf("%d wrong\n", wrong);
  return wrong;
}
