#include "rules/movement_functions.h"

#include <algorithm>
#include <vector>

#include "ir/evaluate.h"
#include "rewrite/driver.h"

namespace whit::movements {

namespace {

using Numbers = std::vector<int64_t>;

const Node* inner_of(const Match& match) { return match.root->source(0)->source(0); }
bool has_symbols(const Node* node) { return node->source_count > 1 || is_symbolic(node->shape()) || is_symbolic(node->source(0)->shape()); }
const Node* move(Graph& graph, Op op, const Node* source, const Numbers& args) { return graph.make(op, Sources(&source, 1), args); }
Numbers args_of(const Node* node) { return {node->args().begin(), node->args().end()}; }

// The scalar below Expand(Reshape(scalar)), or null.
const Node* stretched_scalar(const Node* node) {
  if (node->op != Op::Expand || node->source(0)->op != Op::Reshape) return nullptr;
  const Node* scalar = node->source(0)->source(0);
  return scalar->rank == 0 ? scalar : nullptr;
}

int64_t axis_size(const Node* node, int64_t axis) { return node->shape()[size_t(axis)].size; }

}  // namespace

const Node* needless(const Match& match, Graph&) {
  const Node *node = match.root, *source = node->source(0);
  if (node->op == Op::Window || node->op == Op::Spread || !std::ranges::equal(node->shape(), source->shape())) return nullptr;
  if (node->op == Op::Flip) return node->args().empty() ? source : nullptr;
  if (node->op == Op::Permute) return std::ranges::is_sorted(node->args()) ? source : nullptr;
  // A Pad or Shrink that keeps every size moves nothing; a symbolic one may.
  if (node->op == Op::Shrink || node->op == Op::Pad) return has_symbols(node) ? nullptr : source;
  return source;
}

const Node* reshape_reshape(const Match& match, Graph& graph) {
  std::vector<const Node*> sources(match.root->sources().begin(), match.root->sources().end());
  sources[0] = inner_of(match);
  return graph.with_sources(match.root, sources);
}

const Node* permute_permute(const Match& match, Graph& graph) {
  Numbers order;
  for (const int64_t axis : match.root->args()) order.push_back(match.root->source(0)->arg(size_t(axis)));
  return move(graph, Op::Permute, inner_of(match), order);
}

const Node* permute_as_reshape(const Match& match, Graph& graph) {
  const Node *node = match.root, *source = node->source(0);
  if (is_symbolic(node->shape())) return nullptr;
  int64_t last = -1;
  Numbers sizes;
  for (const int64_t axis : node->args()) {
    sizes.push_back(axis_size(source, axis));
    if (sizes.back() == 1) continue;
    if (axis < last) return nullptr;
    last = axis;
  }
  return move(graph, Op::Reshape, source, sizes);
}

const Node* expand_expand(const Match& match, Graph& graph) {
  std::vector<const Node*> sources(match.root->sources().begin(), match.root->sources().end());
  sources[0] = inner_of(match);
  return graph.with_sources(match.root, sources);
}

const Node* pad_pad(const Match& match, Graph& graph) {
  const Node* inner = match.root->source(0);
  if (has_symbols(match.root) || has_symbols(inner)) return nullptr;
  Numbers amounts = args_of(match.root);
  for (size_t i = 0; i < amounts.size(); ++i) amounts[i] += inner->arg(i);
  return move(graph, Op::Pad, inner_of(match), amounts);
}

const Node* shrink_shrink(const Match& match, Graph& graph) {
  const Node* inner = match.root->source(0);
  if (has_symbols(match.root) || has_symbols(inner)) return nullptr;
  Numbers bounds = args_of(match.root);
  for (size_t i = 0; i < bounds.size(); i += 2) bounds[i] += inner->arg(i);
  return move(graph, Op::Shrink, inner_of(match), bounds);
}

const Node* shrink_pad(const Match& match, Graph& graph) {
  const Node *shrink = match.root, *pad = shrink->source(0), *source = inner_of(match);
  if (has_symbols(shrink) || has_symbols(pad)) return nullptr;
  Numbers kept, padding;
  for (int64_t i = 0; i < source->rank; ++i) {
    // Along the padded axis the result is [first, end), the source [before, before + size).
    const int64_t first = shrink->arg(size_t(2 * i)), end = first + shrink->arg(size_t(2 * i + 1)), before = pad->arg(size_t(2 * i)),
                  size = axis_size(source, i);
    const int64_t low = std::max(first, before), high = std::min(end, before + size);
    if (high <= low) return graph.constant(source->dtype, 0);
    kept.insert(kept.end(), {low - before, high - low});
    padding.insert(padding.end(), {low - first, end - high});
  }
  return move(graph, Op::Pad, move(graph, Op::Shrink, source, kept), padding);
}

const Node* flip_flip(const Match& match, Graph& graph) {
  Numbers axes;
  const auto outer = match.root->args(), inner = match.root->source(0)->args();
  std::vector<int64_t> first(outer.begin(), outer.end()), second(inner.begin(), inner.end());
  std::ranges::sort(first);
  std::ranges::sort(second);
  std::ranges::set_symmetric_difference(first, second, std::back_inserter(axes));
  return axes.empty() ? inner_of(match) : move(graph, Op::Flip, inner_of(match), axes);
}

const Node* flip_single(const Match& match, Graph& graph) {
  Numbers axes;
  for (const int64_t axis : match.root->args())
    if (!match.root->shape()[size_t(axis)].is(1)) axes.push_back(axis);
  if (axes.size() == match.root->args().size()) return nullptr;
  return axes.empty() ? match.root->source(0) : move(graph, Op::Flip, match.root->source(0), axes);
}

const Node* window_of_one(const Match& match, Graph& graph) {
  const Node *node = match.root, *source = node->source(0);
  if (is_symbolic(source->shape()) || axis_size(source, node->arg(1)) != 1 || (node->arg(3) != 1 && node->arg(2) > 1)) return nullptr;
  Numbers bounds;
  for (int64_t i = 0; i < source->rank; ++i) bounds.insert(bounds.end(), {0, i == node->arg(0) ? node->arg(2) : axis_size(source, i)});
  return move(graph, Op::Shrink, source, bounds);
}

const Node* spread_of_one(const Match& match, Graph& graph) {
  const Node *node = match.root, *source = node->source(0);
  if (is_symbolic(source->shape()) || axis_size(source, node->arg(1)) != 1 || node->arg(3) != 1) return nullptr;
  Numbers amounts(2 * size_t(source->rank), 0);
  const int64_t added = node->arg(2) - axis_size(source, node->arg(0));
  if (added < 0) return nullptr;
  amounts[size_t(2 * node->arg(0) + 1)] = added;
  return move(graph, Op::Pad, source, amounts);
}

const Node* scalar_moved(const Match& match, Graph& graph) {
  const Node* scalar = stretched_scalar(match.root->source(0));
  if (!scalar || match.root->op == Op::Expand) return nullptr;  // two Expands are one by a row of their own
  return match.root->rank == 0 ? scalar : stretch(graph, scalar, match.root->shape());
}

const Node* scalar_padded(const Match& match, Graph& graph) {
  const Node* scalar = stretched_scalar(match.root->source(0));
  return scalar ? stretch(graph, scalar, match.root->shape()) : nullptr;
}

const Node* scalar_operand(const Match& match, Graph& graph) {
  const auto sources = match.root->sources();
  const Node* operands[3];
  bool changed = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    const Node* scalar = stretched_scalar(sources[i]);
    operands[i] = scalar ? scalar : sources[i];
    changed |= scalar != nullptr;
  }
  if (!changed) return nullptr;
  const Node* result = graph.with_sources(match.root, Sources(operands, sources.size()));
  return result->rank == match.root->rank ? result : stretch(graph, result, match.root->shape());
}

