// Random tensors that the rows of movement.cpp are for.
#include <vector>

#include "rewrite/driver.h"
#include "rules/movement_functions.h"

namespace whit::movements {

namespace {

using Numbers = std::vector<int64_t>;

const DType kTypes[] = {DType::int32, DType::float32, DType::boolean, DType::uint8};

const Node* move(Graph& graph, Op op, const Node* source, const Numbers& args) { return graph.make(op, Sources(&source, 1), args); }

Numbers sizes_of(const Node* node) {
  Numbers sizes;
  for (const Dim& dim : node->shape()) sizes.push_back(dim.size);
  return sizes;
}

// A stored tensor: no row looks through a Contiguous.
const Node* tensor(Random& random, Graph& graph, const Numbers& sizes, DType type = DType::none) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  const Node* flat = graph.make(Op::Param, {}, {0, count, kNoDevice}, type == DType::none ? random.pick(kTypes) : type);
  return graph.make(Op::Contiguous, {move(graph, Op::Reshape, flat, sizes)});
}

Numbers some_sizes(Random& random, bool with_ones = true) {
  Numbers sizes;
  for (int64_t rank = random.between(1, 3); rank > 0; --rank)
    sizes.push_back(with_ones && random.next() % 3 == 0 ? 1 : random.between(2, 4));
  return sizes;
}

Numbers shuffled_axes(Random& random, size_t rank) {
  Numbers axes;
  for (size_t i = 0; i < rank; ++i) axes.insert(axes.begin() + random.between(0, int64_t(i)), int64_t(i));
  return axes;
}

Numbers some_amounts(Random& random, size_t rank) {
  Numbers amounts;
  for (size_t i = 0; i < 2 * rank; ++i) amounts.push_back(random.between(0, 2));
  return amounts;
}

Numbers some_bounds(Random& random, const Node* source) {
  Numbers bounds;
  for (const Dim& dim : source->shape()) {
    const int64_t first = random.between(0, dim.size - 1);
    bounds.insert(bounds.end(), {first, random.between(1, dim.size - first)});
  }
  return bounds;
}

Numbers some_axes(Random& random, size_t rank) {
  Numbers axes;
  for (size_t i = 0; i < rank; ++i)
    if (random.coin()) axes.push_back(int64_t(i));
  return axes;
}

// Another shape of as many elements.
Numbers reshaped(Random& random, const Node* source) {
  Numbers sizes = sizes_of(source);
  if (random.coin()) sizes.insert(sizes.begin() + random.between(0, int64_t(sizes.size())), 1);
  if (sizes.size() > 1 && random.coin()) {
    sizes[0] *= sizes[1];
    sizes.erase(sizes.begin() + 1);
  }
  return sizes;
}

const Node* reduce(Random& random, Graph& graph, const Node* source, Op op) {
  Numbers args{int64_t(op)};
  for (const int64_t axis : some_axes(random, source->rank)) args.push_back(axis);
  if (args.size() == 1) args.push_back(0);
  return move(graph, Op::Reduce, source, args);
}

const Node* stretched(Random& random, Graph& graph, const Numbers& sizes, DType type) {
  const Node* scalar = graph.make(Op::Variable, {}, {name_id("s"), 0, type == DType::boolean ? 1 : 100}, type);
  if (random.coin()) scalar = graph.constant(type, double(random.between(0, 3)));
  return stretch(graph, scalar, tensor(random, graph, sizes, type)->shape());
}

}  // namespace

const Node* example_needless(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, some_sizes(random));
  Numbers axes;
  for (int64_t i = 0; i < source->rank; ++i) axes.push_back(i);
  switch (random.next() % 6) {
    case 0: return move(graph, Op::Reshape, source, sizes_of(source));
    case 1: return move(graph, Op::Permute, source, axes);
    case 2: return move(graph, Op::Expand, source, sizes_of(source));
    case 3: return move(graph, Op::Flip, source, {});
    case 4: return move(graph, Op::Pad, source, Numbers(2 * size_t(source->rank), 0));
    default: {
      Numbers bounds;
      for (const int64_t size : sizes_of(source)) bounds.insert(bounds.end(), {0, size});
      return move(graph, Op::Shrink, source, bounds);
    }
  }
}

const Node* example_reshape(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, some_sizes(random));
  const Node* once = move(graph, Op::Reshape, source, reshaped(random, source));
  return move(graph, Op::Reshape, once, reshaped(random, once));
}

