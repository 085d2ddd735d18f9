#include "codegen/affine.h"

namespace whit {

namespace {

void collect(const Node* node, int64_t factor, Affine& sum) {
  if (!node->open) return;
  if (node->op == Op::Range) {
    for (auto& [number, coefficient] : sum.terms)
      if (number == node->range_number()) {
        coefficient += factor;
        return;
      }
    sum.terms.emplace_back(node->range_number(), factor);
  } else if (node->op == Op::Add) {
    collect(node->source(0), factor, sum);
    collect(node->source(1), factor, sum);
  } else if (node->op == Op::Mul && node->source(1)->is_constant()) {
    collect(node->source(0), factor * node->source(1)->arg(0), sum);
  } else if (node->op == Op::Neg) {
    collect(node->source(0), -factor, sum);
  } else {
    sum.other |= node->open;
  }
}

}  // namespace

bool Affine::stride(const Node* range, int64_t& step) const {
  step = 0;
  if (other >> range->range_number() & 1) return false;
  for (const auto& [number, coefficient] : terms)
    if (number == range->range_number()) step = coefficient;
  return true;
}

Affine affine(const Node* index) {
  Affine sum;
  collect(index, 1, sum);
  return sum;
}

}  // namespace whit
