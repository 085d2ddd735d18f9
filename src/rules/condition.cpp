#include "rules/condition.h"

#include "ir/interval.h"

namespace whit {

bool Conjunction::add(const Node* condition, bool negated) {
  Atom stack[kMaxAtoms];
  size_t depth = 0;
  stack[depth++] = {condition, negated};
  while (depth > 0) {
    const Atom atom = stack[--depth];
    const Node* node = atom.node;
    if (node->is_constant() && (node->arg(0) != 0) != atom.negated) continue;  // true
    if (node->op == Op::Xor && node->source(1)->is_constant(1)) {
      stack[depth++] = {node->source(0), !atom.negated};
    } else if (node->op == (atom.negated ? Op::Or : Op::And)) {
      if (depth + 2 > kMaxAtoms) return false;
      stack[depth++] = {node->source(1), atom.negated};
      stack[depth++] = {node->source(0), atom.negated};
    } else {
      if (count == kMaxAtoms) return false;
      atoms[count++] = atom;
    }
  }
  return true;
}

bool Conjunction::add(const Conjunction& other) {
  for (size_t i = 0; i < other.count; ++i)
    if (!add(other.atoms[i].node, other.atoms[i].negated)) return false;
  return true;
}

const Node* Conjunction::build(Graph& graph) const {
  const Node* result = nullptr;
  for (size_t i = 0; i < count; ++i) result = graph.both(result, whit::build(graph, atoms[i]));
  return result;
}

const Node* build(Graph& graph, Atom atom) { return atom.negated ? graph.make(Op::Xor, {atom.node, graph.boolean(true)}) : atom.node; }

bool fits(const Node* index, DType type) {
  if (type == DType::index || type == DType::int64) return true;
  if (!is_integer(type)) return false;
  if (type == DType::uint64) return index->minimum >= 0;
  const Interval all = interval_of(type);
  return index->minimum >= all.minimum && index->maximum <= all.maximum;
}

const Node* as_index(Graph& graph, const Node* node) {
  if (node->dtype == DType::index) return node;
  if (node->is_constant()) return graph.index(node->arg(0));
  if (node->op == Op::Cast && node->source(0)->dtype == DType::index && fits(node->source(0), node->dtype)) return node->source(0);
  return graph.cast(node, DType::index);
}

bool as_sum(Graph& graph, Atom atom, AffineSum& sum, bool& equality) {
  const Node* node = atom.node;
  if (node->op != Op::Less && node->op != Op::NotEqual) return false;
  const DType type = node->source(0)->dtype;
  equality = node->op == Op::NotEqual;
  // As index, great unsigned values turn negative: equality does not mind, order does.
  if (!is_integer(type) || (equality && !atom.negated) || (!equality && type == DType::uint64)) return false;
  // !(a < b) is b - a - 1 < 0.
  const bool reversed = !equality && atom.negated;
  const Node *a = as_index(graph, node->source(0)), *b = as_index(graph, node->source(1));
  if (!sum.add(a, reversed ? -1 : 1) || !sum.add(b, reversed ? 1 : -1)) return false;
  if (reversed && __builtin_sub_overflow(sum.constant, 1, &sum.constant)) return false;
  sum.normalise();
  return true;
}

bool solve(Graph& graph, Atom atom, const Node* range, Solved& solved) {
  AffineSum sum;
  if (!as_sum(graph, atom, sum, solved.equality)) return false;
  solved.factor = 0;
  solved.rest.constant = sum.constant;
  for (size_t i = 0; i < sum.count; ++i) {
    const auto& [node, factor] = sum.terms[i];
    if (node == range)
      solved.factor = factor;
    else if (node->open & range->open)
      return false;
    else
      solved.rest.terms[solved.rest.count++] = {node, factor};
  }
  return solved.factor != 0;
}

}  // namespace whit
