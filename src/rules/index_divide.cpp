// Quotient and remainder of an affine sum by a positive constant.
//
// Quotient truncates. Where the dividend cannot be negative that is rounding down, and rounding down is what makes
// (c*m + r) / c = m + r/c true for every m and r. So below, every dividend that is built again must be provably not negative.
#include <numeric>

#include "rules/affine_sum.h"
#include "rules/index_functions.h"

namespace whit::index_rewrites {

namespace {

// A division of `sum` by `divisor` > 0, and what is asked of it.
struct Division {
  Graph& graph;
  const Node* dividend;
  int64_t divisor;
  bool wants_quotient;
  AffineSum sum{};

  const Node* divide(const Node* value, int64_t by) const {
    return graph.make(wants_quotient ? Op::Quotient : Op::Remainder, {value, graph.index(by)});
  }
  const Node* add(const Node* value, int64_t constant) const { return constant ? graph.add(value, graph.index(constant)) : value; }
};

// Where all of the dividend's interval has one quotient.
const Node* by_interval(const Division& d) {
  const int64_t quotient = d.dividend->minimum / d.divisor;
  if (quotient != d.dividend->maximum / d.divisor) return nullptr;
  if (d.wants_quotient) return d.graph.index(quotient);
  return quotient ? d.add(d.dividend, -quotient * d.divisor) : d.dividend;
}

// Every term is a multiple of the divisor: this needs no sign.
const Node* exactly(const Division& d) {
  if (d.sum.constant % d.divisor) return nullptr;
  for (size_t i = 0; i < d.sum.count; ++i)
    if (d.sum.terms[i].factor % d.divisor) return nullptr;
  if (!d.wants_quotient) return d.graph.index(0);
  AffineSum result = d.sum;
  result.constant /= d.divisor;
  for (size_t i = 0; i < result.count; ++i) result.terms[i].factor /= d.divisor;
  return result.build(d.graph);
}

// How a factor f is divided by c: f = c*q + r.
enum class Rounding { towards_zero, down, nearest };

// Splits the sum into divisor * multiple + rest; the constant of the rest is in [0, divisor).
void split(const Division& d, Rounding rounding, AffineSum& multiple, AffineSum& rest) {
  for (size_t i = 0; i < d.sum.count; ++i) {
    const auto& [node, factor] = d.sum.terms[i];
    int64_t quotient = rounding == Rounding::towards_zero ? factor / d.divisor : floor_quotient(factor, d.divisor);
    int64_t remainder = factor - quotient * d.divisor;
    if (rounding == Rounding::nearest && remainder > d.divisor - remainder) {
      ++quotient;
      remainder -= d.divisor;
    }
    if (quotient) multiple.terms[multiple.count++] = {node, quotient};
    if (remainder) rest.terms[rest.count++] = {node, remainder};
  }
  multiple.constant = floor_quotient(d.sum.constant, d.divisor);
  rest.constant = floor_remainder(d.sum.constant, d.divisor);
}

// Multiples of the divisor leave the quotient and vanish from the remainder.
const Node* by_congruence(const Division& d, Rounding rounding) {
  AffineSum multiple, rest;
  split(d, rounding, multiple, rest);
  if (multiple.count == 0 && multiple.constant == 0) return nullptr;
  const Interval range = rest.interval();
  const int64_t period = floor_quotient(range.minimum, d.divisor);
  if (period == floor_quotient(range.maximum, d.divisor)) {
    if (d.wants_quotient) {
      multiple.constant += period;
      return multiple.build(d.graph);
    }
    if (__builtin_sub_overflow(rest.constant, period * d.divisor, &rest.constant)) return nullptr;
    return rest.build(d.graph);
  }
  // Of the roundings only the one that makes every factor smaller may leave a division, else two could take turns.
  if (range.minimum < 0 || rounding != Rounding::towards_zero) return nullptr;
  const Node* minor = d.divide(rest.build(d.graph), d.divisor);
  if (!d.wants_quotient) return minor;
  return multiple.count || multiple.constant ? d.graph.add(multiple.build(d.graph), minor) : minor;
}

// All factors and the divisor have a common factor g: x / c = (x/g) / (c/g), where x/g is again affine.
const Node* by_common_factor(const Division& d) {
  const int64_t common = std::gcd(d.sum.common_factor(), d.divisor);
  if (common <= 1) return nullptr;
  AffineSum inner = d.sum;
  for (size_t i = 0; i < inner.count; ++i) inner.terms[i].factor /= common;
  inner.constant = floor_quotient(d.sum.constant, common);
  if (inner.interval().minimum < 0) return nullptr;
  const Node* result = d.divide(inner.build(d.graph), d.divisor / common);
  if (d.wants_quotient) return result;
  return d.add(d.graph.mul(result, d.graph.index(common)), floor_remainder(d.sum.constant, common));
}

// One factor f divides the divisor, and the terms that are no multiples of f stay below it: digits of a mixed radix.
const Node* by_digits(const Division& d) {
  for (size_t i = 0; i < d.sum.count; ++i) {
    const int64_t f = d.sum.terms[i].factor;
    if (f <= 1 || f >= d.divisor || d.divisor % f) continue;
    AffineSum high, low;
    split({d.graph, d.dividend, f, d.wants_quotient, d.sum}, Rounding::down, high, low);
    const Interval digits = low.interval();
    if (digits.minimum < 0 || digits.maximum >= f || high.interval().minimum < 0) continue;
    const Node* result = d.divide(high.build(d.graph), d.divisor / f);
    if (d.wants_quotient) return result;
    return d.graph.add(d.graph.mul(result, d.graph.index(f)), low.build(d.graph));
  }
  return nullptr;
}

// (x/a + k) / c = (x + k*a) / (a*c).
const Node* by_inner_quotient(const Division& d) {
  if (!d.wants_quotient || d.sum.count != 1 || d.sum.terms[0].factor != 1 || d.sum.constant == 0) return nullptr;
  const Node* inner = d.sum.terms[0].node;
  if (inner->op != Op::Quotient || !inner->source(1)->is_constant() || inner->source(0)->minimum < 0) return nullptr;
  const int64_t a = inner->source(1)->arg(0);
  int64_t moved = 0, divisor = 0;
  if (a <= 0 || __builtin_mul_overflow(d.sum.constant, a, &moved) || __builtin_mul_overflow(a, d.divisor, &divisor)) return nullptr;
  const Node* dividend = d.add(inner->source(0), moved);
  return dividend->minimum >= 0 ? d.divide(dividend, divisor) : nullptr;
}

// In a remainder, u % (k*c) is as good as u.
const Node* by_inner_remainder(const Division& d) {
  if (d.wants_quotient) return nullptr;
  AffineSum opened;
  opened.constant = d.sum.constant;
  bool changed = false;
  for (size_t i = 0; i < d.sum.count; ++i) {
    const auto& [node, factor] = d.sum.terms[i];
    const bool opens = node->op == Op::Remainder && node->source(1)->is_constant() && node->source(1)->arg(0) > 0 &&
                       node->source(1)->arg(0) % d.divisor == 0;
    changed |= opens;
    if (!opened.add(opens ? node->source(0) : node, factor)) return nullptr;
  }
  if (!changed) return nullptr;
  opened.normalise();
  return opened.interval().minimum >= 0 ? d.divide(opened.build(d.graph), d.divisor) : nullptr;
}

const Node* divide(const Match& match, Graph& graph, bool wants_quotient) {
  Division d{graph, match.root->source(0), match.root->source(1)->arg(0), wants_quotient};
  if (d.divisor <= 1) return nullptr;
  if (const Node* result = by_interval(d)) return result;
  if (!d.sum.add(d.dividend, 1)) return nullptr;
  d.sum.normalise();
  if (const Node* result = exactly(d)) return result;
  if (d.dividend->minimum < 0 && d.sum.interval().minimum < 0) return nullptr;
  for (const Rounding rounding : {Rounding::towards_zero, Rounding::down, Rounding::nearest})
    if (const Node* result = by_congruence(d, rounding)) return result;
  for (const auto attempt : {by_inner_remainder, by_common_factor, by_digits, by_inner_quotient})
    if (const Node* result = attempt(d)) return result;
  return nullptr;
}

// x = size * multiple + rest, where 0 <= rest < size: then multiple is the quotient and rest the remainder.
const Node* divide_by_size(const Match& match, Graph& graph, bool wants_quotient) {
  const Node *dividend = match.root->source(0), *size = match.root->source(1);
  AffineSum sum, multiple, rest;
  if (size->is_constant() || size->minimum < 0 || !sum.add(dividend, 1)) return nullptr;
  for (size_t i = 0; i < sum.count; ++i) {
    const auto& [node, factor] = sum.terms[i];
    const size_t side = node->op == Op::Mul && node->source(1) == size ? 0 : 1;
    if (node == size)
      multiple.constant += factor;
    else if (node->op == Op::Mul && node->source(1 - side) == size)
      multiple.add(node->source(side), factor);
    else
      rest.terms[rest.count++] = {node, factor};
  }
  rest.constant = sum.constant;
  const bool nothing_left = rest.count == 0 && rest.constant == 0;
  const bool one_left = rest.count == 1 && rest.constant == 0 && rest.terms[0].factor == 1 && counts_below(rest.terms[0].node, size);
  const Interval range = rest.interval();
  if (!nothing_left && !one_left && (range.minimum < 0 || range.maximum >= size->minimum)) return nullptr;
  // A quotient by 0 is 0; and rounding towards zero goes the other way below it.
  if ((wants_quotient && size->minimum < 1) || (!nothing_left && dividend->minimum < 0 && multiple.interval().minimum < 0)) return nullptr;
  multiple.normalise();
  return wants_quotient ? multiple.build(graph) : rest.build(graph);
}

}  // namespace

const Node* quotient_by_size(const Match& match, Graph& graph) { return divide_by_size(match, graph, true); }
const Node* remainder_by_size(const Match& match, Graph& graph) { return divide_by_size(match, graph, false); }
const Node* quotient(const Match& match, Graph& graph) { return divide(match, graph, true); }
const Node* remainder(const Match& match, Graph& graph) { return divide(match, graph, false); }

}  // namespace whit::index_rewrites
