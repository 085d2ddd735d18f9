// Reverse-mode differentiation of tensor-level graphs. Each op's rule is its row in ir/ops.def; a gradient is made of nodes again, so it
// can be differentiated like anything else.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

/// The gradients of the sum of output * seed, one for each target, with the target's shape and dtype; null where no path of float nodes
/// leads from the output to it. `seed` has the output's shape and dtype. Equal graphs give equal gradients. Uses no recursion.
std::vector<const Node*> gradient(Graph& graph, const Node* output, const Node* seed, std::span<const Node* const> targets);

/// Whether the gradient of the node's result flows to one of its sources: what a search for differentiable leaves follows.
bool passes_gradient(const Node* node, size_t source);

}  // namespace whit
