#include "rules/affine_sum.h"

#include <algorithm>
#include <numeric>

namespace whit {

namespace {

bool multiply_into(int64_t& a, int64_t b) { return !__builtin_mul_overflow(a, b, &a); }

__int128 clamp(__int128 value, __int128 low, __int128 high) { return std::clamp(value, low, high); }

// The divisor if the node divides (by `op`) by a positive constant, else 0.
int64_t divisor_of(const Node* node, Op op) {
  return node->op == op && node->source(1)->is_constant() && node->source(1)->arg(0) > 0 ? node->source(1)->arg(0) : 0;
}

}  // namespace

bool AffineSum::add_term(const Node* node, int64_t factor) {
  for (size_t i = 0; i < count; ++i)
    if (terms[i].node == node) return !__builtin_add_overflow(terms[i].factor, factor, &terms[i].factor);
  if (count == kMaxTerms) return false;
  terms[count++] = {node, factor};
  return true;
}

bool AffineSum::add(const Node* node, int64_t factor) {
  // Every op on the way adds a term or a constant, or is one of few in a row: the walk is short.
  struct Part {
    const Node* node;
    int64_t factor;
  };
  Part stack[2 * kMaxTerms];
  size_t depth = 0;
  stack[depth++] = {node, factor};
  while (depth > 0) {
    const Part part = stack[--depth];
    switch (part.node->op) {
      case Op::Const: {
        int64_t value = part.node->arg(0);
        if (!multiply_into(value, part.factor) || __builtin_add_overflow(constant, value, &constant)) return false;
        break;
      }
      case Op::Add:
        if (depth + 2 > std::size(stack)) return false;
        stack[depth++] = {part.node->source(1), part.factor};
        stack[depth++] = {part.node->source(0), part.factor};
        break;
      case Op::Neg: {
        int64_t negated = part.factor;
        if (!multiply_into(negated, -1)) return false;
        stack[depth++] = {part.node->source(0), negated};
        break;
      }
      case Op::Mul:
        if (part.node->source(1)->is_constant()) {
          int64_t product = part.factor;
          if (!multiply_into(product, part.node->source(1)->arg(0))) return false;
          stack[depth++] = {part.node->source(0), product};
          break;
        }
        [[fallthrough]];
      default:
        if (!add_term(part.node, part.factor)) return false;
    }
  }
  return true;
}

bool comes_before(const Node* a, const Node* b) {
  if (a == b) return false;
  if (a->open != b->open) {
    const int inner_a = 64 - std::countl_zero(a->open), inner_b = 64 - std::countl_zero(b->open);
    if (inner_a != inner_b) return inner_a < inner_b;
    return a->open < b->open;
  }
  return a->hash != b->hash ? a->hash < b->hash : a->id < b->id;
}

void AffineSum::normalise() {
  count = size_t(std::remove_if(terms, terms + count, [](const Term& term) { return term.factor == 0; }) - terms);
  std::sort(terms, terms + count, [](const Term& a, const Term& b) { return comes_before(a.node, b.node); });
}

bool AffineSum::recombine() {
  bool changed = false;
  for (size_t i = 0; i < count; ++i) {
    const int64_t c = divisor_of(terms[i].node, Op::Remainder), f = terms[i].factor;
    int64_t carried = f;
    if (c == 0 || f == 0 || !multiply_into(carried, c)) continue;
    const Node* value = terms[i].node->source(0);
    for (size_t j = 0; j < count; ++j) {
      if (terms[j].factor != carried) continue;
      const Node* other = terms[j].node;
      // (x % c) * f + (x / c) * (c * f) = x * f
      if (divisor_of(other, Op::Quotient) != c || other->source(0) != value) continue;
      terms[i].factor = terms[j].factor = 0;
      if (!add(value, f)) return false;
      changed = true;
      break;
    }
  }
  if (changed) normalise();
  return true;
}

bool counts_below(const Node* value, const Node* limit) {
  if (value->minimum < 0) return false;
  if (value->maximum < limit->minimum) return true;
  if (value->op == Op::Range) return value->source(0) == limit;
  return value->op == Op::Remainder && value->source(1) == limit && limit->minimum > 0;
}

Interval AffineSum::interval() const {
  constexpr __int128 beyond = __int128(1) << 100;
  __int128 low = constant, high = constant;
  int64_t factors[kMaxTerms];
  for (size_t i = 0; i < count; ++i) factors[i] = terms[i].factor;
  // f * (range - size) <= -f: what the factors of a range and its symbolic size have in common is bounded together.
  for (size_t i = 0; i < count; ++i) {
    if (terms[i].node->op != Op::Range || terms[i].node->source(0)->is_constant()) continue;
    for (size_t j = 0; j < count; ++j) {
      if (terms[j].node != terms[i].node->source(0) || (factors[i] > 0) == (factors[j] > 0)) continue;
      const int64_t f = factors[i] > 0 ? std::min(factors[i], -factors[j]) : std::max(factors[i], -factors[j]);
      const __int128 near = -__int128(f), far = -__int128(f) * terms[j].node->maximum;
      low += std::min(near, far);
      high += std::max(near, far);
      factors[i] -= f;
      factors[j] += f;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const __int128 a = __int128(terms[i].node->minimum) * factors[i], b = __int128(terms[i].node->maximum) * factors[i];
    // Far outside int64 it does not matter how far, and the sum must not wrap.
    low += clamp(std::min(a, b), -beyond, beyond);
    high += clamp(std::max(a, b), -beyond, beyond);
  }
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), greatest = std::numeric_limits<int64_t>::max();
  return {int64_t(clamp(low, least, greatest)), int64_t(clamp(high, least, greatest))};
}

int64_t AffineSum::common_factor() const {
  int64_t common = 0;
  for (size_t i = 0; i < count; ++i)
    if (terms[i].factor != std::numeric_limits<int64_t>::min()) common = std::gcd(common, terms[i].factor);
  return common;
}

bool AffineSum::is(const Node* node) const {
  if (count == 0) return node->is_constant() && node->arg(0) == constant;
  if (constant != 0) {
    if (node->op != Op::Add || !node->source(1)->is_constant() || node->source(1)->arg(0) != constant) return false;
    node = node->source(0);
  }
  for (size_t i = count; i-- > 0;) {
    const Node* term = node;
    if (i > 0) {
      if (node->op != Op::Add) return false;
      term = node->source(1);
      node = node->source(0);
    }
    const auto& [expected, factor] = terms[i];
    if (factor == 0) return false;
    if (factor == 1 ? term != expected : term->op != (factor == -1 ? Op::Neg : Op::Mul) || term->source(0) != expected) return false;
    if (factor != 1 && factor != -1 && (!term->source(1)->is_constant() || term->source(1)->arg(0) != factor)) return false;
  }
  return true;
}

const Node* AffineSum::build(Graph& graph) const {
  const Node* sum = nullptr;
  for (size_t i = 0; i < count; ++i) {
    const auto& [node, factor] = terms[i];
    if (factor == 0) continue;
    const Node* term = factor == 1 ? node : factor == -1 ? graph.make(Op::Neg, {node}) : graph.mul(node, graph.index(factor));
    sum = sum ? graph.add(sum, term) : term;
  }
  if (!sum) return graph.index(constant);
  return constant ? graph.add(sum, graph.index(constant)) : sum;
}

}  // namespace whit
