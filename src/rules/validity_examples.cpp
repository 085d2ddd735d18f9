// Random expressions that the rows of validity.cpp are for.
#include "rules/validity_functions.h"

namespace whit::validity {

namespace {

const Node* range(Random& random, Graph& graph) {
  const int64_t number = random.between(0, 2);
  return graph.range(number, 6 + 2 * number, AxisKind::loop);
}
const Node* storage(Graph& graph, int64_t size, DType type = DType::float32) {
  return graph.make(Op::Param, {}, {0, size, kNoDevice}, type);
}

// A bound on one of few sums, so that two bounds are often on the same.
const Node* bound(Random& random, Graph& graph) {
  const Node* a = graph.range(0, 8, AxisKind::loop);
  const Node* sum = random.coin() ? a : graph.add(a, graph.mul(graph.range(1, 3, AxisKind::loop), graph.index(2)));
  const Node* limit = graph.index(random.between(0, 10));
  const Node* result = random.coin() ? graph.less(sum, limit) : graph.less(limit, sum);
  return random.next() % 3 ? result : graph.make(Op::Xor, {result, graph.boolean(true)});
}

// Within [0, 40) where the ranges are; simpler under a bound on one of them.
const Node* index_under(Random& random, Graph& graph, const Node*& gate) {
  const Node* a = graph.range(0, 8, AxisKind::loop);
  const int64_t limit = random.between(1, 7);
  gate = random.coin() ? graph.less(a, graph.index(limit)) : graph.less(graph.index(limit - 1), a);
  if (random.coin()) gate = graph.make(Op::And, {gate, graph.less(range(random, graph), graph.index(3))});
  const Node* shifted = graph.add(a, graph.index(random.between(0, 4)));
  const Node* divisor = graph.index(random.between(2, 6));
  switch (random.next() % 3) {
    case 0: return graph.make(Op::Remainder, {shifted, divisor});
    case 1: return graph.add(graph.make(Op::Quotient, {shifted, divisor}), a);
    default: return graph.make(Op::Min, {a, graph.index(limit)});
  }
}

}  // namespace

const Node* example_always(Random& random, Graph& graph) {
  return graph.make(Op::Load, {storage(graph, 16), range(random, graph), graph.boolean(true)});
}

const Node* example_store_always(Random& random, Graph& graph) {
  return graph.make(Op::Store, {storage(graph, 16), range(random, graph), graph.constant(DType::float32, 1), graph.boolean(true)});
}

const Node* example_never(Random& random, Graph& graph) {
  return graph.make(Op::Load, {storage(graph, 16), range(random, graph), graph.boolean(false)});
}

const Node* example_and(Random& random, Graph& graph) {
  const Node* conditions = graph.make(Op::And, {bound(random, graph), bound(random, graph)});
  return random.coin() ? conditions : graph.make(Op::And, {conditions, bound(random, graph)});
}

const Node* example_or(Random& random, Graph& graph) {
  const Node* conditions = graph.make(Op::Or, {bound(random, graph), bound(random, graph)});
  return random.coin() ? conditions : graph.make(Op::Or, {conditions, bound(random, graph)});
}

const Node* example_choice(Random& random, Graph& graph) {
  const Node* condition = random.coin() ? example_and(random, graph) : graph.less(graph.range(0, 8, AxisKind::loop), graph.index(4));
  // The gate keeps the index within the storage.
  const Node* first = graph.range(0, 8, AxisKind::loop);
  const Node* gated = graph.make(Op::Load, {storage(graph, 4, DType::int32), first, graph.less(first, graph.index(4))});
  const auto value = [&] { return random.next() % 4 ? graph.cast(range(random, graph), DType::int32) : gated; };
  const Node* part = random.coin() && condition->op == Op::And ? condition->source(1) : condition;
  const Node* inner = graph.add(graph.where(part, value(), value()), value());
  return random.coin() ? graph.where(condition, inner, value()) : graph.where(condition, value(), inner);
}

const Node* example_gated(Random& random, Graph& graph) {
  const Node* gate = nullptr;
  const Node* index = index_under(random, graph, gate);
  return graph.make(Op::Load, {storage(graph, 40), index, gate});
}

const Node* example_gated_store(Random& random, Graph& graph) {
  const Node* gate = nullptr;
  const Node* index = index_under(random, graph, gate);
  return graph.make(Op::Store, {storage(graph, 40), index, graph.constant(DType::float32, 2), gate});
}

const Node* example_needless(Random& random, Graph& graph) {
  const Node *gate = bound(random, graph), *other = bound(random, graph);
  const Node* load = graph.make(Op::Load, {storage(graph, 16), range(random, graph), gate});
  return graph.where(random.coin() ? gate : graph.make(Op::And, {gate, other}), load, graph.constant(DType::float32, 3));
}

}  // namespace whit::validity
