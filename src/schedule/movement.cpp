#include "schedule/movement.h"

#include "base/error.h"
#include "rules/simplify.h"

namespace whit {

namespace {

// An argument of a movement op as an index node.
const Node* arg_node(Graph& graph, const Node* node, size_t i) {
  const int64_t arg = node->arg(i);
  return is_symbol_arg(arg) ? node->source(size_t(arg - kSymbolArg)) : graph.index(arg);
}

const Node* quotient(Graph& graph, const Node* a, const Node* b) {
  return b->is_constant(1) ? a : simplify(graph, graph.make(Op::Quotient, {a, b}));
}
const Node* remainder(Graph& graph, const Node* a, const Node* b) { return simplify(graph, graph.make(Op::Remainder, {a, b})); }

// low <= index < high, without the half that the interval decides.
const Node* within(Graph& graph, const Node* index, int64_t low, int64_t high) {
  const Node* result = nullptr;
  if (index->minimum < low) result = graph.less(graph.index(low - 1), index);
  if (index->maximum >= high) result = graph.both(result, graph.less(index, graph.index(high)));
  return result ? simplify(graph, result) : nullptr;
}

// Reshape of one group of axes whose sizes have equal products: flatten by the result's sizes, split by the source's.
void reshape_group(Graph& graph, ShapeView from, Sources index, ShapeView to, std::vector<const Node*>& out) {
  const Node* linear = nullptr;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].is(1)) continue;
    linear = linear ? graph.add(graph.mul(linear, size_node(graph, from[i])), index[i]) : index[i];
  }
  linear = linear ? simplify(graph, linear) : graph.index(0);
  size_t last = 0;  // the outermost axis that is not of size 1 takes what is left: no remainder needed
  while (last < to.size() && to[last].is(1)) ++last;
  const size_t base = out.size();
  out.resize(base + to.size(), graph.index(0));
  for (size_t i = to.size(); i-- > 0;) {
    if (to[i].is(1)) continue;
    if (i == last) {
      out[base + i] = linear;
      break;
    }
    const Node* size = size_node(graph, to[i]);
    out[base + i] = remainder(graph, linear, size);
    linear = quotient(graph, linear, size);
  }
}

// True if a Reshape keeps every element where it is in storage, which is laid out by upper bounds: from or to plain storage, or where the
// symbolic sizes are the same ones with as much between them.
bool same_layout(ShapeView from, ShapeView to) {
  if (!is_symbolic(from) || !is_symbolic(to)) return element_count(from) == element_count(to);
  const auto next = [](ShapeView shape, size_t& i, int64_t& between) -> const Node* {
    for (between = 1; i < shape.size() && !shape[i].symbol; ++i) between *= shape[i].size;
    return i < shape.size() ? shape[i++].symbol : nullptr;
  };
  for (size_t i = 0, j = 0;;) {
    int64_t left = 0, right = 0;
    const Node *a = next(from, i, left), *b = next(to, j, right);
    if (a != b || left != right) return false;
    if (!a) return true;
  }
}

Shape upper_bounds(ShapeView shape) {
  Shape bounds;
  for (const Dim& dim : shape) bounds.emplace_back(dim.size);
  return bounds;
}

// The source's index under a Reshape, group by group: a group ends where both running products agree.
std::vector<const Node*> reshape_index(Graph& graph, ShapeView from, Sources index, ShapeView to) {
  std::vector<const Node*> out;
  if ((is_symbolic(from) || is_symbolic(to)) && same_layout(from, to))
    return reshape_index(graph, upper_bounds(from), index, upper_bounds(to));
  if (is_symbolic(from) || is_symbolic(to) || element_count(from) == 0) {
    // Equal leading axes pass through; the rest is one group.
    size_t common = 0;
    while (common < from.size() && common < to.size() && from[common] == to[common]) out.push_back(index[common++]);
    reshape_group(graph, from.subspan(common), index.subspan(common), to.subspan(common), out);
    return out;
  }
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const size_t first_i = i, first_j = j;
    int64_t left = i < from.size() ? from[i++].size : 1, right = j < to.size() ? to[j++].size : 1;
    while (left != right) {
      if (left < right)
        left *= from[i++].size;
      else
        right *= to[j++].size;
    }
    reshape_group(graph, from.subspan(first_i, i - first_i), index.subspan(first_i, i - first_i), to.subspan(first_j, j - first_j), out);
  }
  return out;
}

