// Plans with their compiled kernels, kept by structure.
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

/// Forgets all plans and compiled kernels, so that the next ones are made anew: for measuring what that costs.
void forget_plans();

/// Runs a plan. `outputs` are the storages of its output buffers by plan buffer number (null for inputs and temporaries).
void run_plan(const CompiledPlan& compiled, const std::vector<StorageRef>& inputs, const std::vector<StorageRef>& outputs,
              const std::vector<int64_t>& variables);

}  // namespace whit
