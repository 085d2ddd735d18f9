// Work groups: which axes the threads of a group share out among themselves, on devices that have them.
#pragma once

#include <string>

#include "codegen/axes.h"
#include "target/target.h"

namespace whit {

/// For a kernel whose outer axes are one parallel range, or none. Long accumulations of few results are shared by the threads of a group,
/// each with its own part; else the parallel range is cut into groups and threads. Depends on shapes and the target's work group only, so
/// results are the same wherever that is.
KernelAxes run_in_groups(Graph& graph, KernelAxes axes, const Target& target, std::string* why);

}  // namespace whit
