#include "rewrite/substitute.h"

#include <algorithm>
#include <limits>

#include "rewrite/memo.h"
#include "rewrite/trace.h"

namespace whit {

namespace {

class Substituter {
 public:
  Substituter(Graph& graph, std::span<const Substitution> substitutions) : graph_(graph), substitutions_(substitutions) {
    for (const auto& [from, to] : substitutions) {
      memo_.set(from->id, to);
      ops_ = ops_ | OpSet(from->op);
      first_ = std::min(first_, from->id);
      if (from->op == Op::Range)
        ranges_ |= from->open;
      else
        only_ranges_ = false;
    }
  }

  const Node* operator()(const Node* root) {
    if (const Node* result = known(root)) return result;
    stack_.push_back({root, 0});
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      if (closes_one(node)) {
        memo_.set(node->id, without_closed(node));
        stack_.pop_back();
        continue;
      }
      const auto sources = node->sources();
      while (next < sources.size() && known(sources[next])) ++next;
      if (next < sources.size()) {
        stack_.push_back({sources[next], 0});
        continue;
      }
      memo_.set(node->id, rebuilt(node));
      stack_.pop_back();
    }
    return memo_.find(root->id);
  }

 private:
  struct Frame {
    const Node* node;
    size_t next;
  };

  /// Whether a node binds one of the ranges to be replaced, so that inside it this range is another variable.
  bool closes_one(const Node* node) const {
    if (!only_ranges_ || (node->op != Op::Accumulate && node->op != Op::Stage)) return false;
    return std::ranges::any_of(node->sources().subspan(1),
                               [this](const Node* range) { return range->op == Op::Range && memo_.find(range->id); });
  }
  const Node* without_closed(const Node* node) {
    std::vector<Substitution> free;
    for (const Substitution& one : substitutions_)
      if (std::ranges::find(node->sources().subspan(1), one.from) == node->sources().end()) free.push_back(one);
    return substitute(graph_, node, free);
  }

  /// The replacement if it is known without a visit, or null. Sources are older than their users, so a node older than
  /// every `from` holds none.
  const Node* known(const Node* node) const {
    if (node->id < first_ || !node->below.intersects(ops_) || (only_ranges_ && !(node->open & ranges_))) return node;
    return memo_.find(node->id);
  }

  const Node* rebuilt(const Node* node) {
    sources_.clear();
    for (const Node* source : node->sources()) sources_.push_back(known(source));
    return std::ranges::equal(sources_, node->sources()) ? node : graph_.with_sources(node, sources_);
  }

  Graph& graph_;
  const std::span<const Substitution> substitutions_;
  Memo memo_;
  OpSet ops_;
  uint32_t first_ = std::numeric_limits<uint32_t>::max();
  uint64_t ranges_ = 0;
  bool only_ranges_ = true;
  std::vector<Frame> stack_;
  std::vector<const Node*> sources_;
};

}  // namespace

const Node* substitute(Graph& graph, const Node* root, std::span<const Substitution> substitutions) {
  return substitute(graph, Sources(&root, 1), substitutions)[0];
}

std::vector<const Node*> substitute(Graph& graph, Sources roots, std::span<const Substitution> substitutions) {
  std::vector<const Node*> results(roots.begin(), roots.end());
  if (substitutions.empty()) return results;
  Substituter replace(graph, substitutions);
  Trace* trace = Trace::of(graph);
  for (const Node*& result : results) {
    const Node* before = result;
    result = replace(before);
    if (trace && result != before) trace->add(nullptr, before, result);
  }
  return results;
}

}  // namespace whit
