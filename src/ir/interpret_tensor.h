// A reference evaluator of tensor-level graphs: slow and plain, with the meaning of ops.def and nothing else. Tests and fuzzers compare
// with it. Symbolic sizes have the values their Variables are given; what is padding in storage of a symbolic shape is not looked at.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

/// The value of a node, row-major, in the representation of ir/number.h.
struct TensorValue {
  std::vector<int64_t> shape;
  std::vector<Bits> values;
};

/// What stands for the nodes that have no value of their own (Buffer, Param, Variable) or shall be taken as given.
using TensorInputs = NodeMap<TensorValue>;

/// The values of these nodes. Uses no recursion; reductions fold from the first element to the last, narrow floats in float32.
std::vector<TensorValue> evaluate_tensors(Sources roots, const TensorInputs& inputs = {});
TensorValue evaluate_tensor(const Node* root, const TensorInputs& inputs = {});

}  // namespace whit
