// Sums over many of which each goes to one place (the gradients of gathers and embeddings) as a Scatter: the work grows with what is added
// up, not with that times the places.
#include <algorithm>
#include <limits>
#include <vector>

#include "ir/number.h"
#include "rewrite/driver.h"
#include "rules/movement_functions.h"

namespace whit::movements {

namespace {

using Numbers = std::vector<int64_t>;

// A sum over fewer elements is done faster as it stands.
constexpr int64_t kWorthScattering = 4096;
constexpr int kMaxDepth = 16;

const Node* move(Graph& graph, Op op, const Node* source, const Numbers& args) { return graph.make(op, Sources(&source, 1), args); }
int64_t axis_size(const Node* node, int64_t axis) { return node->shape()[size_t(axis)].size; }

// The only axis along which a node counts 0, 1, … to its size, each number standing for itself; -1 if there is none.
int64_t counted_axis(const Node* node) {
  const DType type = node->dtype;
  while (node->op == Op::Cast) node = node->source(0);
  const int64_t rank = node->rank;
  const Node* expanded = node;
  if (node->op == Op::Expand) node = node->source(0);
  if (node->op == Op::Reshape) node = node->source(0);
  if (node->op == Op::Cast) node = node->source(0);
  if (node->op != Op::Iota || !is_integer(type) || is_symbolic(expanded->shape())) return -1;
  const int64_t size = axis_size(node, 0);
  if (convert(DType::int64, type, size - 1) != size - 1) return -1;
  const Node* line = expanded->op == Op::Expand ? expanded->source(0) : expanded;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis_size(line, axis) == size && axis_size(expanded, axis) == size && size > 1) return axis;
  return -1;
}

bool same_along(const Node* node, int64_t axis, int depth = kMaxDepth) {
  if (node->rank == 0 || axis_size(node, axis) == 1) return true;
  if (depth == 0) return false;
  if (node->op == Op::Expand) return same_along(node->source(0), axis, depth - 1);
  if (node->op == Op::Permute) return same_along(node->source(0), node->arg(size_t(axis)), depth - 1);
  return has(node->op, alu) &&
         std::ranges::all_of(node->sources(), [&](const Node* source) { return same_along(source, axis, depth - 1); });
}

// Of what is the same along `place`: its elements along the folded axes, one after the other along `place` instead.
const Node* lined_up(Graph& graph, const Node* node, ShapeView shape, const Numbers& folded, int64_t place) {
  Numbers bounds, order, sizes;
  int64_t count = 1;
  for (const int64_t axis : folded) count *= shape[size_t(axis)].size;
  for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis) {
    const bool is_folded = std::ranges::find(folded, axis) != folded.end();
    bounds.insert(bounds.end(), {0, axis == place ? 1 : shape[size_t(axis)].size});
    if (axis == place) order.insert(order.end(), folded.begin(), folded.end());
    if (!is_folded) order.push_back(axis);
    sizes.push_back(is_folded ? 1 : axis == place ? count : shape[size_t(axis)].size);
  }
  return move(graph, Op::Reshape, move(graph, Op::Permute, move(graph, Op::Shrink, node, bounds), order), sizes);
}

const Node* of_shape(Graph& graph, const Node* node, ShapeView shape) {
  if (node->rank == shape.size()) return node;
  Numbers sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.size);
  return move(graph, Op::Expand, move(graph, Op::Reshape, node, Numbers(sizes.size(), 1)), sizes);
}

}  // namespace

const Node* sum_as_scatter(const Match& match, Graph& graph) {
  const Node *sum = match.root, *chosen = sum->source(0), *other = chosen->source(0);
  const ShapeView shape = chosen->shape();
  if (sum->reduce_op() != Op::Add || is_narrow_float(sum->dtype) || is_symbolic(shape) || element_count(shape) < kWorthScattering)
    return nullptr;
  const Numbers folded(sum->args().begin() + 1, sum->args().end());
  for (size_t side = 0; side < 2; ++side) {
    const Node *position = other->source(side), *index = other->source(1 - side), *value = chosen->source(2);
    const int64_t place = position->rank == shape.size() ? counted_axis(position) : -1;
    if (place < 0 || std::ranges::find(folded, place) != folded.end() || axis_size(chosen, place) < 2) continue;
    if (!same_along(index, place) || !same_along(value, place)) continue;
    Numbers sizes;
    for (const Dim& dim : sum->shape()) sizes.push_back(dim.size);
    const Node* nothing = of_shape(graph, graph.constant(sum->dtype, 0), sum->shape());
    const int64_t args[] = {int64_t(Op::Add), place};
    const Node* sources[] = {nothing, lined_up(graph, of_shape(graph, value, shape), shape, folded, place),
                             lined_up(graph, of_shape(graph, index, shape), shape, folded, place)};
    return graph.make(Op::Scatter, sources, args);
  }
  return nullptr;
}

const Node* example_sum_as_scatter(Random& random, Graph& graph) {
  const int64_t many = random.between(12, 20), places = random.between(12, 20), width = random.between(18, 24);
  const bool first = random.coin();  // sums over the first or the last axis, into places along the other
  const Numbers shape = first ? Numbers{many, width, places} : Numbers{places, width, many};
  Numbers line_of_places(3, 1), line_of_many(3, 1), rows = shape;
  line_of_places[first ? 2 : 0] = places;
  line_of_many[first ? 0 : 2] = many;
  rows[first ? 2 : 0] = 1;
  const auto stored = [&](DType type, int64_t slot, const Numbers& sizes) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return graph.make(Op::Contiguous, {move(graph, Op::Reshape, graph.make(Op::Param, {}, {slot, count, kNoDevice}, type), sizes)});
  };
  const Node* index = graph.make(Op::Remainder, {stored(DType::int32, 0, line_of_many), graph.constant(DType::int32, double(places + 2))});
  const Node* position = graph.cast(graph.make(Op::Iota, Sources{}, Args(&places, 1)), DType::int32);
  position = move(graph, Op::Expand, move(graph, Op::Reshape, position, line_of_places), shape);
  const Node* other = graph.make(Op::NotEqual, {position, move(graph, Op::Expand, index, shape)});
  const DType type = random.coin() ? DType::int32 : DType::float32;
  const Node* value = move(graph, Op::Expand, stored(type, 1, rows), shape);
  return move(graph, Op::Reduce, graph.where(other, graph.constant(type, 0), value), {int64_t(Op::Add), first ? 0 : 2});
}

}  // namespace whit::movements
