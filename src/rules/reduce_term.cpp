#include "rules/reduce_term.h"

#include <algorithm>
#include <cmath>

namespace whit::reductions {

namespace {

bool is_zero(const Node* node) { return node->is_constant() && node->number() == 0; }

bool never_negative(const Node* value) {
  if (value->is_constant()) return !std::signbit(value->number());
  return value->op == Op::Cast && !is_float(value->source(0)->dtype) && value->source(0)->minimum >= 0;
}

// Terms are written with few choices and casts around what they choose; this many are taken off.
constexpr int kDepth = 16;

bool take_apart(Graph& graph, const Node* node, bool through_products, int depth, Guarded& result) {
  result.value = node;
  if (depth == kDepth) return false;
  if (node->op == Op::Where) {
    const bool inverted = is_zero(node->source(1));
    if (!inverted && !is_zero(node->source(2))) return false;
    if (!result.conditions.add(node->source(0), inverted)) return false;
    const Node* kept = node->source(inverted ? 2 : 1);
    if (!take_apart(graph, kept, through_products, depth + 1, result)) result.value = kept;
    return true;
  }
  if (node->op == Op::Load) return node->source_count == 3 && result.conditions.add(node->source(2));
  if (node->op == Op::Cast) {
    if (node->source(0)->dtype == DType::boolean) {
      if (!result.conditions.add(node->source(0))) return false;
      result.value = graph.constant(node->dtype, 1);
      return true;
    }
    if (!take_apart(graph, node->source(0), through_products, depth + 1, result)) return false;
    result.value = graph.cast(result.value, node->dtype);
    return true;
  }
  if (node->op == Op::Mul && (is_integer(node->dtype) || through_products))
    for (const size_t side : {0, 1}) {
      Guarded factor;
      if (!take_apart(graph, node->source(side), through_products, depth + 1, factor) || !result.conditions.add(factor.conditions))
        continue;
      result.value = graph.mul(factor.value, node->source(1 - side));
      return true;
    }
  if (node->dtype != DType::boolean) return false;
  result.value = graph.boolean(true);
  return result.conditions.add(node);
}

}  // namespace

bool guarded(Graph& graph, const Node* node, bool through_products, Guarded& result) {
  return take_apart(graph, node, through_products, 0, result);
}

const Node* guard(Graph& graph, const Node* value, const Node* condition) {
  if (!condition) return value;
  if (value->op == Op::Cast && value->source(0)->dtype != DType::boolean)
    return graph.cast(guard(graph, value->source(0), condition), value->dtype);
  if (value->op == Op::Load)
    return graph.make(Op::Load,
                      {value->source(0), value->source(1), graph.both(value->source_count == 3 ? value->source(2) : nullptr, condition)});
  return graph.where(condition, value, graph.constant(value->dtype, 0));
}

const Node* replace_range(Graph& graph, const Node* root, const Node* range, const Node* index, const Node* valid) {
  NodeMap<const Node*> done;
  done[range] = index;
  std::vector<const Node*> stack{root}, sources;
  while (!stack.empty()) {
    const Node* node = stack.back();
    if (done.contains(node) || !depends(node, range)) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (const Node* source : node->sources())
      if (depends(source, range) && !done.contains(source)) {
        stack.push_back(source);
        ready = false;
      }
    if (!ready) continue;
    stack.pop_back();
    if (node->op == Op::Accumulate)
      for (const Node* closed : ranges_of(node))
        if (depends(index, closed)) return nullptr;
    sources.clear();
    for (const Node* source : node->sources()) sources.push_back(depends(source, range) ? *done.find(source) : source);
    if (node->op == Op::Load) {
      if (sources.size() == 3)
        sources[2] = graph.both(sources[2], valid);
      else if (valid)
        sources.push_back(valid);
    }
    done[node] = graph.with_sources(node, sources);
  }
  return depends(root, range) ? *done.find(root) : root;
}

std::optional<int64_t> whole_bound(const Node* value) {
  if (value->op == Op::Cast && !is_float(value->source(0)->dtype) && value->source(0)->dtype != DType::uint64) {
    const Node* source = value->source(0);
    if (source->minimum == std::numeric_limits<int64_t>::min()) return std::nullopt;
    return std::max(std::abs(source->minimum), std::abs(source->maximum));
  }
  if (!value->is_constant()) return std::nullopt;
  const double number = value->number();
  if (!(number >= -1e9 && number <= 1e9) || number != double(int64_t(number)) || (number == 0 && std::signbit(number))) return std::nullopt;
  return std::abs(int64_t(number));
}

bool sums_exactly(const Node* value, int64_t count) {
  const std::optional<int64_t> bound = whole_bound(value);
  int64_t total = 0;
  // Narrow floats are summed in float32 and rounded once; their product would be rounded from the same number.
  const int64_t limit = value->dtype == DType::float64 ? int64_t(1) << 53 : is_narrow_float(value->dtype) ? 0 : int64_t(1) << 24;
  return bound && !__builtin_mul_overflow(*bound, count, &total) && total <= limit;
}

const Node* times(Graph& graph, const Node* value, const Node* count) {
  if (value->dtype == DType::boolean) return graph.make(Op::And, {value, graph.less(graph.index(0), count)});
  const Node* product = graph.mul(value, graph.cast(count, value->dtype));
  // No term at all sums to +0.0, but -3 times 0 is -0.0.
  return is_float(value->dtype) && !never_negative(value) ? graph.add(product, graph.constant(value->dtype, 0)) : product;
}

}  // namespace whit::reductions
