// A kernel in the form in which equal work is the equal node: storage, variables and ranges numbered by their place.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

struct NormalKernel {
  const Node* sink;
  std::vector<int> buffers;    ///< plan buffer of each kernel slot
  std::vector<int> variables;  ///< plan variable of each kernel variable
};

/// Numbers the Params (whose slots are plan buffers), the plan Variables and the ranges of a kernel from 0. Loops of the stores keep their
/// order and come before the ranges of accumulations.
NormalKernel normalise(Graph& graph, const Node* sink);

/// The Variable that stands for number `k` of a plan or kernel, with the bounds and dtype of `like`.
const Node* numbered_variable(Graph& graph, int k, const Node* like);
int variable_number(const Node* variable);

/// Replaces nodes of a graph by others of the same dtype and shape; everything above them is rebuilt.
const Node* replace(Graph& graph, const Node* root, const std::vector<std::pair<const Node*, const Node*>>& pairs);

}  // namespace whit
