// The axes of a kernel, and the transformations that scheduling is made of. Each takes axes and gives new ones: nodes do not change, so
// going back is keeping the old value.
//
// A kernel is a Sink of Stores over Ranges. A range's kind says how it is run (ir/node.h); `order` says which of two open loops is the
// outer one. The tree of loops follows: a Store stands in the loops its value depends on, an Accumulate before what uses it, in as few
// loops as its own value depends on (codegen/linearize.h).
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

struct KernelAxes {
  const Node* sink = nullptr;
  std::vector<const Node*> order;  ///< every range but the vector ones, outermost first
};

/// The axes of a kernel as scheduling hands it over: the ranges of its stores, then those of its accumulations, by number.
KernelAxes axes_of(const Node* sink);

/// range = outer * factor + inner, for a factor that divides its size. The outer part keeps kind and place, the inner one follows it.
struct Split {
  KernelAxes axes;
  const Node *outer, *inner;
};
Split split(Graph& graph, const KernelAxes& axes, const Node* range, int64_t factor, AxisKind inner_kind);

/// The statements over `range` done in two parts, [0, at) and [at, size): Stores twice, or an Accumulate as two that are combined.
struct Peel {
  KernelAxes axes;
  const Node *head, *tail;
};
Peel peel(Graph& graph, const KernelAxes& axes, const Node* range, int64_t at);

/// Another way to run a range. The retagged range is `changed`.
KernelAxes retag(Graph& graph, const KernelAxes& axes, const Node* range, AxisKind kind, const Node*& changed);

/// Two loops of which the outer one steps by the inner one's size in every access, as one.
KernelAxes merge(Graph& graph, const KernelAxes& axes, const Node* outer, const Node* inner);

/// Accumulates over a local range in two steps: each thread folds its own part and keeps it in a Stage, which a new range folds in order.
KernelAxes share_folds(Graph& graph, const KernelAxes& axes, const Node* local);

/// Puts a range at another place in the order.
KernelAxes reorder(const KernelAxes& axes, const Node* range, size_t place);

/// Writes out every unroll range: Stores once per value, Accumulates as independent ones that are combined pairwise.
KernelAxes expand_unrolled(Graph& graph, const KernelAxes& axes);

/// A number that no range of the kernel has: the least, or after skipping as many as asked.
int64_t free_number(const KernelAxes& axes, int skip = 0);

}  // namespace whit
