// Gradients of casts, reductions and the ops of tensor structure.
#include "rules/gradient_functions.h"

#include <numeric>

#include "base/error.h"

namespace whit::gradients {

namespace {

// Equal elements share the gradient of the greatest (or least) equally.
const Node* shared_by_equals(Graph& graph, const Node* node, const Node* dy) {
  const Node* source = node->source(0);
  const DType type = accumulation_type(dy->dtype);
  const Node* differs = graph.make(Op::NotEqual, {source, expanded(graph, node, source->shape())});
  const Node* one = graph.where(differs, graph.constant(type, 0), graph.constant(type, 1));
  const Node* count = summed(graph, one, node->args().subspan(1));
  const Node* share = graph.cast(graph.make(Op::Divide, {graph.cast(dy, type), count}), dy->dtype);
  return graph.where(differs, graph.constant(dy->dtype, 0), expanded(graph, share, source->shape()));
}

// The gradient of an element of a product is the product of the others. With `rest` the product of all that are not zero, `sum` the sum
// of all that are, and an element taken out of both: no other zero leaves rest, one leaves rest * sum, more leave 0. In that form (the
// sum is 0, but its gradient is not) the second derivative is right at zeros too.
const Node* product_of_others(Graph& graph, const Node* node, const Node* dy) {
  const DType type = accumulation_type(dy->dtype);
  const Node* value = graph.cast(node->source(0), type);
  const ShapeView shape = value->shape();
  const Node *zero = graph.constant(type, 0), *one = graph.constant(type, 1);
  const Node* regular = graph.make(Op::NotEqual, {value, zero});
  const Node* factor = graph.where(regular, value, one);
  const Node* term = graph.where(regular, zero, value);
  const Node* counted = graph.where(regular, zero, one);
  const Node* rest = graph.make(Op::Reduce, Sources(&factor, 1), node->args());
  const auto of_others = [&](const Node* each) {
    return graph.sub(expanded(graph, summed(graph, each, node->args().subspan(1)), shape), each);
  };
  const Node* zeros = of_others(counted);
  const Node* several = graph.where(graph.less(one, zeros), zero, of_others(term));
  const Node* scale = graph.where(graph.less(zeros, one), one, several);
  const Node* others = graph.mul(graph.make(Op::Divide, {expanded(graph, rest, shape), factor}), scale);
  return graph.cast(graph.mul(expanded(graph, graph.cast(dy, type), shape), others), dy->dtype);
}

// The movement ops from an Assign's old version (or the storage below it) to the view that is written, last first.
struct View {
  const Node* base;
  std::vector<const Node*> chain;
};
View written_view(const Node* node) {
  View view{node->source(2), {}};
  for (; view.base != node->source(0) && has(view.base->op, movement); view.base = view.base->source(0)) view.chain.push_back(view.base);
  return view;
}

// A value of the base's shape, moved as the view moves its base.
const Node* through(Graph& graph, const View& view, const Node* value) {
  value = reshaped(graph, value, view.base->shape());
  for (size_t i = view.chain.size(); i-- > 0;) {
    std::vector<const Node*> sources(view.chain[i]->sources().begin(), view.chain[i]->sources().end());
    sources[0] = value;
    value = graph.make(view.chain[i]->op, sources, view.chain[i]->args());
  }
  return value;
}

// What is moved back to the base from a value of the view's shape.
const Node* back_through(Graph& graph, const View& view, const Node* value) {
  for (const Node* step : view.chain) value = of_source(graph, step, value, 0);
  return value;
}

}  // namespace

const Node* cast(Graph& graph, const Node* node, const Node* dy, size_t) { return graph.cast(dy, node->source(0)->dtype); }

const Node* reduce(Graph& graph, const Node* node, const Node* dy, size_t) {
  if (node->reduce_op() == Op::Add) return expanded(graph, dy, node->source(0)->shape());
  return node->reduce_op() == Op::Mul ? product_of_others(graph, node, dy) : shared_by_equals(graph, node, dy);
}

// A scan from the end: out[i] folds i … n-1.
static const Node* scan_back(Graph& graph, Op op, int64_t axis, std::initializer_list<const Node*> values) {
  std::vector<const Node*> flipped;
  for (const Node* value : values) flipped.push_back(graph.make(Op::Flip, {value}, {axis}));
  return graph.make(Op::Flip, {graph.make(Op::Scan, flipped, std::array{int64_t(op), axis})}, {axis});
}

// Element i of the result is element i - steps of x; `fill` stands where there is none.
static const Node* shifted(Graph& graph, const Node* x, int64_t axis, int64_t steps, double fill) {
  const int64_t size = x->shape()[size_t(axis)].size, count = std::abs(steps);
  std::vector<int64_t> kept, around(2 * x->rank, 0);
  for (const Dim& dim : x->shape()) kept.insert(kept.end(), {0, dim.size});
  kept[size_t(2 * axis)] = steps < 0 ? count : 0;
  kept[size_t(2 * axis) + 1] = size - count;
  around[size_t(2 * axis) + (steps < 0 ? 1 : 0)] = count;
  const auto move = [&](Op op, const Node* from, Args args) { return graph.make(op, Sources(&from, 1), args); };
  const Node* moved = move(Op::Pad, move(Op::Shrink, x, kept), around);
  if (fill == 0) return moved;
  const Node* position = graph.make(Op::Iota, Sources{}, Args(&size, 1));
  std::vector<int64_t> line(x->rank, 1), whole;
  line[size_t(axis)] = size;
  for (const Dim& dim : x->shape()) whole.push_back(dim.size);
  position = move(Op::Expand, move(Op::Reshape, position, line), whole);
  const Node* outside = graph.less(position, graph.index(count));
  return graph.where(outside, graph.constant(x->dtype, fill), moved);
}

// With s[i] the sum over j >= i of dy[j] * (the product of x between i and j, i left out), a product's gradient is s[i] times the product
// of the elements before i: nothing is divided, so zeros do no harm. Both are linear recurrences, which a scan by MulAdd computes.
const Node* scan(Graph& graph, const Node* node, const Node* dy, size_t source) {
  const int64_t axis = node->arg(1);
  const Node* x = node->source(0);
  switch (node->reduce_op()) {
    case Op::Add: return scan_back(graph, Op::Add, axis, {dy});
    case Op::Mul:
      return graph.mul(shifted(graph, node, axis, 1, 1), scan_back(graph, Op::MulAdd, axis, {shifted(graph, x, axis, -1, 0), dy}));
    case Op::MulAdd: {
      const Node* reaching = scan_back(graph, Op::MulAdd, axis, {shifted(graph, x, axis, -1, 0), dy});
      return source == 1 ? reaching : graph.mul(reaching, shifted(graph, node, axis, 1, 0));
    }
    default: WHIT_ASSERT(false, "a Scan by ", name(node->reduce_op()), " has no gradient"); return nullptr;
  }
}

// out[… i …] = x[… index[… i …] …] along the axis, 0 where the index lies outside: the sum over all places of those asked for.
static const Node* gathered(Graph& graph, const Node* x, const Node* index, int64_t axis) {
  const int64_t rank = x->rank, size = x->shape()[size_t(axis)].size;
  const auto move = [&](Op op, const Node* from, Args args) { return graph.make(op, Sources(&from, 1), args); };
  std::vector<int64_t> wide, of_x, of_index, line(size_t(rank) + 1, 1), order;
  for (int64_t i = 0; i < rank; ++i) {
    wide.push_back(index->shape()[size_t(i)].size);
    of_index.push_back(wide.back());
    of_x.push_back(i == axis ? 1 : x->shape()[size_t(i)].size);
    if (i != axis) order.push_back(i);
  }
  wide.push_back(size);
  of_index.push_back(1);
  of_x.push_back(size);
  line.back() = size;
  order.push_back(axis);
  const Node* moved = move(Op::Reshape, move(Op::Permute, x, order), of_x);
  const Node* position = move(Op::Reshape, graph.make(Op::Iota, Sources{}, Args(&size, 1)), line);
  const Node* other = graph.make(Op::NotEqual, {move(Op::Expand, graph.cast(position, index->dtype), wide),
                                                move(Op::Expand, move(Op::Reshape, index, of_index), wide)});
  const Node* chosen = graph.where(other, graph.constant(x->dtype, 0), move(Op::Expand, moved, wide));
  const int64_t fold[] = {int64_t(Op::Add), rank};
  of_index.pop_back();
  return move(Op::Reshape, move(Op::Reduce, chosen, fold), of_index);
}

static const Node* scattered(Graph& graph, const Node* like, Op op, const Node* old, const Node* value) {
  const Node* sources[] = {old, value, like->source(2)};
  const int64_t args[] = {int64_t(op), like->arg(1)};
  return graph.make(Op::Scatter, sources, args);
}

// Of an extreme, those that equal it share the gradient equally.
static const Node* scatter_extreme(Graph& graph, const Node* node, const Node* dy, size_t source) {
  const Node *one = graph.constant(dy->dtype, 1), *zero = graph.constant(dy->dtype, 0), *index = node->source(2);
  const auto met = [&](const Node* value, const Node* extreme) {
    return graph.where(graph.make(Op::NotEqual, {value, extreme}), zero, one);
  };
  const Node* old_met = met(node->source(0), node);
  const Node* value_met = met(node->source(1), gathered(graph, node, index, node->arg(1)));
  const Node* share = graph.make(Op::Divide, {dy, scattered(graph, node, Op::Add, old_met, value_met)});
  if (source == 0) return graph.where(graph.make(Op::NotEqual, {node->source(0), node}), zero, share);
  return graph.mul(value_met, gathered(graph, share, index, node->arg(1)));
}

// Of a product, the product of the others: with P that of all that are not zero and Z the number of zeros, P / x where Z is 0, and P for
// the only zero.
static const Node* scatter_product(Graph& graph, const Node* node, const Node* dy, size_t source) {
  const Node *one = graph.constant(dy->dtype, 1), *zero = graph.constant(dy->dtype, 0);
  const auto other = [&](const Node* a, const Node* b) { return graph.make(Op::NotEqual, {a, b}); };
  const auto factor = [&](const Node* x) { return graph.where(other(x, zero), x, one); };
  const auto is_zero = [&](const Node* x) { return graph.where(other(x, zero), zero, one); };
  const Node *old = node->source(0), *value = node->source(1);
  const Node* product = graph.mul(scattered(graph, node, Op::Mul, factor(old), factor(value)), dy);
  const Node* zeros = scattered(graph, node, Op::Add, is_zero(old), is_zero(value));
  const Node* x = old;
  if (source == 1) {
    x = value;
    product = gathered(graph, product, node->source(2), node->arg(1));
    zeros = gathered(graph, zeros, node->source(2), node->arg(1));
  }
  const Node* of_a_factor = graph.where(other(zeros, zero), zero, graph.make(Op::Divide, {product, factor(x)}));
  return graph.where(other(x, zero), of_a_factor, graph.where(other(zeros, one), zero, product));
}

// Where a value is written over, the old one has no gradient; each value written has that of its place, also where several meet.
const Node* scatter(Graph& graph, const Node* node, const Node* dy, size_t source) {
  const Op op = node->reduce_op();
  if (source == 2) return nullptr;
  if (op == Op::Max || op == Op::Min) return scatter_extreme(graph, node, dy, source);
  if (op == Op::Mul) return scatter_product(graph, node, dy, source);
  WHIT_ASSERT(op == Op::Add || op == Op::Assign, "a Scatter by ", name(op), " has no gradient");
  if (source == 1) return gathered(graph, dy, node->source(2), node->arg(1));
  if (op == Op::Add) return dy;
  return scattered(graph, node, Op::Assign, dy, filled(graph, graph.constant(dy->dtype, 0), node->source(1)->shape()));
}

const Node* pass(Graph&, const Node*, const Node* dy, size_t) { return dy; }

const Node* copy(Graph& graph, const Node* node, const Node* dy, size_t) {
  const DeviceId device = node->source(0)->device;
  return device == kNoDevice || device == dy->device ? dy : graph.make(Op::Copy, {dy}, {device});
}

// What is written replaces what was there: its gradient is that of the place, and the old version's is zero there.
const Node* assign(Graph& graph, const Node* node, const Node* dy, size_t source) {
  if (source == 2) return nullptr;
  if (node->source_count == 2) return source == 1 ? reshaped(graph, dy, node->source(1)->shape()) : nullptr;
  const View view = written_view(node);
  if (source == 1) return reshaped(graph, through(graph, view, dy), node->source(1)->shape());
  const Node* ones = filled(graph, graph.constant(dy->dtype, 1), node->source(2)->shape());
  const Node* written = reshaped(graph, back_through(graph, view, ones), dy->shape());
  return graph.where(graph.make(Op::NotEqual, {written, graph.constant(dy->dtype, 0)}), graph.constant(dy->dtype, 0), dy);
}

}  // namespace whit::gradients
