#include "rewrite/table.h"

#include <algorithm>

namespace whit {

bool RuleTable::match(const Step*& step, const Node* node, Match& match) const {
  const Step& s = *step++;
  if (s.flags & Step::any_op) {
    if (s.op != 0 && !op_sets[s.op].contains(node->op)) return false;
  } else if (s.op != uint8_t(node->op)) {
    return false;
  }
  if (s.types != 0 && !type_sets[s.types].contains(node->dtype)) return false;
  if (s.kind == patterns::StepKind::hole) {
    if (s.flags & Step::repeat) return match.at[s.hole] == node;
    match.at[s.hole] = node;
    return true;
  }
  if (s.kind == patterns::StepKind::literal) return literals[s.literal].matches(node);
  if ((s.flags & Step::has_argument) && (node->arg_count == 0 || node->arg(0) != s.literal)) return false;
  if ((s.flags & Step::has_rest) ? node->source_count < s.sources : node->source_count != s.sources) return false;
  const auto sources = node->sources();
  for (unsigned k = 0; k < s.sources; ++k)
    if (!this->match(step, sources[k], match)) return false;
  return true;
}

const Node* RuleTable::rewrite(const Node* node, Graph& graph, bool with_relaxed, const RuleInfo** hit, const RuleInfo* only) const {
  const uint8_t number = bucket_of[size_t(node->op)];
  if (number == kNoBucket) return nullptr;
  const Bucket& bucket = buckets[number];
  const auto sources = node->sources();
  const DType type = has(node->op, compares) && !sources.empty() ? sources[0]->dtype : node->dtype;
  // A slot the node lacks rules nothing out here: the walk below counts the sources.
  const uint64_t* alive[kSlots + 1];
  unsigned count = 1;
  alive[0] = words + rows[bucket.types + size_t(type)];
  const uint16_t* slot = rows + bucket.types + kDTypeCount;
  for (size_t k = 0; k < std::min(sources.size(), kSlots); ++k, slot += kOpCount) alive[count++] = words + slot[size_t(sources[k]->op)];
  for (unsigned word = 0; word < bucket.words; ++word) {
    uint64_t live = alive[0][word];
    for (unsigned k = 1; k < count; ++k) live &= alive[k][word];
    for (; live; live &= live - 1) {
      const Entry& entry = entries[bucket.first + word * 64 + unsigned(std::countr_zero(live))];
      const RuleInfo& rule = rules[entry.rule];
      if (only && &rule != only) continue;
      Match found;
      found.root = node;
      const Step* step = steps + entry.step;
      if (!match(step, node, found) || (rule.note.relaxed && !with_relaxed) || (rule.when && !rule.when(found))) continue;
      const Step* right = steps + rule.right;
      const Node* result = rule.function ? rule.function(found, graph) : build(right, literals, found, node->dtype, graph);
      if (!result || result == node) continue;
      hits[entry.rule].fetch_add(1, std::memory_order_relaxed);
      if (hit) *hit = &rule;
      return result;
    }
  }
  return nullptr;
}

const Node* build(const Step*& step, const Literal* literals, const Match& match, DType root, Graph& graph) {
  using namespace patterns;
  const Step& s = *step++;
  if (s.kind == StepKind::hole) return match.at[s.hole];
  const bool has_place = s.kind == StepKind::literal || Op(s.op) == Op::Cast;
  const DType place = !has_place              ? DType::none
                      : s.hole == kTypeOfRoot ? root
                      : s.hole == kTypeBool   ? DType::boolean
                                              : match.at[s.hole]->dtype;
  if (s.kind == StepKind::literal) {
    // -1 of an unsigned type is its greatest value: a rule speaks of arithmetic that wraps.
    const Literal& literal = literals[s.literal];
    return literal.integral && !is_float(place) ? graph.constant_bits(place, bits_of_integer(place, literal.integer))
                                                : graph.constant(place, literal.number);
  }
  const Node* sources[3];
  for (unsigned k = 0; k < s.sources; ++k) sources[k] = build(step, literals, match, root, graph);
  if (Op(s.op) == Op::Cast) return graph.cast(sources[0], place);
  return graph.make(Op(s.op), Sources(sources, s.sources));
}

}  // namespace whit
