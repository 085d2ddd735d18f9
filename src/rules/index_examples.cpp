// Random graphs that the function rows of index.cpp are for.
#include "rules/index_functions.h"

namespace whit::index_rewrites {

namespace {

const Node* leaf(Random& random, Graph& graph) {
  switch (random.next() % 4) {
    case 0: return graph.index(random.between(-4, 12));
    case 1: {
      const int64_t low = random.between(-6, 3);
      return graph.make(Op::Variable, {}, {name_id("v" + std::to_string(random.between(0, 2))), low, low + random.between(0, 12)},
                        DType::index);
    }
    default: return graph.range(random.between(0, 5), random.between(1, 8), AxisKind::loop);
  }
}

const int64_t kFactors[] = {-1, 1, 2, 3, 4, 6, 8, 12, 24};

const Node* scaled(Random& random, Graph& graph) { return graph.mul(leaf(random, graph), graph.index(random.pick(kFactors))); }

const Node* sum(Random& random, Graph& graph) {
  const Node* result = scaled(random, graph);
  for (int64_t terms = random.between(1, 3); terms > 0; --terms) result = graph.add(result, scaled(random, graph));
  return result;
}

// A symbolic size, and a range that counts to it.
const Node* size(Graph& graph) { return graph.make(Op::Variable, {}, {name_id("n"), 1, 9}, DType::index); }
const Node* counter(Graph& graph) { return graph.range(7, size(graph), AxisKind::loop); }

const Node* by_size(Random& random, Graph& graph, Op op) {
  const Node* rest = random.coin() ? counter(graph) : graph.make(Op::Remainder, {leaf(random, graph), size(graph)});
  const Node* multiple = graph.mul(random.coin() ? leaf(random, graph) : scaled(random, graph), size(graph));
  switch (random.next() % 4) {
    case 0: return graph.make(op, {rest, size(graph)});
    case 1: return graph.make(op, {multiple, size(graph)});
    case 2: return graph.make(op, {graph.add(size(graph), rest), size(graph)});
    default: return graph.make(op, {graph.add(multiple, rest), size(graph)});
  }
}

const Node* divisor(Random& random, Graph& graph) {
  const int64_t divisors[] = {2, 3, 4, 6, 8, 12, 24};
  return graph.index(random.pick(divisors));
}

}  // namespace

const Node* random_index(Random& random, Graph& graph, int size) {
  if (size <= 1) return leaf(random, graph);
  const int left = int(random.between(1, size - 1));
  const Node* a = random_index(random, graph, left);
  switch (random.next() % 10) {
    case 0:
    case 1:
    case 2:
    case 3: return graph.add(a, random_index(random, graph, size - left));
    case 4:
    case 5: return graph.mul(a, graph.index(random.pick(kFactors)));
    case 6: return graph.make(Op::Quotient, {a, divisor(random, graph)});
    case 7: return graph.make(Op::Remainder, {a, divisor(random, graph)});
    case 8: return graph.make(random.coin() ? Op::Max : Op::Min, {a, random_index(random, graph, size - left)});
    default: return graph.where(graph.less(a, random_index(random, graph, size - left)), leaf(random, graph), leaf(random, graph));
  }
}

const Node* example_known(Random& random, Graph& graph) {
  const Node* one = graph.range(random.between(0, 3), 1, AxisKind::loop);
  return random.coin() ? graph.mul(one, scaled(random, graph))
                       : graph.less(graph.range(4, random.between(1, 5), AxisKind::loop), graph.index(5));
}

const Node* example_known_source(Random& random, Graph& graph) {
  return graph.add(scaled(random, graph), graph.range(random.between(0, 3), 1, AxisKind::loop));
}

const Node* example_sum(Random& random, Graph& graph) {
  const Node* a = sum(random, graph);
  const Node* b = random.coin() ? sum(random, graph) : random_index(random, graph, 5);
  switch (random.next() % 4) {
    case 0: return graph.make(Op::Neg, {graph.add(a, b)});
    case 1: return graph.mul(graph.add(a, b), graph.index(random.pick(kFactors)));
    case 2: {
      const Node *c = divisor(random, graph), *scale = graph.index(random.between(1, 3));
      const Node* quotient = graph.make(Op::Quotient, {b, c});
      return graph.add(graph.add(graph.mul(graph.make(Op::Remainder, {b, c}), scale), a), graph.mul(quotient, graph.mul(c, scale)));
    }
    default: return graph.add(a, b);
  }
}

const Node* example_product(Random& random, Graph& graph) { return graph.mul(leaf(random, graph), leaf(random, graph)); }

const Node* example_extremum(Random& random, Graph& graph) {
  const Node* a = sum(random, graph);
  const Node* b = random.coin() ? graph.add(a, graph.range(6, random.between(1, 9), AxisKind::loop)) : sum(random, graph);
  return graph.make(random.coin() ? Op::Max : Op::Min, {a, b});
}

const Node* example_quotient_by_size(Random& random, Graph& graph) { return by_size(random, graph, Op::Quotient); }
const Node* example_remainder_by_size(Random& random, Graph& graph) { return by_size(random, graph, Op::Remainder); }

const Node* example_less(Random& random, Graph& graph) {
  if (random.next() % 4 == 0) {
    const Node *low = graph.mul(counter(graph), graph.index(random.between(-2, 2))),
               *high = graph.add(graph.mul(size(graph), graph.index(random.between(-2, 2))), graph.index(random.between(-1, 1)));
    return random.coin() ? graph.less(low, high) : graph.less(high, low);
  }
  return graph.less(sum(random, graph), random.coin() ? sum(random, graph) : graph.index(random.between(-8, 40)));
}

const Node* example_not_equal(Random& random, Graph& graph) {
  return graph.make(Op::NotEqual, {sum(random, graph), random.coin() ? sum(random, graph) : graph.index(random.between(-8, 40))});
}

const Node* example_quotient(Random& random, Graph& graph) {
  return graph.make(Op::Quotient, {random.coin() ? sum(random, graph) : random_index(random, graph, 6), divisor(random, graph)});
}

const Node* example_remainder(Random& random, Graph& graph) {
  return graph.make(Op::Remainder, {random.coin() ? sum(random, graph) : random_index(random, graph, 6), divisor(random, graph)});
}

}  // namespace whit::index_rewrites
