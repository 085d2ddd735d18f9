// Gradients of movement ops: each is the adjoint movement.
#include <numeric>

#include "base/error.h"
#include "ir/size_args.h"
#include "rules/gradient_functions.h"

namespace whit::gradients {

namespace {

Dim size_at(const Node* node, size_t position) {
  const int64_t arg = node->arg(position);
  if (!is_symbol_arg(arg)) return Dim(arg);
  const Node* symbol = node->source(size_t(arg - kSymbolArg));
  return symbol->is_constant() ? Dim(symbol->arg(0)) : Dim(symbol->maximum, symbol);
}

// The indices of one axis of a shape, stretched to it.
const Node* indices(Graph& graph, const Shape& shape, size_t axis) {
  const Dim& size = shape[axis];
  const Node* iota = size.symbol ? graph.make(Op::Iota, {size.symbol}, {kSymbolArg}) : graph.make(Op::Iota, {}, {size.size});
  Shape line(shape.size(), Dim(1));
  line[axis] = size;
  return expanded(graph, reshaped(graph, iota, line), shape);
}

// The adjoint of a shrink of one axis where Pad has no form, because an offset or a size is symbolic: element i of the axis is the sum
// over all k of dy[k] where i = offset + k.
const Node* placed(Graph& graph, const Node* dy, size_t axis, const Dim& offset, const Dim& size) {
  Shape result(dy->shape().begin(), dy->shape().end()), table = result;
  result[axis] = size;
  table.insert(table.begin() + std::ptrdiff_t(axis), Dim(1));
  const Node* value = reshaped(graph, dy, table);
  table[axis] = size;
  value = expanded(graph, value, table);
  const Node* first = offset.symbol ? graph.cast(offset.symbol, DType::index) : graph.index(offset.size);
  const Node* elsewhere = graph.make(Op::NotEqual, {indices(graph, table, axis), graph.add(indices(graph, table, axis + 1), first)});
  const Node* sum =
      graph.make(Op::Reduce, {graph.where(elsewhere, graph.constant(dy->dtype, 0), value)}, {int64_t(Op::Add), int64_t(axis) + 1});
  return reshaped(graph, sum, result);
}

// One axis brought to a size that Window and Spread, whose args are numbers, cannot state.
const Node* cut(Graph& graph, const Node* value, size_t axis, const Dim& size) {
  if (!size.symbol) return value;
  SizeArgs movement(value);
  for (size_t i = 0; i < value->rank; ++i) movement.add(Dim(0)).add(i == axis ? size : value->shape()[i]);
  return movement.make(graph, Op::Shrink);
}

}  // namespace

const Node* reshaped(Graph& graph, const Node* value, ShapeView shape) {
  if (std::ranges::equal(value->shape(), shape)) return value;
  SizeArgs movement(value);
  for (const Dim& size : shape) movement.add(size);
  return movement.make(graph, Op::Reshape);
}

const Node* expanded(Graph& graph, const Node* value, ShapeView shape) {
  if (std::ranges::equal(value->shape(), shape)) return value;
  SizeArgs movement(value);
  for (const Dim& size : shape) movement.add(size);
  return movement.make(graph, Op::Expand);
}

const Node* filled(Graph& graph, const Node* value, ShapeView shape) {
  if (value->rank == shape.size()) return expanded(graph, value, shape);
  return expanded(graph, reshaped(graph, value, Shape(shape.size(), Dim(1))), shape);
}

DType accumulation_type(DType type) { return is_narrow_float(type) ? DType::float32 : type; }

const Node* summed(Graph& graph, const Node* value, std::span<const int64_t> axes) {
  if (axes.empty()) return value;
  std::vector<int64_t> args{int64_t(Op::Add)};
  args.insert(args.end(), axes.begin(), axes.end());
  const Node* wide = graph.cast(value, accumulation_type(value->dtype));
  return graph.cast(graph.make(Op::Reduce, Sources(&wide, 1), args), value->dtype);
}

const Node* reshape(Graph& graph, const Node* node, const Node* dy, size_t) { return reshaped(graph, dy, node->source(0)->shape()); }

const Node* permute(Graph& graph, const Node* node, const Node* dy, size_t) {
  std::vector<int64_t> inverse(node->arg_count);
  for (size_t i = 0; i < inverse.size(); ++i) inverse[size_t(node->arg(i))] = int64_t(i);
  return graph.make(Op::Permute, Sources(&dy, 1), inverse);
}

const Node* expand(Graph& graph, const Node* node, const Node* dy, size_t) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < node->rank; ++i)
    if (node->source(0)->shape()[i] != node->shape()[i]) axes.push_back(int64_t(i));
  return summed(graph, dy, axes);
}

const Node* pad(Graph& graph, const Node* node, const Node* dy, size_t) {
  SizeArgs movement(dy);
  for (size_t i = 0; i < node->rank; ++i) movement.add(size_at(node, 2 * i)).add(node->source(0)->shape()[i]);
  return movement.make(graph, Op::Shrink);
}

const Node* shrink(Graph& graph, const Node* node, const Node* dy, size_t) {
  const ShapeView shape = node->source(0)->shape();
  std::vector<int64_t> padding;
  for (size_t i = 0; i < node->rank; ++i) {
    const Dim offset = size_at(node, 2 * i), size = node->shape()[i];
    const bool whole = offset.is(0) && size == shape[i];
    const bool symbolic = !whole && (offset.symbol || size.symbol || shape[i].symbol);
    if (symbolic) dy = placed(graph, dy, i, offset, shape[i]);
    padding.push_back(symbolic ? 0 : offset.size);
    padding.push_back(symbolic || whole ? 0 : shape[i].size - offset.size - size.size);
  }
  return graph.make(Op::Pad, Sources(&dy, 1), padding);
}

const Node* flip(Graph& graph, const Node* node, const Node* dy, size_t) { return graph.make(Op::Flip, Sources(&dy, 1), node->args()); }

const Node* window(Graph& graph, const Node* node, const Node* dy, size_t) {
  const size_t axis = size_t(node->arg(0));
  const Dim& size = node->source(0)->shape()[axis];
  return cut(graph, graph.make(Op::Spread, {dy}, {node->arg(0), node->arg(1), size.size, node->arg(3), node->arg(4)}), axis, size);
}

const Node* spread(Graph& graph, const Node* node, const Node* dy, size_t) {
  const size_t axis = size_t(node->arg(0));
  const Dim& positions = node->source(0)->shape()[axis];
  return cut(graph, graph.make(Op::Window, {dy}, {node->arg(0), node->arg(1), positions.size, node->arg(3), node->arg(4)}), axis,
             positions);
}

}  // namespace whit::gradients
