// What a kernel does with its axes: the facts that a schedule is chosen by.
#pragma once

#include <vector>

#include "codegen/affine.h"
#include "codegen/axes.h"

namespace whit {

/// One Load or Store.
struct Access {
  const Node* node;
  Affine index;
  bool is_store;
};

/// All accesses below these nodes.
std::vector<Access> accesses_below(Sources roots);

/// The number of arithmetic operations below a node, outside index expressions; each node once.
double operations_below(Sources roots);

/// The ranges that values (not only addresses) depend on directly: those used as numbers or in gates, or that sizes hold.
uint64_t ranges_in_values(const Node* sink);

/// The Accumulates of a kernel, inner ones before those that hold them.
std::vector<const Node*> folds_of(const Node* sink);

/// The size of a range, or 0 if it is not a constant.
inline int64_t fixed_size(const Node* range) { return range->source(0)->is_constant() ? range->source(0)->arg(0) : 0; }
inline bool depends_on(const Node* node, const Node* range) { return node->open >> range->range_number() & 1; }

}  // namespace whit
