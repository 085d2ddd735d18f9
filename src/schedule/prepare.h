// Tensor-level rewriting before stores are chosen.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

/// Simplifies the tensor graph and cuts sums too long for one thread in two. The outputs keep their order and their row-major values;
/// their shapes may change.
std::vector<const Node*> prepare_tensors(Graph& graph, const std::vector<const Node*>& outputs);

}  // namespace whit
