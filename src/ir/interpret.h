// A reference evaluator of kernel-level expressions: scalars over ranges, reductions and loads. Tests compare with it.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

/// What an expression is evaluated with.
struct Environment {
  NodeMap<Bits> values;               ///< of Variables and of the ranges that are open; or of any node that shall be taken as given
  NodeMap<std::vector<Bits>> arrays;  ///< the elements of storage: Params and Buffers
};

/// The value of an expression. Recurses only where reductions nest; these fold from the first iteration to the last, narrow floats in
/// float32. A Load outside its array throws InternalError.
Bits evaluate_expression(const Node* root, const Environment& environment);

}  // namespace whit
