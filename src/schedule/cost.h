// What it costs to compute and to keep a tensor, for deciding which ones are stored.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "target/target.h"

namespace whit {

/// What lies between a tensor node and the storage it is computed from, were everything in between fused: bottom-up, per element.
struct Estimate {
  double flops = 0;       ///< operations per element
  double leaf_bytes = 0;  ///< bytes of the storage read, each leaf once (an upper bound where leaves are shared)
  int leaves = 0;
};

/// Operations that one element of this op takes, in units of an addition.
double op_cost(Op op);

/// The estimate of a node from those of its sources.
Estimate estimate(const Node* node, const std::vector<const Estimate*>& sources);

/// Whether this simplified reduction is a gather, the sum over r of (r != index ? 0 : value[r]): once its place is known, rules turn it
/// into one gated load, without a loop.
bool picks_one(const Node* reduce);

}  // namespace whit
