// Replaces given nodes wherever they occur.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

struct Substitution {
  const Node* from;
  const Node* to;
};

/// The graph with each `from` replaced by its `to`; what was replaced is not searched again. Where all `from` are Ranges, the replacement
/// is one of free variables: a range that an Accumulate or Stage closes is left alone inside it. Uses no recursion.
const Node* substitute(Graph& graph, const Node* root, std::span<const Substitution> substitutions);
std::vector<const Node*> substitute(Graph& graph, Sources roots, std::span<const Substitution> substitutions);

}  // namespace whit
