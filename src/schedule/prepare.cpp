#include "schedule/prepare.h"

#include <algorithm>
#include <unordered_map>

#include "rules/simplify.h"

namespace whit {

namespace {

// A reduction to few results over very many elements would run on one thread: it is cut in two, by shape alone.
constexpr int64_t kLongReduction = 1 << 16, kFewResults = 64;

// The divisor of n nearest below `most`, or 1.
int64_t divisor_below(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

// Reduce over an axis n = k * (n/k): first within each of the k pieces, then over the pieces.
const Node* cut(Graph& graph, const Node* reduce, const Node* source) {
  const ShapeView shape = source->shape();
  if (is_symbolic(shape) || element_count(reduce->shape()) > kFewResults || element_count(shape) < kLongReduction) return nullptr;
  for (const int64_t axis : reduce->args().subspan(1)) {
    const int64_t pieces = divisor_below(shape[size_t(axis)].size, 256);
    if (pieces < 8) continue;
    std::vector<int64_t> split, first{reduce->arg(0)}, kept, second{reduce->arg(0), axis};
    for (int64_t i = 0; i < int64_t(shape.size()); ++i) {
      const bool reduced = std::ranges::find(reduce->args().subspan(1), i) != reduce->args().end();
      if (i == axis) {
        first.push_back(int64_t(split.size()) + 1);
        split.push_back(pieces);
        split.push_back(shape[size_t(i)].size / pieces);
        kept.push_back(pieces);
        continue;
      }
      if (reduced) first.push_back(int64_t(split.size()));
      split.push_back(shape[size_t(i)].size);
      kept.push_back(reduced ? 1 : shape[size_t(i)].size);
    }
    const Node* reshaped = graph.make(Op::Reshape, Sources(&source, 1), split);
    const Node* pieces_sum = graph.make(Op::Reduce, Sources(&reshaped, 1), first);
    const Node* stored = graph.make(Op::Contiguous, {graph.make(Op::Reshape, Sources(&pieces_sum, 1), kept)});
    return graph.make(Op::Reduce, Sources(&stored, 1), second);
  }
  return nullptr;
}

}  // namespace

std::vector<const Node*> prepare_tensors(Graph& graph, const std::vector<const Node*>& outputs) {
  std::vector<const Node*> roots = simplify_tensor(graph, outputs);
  std::unordered_map<const Node*, const Node*> changed;
  std::vector<const Node*> sources;
  for (const Node* node : topological_order(roots)) {
    sources.clear();
    bool differs = false;
    for (const Node* source : node->sources()) {
      const auto found = changed.find(source);
      sources.push_back(found == changed.end() ? source : found->second);
      differs |= found != changed.end();
    }
    const Node* result = differs ? graph.with_sources(node, sources) : node;
    if (node->op == Op::Reduce)
      if (const Node* two = cut(graph, result, sources[0])) result = two;
    if (result != node) changed.emplace(node, result);
  }
  for (const Node*& root : roots) {
    if (const auto found = changed.find(root); found != changed.end()) root = found->second;
    while (root->op == Op::Reshape && root->sources().size() == 1) root = root->source(0);
  }
  return roots;
}

}  // namespace whit
