#include "rules/validity_functions.h"

#include <algorithm>
#include <vector>

#include "rewrite/driver.h"
#include "rewrite/substitute.h"
#include "rules/condition.h"
#include "rules/tables.h"

namespace whit::validity {

namespace {

// terms < limit, where the first factor is positive: then `sign * terms < limit`. Bounds on the same terms can be compared.
struct Bound {
  AffineSum terms;
  int64_t sign;
  int64_t limit;
};

bool as_bound(Graph& graph, Atom atom, Bound& bound) {
  bool equality = false;
  bound.terms = {};
  if (!as_sum(graph, atom, bound.terms, equality) || equality || bound.terms.count == 0) return false;
  if (__builtin_sub_overflow(0, bound.terms.constant, &bound.limit)) return false;
  bound.terms.constant = 0;
  bound.sign = bound.terms.terms[0].factor < 0 ? -1 : 1;
  for (size_t i = 0; i < bound.terms.count; ++i) bound.terms.terms[i].factor *= bound.sign;
  return true;
}

bool same_terms(const AffineSum& a, const AffineSum& b) {
  return std::ranges::equal(std::span(a.terms, a.count), std::span(b.terms, b.count),
                            [](const AffineSum::Term& s, const AffineSum::Term& t) { return s.node == t.node && s.factor == t.factor; });
}

enum class Relation { none, first_implies_second, second_implies_first, exclude };

// How two bounds on the same terms are related: t < a implies t < b where a <= b; t < a and -t < b exclude each other where a + b <= 1.
Relation relate(const Bound& a, const Bound& b) {
  if (!same_terms(a.terms, b.terms)) return Relation::none;
  if (a.sign == b.sign) return a.limit <= b.limit ? Relation::first_implies_second : Relation::second_implies_first;
  return __int128(a.limit) + b.limit <= 1 ? Relation::exclude : Relation::none;
}

// The conjunction of the atoms without those that others imply; null if there is nothing to leave out.
const Node* without_implied(Graph& graph, const Conjunction& conditions) {
  Bound bounds[Conjunction::kMaxAtoms];
  bool is_bound[Conjunction::kMaxAtoms], dropped[Conjunction::kMaxAtoms]{};
  bool changed = false;
  for (size_t i = 0; i < conditions.count; ++i) {
    is_bound[i] = as_bound(graph, conditions.atoms[i], bounds[i]);
    for (size_t j = 0; j < i; ++j) {
      if (dropped[j] || dropped[i]) continue;
      const Atom &a = conditions.atoms[i], &b = conditions.atoms[j];
      if (a.node == b.node && a.negated != b.negated) return graph.boolean(false);
      Relation relation = a.node == b.node ? Relation::second_implies_first : Relation::none;
      if (relation == Relation::none && is_bound[i] && is_bound[j]) relation = relate(bounds[i], bounds[j]);
      if (relation == Relation::exclude) return graph.boolean(false);
      if (relation == Relation::none) continue;
      dropped[relation == Relation::first_implies_second ? j : i] = changed = true;
    }
  }
  if (!changed) return nullptr;
  Conjunction kept;
  for (size_t i = 0; i < conditions.count; ++i)
    if (!dropped[i]) kept.atoms[kept.count++] = conditions.atoms[i];
  return kept.build(graph);
}

// Below a choice only so many nodes are looked at: a condition is worth finding near its choice, and chains of choices stay linear.
constexpr size_t kReach = 64;
// Not looked into: a reduction may close a range that the condition speaks of, and a Running goes through other values of it; a Load is
// executed whatever is chosen, so its gate stays.
constexpr OpSet kOpaque = OpSet::of(Op::Accumulate, Op::Running, Op::Stage, Op::Load, Op::VectorLoad);

// The node with the conditions of a conjunction taken for true. Null if none occurs within reach.
const Node* assuming(Graph& graph, const Node* root, const Conjunction& conditions) {
  std::vector<const Node*> near{root};
  std::vector<Substitution> known;
  const auto look_at = [&](const Node* node) {
    for (size_t i = 0; i < conditions.count; ++i) {
      const Atom& atom = conditions.atoms[i];
      if (node != atom.node) continue;
      known.push_back({node, graph.boolean(!atom.negated)});
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < near.size(); ++i) {
    if (look_at(near[i])) continue;
    if (kOpaque.contains(near[i]->op)) continue;
    for (const Node* source : near[i]->sources())
      if (source->below.intersects(OpSet::with(compares)) && std::ranges::find(near, source) == near.end()) {
        if (near.size() == kReach) return nullptr;
        near.push_back(source);
      }
  }
  if (known.empty()) return nullptr;
  // Only what was looked at is rebuilt, sources first: these have lower ids.
  std::ranges::sort(near, {}, &Node::id);
  std::vector<const Node*> sources;
  NodeMap<const Node*> done;
  for (const auto& [from, to] : known) done[from] = to;
  for (const Node* node : near) {
    if (done.contains(node) || kOpaque.contains(node->op)) continue;
    sources.clear();
    for (const Node* source : node->sources()) {
      const Node* const* changed = done.find(source);
      sources.push_back(changed ? *changed : source);
    }
    if (!std::ranges::equal(sources, node->sources())) done[node] = graph.with_sources(node, sources);
  }
  const Node* const* result = done.find(root);
  return result ? *result : nullptr;
}

}  // namespace

const Node* always(const Match& match, Graph& graph) {
  return graph.with_sources(match.root, match.root->sources().first(match.root->source_count - 1));
}
const Node* never(const Match& match, Graph& graph) { return graph.constant(match.root->dtype, 0); }

const Node* strongest(const Match& match, Graph& graph) {
  Conjunction conditions;
  return conditions.add(match.root) ? without_implied(graph, conditions) : nullptr;
}

const Node* weakest(const Match& match, Graph& graph) {
  // p | q is !(!p & !q).
  Conjunction conditions;
  if (!conditions.add(match.root, true)) return nullptr;
  const Node* neither = without_implied(graph, conditions);
  if (!neither) return nullptr;
  if (neither->is_constant()) return graph.boolean(true);
  Conjunction kept;
  if (!kept.add(neither)) return nullptr;
  const Node* result = nullptr;
  for (size_t i = 0; i < kept.count; ++i) {
    const Node* one = build(graph, {kept.atoms[i].node, !kept.atoms[i].negated});
    result = result ? graph.make(Op::Or, {result, one}) : one;
  }
  return result;
}

const Node* under_condition(const Match& match, Graph& graph) {
  const Node *condition = match.root->source(0), *first = match.root->source(1), *second = match.root->source(2);
  const OpSet conditions = OpSet::with(compares);
  if (!condition->below.intersects(conditions) || (!first->below.intersects(conditions) && !second->below.intersects(conditions)))
    return nullptr;
  Conjunction holds, fails;
  const Node* new_first = holds.add(condition) ? assuming(graph, first, holds) : nullptr;
  const Node* new_second = fails.add(condition, true) ? assuming(graph, second, fails) : nullptr;
  return new_first || new_second ? graph.where(condition, new_first ? new_first : first, new_second ? new_second : second) : nullptr;
}

const Node* tighten_index(const Match& match, Graph& graph) {
  const Node *access = match.root, *index = access->source(1), *gate = access->source(access->source_count - 1);
  if (!index->below.intersects(OpSet::of(Op::Quotient, Op::Remainder, Op::Less, Op::NotEqual, Op::Max, Op::Min))) return nullptr;
  Conjunction conditions;
  if (!conditions.add(gate)) return nullptr;
  // Each node a bound speaks of becomes a variable with that bound.
  std::vector<Substitution> forth, back;
  int variables = 0;
  for (size_t i = 0; i < conditions.count; ++i) {
    Bound bound;
    if (!as_bound(graph, conditions.atoms[i], bound) || bound.terms.count != 1 || bound.terms.terms[0].factor != 1) continue;
    const Node* node = bound.terms.terms[0].node;
    if (node->op == Op::Variable) continue;
    auto known = std::ranges::find(forth, node, &Substitution::from);
    const Node* before = known == forth.end() ? node : known->to;
    int64_t low = before->minimum, high = before->maximum;
    if (bound.sign > 0)
      high = std::min(high, bound.limit - 1);
    else
      low = std::max(low, 1 - bound.limit);
    if (low > high || (low == before->minimum && high == before->maximum)) continue;
    const Node* tight = graph.make(Op::Variable, {}, {name_id("~" + std::to_string(variables++)), low, high}, DType::index);
    if (known == forth.end())
      forth.push_back({node, tight});
    else
      known->to = tight;
  }
  if (forth.empty()) return nullptr;
  const Node* assumed = substitute(graph, index, forth);
  if (assumed == index) return nullptr;
  const Node* simpler = rewrite(graph, assumed, simplify_rules());
  if (simpler == assumed) return nullptr;
  for (const auto& [from, to] : forth) back.push_back({to, from});
  const Node* result = rewrite(graph, substitute(graph, simpler, back), simplify_rules());
  if (topological_order(Sources(&result, 1)).size() >= topological_order(Sources(&index, 1)).size()) return nullptr;
  std::vector<const Node*> sources(access->sources().begin(), access->sources().end());
  sources[1] = result;
  return graph.with_sources(access, sources);
}

const Node* drop_gate(const Match& match, Graph& graph) {
  const Node *condition = match.root->source(0), *load = match.root->source(1);
  const Node *storage = load->source(0), *index = load->source(1);
  if ((storage->op != Op::Param && storage->op != Op::Buffer) || index->minimum < 0 || index->maximum >= storage->arg(1)) return nullptr;
  Conjunction holds, gate;
  if (!holds.add(condition) || !gate.add(load->source(2))) return nullptr;
  for (size_t i = 0; i < gate.count; ++i)
    if (std::none_of(holds.atoms, holds.atoms + holds.count,
                     [&](const Atom& atom) { return atom.node == gate.atoms[i].node && atom.negated == gate.atoms[i].negated; }))
      return nullptr;
  return graph.where(condition, graph.make(Op::Load, {storage, index}), match.root->source(2));
}

}  // namespace whit::validity
