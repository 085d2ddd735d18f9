// Patterns of graphs as plain values: what a rewrite rule, a gradient or a spec row is written in.
//
// A Pattern is a short preorder array, built by operators: `where(x < y, x + c0, 0)`. Patterns are made while compiling only; what they
// must satisfy is checked there, so a wrong row stops the build with a sentence. A literal is a number of whatever dtype its place has:
// on the left it matches by value (0 does not match -0.0, which is written `-0.0`), on the right it takes that dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <whit/dtype.h>

#include "ir/op.h"

namespace whit {

/// A set of dtypes.
struct TypeSet {
  uint32_t bits = 0;

  constexpr TypeSet() = default;
  constexpr TypeSet(DType type) : bits(1u << unsigned(type)) {}  // NOLINT(google-explicit-constructor): a type is a set of one
  template <class... Types>
  static constexpr TypeSet of(Types... types) {
    TypeSet set;
    ((set.bits |= 1u << unsigned(types)), ...);
    return set;
  }
  constexpr bool contains(DType type) const { return (bits >> unsigned(type)) & 1; }
  constexpr bool empty() const { return bits == 0; }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) {
    a.bits |= b.bits;
    return a;
  }
  friend constexpr TypeSet operator&(TypeSet a, TypeSet b) {
    a.bits &= b.bits;
    return a;
  }
  friend constexpr TypeSet operator~(TypeSet a) {
    a.bits = ~a.bits & ((1u << kDTypeCount) - 1);
    return a;
  }
  friend constexpr bool operator==(TypeSet, TypeSet) = default;
};

}  // namespace whit

