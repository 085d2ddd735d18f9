// Random nodes that a row's left side matches, random values for what is free in them, and what both sides come to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/interpret.h"
#include "rewrite/ruleset.h"

namespace whit::rule_tests {

/// All dtypes of a set but none.
std::vector<DType> types_of(TypeSet set);

/// A value of a type: often an edge case (limits, NaN, infinities, zeros, subnormals), else any bits.
Bits random_value(Random& random, DType type);
/// A value within a node's interval; for floats, any.
Bits random_value_in(Random& random, const Node* node);

/// A Variable of a type. Integers are bounded by a random interval, sometimes narrow, sometimes the whole type.
const Node* random_variable(Random& random, Graph& graph, DType type, const std::string& name);

/// Builds what a row's left side matches, its root of (for comparisons: over) this type; null if no node has the form, or the node
/// folded while it was built. The row need not apply: its guard may refuse.
const Node* instance(Random& random, Graph& graph, const RuleTable& table, const RuleInfo& row, DType type);

/// Gives every free leaf below the roots (Variables, open Ranges, Params) a random value.
void bind_leaves(Random& random, Sources roots, Environment& environment);

/// The value of a node (of a Store: where and what it writes, mixed into one number); empty if an index on the way overflows. Fails the
/// running test if a value lies outside its node's interval.
std::optional<Bits> checked_value(const Node* root, const Environment& environment);

/// The elements of a tensor, one for each place of `shape`; a scalar stretches.
std::vector<Bits> tensor_values(const Node* root, ShapeView shape, const Environment& environment);

/// Whether two results are the same: bit for bit, except that a Max or Min of zeros may be either zero, and that `Pow` is only near.
bool same_value(const Node* left, Bits a, Bits b);

/// A number that must fall from step to step: distinct nodes, by the weight of their ops.
int64_t cost_of(const Node* root);

std::string describe(const RuleTable& table, const RuleInfo& row);
/// The nodes and leaf values of a failure, to be read.
std::string explain(const Node* left, const Node* right, const Environment& environment);

}  // namespace whit::rule_tests