// Spread shows out[n, k] = in[(n - k*dilation) / stride, k] where that divides and lies inside.
const Node* spread_index(Graph& graph, const Node* node, Sources index, const Node*& valid) {
  const size_t axis = size_t(node->arg(0)), window = size_t(node->arg(1));
  const int64_t stride = node->arg(3), dilation = node->arg(4), positions = node->source(0)->shape()[axis].size;
  const Node* offset = simplify(graph, graph.sub(index[axis], graph.mul(index[window], graph.index(dilation))));
  if (stride == 1) {
    valid = within(graph, offset, 0, positions);
    return offset;
  }
  // Shifted to be non-negative, so that truncating division is exact floor division.
  const int64_t lift = offset->minimum < 0 ? (-offset->minimum + stride - 1) / stride : 0;
  const Node* lifted = simplify(graph, graph.add(offset, graph.index(lift * stride)));
  const Node* position = simplify(graph, graph.add(quotient(graph, lifted, graph.index(stride)), graph.index(-lift)));
  const Node* uneven = graph.make(Op::NotEqual, {remainder(graph, lifted, graph.index(stride)), graph.index(0)});
  valid = graph.both(simplify(graph, graph.make(Op::Xor, {uneven, graph.boolean(true)})), within(graph, position, 0, positions));
  if (valid && valid->is_constant(1)) valid = nullptr;
  return position;
}

}  // namespace

const Node* size_node(Graph& graph, const Dim& dim) { return dim.symbol ? dim.symbol : graph.index(dim.size); }

const Node* flat_index(Graph& graph, ShapeView shape, const Node* tuple) {
  const Node* flat = nullptr;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (!shape[i].is(1)) {
      const Node* term = graph.mul(tuple->source(i), graph.index(stride));
      flat = flat ? graph.add(term, flat) : term;
    }
    stride *= shape[i].size;
  }
  return flat ? simplify(graph, flat) : graph.index(0);
}

Place source_place(Graph& graph, const Node* node, Place place, const Node*& valid) {
  valid = nullptr;
  const Node* source = node->source(0);
  std::vector<const Node*> index(place.tuple->sources().begin(), place.tuple->sources().end());
  switch (node->op) {
    case Op::Reshape: index = reshape_index(graph, node->shape(), place.tuple->sources(), source->shape()); break;
    case Op::Permute:
      for (size_t i = 0; i < node->args().size(); ++i) index[size_t(node->arg(i))] = place.tuple->source(i);
      break;
    case Op::Expand:
      for (size_t i = 0; i < index.size(); ++i)
        if (source->shape()[i].is(1)) index[i] = graph.index(0);
      break;
    case Op::Shrink:
      for (size_t i = 0; i < index.size(); ++i) index[i] = simplify(graph, graph.add(index[i], arg_node(graph, node, 2 * i)));
      break;
    case Op::Pad:
      for (size_t i = 0; i < index.size(); ++i) {
        if (node->arg(2 * i) == 0 && node->arg(2 * i + 1) == 0) continue;
        const int64_t before = node->arg(2 * i), size = source->shape()[i].size;
        valid = graph.both(valid, within(graph, index[i], before, before + size));
        index[i] = simplify(graph, graph.add(index[i], graph.index(-before)));
      }
      break;
    case Op::Flip:
      for (const int64_t axis : node->args())
        index[size_t(axis)] =
            simplify(graph, graph.sub(graph.add(size_node(graph, node->shape()[size_t(axis)]), graph.index(-1)), index[size_t(axis)]));
      break;
    case Op::Window: {
      const size_t axis = size_t(node->arg(0)), window = size_t(node->arg(1));
      index[axis] = simplify(
          graph, graph.add(graph.mul(index[axis], graph.index(node->arg(3))), graph.mul(index[window], graph.index(node->arg(4)))));
      break;
    }
    case Op::Spread: index[size_t(node->arg(0))] = spread_index(graph, node, place.tuple->sources(), valid); break;
    default: WHIT_ASSERT(false, name(node->op), " is no movement op");
  }
  if (valid && valid->is_constant(1)) valid = nullptr;
  return {graph.make(Op::Sink, index), graph.both(place.gate, valid)};
}

}  // namespace whit