namespace whit::patterns {

// Classes of dtypes; also the domains of rules. Arithmetic on `ints` wraps, on `indices` it never does.
inline constexpr TypeSet bools = DType::boolean;
inline constexpr TypeSet indices = DType::index;
inline constexpr TypeSet signed_ints = TypeSet::of(DType::int8, DType::int16, DType::int32, DType::int64);
inline constexpr TypeSet unsigned_ints = TypeSet::of(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
inline constexpr TypeSet ints = signed_ints | unsigned_ints;
inline constexpr TypeSet integers = ints | indices;
inline constexpr TypeSet exact = integers | bools;
inline constexpr TypeSet floats =
    TypeSet::of(DType::float8_e4m3, DType::float8_e5m2, DType::float16, DType::bfloat16, DType::float32, DType::float64);
inline constexpr TypeSet numbers = integers | floats;
inline constexpr TypeSet anything = numbers | bools | TypeSet(DType::none);

inline constexpr size_t kMaxSteps = 24;
inline constexpr size_t kMaxHoles = 16;

/// A place that matches any node of these ops and types; the same hole twice is the same node.
struct Hole {
  uint8_t id;
  OpSet ops = OpSet::all();
  TypeSet types = anything;
  /// The same hole, for these types only.
  constexpr Hole of(TypeSet only) const { return {id, ops, types & only}; }
  /// The same hole, for these ops only.
  constexpr Hole in(OpSet only) const { return {id, only, types}; }
};

/// Stands last among the sources of an op with any number of them: matches all that remain.
struct Rest {};
inline constexpr Rest rest;

/// In a list of gradients: this source has none.
struct Nothing {};
inline constexpr Nothing nothing;

enum class StepKind : uint8_t { apply, hole, literal };

struct Pattern {
  struct Step {
    OpSet ops;              ///< what the node may be
    TypeSet types;          ///< and of which dtype
    double number = 0;      ///< of a literal
    int16_t argument = -1;  ///< what args()[0] must be; -1: anything
    Op op{};                ///< of an apply whose set has one op
    StepKind kind = StepKind::hole;
    uint8_t hole = 0;
    uint8_t sources = 0;    ///< how many of the sources have a pattern; they follow this step
    uint8_t size = 1;       ///< steps of this subtree
    bool has_rest = false;  ///< there may be further sources
  };
  Step steps[kMaxSteps]{};
  uint8_t size = 0;

  constexpr Pattern() = default;
  // Numbers and holes are patterns, so that `x + 1` is one.
  constexpr Pattern(double number) : size(1) { set_literal(number); }  // NOLINT(google-explicit-constructor)
  constexpr Pattern(int number) : size(1) { set_literal(number); }     // NOLINT(google-explicit-constructor)
  constexpr Pattern(const Hole& hole) : size(1) {                      // NOLINT(google-explicit-constructor)
    steps[0].ops = hole.ops;
    steps[0].types = hole.types;
    steps[0].hole = hole.id;
  }

  /// The op applied to sources; the last one may be `rest`.
  template <class... Sources>
  static constexpr Pattern apply(OpSet ops, Op op, const Sources&... sources) {
    Pattern result;
    result.size = 1;
    Step& root = result.steps[0];
    root.ops = ops;
    root.types = anything;
    root.op = op;
    root.kind = StepKind::apply;
    (result.append(sources), ...);
    root.size = result.size;
    return result;
  }
  template <class... Sources>
  static constexpr Pattern of(Op op, const Sources&... sources) {
    Pattern result = apply(OpSet(op), op, sources...);
    const Step& root = result.steps[0];
    const int8_t given = root.has_rest ? int8_t(-1) : int8_t(root.sources);
    if (info(op).arity >= 0 && info(op).arity != given) throw "a pattern gives an op the wrong number of sources";
    return result;
  }
  /// The same pattern, for results of these types only.
  constexpr Pattern of(TypeSet only) const {
    Pattern result = *this;
    result.steps[0].types = result.steps[0].types & only;
    return result;
  }
  /// The same pattern, for nodes whose first argument is this.
  constexpr Pattern with_argument(int16_t value) const {
    Pattern result = *this;
    result.steps[0].argument = value;
    return result;
  }

  /// Where the pattern of source k of the step at `at` starts.
  constexpr size_t source_at(size_t at, size_t k) const {
    size_t next = at + 1;
    for (; k > 0; --k) next += steps[next].size;
    return next;
  }
  constexpr bool constant_at(size_t at) const { return steps[at].ops == OpSet(Op::Const); }
  /// Whether the subtrees at two steps are the same pattern.
  constexpr bool same_at(size_t a, size_t b) const {
    if (steps[a].size != steps[b].size) return false;
    for (size_t i = 0; i < steps[a].size; ++i) {
      const Step &s = steps[a + i], &t = steps[b + i];
      if (s.kind != t.kind || s.ops != t.ops || s.types != t.types || s.hole != t.hole || s.sources != t.sources ||
          s.argument != t.argument)
        return false;
      if (s.kind == StepKind::literal && s.number != t.number) return false;
    }
    return true;
  }
  /// Whether the step is of an op that may take its two sources in either order, and both orders have to be tried.
  constexpr bool swaps_at(size_t at) const {
    const Step& step = steps[at];
    if (step.kind != StepKind::apply || step.sources != 2 || step.ops != OpSet(step.op) || !has(step.op, commutes)) return false;
    const size_t left = at + 1, right = source_at(at, 1);
    return !constant_at(right) && !same_at(left, right);
  }

 private:
  constexpr void set_literal(double number) {
    steps[0].ops = OpSet(Op::Const);
    steps[0].types = anything;
    steps[0].kind = StepKind::literal;
    steps[0].number = number;
  }
  constexpr void append(const Pattern& source) {
    if (steps[0].has_rest) throw "`rest` stands last";
    if (size + source.size > kMaxSteps) throw "a pattern has too many steps";
    for (size_t i = 0; i < source.size; ++i) steps[size++] = source.steps[i];
    ++steps[0].sources;
  }
  constexpr void append(const Rest&) { steps[0].has_rest = true; }
};

// ---- Holes --------------------------------------------------------------------------------------------------------------------------

inline constexpr Hole x{0}, y{1}, z{2}, w{3};
inline constexpr Hole p{4, OpSet::all(), bools}, q{5, OpSet::all(), bools};  // conditions
inline constexpr Hole c0{6, Op::Const}, c1{7, Op::Const}, c2{8, Op::Const};  // constants
inline constexpr Hole r{9, Op::Range};
inline constexpr Hole out{11}, dy{12};  // in gradients: the result and its gradient

// ---- Operators ----------------------------------------------------------------------------------------------------------------------

constexpr Pattern operator-(const Pattern& a) { return Pattern::of(Op::Neg, a); }
constexpr Pattern operator+(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Add, a, b); }
constexpr Pattern operator-(const Pattern& a, const Pattern& b) { return a + -b; }
constexpr Pattern operator*(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Mul, a, b); }
/// Division of floats; that of integers is `quotient`.
constexpr Pattern operator/(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Divide, a, b); }
constexpr Pattern quotient(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Quotient, a, b); }
constexpr Pattern operator%(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Remainder, a, b); }
constexpr Pattern operator&(const Pattern& a, const Pattern& b) { return Pattern::of(Op::And, a, b); }
constexpr Pattern operator|(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Or, a, b); }
constexpr Pattern operator^(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Xor, a, b); }
constexpr Pattern operator<<(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Shl, a, b); }
constexpr Pattern operator>>(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Shr, a, b); }
constexpr Pattern operator<(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Less, a, b); }
constexpr Pattern operator>(const Pattern& a, const Pattern& b) { return b < a; }
constexpr Pattern operator!=(const Pattern& a, const Pattern& b) { return Pattern::of(Op::NotEqual, a, b); }
/// Not, of a bool.
constexpr Pattern operator!(const Pattern& a) { return (a ^ 1).of(bools); }
constexpr Pattern operator==(const Pattern& a, const Pattern& b) { return !(a != b); }
constexpr Pattern max(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Max, a, b); }
constexpr Pattern min(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Min, a, b); }
constexpr Pattern where(const Pattern& condition, const Pattern& a, const Pattern& b) { return Pattern::of(Op::Where, condition, a, b); }
constexpr Pattern fused(const Pattern& a, const Pattern& b, const Pattern& c) { return Pattern::of(Op::MulAdd, a, b, c); }
constexpr Pattern pow(const Pattern& a, const Pattern& b) { return Pattern::of(Op::Pow, a, b); }
constexpr Pattern reciprocal(const Pattern& a) { return Pattern::of(Op::Reciprocal, a); }
constexpr Pattern sqrt(const Pattern& a) { return Pattern::of(Op::Sqrt, a); }
constexpr Pattern exp(const Pattern& a) { return Pattern::of(Op::Exp, a); }
constexpr Pattern exp2(const Pattern& a) { return Pattern::of(Op::Exp2, a); }
constexpr Pattern log(const Pattern& a) { return Pattern::of(Op::Log, a); }
constexpr Pattern log2(const Pattern& a) { return Pattern::of(Op::Log2, a); }
constexpr Pattern sin(const Pattern& a) { return Pattern::of(Op::Sin, a); }
constexpr Pattern cos(const Pattern& a) { return Pattern::of(Op::Cos, a); }
constexpr Pattern trunc(const Pattern& a) { return Pattern::of(Op::Trunc, a); }
/// On the left, a cast to any type; on the right, to the type its place has.
constexpr Pattern cast(const Pattern& a) { return Pattern::of(Op::Cast, a); }
constexpr Pattern bitcast(const Pattern& a) { return Pattern::of(Op::Bitcast, a); }
/// Any op of a set.
template <class... Sources>
constexpr Pattern any(OpSet ops, const Sources&... sources) {
  return Pattern::apply(ops, Op{}, sources...);
}
template <class... Sources>
constexpr Pattern load(const Sources&... sources) {
  return Pattern::of(Op::Load, sources...);
}
template <class... Sources>
constexpr Pattern store(const Sources&... sources) {
  return Pattern::of(Op::Store, sources...);
}
/// An Accumulate of a value by this op, over any ranges.
constexpr Pattern accumulate(Op op, const Pattern& value) { return Pattern::of(Op::Accumulate, value, rest).with_argument(int16_t(op)); }
constexpr Pattern accumulate(const Pattern& value) { return Pattern::of(Op::Accumulate, value, rest); }
constexpr Pattern reshape(const Pattern& a) { return Pattern::of(Op::Reshape, a, rest); }
constexpr Pattern permute(const Pattern& a) { return Pattern::of(Op::Permute, a); }
constexpr Pattern expand(const Pattern& a) { return Pattern::of(Op::Expand, a, rest); }
constexpr Pattern pad(const Pattern& a) { return Pattern::of(Op::Pad, a, rest); }
constexpr Pattern shrink(const Pattern& a) { return Pattern::of(Op::Shrink, a, rest); }
constexpr Pattern flip(const Pattern& a) { return Pattern::of(Op::Flip, a); }

}  // namespace whit::patterns
