// Conditions of kernels as conjunctions of comparisons, and what a comparison says about one range.
#pragma once

#include "rules/affine_sum.h"

namespace whit {

/// A bool node, or its negation.
struct Atom {
  const Node* node;
  bool negated;
};

/// atom & atom & …, taken from a bool node. Negations are moved inwards: !(p | q) is !p & !q.
struct Conjunction {
  static constexpr size_t kMaxAtoms = 24;

  Atom atoms[kMaxAtoms];
  size_t count = 0;

  /// Adds a condition or its negation. False when there are too many atoms.
  bool add(const Node* condition, bool negated = false);
  bool add(const Conjunction& other);
  /// The conjunction as a node; null if it is empty: true.
  const Node* build(Graph& graph) const;
};

const Node* build(Graph& graph, Atom atom);

/// What an atom says: factor * node + rest < 0, or for an equality = 0, where `rest` does not depend on the node.
struct Solved {
  bool equality;
  int64_t factor;
  AffineSum rest;
};

/// Brings a comparison of integers to the form `sum < 0` or `sum = 0` over indices. False for other conditions.
bool as_sum(Graph& graph, Atom atom, AffineSum& sum, bool& equality);

/// Solves an atom for a range: false if the range is in it in any way but as a term of a sum.
bool solve(Graph& graph, Atom atom, const Node* range, Solved& solved);

/// An integer as an index node of the same value; `node` must not be unsigned of 64 bits, where a comparison would notice.
const Node* as_index(Graph& graph, const Node* node);

/// Whether a cast from index to this type keeps the value, by the interval.
bool fits(const Node* index, DType type);

}  // namespace whit
