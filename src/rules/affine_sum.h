// Sums of integer multiples plus a constant, the normal form of address arithmetic: sum of factor * node, + constant.
#pragma once

#include "ir/graph.h"
#include "ir/interval.h"

namespace whit {

struct AffineSum {
  struct Term {
    const Node* node;
    int64_t factor;
  };
  static constexpr size_t kMaxTerms = 16;

  Term terms[kMaxTerms];
  size_t count = 0;
  int64_t constant = 0;

  /// Adds factor * node, taking index sums, products by constants and negations apart. False when there are too many terms or a factor
  /// leaves int64; the form is then of no use.
  bool add(const Node* node, int64_t factor);
  bool add_term(const Node* node, int64_t factor);

  /// Puts the terms in canonical order and drops those of factor 0.
  void normalise();
  /// Merges x/c and x%c, where their factors allow it, and the like. Keeps the value, for every x.
  bool recombine();

  /// Bounds of the value; saturated at the ends of int64. Knows that a range stays below its size, be that a symbol.
  Interval interval() const;
  /// The greatest common divisor of the factors; 0 without terms.
  int64_t common_factor() const;

  /// The sum as a node, in the order of the terms.
  const Node* build(Graph& graph) const;
  /// Whether that is what `build` would give: tells so without looking anything up.
  bool is(const Node* node) const;
};

/// Division that rounds down, and its remainder, which is never negative for a positive divisor.
constexpr int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
constexpr int64_t floor_remainder(int64_t a, int64_t b) { return a - floor_quotient(a, b) * b; }

/// Whether 0 <= value < limit for certain: by intervals, or because the value is a range of this size or a remainder by it.
bool counts_below(const Node* value, const Node* limit);

/// The canonical order of terms and factors: what depends on no range first, then by the innermost (highest) range.
bool comes_before(const Node* a, const Node* b);

}  // namespace whit
