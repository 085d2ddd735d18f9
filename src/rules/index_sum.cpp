// Normal forms of sums and comparisons of index expressions, and what intervals decide.
#include <algorithm>

#include "rules/affine_sum.h"
#include "rules/index_functions.h"

namespace whit::index_rewrites {

namespace {

bool is_known(const Node* node) {
  return !node->is_constant() && node->minimum == node->maximum &&
         (node->dtype == DType::boolean || (is_integer(node->dtype) && node->dtype != DType::uint64));
}

// a - b, or false if it has no affine form.
bool difference(const Node* a, const Node* b, AffineSum& result) {
  if (!result.add(a, 1) || !result.add(b, -1)) return false;
  result.normalise();
  return true;
}

// `sum < bound` as a node: what is added stands on the left, what is subtracted on the right, the constant on the right. Null if that
// is the node there is.
const Node* build_less(Graph& graph, const Node* present, const AffineSum& sum, int64_t bound) {
  AffineSum left, right;
  for (size_t i = 0; i < sum.count; ++i) {
    const auto& [node, factor] = sum.terms[i];
    if (factor > 0)
      left.terms[left.count++] = {node, factor};
    else
      right.terms[right.count++] = {node, -factor};
  }
  if (left.count)
    right.constant = bound;
  else
    left.constant = -bound;
  if (left.is(present->source(0)) && right.is(present->source(1))) return nullptr;
  return graph.less(left.build(graph), right.build(graph));
}

// Terms whose factor isn't a multiple of `step` may not decide `sum < bound`: then they go, and the rest is divided by `step`.
bool drop_minor_terms(AffineSum& sum, int64_t step, int64_t& bound) {
  AffineSum major, minor;
  for (size_t i = 0; i < sum.count; ++i) {
    const auto& [node, factor] = sum.terms[i];
    if (factor % step)
      minor.terms[minor.count++] = {node, factor};
    else
      major.terms[major.count++] = {node, factor / step};
  }
  const Interval range = minor.interval();
  int64_t first = 0, last = 0;
  if (__builtin_sub_overflow(bound - 1, range.minimum, &first) || __builtin_sub_overflow(bound - 1, range.maximum, &last)) return false;
  if (floor_quotient(first, step) != floor_quotient(last, step)) return false;
  sum = major;
  bound = floor_quotient(first, step) + 1;
  return true;
}

constexpr bool can_negate(int64_t value) { return value > std::numeric_limits<int64_t>::min() + 1; }

}  // namespace

const Node* known_value(const Match& match, Graph& graph) {
  const Node* node = match.root;
  return is_known(node) ? graph.constant_bits(node->dtype, node->minimum) : nullptr;
}

const Node* known_source(const Match& match, Graph& graph) {
  const auto sources = match.root->sources();
  if (std::ranges::none_of(sources, is_known)) return nullptr;
  const Node* known[3];
  for (size_t i = 0; i < sources.size(); ++i)
    known[i] = is_known(sources[i]) ? graph.constant_bits(sources[i]->dtype, sources[i]->minimum) : sources[i];
  return graph.with_sources(match.root, Sources(known, sources.size()));
}

const Node* canonical_sum(const Match& match, Graph& graph) {
  AffineSum sum;
  if (!sum.add(match.root, 1)) return nullptr;
  sum.normalise();
  if (!sum.recombine() || sum.is(match.root)) return nullptr;
  return sum.build(graph);
}

const Node* canonical_product(const Match& match, Graph& graph) {
  const Node *a = match.root->source(0), *b = match.root->source(1);
  return !b->is_constant() && comes_before(b, a) ? graph.mul(b, a) : nullptr;
}

const Node* extremum(const Match& match, Graph&) {
  const bool greatest = match.root->op == Op::Max;
  const Node *a = match.root->source(0), *b = match.root->source(1);
  if (a->minimum >= b->maximum) return greatest ? a : b;
  if (b->minimum >= a->maximum) return greatest ? b : a;
  AffineSum gap;
  if (a->dtype != DType::index || !difference(a, b, gap)) return nullptr;
  const Interval range = gap.interval();
  if (range.minimum >= 0) return greatest ? a : b;
  return range.maximum <= 0 ? (greatest ? b : a) : nullptr;
}

const Node* less(const Match& match, Graph& graph) {
  AffineSum sum;
  if (!difference(match.root->source(0), match.root->source(1), sum)) return nullptr;
  const Interval range = sum.interval();
  if (range.maximum < 0) return graph.boolean(true);
  if (range.minimum >= 0) return graph.boolean(false);
  if (!can_negate(sum.constant)) return nullptr;
  int64_t bound = -sum.constant;
  sum.constant = 0;
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < sum.count && !again; ++i) {
      const int64_t step = can_negate(sum.terms[i].factor) ? std::abs(sum.terms[i].factor) : 1;
      again = step > 1 && drop_minor_terms(sum, step, bound);
    }
    const int64_t common = sum.common_factor();
    if (!again && common > 1) again = drop_minor_terms(sum, common, bound);
  }
  return can_negate(bound) ? build_less(graph, match.root, sum, bound) : nullptr;
}

const Node* not_equal(const Match& match, Graph& graph) {
  AffineSum sum;
  if (!difference(match.root->source(0), match.root->source(1), sum)) return nullptr;
  const Interval range = sum.interval();
  const int64_t common = sum.common_factor();
  if (range.minimum > 0 || range.maximum < 0 || (common && sum.constant % common)) return graph.boolean(true);
  if (common == 0) return graph.boolean(sum.constant != 0);
  // The first term stands on the left, with a positive factor.
  AffineSum left, right;
  const int64_t divisor = sum.terms[0].factor < 0 ? -common : common;
  for (size_t i = 0; i < sum.count; ++i) {
    const int64_t factor = sum.terms[i].factor / divisor;
    if (factor > 0)
      left.terms[left.count++] = {sum.terms[i].node, factor};
    else
      right.terms[right.count++] = {sum.terms[i].node, -factor};
  }
  if (!can_negate(sum.constant)) return nullptr;
  right.constant = -(sum.constant / divisor);
  if (left.is(match.root->source(0)) && right.is(match.root->source(1))) return nullptr;
  return graph.make(Op::NotEqual, {left.build(graph), right.build(graph)});
}

}  // namespace whit::index_rewrites