const Node* reduce_single(const Match& match, Graph& graph) {
  const Node *node = match.root, *source = node->source(0);
  for (const int64_t axis : node->args().subspan(1))
    if (!source->shape()[size_t(axis)].is(1)) return nullptr;
  // A sum starts at 0.0, so that it is never -0.0.
  return node->reduce_op() == Op::Add && is_float(node->dtype) ? graph.add(source, graph.constant(node->dtype, 0)) : source;
}

const Node* reduce_reduce(const Match& match, Graph& graph) {
  const Node *outer = match.root, *inner = outer->source(0);
  const Op op = outer->reduce_op();
  if (op != inner->reduce_op() || (is_float(outer->dtype) && op != Op::Max && op != Op::Min)) return nullptr;
  Numbers args = args_of(inner);
  for (const int64_t axis : outer->args().subspan(1))
    if (std::find(args.begin() + 1, args.end(), axis) == args.end()) args.push_back(axis);
  std::sort(args.begin() + 1, args.end());
  return move(graph, Op::Reduce, inner_of(match), args);
}

const Node* reduce_scalar(const Match& match, Graph& graph) {
  const Node *node = match.root, *source = node->source(0), *scalar = stretched_scalar(source);
  if (!scalar || is_symbolic(source->shape())) return nullptr;
  int64_t count = 1;
  for (const int64_t axis : node->args().subspan(1)) count *= axis_size(source, axis);
  if (count < 1) return nullptr;
  const Op op = node->reduce_op();
  const Node* result = nullptr;
  if (op == Op::Max || op == Op::Min || op == Op::And || op == Op::Or) result = scalar;
  if (op == Op::Add && is_integer(node->dtype))
    result = graph.mul(scalar, graph.constant_bits(node->dtype, bits_of_integer(node->dtype, count)));
  if (op == Op::Add && is_float(node->dtype) && scalar->is_constant() && !is_narrow_float(node->dtype)) {
    // A whole number summed so often that no partial sum needs more than the significand.
    const double number = scalar->number(), limit = node->dtype == DType::float32 ? 0x1p24 : 0x1p53;
    if (number >= 0 && number <= limit && number == double(int64_t(number)) && number * double(count) <= limit)
      result = graph.constant(node->dtype, number * double(count) + 0.0);
  }
  return result ? stretch(graph, result, node->shape()) : nullptr;
}

}  // namespace whit::movements
