#include "codegen/accesses.h"

#include <unordered_set>

namespace whit {

namespace {

// Visits every node that values are made of: index expressions are entered only if `into_indices`.
template <class Visit>
void walk(Sources roots, bool into_indices, const Visit& visit) {
  std::vector<const Node*> stack(roots.begin(), roots.end());
  std::unordered_set<const Node*> seen;
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second) continue;
    visit(node);
    const bool access = node->op == Op::Load || node->op == Op::Store;
    const size_t count = node->op == Op::Accumulate ? 1 : node->sources().size();
    for (size_t i = 0; i < count; ++i)
      if (into_indices || !access || i != 1) stack.push_back(node->source(i));
  }
}

}  // namespace

std::vector<Access> accesses_below(Sources roots) {
  std::vector<Access> accesses;
  walk(roots, true, [&](const Node* node) {
    if (node->op == Op::Load || node->op == Op::Store) accesses.push_back({node, affine(node->source(1)), node->op == Op::Store});
  });
  return accesses;
}

double operations_below(Sources roots) {
  double count = 0;
  walk(roots, false, [&](const Node* node) { count += has(node->op, alu) && node->dtype != DType::index ? 1 : 0; });
  return count;
}

uint64_t ranges_in_values(const Node* sink) {
  uint64_t mask = 0;
  walk(Sources(&sink, 1), false, [&](const Node* node) {
    if (node->op == Op::Range) mask |= uint64_t(1) << node->range_number() | node->source(0)->open;
  });
  for (const Node* node : topological_order(Sources(&sink, 1)))
    if (node->op == Op::Range) mask |= node->source(0)->open;
  return mask;
}

std::vector<const Node*> folds_of(const Node* sink) {
  std::vector<const Node*> folds;
  for (const Node* node : topological_order(Sources(&sink, 1)))
    if (node->op == Op::Accumulate) folds.push_back(node);
  return folds;
}

}  // namespace whit
