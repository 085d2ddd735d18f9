// From axes to linear code: loops are opened, every value is computed in as few of them as it depends on.
#pragma once

#include <vector>

#include "codegen/axes.h"
#include "target/target.h"

namespace whit {

/// The code of a kernel whose unroll ranges are expanded and whose ops the target supplies. With `fuse`, an accumulation of products of
/// floats is a MulAdd. Accumulations over the same ranges that do not depend on each other share their loop. A Stage becomes a Local that
/// is filled in as few loops as its value leaves open, before what reads it, and a Barrier.
std::vector<const Node*> linearize(Graph& graph, const KernelAxes& axes, const Target& target, bool fuse);

/// Turns Loads and Stores whose index steps by one along the vector range they depend on into VectorLoads and VectorStores.
const Node* vectorise_accesses(Graph& graph, const Node* sink);

}  // namespace whit
