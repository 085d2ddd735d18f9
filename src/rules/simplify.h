// Simplification, as the passes call it: the rule sets that change nothing of what is computed, to a fixed point.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

/// An expression of a kernel: arithmetic, casts, indices, conditions.
const Node* simplify(Graph& graph, const Node* root);
std::vector<const Node*> simplify(Graph& graph, Sources roots);

/// A whole kernel, as it is lowered from tensors: also reductions in closed form (arange, gather, embedding), and gates. Ranges may vanish.
const Node* simplify_kernel(Graph& graph, const Node* root);

/// A graph of tensors: the same, and movement ops.
std::vector<const Node*> simplify_tensor(Graph& graph, Sources roots);

struct RewriteBenchmark {
  size_t expressions, visits, rewrites;  ///< visits: nodes offered to the rules
  double seconds;                        ///< of rewriting alone
};
/// Simplifies random index expressions, a thousand in each graph.
RewriteBenchmark rewrite_benchmark(size_t graphs = 100);

}  // namespace whit
