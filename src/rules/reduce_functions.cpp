// A reduction is looked at one range at a time: what it removes of one, the next round removes of another.
//
// A sum of floats is rounded term by term, so only what adds exact zeros, or whole numbers small enough to be exact, may be left out. The
// sum starts at +0.0 and so is never -0.0; where one term alone remains, + 0.0 keeps that.
#include "rules/reduce_functions.h"

#include <algorithm>

#include "base/error.h"
#include "ir/evaluate.h"
#include "rules/reduce_term.h"

namespace whit::reductions {

namespace {

Op fold_op(const Node* node) { return node->reduce_op(); }

// The reduction of another value over its ranges but one.
const Node* without_range(Graph& graph, const Node* reduction, const Node* value, const Node* range) {
  std::vector<const Node*> sources{value};
  for (const Node* other : ranges_of(reduction))
    if (other != range) sources.push_back(other);
  return sources.size() == 1 ? value : graph.make(Op::Accumulate, sources, reduction->args());
}

// How many iterations the ranges make at most; saturates.
int64_t iterations(std::span<const Node* const> ranges) {
  int64_t product = 1;
  for (const Node* range : ranges)
    if (__builtin_mul_overflow(product, std::max<int64_t>(range->source(0)->maximum, 1), &product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

// r = e, from factor * r + rest = 0, and when that is an iteration of the range.
const Node* solution(Graph& graph, const Solved& solved, const Node* range, Conjunction& valid) {
  AffineSum sum = solved.rest;
  const int64_t sign = solved.factor > 0 ? -1 : 1, step = std::abs(solved.factor);
  for (size_t i = 0; i < sum.count; ++i) sum.terms[i].factor *= sign;
  sum.constant *= sign;
  const Node* value = sum.build(graph);
  if (step > 1) {
    valid.add(graph.make(Op::NotEqual, {graph.make(Op::Remainder, {value, graph.index(step)}), graph.index(0)}), true);
    value = graph.make(Op::Quotient, {value, graph.index(step)});
  }
  valid.add(graph.less(graph.index(-1), value));
  valid.add(graph.less(value, range->source(0)));
  return value;
}

const Node* gather_over(Graph& graph, const Node* reduction, const Guarded& term, const Node* range) {
  for (size_t i = 0; i < term.conditions.count; ++i) {
    Solved solved;
    const Atom atom = term.conditions.atoms[i];
    if (!depends(atom.node, range) || !solve(graph, atom, range, solved) || !solved.equality || std::abs(solved.factor) > int64_t(1) << 40)
      continue;
    Conjunction valid;
    const Node* index = solution(graph, solved, range, valid);
    const Node* inside = valid.build(graph);
    Conjunction all = valid;
    for (size_t j = 0; j < term.conditions.count; ++j) {
      if (j == i) continue;
      const Node* condition = replace_range(graph, term.conditions.atoms[j].node, range, index, inside);
      if (!condition || !all.add(condition, term.conditions.atoms[j].negated)) return nullptr;
    }
    const Node* value = replace_range(graph, term.value, range, index, inside);
    if (!value) return nullptr;
    const Node* result = without_range(graph, reduction, guard(graph, value, all.build(graph)), range);
    const bool may_be_negative_zero = is_float(result->dtype) && result->op != Op::Accumulate && !whole_bound(term.value);
    return may_be_negative_zero ? graph.add(result, graph.constant(result->dtype, 0)) : result;
  }
  return nullptr;
}

// The numbers low <= r < high that a conjunction of bounds leaves of a range.
struct Bounds {
  const Node* low;
  const Node* high;
};

bool bound(Graph& graph, const Solved& solved, Bounds& bounds) {
  const int64_t step = std::abs(solved.factor);
  if (solved.equality || step > int64_t(1) << 40) return false;
  AffineSum sum = solved.rest;
  const auto over_step = [&](int64_t added) {
    sum.constant += added;
    const Node* value = sum.build(graph);
    // Rounded down, which below 0 makes no difference: the range starts there.
    return step == 1 ? value : graph.make(Op::Quotient, {graph.make(Op::Max, {value, graph.index(0)}), graph.index(step)});
  };
  if (solved.factor > 0) {  // r < -rest / step, rounded up
    for (size_t i = 0; i < sum.count; ++i) sum.terms[i].factor = -sum.terms[i].factor;
    sum.constant = -sum.constant;
    bounds.high = graph.make(Op::Min, {bounds.high, over_step(step - 1)});
  } else {  // r > rest / step
    bounds.low = graph.make(Op::Max, {bounds.low, over_step(step)});
  }
  return true;
}

// Takes the conditions on the range apart into bounds; the others stay in `rest`. False if one is no bound.
bool bounds_of(Graph& graph, const Conjunction& conditions, const Node* range, Bounds& bounds, Conjunction& rest) {
  bounds = {graph.index(0), range->source(0)};
  bool any_bound = false;
  for (size_t i = 0; i < conditions.count; ++i) {
    const Atom atom = conditions.atoms[i];
    Solved solved;
    if (!depends(atom.node, range)) {
      if (!rest.add(atom.node, atom.negated)) return false;
    } else if (solve(graph, atom, range, solved) && bound(graph, solved, bounds)) {
      any_bound = true;
    } else {
      return false;
    }
  }
  return any_bound;
}

const Node* number_within(Graph& graph, const Bounds& bounds) {
  return graph.make(Op::Max, {graph.sub(bounds.high, bounds.low), graph.index(0)});
}

bool counts_exactly(const Node* reduction, const Node* value) {
  return !is_float(value->dtype) || sums_exactly(value, iterations(ranges_of(reduction)));
}

const Node* independent_of(const Match& match, Graph& graph, bool any_float) {
  const Node *reduction = match.root, *value = reduction->source(0);
  for (const Node* range : ranges_of(reduction)) {
    if (depends(value, range)) continue;
    const Node* size = range->source(0);
    const Op op = fold_op(reduction);
    const bool taken_once =
        op == Op::Max || op == Op::Min || op == Op::And || op == Op::Or || (op == Op::Add && value->dtype == DType::boolean);
    if (taken_once && size->minimum >= 1) return without_range(graph, reduction, value, range);
    if (op == Op::Add && value->dtype != DType::boolean && (any_float || counts_exactly(reduction, value)))
      return without_range(graph, reduction, times(graph, value, size), range);
  }
  return nullptr;
}

const Node* gather_from(const Match& match, Graph& graph, bool through_products) {
  const Node* reduction = match.root;
  Guarded term;
  if (identity_of(fold_op(reduction), reduction->dtype) != 0 || !guarded(graph, reduction->source(0), through_products, term))
    return nullptr;
  for (const Node* range : ranges_of(reduction))
    if (const Node* result = gather_over(graph, reduction, term, range)) return result;
  return nullptr;
}

}  // namespace

const Node* drop_trivial(const Match& match, Graph& graph) {
  const Node *reduction = match.root, *value = reduction->source(0);
  if (reduction->source_count == 1) return value;
  for (const Node* range : ranges_of(reduction)) {
    if (range->source(0)->is_constant(0)) return graph.constant_bits(value->dtype, identity_of(fold_op(reduction), value->dtype));
    if (!range->source(0)->is_constant(1)) continue;
    const Node* first = replace_range(graph, value, range, graph.index(0), nullptr);
    const Node* result = without_range(graph, reduction, first, range);
    return is_float(value->dtype) && fold_op(reduction) == Op::Add && result->op != Op::Accumulate
               ? graph.add(result, graph.constant(value->dtype, 0))
               : result;
  }
  return nullptr;
}

const Node* flatten(const Match& match, Graph& graph) {
  const Node *outer = match.root, *inner = outer->source(0);
  if (fold_op(outer) != fold_op(inner) || (is_float(outer->dtype) && fold_op(outer) != Op::Max && fold_op(outer) != Op::Min))
    return nullptr;
  std::vector<const Node*> sources{inner->source(0)};
  for (const Node* range : ranges_of(outer)) {
    if (std::ranges::find(ranges_of(inner), range) != ranges_of(inner).end()) return nullptr;
    sources.push_back(range);
  }
  sources.insert(sources.end(), ranges_of(inner).begin(), ranges_of(inner).end());
  return graph.make(Op::Accumulate, sources, outer->args());
}

const Node* independent(const Match& match, Graph& graph) { return independent_of(match, graph, false); }
const Node* independent_relaxed(const Match& match, Graph& graph) { return independent_of(match, graph, true); }
const Node* gather(const Match& match, Graph& graph) { return gather_from(match, graph, false); }
const Node* gather_relaxed(const Match& match, Graph& graph) { return gather_from(match, graph, true); }

const Node* count(const Match& match, Graph& graph) {
  const Node* reduction = match.root;
  Guarded term;
  if (!guarded(graph, reduction->source(0), false, term) || term.value->dtype == DType::boolean) return nullptr;
  if (!counts_exactly(reduction, term.value)) return nullptr;
  for (const Node* range : ranges_of(reduction)) {
    Bounds bounds{};
    Conjunction rest;
    if (depends(term.value, range) || !bounds_of(graph, term.conditions, range, bounds, rest)) continue;
    const Node* product = times(graph, term.value, number_within(graph, bounds));
    return without_range(graph, reduction, guard(graph, product, rest.build(graph)), range);
  }
  return nullptr;
}

const Node* any_or_all(const Match& match, Graph& graph) {
  const Node *reduction = match.root, *value = reduction->source(0);
  const Op op = fold_op(reduction);
  // Of a bool, a maximum is whether any holds, a minimum whether all do; all hold where not any fails to.
  const bool any = op == Op::Or || op == Op::Max || op == Op::Add;
  if (value->dtype != DType::boolean || (!any && op != Op::And && op != Op::Min && op != Op::Mul)) return nullptr;
  Conjunction conditions;
  if (!conditions.add(value, !any)) return nullptr;
  for (const Node* range : ranges_of(reduction)) {
    Bounds bounds{};
    Conjunction rest;
    if (!bounds_of(graph, conditions, range, bounds, rest)) continue;
    if (!rest.add(graph.less(bounds.low, bounds.high))) return nullptr;
    const Node* holds = rest.build(graph);
    const Node* found = holds ? holds : graph.boolean(true);
    return without_range(graph, reduction, any ? found : graph.make(Op::Xor, {found, graph.boolean(true)}), range);
  }
  return nullptr;
}

const Node* sum_of_indices(const Match& match, Graph& graph) {
  const Node *reduction = match.root, *value = reduction->source(0);
  Guarded term;
  if (!guarded(graph, value, false, term)) term = {{}, value};
  const Node* index = as_index(graph, term.value);
  if (index->op == Op::Cast) return nullptr;
  AffineSum sum;
  if (!sum.add(index, 1)) return nullptr;
  for (const Node* range : ranges_of(reduction)) {
    if (range->source(0)->maximum > int64_t(1) << 31) continue;
    int64_t factor = 0;
    bool affine = true;
    AffineSum rest;
    rest.constant = sum.constant;
    for (size_t i = 0; i < sum.count; ++i) {
      if (sum.terms[i].node == range)
        factor = sum.terms[i].factor;
      else if (depends(sum.terms[i].node, range))
        affine = false;
      else
        rest.terms[rest.count++] = sum.terms[i];
    }
    Bounds bounds{};
    Conjunction free;
    if (!affine || factor == 0 || (!bounds_of(graph, term.conditions, range, bounds, free) && free.count != term.conditions.count))
      continue;
    // The sum of n numbers from `low` on is n * (2*low + n - 1) / 2.
    const Node* n = number_within(graph, bounds);
    const Node* twice = graph.mul(n, graph.add(graph.add(graph.mul(bounds.low, graph.index(2)), n), graph.index(-1)));
    const Node* total =
        graph.add(graph.mul(graph.make(Op::Quotient, {twice, graph.index(2)}), graph.index(factor)), graph.mul(n, rest.build(graph)));
    return without_range(graph, reduction, guard(graph, graph.cast(total, value->dtype), free.build(graph)), range);
  }
  return nullptr;
}

const Node* split(const Match& match, Graph& graph) {
  const Node *reduction = match.root, *value = reduction->source(0);
  if (value->op != Op::Add) return nullptr;
  const Node* parts[2];
  bool closed = false;
  for (const size_t i : {0, 1}) {
    std::vector<const Node*> sources(reduction->sources().begin(), reduction->sources().end());
    sources[0] = value->source(i);
    parts[i] = graph.make(Op::Accumulate, sources, reduction->args());
    Match part{};
    part.root = parts[i];
    for (const auto attempt : {independent, gather, count, sum_of_indices})
      if (const Node* result = attempt(part, graph)) {
        parts[i] = result;
        closed = true;
        break;
      }
  }
  return closed ? graph.add(parts[0], parts[1]) : nullptr;
}

}  // namespace whit::reductions
