// The terms of reductions: what they are where, and what may be left out of a sum of them without changing a bit.
#pragma once

#include <optional>

#include "rules/condition.h"

namespace whit::reductions {

inline bool depends(const Node* node, const Node* range) { return (node->open & range->open) != 0; }
inline std::span<const Node* const> ranges_of(const Node* reduction) { return reduction->sources().subspan(1); }

/// A term that is `value` where the conditions hold and 0 elsewhere: what it has to be for most rows.
struct Guarded {
  Conjunction conditions;
  const Node* value;
};

/// Takes a term apart. Of floats a product with 0 is one only `through_products`: it would hide an infinity or NaN.
bool guarded(Graph& graph, const Node* node, bool through_products, Guarded& result);

/// The value where the condition holds, else 0. A Load is gated: where the condition fails its index may be anything.
const Node* guard(Graph& graph, const Node* value, const Node* condition);

/// The value with the range replaced by an index, and every Load that depended on the range gated by `valid`. Null if a reduction inside
/// closes a range that the index depends on.
const Node* replace_range(Graph& graph, const Node* root, const Node* range, const Node* index, const Node* valid);

/// The greatest magnitude of a float that is always a whole number and never -0.0; empty if it may be another.
std::optional<int64_t> whole_bound(const Node* value);

/// Whether sums of up to `count` of these floats are exact, in whatever order: then so is a product.
bool sums_exactly(const Node* value, int64_t count);

/// The sum of `count` of these values, where `count` is an index that is never negative.
const Node* times(Graph& graph, const Node* value, const Node* count);

}  // namespace whit::reductions
