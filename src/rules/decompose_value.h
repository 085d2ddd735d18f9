// Values: nodes with the operators of arithmetic, so that a lowering reads as the formula it is. A number beside a Value takes its type.
#pragma once

#include <span>
#include <type_traits>

#include "base/error.h"
#include "ir/graph.h"
#include "rules/decompose.h"

namespace whit {

/// A node, its graph, and whether a multiply-add may be fused.
struct Value {
  Graph* graph = nullptr;
  const Node* node = nullptr;
  bool fused = false;

  DType type() const { return node->dtype; }
  Value with(const Node* other) const { return {graph, other, fused}; }
  Value make(Op op, std::initializer_list<const Node*> sources) const { return with(graph->make(op, sources)); }
  /// A constant of this value's type.
  template <class Number>
  Value constant(Number number) const {
    return constant_of(type(), number);
  }
  template <class Number>
  Value constant_of(DType of, Number number) const {
    if constexpr (std::is_integral_v<Number>) {
      if (!is_float(of)) return with(graph->constant_bits(of, bits_of_integer(of, int64_t(number))));
    }
    return with(graph->constant(of, double(number)));
  }
};

inline Value value_of(Graph& graph, const Node* node, const Lowering& lowering) { return {&graph, node, lowering.has_fused(node->dtype)}; }

template <class T>
concept Number = std::is_arithmetic_v<T>;

template <class T>
concept ValueOrNumber = Number<T> || std::is_same_v<T, Value>;
/// Two Values, or a Value and a number.
template <class A, class B>
concept ValueOperands = ValueOrNumber<A> && ValueOrNumber<B> && !(Number<A> && Number<B>);

template <class A, class B>
requires ValueOperands<A, B> Value binary(Op op, const A& a, const B& b) {
  if constexpr (Number<A>)
    return binary(op, b.constant(a), b);
  else if constexpr (Number<B>)
    return binary(op, a, a.constant(b));
  else
    return a.make(op, {a.node, b.node});
}

template <class A, class B>
requires ValueOperands<A, B> Value operator+(const A& a, const B& b) { return binary(Op::Add, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator*(const A& a, const B& b) { return binary(Op::Mul, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator/(const A& a, const B& b) { return binary(Op::Divide, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator&(const A& a, const B& b) { return binary(Op::And, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator|(const A& a, const B& b) { return binary(Op::Or, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator^(const A& a, const B& b) { return binary(Op::Xor, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator<<(const A& a, const B& b) { return binary(Op::Shl, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator>>(const A& a, const B& b) { return binary(Op::Shr, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator<(const A& a, const B& b) { return binary(Op::Less, a, b); }
template <class A, class B>
requires ValueOperands<A, B> Value operator!=(const A& a, const B& b) { return binary(Op::NotEqual, a, b); }

inline Value operator-(const Value& a) { return a.make(Op::Neg, {a.node}); }
template <class A, class B>
requires ValueOperands<A, B> Value operator-(const A& a, const B& b) {
  if constexpr (Number<B>)
    return a + -a.constant(b);
  else
    return a + -b;
}
inline Value operator!(const Value& a) { return a ^ a.constant(true); }

inline Value where(const Value& condition, const Value& a, const Value& b) { return a.make(Op::Where, {condition.node, a.node, b.node}); }
template <Number T>
Value where(const Value& condition, const Value& a, T b) {
  return where(condition, a, a.constant(b));
}
template <Number T>
Value where(const Value& condition, T a, const Value& b) {
  return where(condition, b.constant(a), b);
}

inline Value cast(const Value& a, DType type) { return a.with(a.graph->cast(a.node, type)); }
inline Value bitcast(const Value& a, DType type) { return a.type() == type ? a : a.with(a.graph->make(Op::Bitcast, {a.node}, {}, type)); }
inline Value truncate(const Value& a) { return a.make(Op::Trunc, {a.node}); }

/// a*b + c: fused where the target has that, else rounded twice. Use it where either will do.
inline Value multiply_add(const Value& a, const Value& b, const Value& c) {
  return a.fused ? a.make(Op::MulAdd, {a.node, b.node, c.node}) : a * b + c;
}
template <Number T>
Value multiply_add(const Value& a, T b, const Value& c) {
  return multiply_add(a, a.constant(b), c);
}
template <Number T>
Value multiply_add(const Value& a, const Value& b, T c) {
  return multiply_add(a, b, a.constant(c));
}
template <Number T, Number U>
Value multiply_add(const Value& a, T b, U c) {
  return multiply_add(a, a.constant(b), a.constant(c));
}

/// c[0] + c[1]*x + c[2]*x² + … by Horner's rule.
inline Value polynomial(const Value& x, std::span<const double> c) {
  Value sum = x.constant(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = multiply_add(sum, x, c[i]);
  return sum;
}

/// x no less than `low` and no greater than `high`; a NaN stays.
template <Number T>
Value clamp(const Value& x, T low, T high) {
  const Value above = where(x < low, low, x);
  return where(above.constant(high) < above, high, above);
}

/// What a binary float format looks like: its words and the places of its fields.
struct FloatFormat {
  DType type, word, signed_word;
  int width, mantissa_bits, bias;

  int64_t sign_bit() const { return int64_t(uint64_t(1) << (width - 1)); }
  int64_t magnitude_mask() const { return int64_t((uint64_t(1) << (width - 1)) - 1); }
  int64_t mantissa_mask() const { return (int64_t(1) << mantissa_bits) - 1; }
  int64_t hidden_bit() const { return int64_t(1) << mantissa_bits; }
};
inline constexpr FloatFormat kFloat32 = {DType::float32, DType::uint32, DType::int32, 32, 23, 127};
inline constexpr FloatFormat kFloat64 = {DType::float64, DType::uint64, DType::int64, 64, 52, 1023};

inline const FloatFormat& format_of(const Value& x) {
  WHIT_ASSERT(x.type() == DType::float32 || x.type() == DType::float64, "a function of ", name(x.type()), " must go by way of float32");
  return x.type() == DType::float32 ? kFloat32 : kFloat64;
}

/// The leading half of a number's digits: the product of two such is exact.
inline Value head_of(const Value& a) {
  const FloatFormat& format = format_of(a);
  const int64_t mask = -(int64_t(1) << ((format.mantissa_bits + 2) / 2));
  return bitcast(bitcast(a, format.word) & mask, format.type);
}

}  // namespace whit
