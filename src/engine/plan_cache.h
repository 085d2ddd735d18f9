// Plans with their compiled kernels, kept by structure. Both caches are bounded, and what was used longest ago goes first: plans at
// PLAN_CACHE MiB of graphs (256), compiled kernels at KERNEL_CACHE (4096). What goes is made anew when it is needed again. A plan that
// runs and a kernel of a plan that is kept are held by reference, whatever the caches drop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/bounds.h"
#include "engine/capture.h"
#include "runtime/backend.h"

namespace whit {

/// What a launch of one kernel needs to know.
struct CompiledKernel {
  std::shared_ptr<Program> program;
  std::string name;
  DeviceId device = kNoDevice;
  int64_t launch_count = 1;
  double flops = 0, bytes = 0;
  BoundsGuard guard;  ///< under CHECK=bounds: what it reports of its accesses, to one more buffer
};

struct CompiledPlan {
  Plan plan;
  std::vector<CompiledKernel> kernels;  ///< as plan.kernels
};

/// The plan for a capture: found by its key, or scheduled and compiled now.
std::shared_ptr<const CompiledPlan> plan_for(Capture& capture);

/// What the caches hold now.
struct CacheUse {
  size_t plans = 0, kernels = 0;
  int64_t plan_bytes = 0;
};
CacheUse cache_use();

/// Forgets all plans and compiled kernels, so that the next ones are made anew: for measuring what that costs.
void forget_plans();

/// Runs a plan. `outputs` are the storages of its output buffers by plan buffer number (null for inputs and temporaries).
void run_plan(const CompiledPlan& compiled, const std::vector<StorageRef>& inputs, const std::vector<StorageRef>& outputs,
              const std::vector<int64_t>& variables);

}  // namespace whit
