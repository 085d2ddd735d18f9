// The rule tables, each in the file of its name, and the sets made of them.
#pragma once

#include "rewrite/ruleset.h"

namespace whit {

extern constinit const RuleTable fold_rules;     // what needs no second op: x + 0, x * 0, where(p, x, x)
extern constinit const RuleTable algebra_rules;  // rings, signs, constants to the outside
extern constinit const RuleTable boolean_rules;  // conditions and choices between values
extern constinit const RuleTable cast_rules;
extern constinit const RuleTable index_rules;     // address arithmetic, by intervals
extern constinit const RuleTable validity_rules;  // what a gate or condition lets one assume
extern constinit const RuleTable movement_rules;  // shapes, at tensor level
extern constinit const RuleTable reduce_rules;    // reductions in closed form, in kernels

/// Scalar arithmetic of any kind: no row changes what is computed, bit for bit.
constexpr RuleSet simplify_rules() { return RuleSet(fold_rules) + algebra_rules + boolean_rules + cast_rules + index_rules; }

/// Of tensors, also movement ops.
constexpr RuleSet tensor_rules() { return simplify_rules() + movement_rules; }

/// In a kernel, also what needs its loads, gates and reductions.
constexpr RuleSet kernel_rules() { return simplify_rules() + validity_rules + reduce_rules; }

}  // namespace whit
