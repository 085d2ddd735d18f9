// Choosing how a kernel's axes are run: which become vectors, which are written out, which run in parallel.
#pragma once

#include <string>

#include "codegen/axes.h"
#include "target/target.h"

namespace whit {

/// The plain loop nest: one loop per axis, only the outermost one in parallel.
KernelAxes plain_schedule(Graph& graph, KernelAxes axes, const Target& target);

/// A schedule for the target: loops merged, one axis a vector, others written out so that what is loaded is used several times and
/// sums run in independent accumulators, the outer ones in parallel. Depends on shapes and the target's registers, never on its thread
/// count. `why` (if given) collects one line per decision.
KernelAxes choose_schedule(Graph& graph, KernelAxes axes, const Target& target, std::string* why);

}  // namespace whit
