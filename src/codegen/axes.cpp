#include "codegen/axes.h"

#include <algorithm>

#include "base/error.h"
#include "rules/simplify.h"
#include "schedule/normalise.h"

namespace whit {

namespace {

using Pair = std::pair<const Node*, const Node*>;

std::vector<const Node*> ranges_of(const Node* sink) {
  std::vector<const Node*> ranges;
  for (const Node* node : topological_order(Sources(&sink, 1)))
    if (node->op == Op::Range) ranges.push_back(node);
  return ranges;
}

// The sink with an Accumulate that closes `range` turned into what `parts` gives for its value, bottom-up, for every such Accumulate.
template <class Parts>
const Node* rebuild_folds(Graph& graph, const Node* sink, const Node* range, const Parts& parts) {
  std::vector<Pair> changed;
  while (true) {
    const Node* fold = nullptr;
    for (const Node* node : topological_order(Sources(&sink, 1)))
      if (node->op == Op::Accumulate && std::ranges::find(node->sources().subspan(1), range) != node->sources().end()) {
        fold = node;
        break;  // the first in topological order has none below it
      }
    if (!fold) return sink;
    sink = replace(graph, sink, {{fold, parts(fold)}});
  }
}

// An Accumulate with one of its ranges replaced (by null: left out) and its value rewritten.
const Node* fold_over(Graph& graph, const Node* fold, const Node* range, const Node* value, const Node* instead) {
  std::vector<const Node*> sources{value};
  for (const Node* other : fold->sources().subspan(1)) {
    if (other != range)
      sources.push_back(other);
    else if (instead)
      sources.push_back(instead);
  }
  return sources.size() == 1 ? value : graph.with_sources(fold, sources);
}

const Node* combine_pairwise(Graph& graph, Op op, std::vector<const Node*> values) {
  while (values.size() > 1) {
    std::vector<const Node*> half;
    for (size_t i = 0; i + 1 < values.size(); i += 2) half.push_back(graph.make(op, {values[i], values[i + 1]}));
    if (values.size() % 2) half.push_back(values.back());
    values = std::move(half);
  }
  return values[0];
}

// Stores that depend on `range`, once for each of the given stand-ins for it; the other Stores as they are. All Stores of one stand-in
// come before those of the next: the same loops then hold them, and a value is read before another Store of the kernel overwrites it.
const Node* repeat_stores(Graph& graph, const Node* sink, const Node* range, const std::vector<const Node*>& stand_ins) {
  std::vector<const Node*> stores;
  const auto depends = [&](const Node* store) { return (store->open & uint64_t(1) << range->range_number()) != 0; };
  for (const Node* value : stand_ins)
    for (const Node* store : sink->sources())
      if (depends(store)) stores.push_back(replace(graph, store, {{range, value}}));
  for (const Node* store : sink->sources())
    if (!depends(store)) stores.push_back(store);
  return graph.make(Op::Sink, stores);
}

void substitute_in_order(std::vector<const Node*>& order, const Node* range, std::initializer_list<const Node*> by) {
  const auto at = std::ranges::find(order, range);
  if (at == order.end()) return;
  order.insert(order.erase(at), by);
}

// Ranges whose size holds a replaced range are new nodes: the order follows them by number.
void refresh(KernelAxes& axes) {
  const std::vector<const Node*> ranges = ranges_of(axes.sink);
  for (const Node*& range : axes.order)
    for (const Node* now : ranges)
      if (now->range_number() == range->range_number()) range = now;
  std::erase_if(axes.order, [&](const Node* range) { return std::ranges::find(ranges, range) == ranges.end(); });
}

}  // namespace

KernelAxes axes_of(const Node* sink) {
  KernelAxes axes{sink, ranges_of(sink)};
  std::ranges::sort(axes.order, {}, [](const Node* range) { return range->range_number(); });
  return axes;
}

int64_t free_number(const KernelAxes& axes, int skip) {
  uint64_t used = 0;
  for (const Node* range : ranges_of(axes.sink)) used |= uint64_t(1) << range->range_number();
  for (int64_t number = 0; number < 64; ++number)
    if (!(used >> number & 1) && skip-- == 0) return number;
  WHIT_ASSERT(false, "a kernel with more than 64 ranges");
  return -1;
}

Split split(Graph& graph, const KernelAxes& axes, const Node* range, int64_t factor, AxisKind inner_kind) {
  const int64_t size = range->source(0)->arg(0);
  WHIT_ASSERT(size % factor == 0, "a split of ", size, " by ", factor);
  Split result{axes, nullptr, nullptr};
  result.inner = graph.range(free_number(axes), factor, inner_kind);
  result.outer = size == factor ? graph.index(0) : graph.range(range->range_number(), size / factor, range->axis_kind());
  const Node* whole = simplify(graph, graph.add(graph.mul(result.outer, graph.index(factor)), result.inner));
  // Accumulates first: their range sources become two.
  const Node* sink = rebuild_folds(graph, axes.sink, range, [&](const Node* fold) {
    const Node* value = replace(graph, fold->source(0), {{range, whole}});
    std::vector<const Node*> sources{value};
    for (const Node* other : fold->sources().subspan(1)) {
      if (other == range && result.outer->op == Op::Range) sources.push_back(result.outer);
      sources.push_back(other == range ? result.inner : other);
    }
    return graph.with_sources(fold, sources);
  });
  result.axes.sink = simplify(graph, replace(graph, sink, {{range, whole}}));
  const bool listed = inner_kind != AxisKind::vector;
  if (result.outer->op != Op::Range) result.outer = nullptr;
  if (result.outer && listed)
    substitute_in_order(result.axes.order, range, {result.outer, result.inner});
  else if (result.outer || listed)
    substitute_in_order(result.axes.order, range, {result.outer ? result.outer : result.inner});
  refresh(result.axes);
  return result;
}

Peel peel(Graph& graph, const KernelAxes& axes, const Node* range, int64_t at) {
  const int64_t size = range->source(0)->arg(0);
  Peel result{axes, graph.range(range->range_number(), at, range->axis_kind()),
              graph.range(free_number(axes), size - at, range->axis_kind())};
  const Node* shifted = graph.add(result.tail, graph.index(at));
  const Node* sink = rebuild_folds(graph, axes.sink, range, [&](const Node* fold) {
    const Node* head = fold_over(graph, fold, range, replace(graph, fold->source(0), {{range, result.head}}), result.head);
    const Node* tail = fold_over(graph, fold, range, replace(graph, fold->source(0), {{range, shifted}}), result.tail);
    return graph.make(fold->reduce_op(), {head, tail});
  });
  result.axes.sink = simplify(graph, repeat_stores(graph, sink, range, {result.head, shifted}));
  substitute_in_order(result.axes.order, range, {result.head, result.tail});
  refresh(result.axes);
  return result;
}

KernelAxes retag(Graph& graph, const KernelAxes& axes, const Node* range, AxisKind kind, const Node*& changed) {
  changed = graph.range(range->range_number(), range->source(0), kind);
  KernelAxes result{replace(graph, axes.sink, {{range, changed}}), axes.order};
  if (kind == AxisKind::vector)
    std::erase(result.order, range);
  else
    substitute_in_order(result.order, range, {changed});
  refresh(result);
  return result;
}

KernelAxes merge(Graph& graph, const KernelAxes& axes, const Node* outer, const Node* inner) {
  const Node* whole = graph.range(outer->range_number(), outer->source(0)->arg(0) * inner->source(0)->arg(0), outer->axis_kind());
  // Every access holds outer*size + inner times some step, so the outer one can be left out and the inner one take its place.
  std::vector<Pair> pairs{{outer, graph.index(0)}, {inner, whole}};
  const Node* sink = axes.sink;
  if (outer->axis_kind() == AxisKind::reduce)
    sink = rebuild_folds(graph, sink, inner, [&](const Node* fold) {
      std::vector<const Node*> sources{replace(graph, fold->source(0), pairs)};
      for (const Node* range : fold->sources().subspan(1))
        if (range != outer) sources.push_back(range == inner ? whole : range);
      return graph.with_sources(fold, sources);
    });
  KernelAxes result{simplify(graph, replace(graph, sink, pairs)), axes.order};
  std::erase(result.order, inner);
  substitute_in_order(result.order, outer, {whole});
  refresh(result);
  return result;
}

KernelAxes share_folds(Graph& graph, const KernelAxes& axes, const Node* local) {
  const Node* thread = graph.range(free_number(axes), local->source(0), AxisKind::reduce);
  const Node* sink = rebuild_folds(graph, axes.sink, local, [&](const Node* fold) {
    const Node* part = fold_over(graph, fold, local, fold->source(0), nullptr);
    const Node* parts = graph.make(Op::Stage, {part, local});
    return graph.make(Op::Accumulate, {graph.make(Op::Load, {parts, thread}), thread}, {int64_t(fold->reduce_op())});
  });
  KernelAxes result{simplify(graph, sink), axes.order};
  result.order.push_back(thread);
  refresh(result);
  return result;
}

KernelAxes reorder(const KernelAxes& axes, const Node* range, size_t place) {
  KernelAxes result = axes;
  std::erase(result.order, range);
  result.order.insert(result.order.begin() + std::ptrdiff_t(std::min(place, result.order.size())), range);
  return result;
}

KernelAxes expand_unrolled(Graph& graph, const KernelAxes& axes) {
  KernelAxes result = axes;
  const std::vector<const Node*> order = axes.order;
  for (const Node* range : order) {
    if (range->axis_kind() != AxisKind::unroll) continue;
    std::vector<const Node*> values;
    for (int64_t k = 0; k < range->source(0)->arg(0); ++k) values.push_back(graph.index(k));
    result.sink = rebuild_folds(graph, result.sink, range, [&](const Node* fold) {
      std::vector<const Node*> parts;
      for (const Node* value : values)
        parts.push_back(fold_over(graph, fold, range, replace(graph, fold->source(0), {{range, value}}), nullptr));
      return combine_pairwise(graph, fold->reduce_op(), parts);
    });
    result.sink = repeat_stores(graph, result.sink, range, values);
    std::erase(result.order, range);
  }
  result.sink = simplify(graph, result.sink);
  refresh(result);
  return result;
}

}  // namespace whit