const Node* example_permute(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, some_sizes(random));
  return move(graph, Op::Permute, move(graph, Op::Permute, source, shuffled_axes(random, source->rank)),
              shuffled_axes(random, source->rank));
}

const Node* example_permute_of_ones(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, {1, random.between(2, 4), 1});
  return move(graph, Op::Permute, source, shuffled_axes(random, source->rank));
}

const Node* example_expand(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, {1, 3, 1});
  return move(graph, Op::Expand, move(graph, Op::Expand, source, {1, 3, 3}), {random.between(1, 3), 3, 3});
}

const Node* example_pad(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, some_sizes(random));
  return move(graph, Op::Pad, move(graph, Op::Pad, source, some_amounts(random, source->rank)), some_amounts(random, source->rank));
}

const Node* example_shrink(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, some_sizes(random));
  const Node* once = move(graph, Op::Shrink, source, some_bounds(random, source));
  return move(graph, Op::Shrink, once, some_bounds(random, once));
}

const Node* example_shrink_pad(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, some_sizes(random));
  const Node* padded = move(graph, Op::Pad, source, some_amounts(random, source->rank));
  return move(graph, Op::Shrink, padded, some_bounds(random, padded));
}

const Node* example_flip(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, some_sizes(random));
  return move(graph, Op::Flip, move(graph, Op::Flip, source, some_axes(random, source->rank)), some_axes(random, source->rank));
}

const Node* example_flip_single(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, {random.between(1, 3), 1});
  return move(graph, Op::Flip, source, {0, 1});
}

const Node* example_window(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, {random.between(2, 5), 1});
  return move(graph, Op::Window, source, {0, 1, random.between(1, source->shape()[0].size), 1, random.between(1, 2)});
}

const Node* example_spread(Random& random, Graph& graph) {
  const Node* source = tensor(random, graph, {random.between(2, 5), 1});
  return move(graph, Op::Spread, source, {0, 1, source->shape()[0].size + random.between(0, 2), 1, random.between(1, 2)});
}

const Node* example_scalar(Random& random, Graph& graph) {
  const Node* source = stretched(random, graph, some_sizes(random, false), random.pick(kTypes));
  switch (random.next() % 4) {
    case 0: return move(graph, Op::Reshape, source, reshaped(random, source));
    case 1: return move(graph, Op::Permute, source, shuffled_axes(random, source->rank));
    case 2: return move(graph, Op::Shrink, source, some_bounds(random, source));
    default: return move(graph, Op::Flip, source, {0});
  }
}

const Node* example_scalar_padded(Random& random, Graph& graph) {
  const Node* source = stretch(graph, graph.constant(random.pick(kTypes), double(random.next() % 4 == 0)),
                               tensor(random, graph, some_sizes(random, false))->shape());
  return move(graph, Op::Pad, source, some_amounts(random, source->rank));
}

const Node* example_scalar_operand(Random& random, Graph& graph) {
  const Numbers sizes = some_sizes(random, false);
  const DType type = random.coin() ? DType::int32 : DType::float32;
  const auto operand = [&] { return random.coin() ? stretched(random, graph, sizes, type) : tensor(random, graph, sizes, type); };
  switch (random.next() % 3) {
    case 0: return graph.add(operand(), operand());
    case 1: return graph.less(operand(), operand());
    default: return graph.where(graph.less(operand(), operand()), operand(), operand());
  }
}

const Node* example_reduce_single(Random& random, Graph& graph) {
  const Op ops[] = {Op::Add, Op::Max, Op::Min};
  return move(graph, Op::Reduce, tensor(random, graph, {1, random.between(1, 4)}), {int64_t(random.pick(ops)), 0});
}

const Node* example_reduce_reduce(Random& random, Graph& graph) {
  const Op ops[] = {Op::Add, Op::Max, Op::Min};
  const Op op = random.pick(ops);
  return reduce(random, graph, reduce(random, graph, tensor(random, graph, some_sizes(random)), op), op);
}

const Node* example_reduce_scalar(Random& random, Graph& graph) {
  const Op ops[] = {Op::Add, Op::Max, Op::Min};
  return reduce(random, graph, stretched(random, graph, some_sizes(random, false), random.pick(kTypes)), random.pick(ops));
}

}  // namespace whit::movements
