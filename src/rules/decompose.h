// Lowering: rewrites what a target does not supply into the primitive ops that every target does.
//
// Everything here is branch-free scalar arithmetic (Where, never a loop or a gather), so it vectorises, and it is made of exactly
// rounded ops only, so every device gives the same bits. What each function guarantees stands in docs/numerics.md.
#pragma once

#include <span>

#include "ir/graph.h"
#include "ir/pattern.h"
#include "rewrite/ruleset.h"

namespace whit {

/// What lowering asks of a target.
struct Lowering {
  OpSet claims;  ///< ops marked `lowered` that the target evaluates itself
  TypeSet types = TypeSet::of(DType::boolean, DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32,
                              DType::int64, DType::uint64, DType::float32, DType::float64, DType::index);  ///< types it computes in
  bool fused_multiply_add = false;  ///< MulAdd is one instruction: the lowerings use it

  Lowering() = default;
  /// From a Target, which is of a layer above.
  template <class Target>
  requires requires(const Target& target) { target.claims, target.types.bits, target.fused_multiply_add; }
  Lowering(const Target& target)
      : claims(target.claims), fused_multiply_add(target.fused_multiply_add) {  // NOLINT(google-explicit-constructor)
    types.bits = target.types.bits;
  }

  bool has_fused(DType type) const { return fused_multiply_add && !is_narrow_float(type); }
};

/// Replaces every op marked `lowered` that the target doesn't claim. Types must be the target's: see lower_types.
const Node* decompose(Graph& graph, const Node* root, const Lowering& lowering);

/// The lowering of one node, or the node itself where there is nothing to lower.
const Node* lower_op(Graph& graph, const Node* node, const Lowering& lowering);

/// The rows that `decompose` applies.
extern constinit const RuleTable decompose_rules;

// ---- Functions ----------------------------------------------------------------------------------------------------------------------
// `x` and `y` are float32 or float64.

const Node* lower_exp(Graph& graph, const Node* x, const Lowering& lowering);
const Node* lower_exp2(Graph& graph, const Node* x, const Lowering& lowering);
const Node* lower_log(Graph& graph, const Node* x, const Lowering& lowering);
const Node* lower_log2(Graph& graph, const Node* x, const Lowering& lowering);
const Node* lower_sin(Graph& graph, const Node* x, const Lowering& lowering);
const Node* lower_cos(Graph& graph, const Node* x, const Lowering& lowering);
const Node* lower_pow(Graph& graph, const Node* x, const Node* y, const Lowering& lowering);

/// The fused a*b + c of float32, exactly, by way of float64. There is none for float64: a target has it or doesn't use it.
const Node* lower_multiply_add(Graph& graph, const Node* a, const Node* b, const Node* c);

const Node* lower_max(Graph& graph, const Node* a, const Node* b);  ///< any type
const Node* lower_min(Graph& graph, const Node* a, const Node* b);
const Node* lower_threefry(Graph& graph, const Node* counter, const Node* key);

// ---- Types --------------------------------------------------------------------------------------------------------------------------

/// Rewrites a kernel so that it computes only in the target's types. A narrow float the target lacks is stored as the word of its size,
/// and travels as the float32 of the same value: each op is float32 arithmetic and one rounding.
const Node* lower_types(Graph& graph, const Node* root, const Lowering& lowering);

/// The unsigned integer type with the size of a narrow float.
DType word_of(DType narrow);
/// A float32 rounded to the values of a narrow float.
const Node* round_to_narrow(Graph& graph, const Node* value, DType narrow);
/// The float32 that a word stands for, and the word for a float32 (which need not be rounded before).
const Node* decode(Graph& graph, const Node* word, DType narrow);
const Node* encode(Graph& graph, const Node* value, DType narrow);

}  // namespace whit
