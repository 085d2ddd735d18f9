#include "schedule/prepare.h"

#include <algorithm>
#include <unordered_map>

#include "ir/evaluate.h"
#include "rules/simplify.h"

namespace whit {

namespace {

// A reduction to few results over very many elements would run on one thread: it is cut in two, by shape alone.
constexpr int64_t kLongReduction = 1 << 16, kFewResults = 64;
constexpr int64_t kPieces = 256, kFewestPieces = 8;
constexpr int64_t kEven = 64, kUnevenLength = 1024;  // a long piece that is filled up is a whole number of any vectors

bool is_reduced(const Node* reduce, int64_t axis) { return std::ranges::find(reduce->args().subspan(1), axis) != reduce->args().end(); }

// The divisor of n nearest below `most`, or 1.
int64_t divisor_below(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

// Where a reduction is cut: an axis into pieces of one length, the last of which may reach past the end.
struct Cut {
  int64_t axis = -1, pieces = 0, length = 0;
};

Cut choose_cut(const Node* reduce, ShapeView shape) {
  if (reduce->args().size() < 2 || is_symbolic(shape)) return {};
  if (element_count(reduce->shape()) > kFewResults || element_count(shape) < kLongReduction) return {};
  int64_t longest = reduce->arg(1);
  for (const int64_t axis : reduce->args().subspan(1)) {
    const int64_t size = shape[size_t(axis)].size, pieces = divisor_below(size, kPieces);
    if (pieces >= kFewestPieces) return {axis, pieces, size / pieces};
    if (size > shape[size_t(longest)].size) longest = axis;
  }
  // No axis has a divisor that would do. The longest one is filled up by less than a piece: what is longer than 256 has 128 or more.
  const int64_t size = shape[size_t(longest)].size;
  if (size <= kPieces) return {};
  int64_t length = (size + kPieces - 1) / kPieces;
  if (length > kUnevenLength) length = (length + kEven - 1) / kEven * kEven;
  return {longest, (size + length - 1) / length, length};
}

// The source with as many elements along the axis as the pieces have, the new ones of no effect on the result.
const Node* fill_up(Graph& graph, const Node* source, const Cut& cut, Op op) {
  const int64_t missing = cut.pieces * cut.length - source->shape()[size_t(cut.axis)].size;
  if (missing == 0) return source;
  std::vector<int64_t> padding(size_t(2) * source->rank, 0), sizes;
  padding[2 * size_t(cut.axis) + 1] = missing;
  const auto padded = [&](const Node* node) { return graph.make(Op::Pad, Sources(&node, 1), padding); };
  const Node* neutral = graph.constant_bits(source->dtype, identity_of(op, source->dtype));
  if (neutral->is_constant(0)) return padded(source);
  for (const Dim& dim : source->shape()) sizes.push_back(dim.size);
  const std::vector<int64_t> ones(source->rank, 1);
  const Node* yes = graph.boolean(true);
  const Node* scalar = graph.make(Op::Reshape, Sources(&yes, 1), ones);
  return graph.where(padded(graph.make(Op::Expand, Sources(&scalar, 1), sizes)), padded(source), neutral);
}

// Reduce over an axis n = k * (n/k): first within each of the k pieces, then over the pieces.
const Node* cut(Graph& graph, const Node* reduce, const Node* source) {
  const Cut at = choose_cut(reduce, source->shape());
  if (at.axis < 0) return nullptr;
  const Node* full = fill_up(graph, source, at, reduce->reduce_op());
  std::vector<int64_t> split, first{reduce->arg(0)}, kept, second{reduce->arg(0), at.axis};
  for (int64_t i = 0; i < int64_t(full->rank); ++i) {
    const int64_t size = full->shape()[size_t(i)].size;
    if (i == at.axis) {
      first.push_back(int64_t(split.size()) + 1);
      split.insert(split.end(), {at.pieces, at.length});
      kept.push_back(at.pieces);
      continue;
    }
    if (is_reduced(reduce, i)) first.push_back(int64_t(split.size()));
    split.push_back(size);
    kept.push_back(is_reduced(reduce, i) ? 1 : size);
  }
  const Node* reshaped = graph.make(Op::Reshape, Sources(&full, 1), split);
  const Node* pieces = graph.make(Op::Reduce, Sources(&reshaped, 1), first);
  const Node* stored = graph.make(Op::Contiguous, {graph.make(Op::Reshape, Sources(&pieces, 1), kept)});
  return graph.make(Op::Reduce, Sources(&stored, 1), second);
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
