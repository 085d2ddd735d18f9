// The order of a plan's steps and the place of its temporaries.
#pragma once

#include <vector>

#include "schedule/plan.h"

namespace whit {

/// A step before it has its place: which steps it needs first, and the buffers it touches.
struct StepNeeds {
  std::vector<int> after;    ///< steps that come first
  std::vector<int> buffers;  ///< plan buffers read or written
};

/// An order in which every step comes after those it needs, chosen greedily for few bytes of temporaries alive at a time; ties go to the
/// step given first. Where there is none, `cycle` lists the steps left over.
std::vector<int> order_steps(const std::vector<StepNeeds>& steps, const std::vector<PlanBuffer>& buffers, std::vector<int>& cycle);

/// Gives every temporary its offset in the arena of its device: two that are alive at the same time do not overlap.
void plan_memory(Plan& plan);

}  // namespace whit
