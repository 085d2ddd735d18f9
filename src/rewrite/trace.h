// The log of what the rewriter did: every step, in order, as (pass, rule, old node, new node). Nodes are immutable and stay in their
// graph, so any state in between can be rebuilt from it; nothing else is kept.
#pragma once

#include <string>
#include <vector>

#include "rewrite/table.h"

namespace whit {

class Trace {
 public:
  struct Entry {
    const Node *old_node, *new_node;  ///< of the trace's graph
    const RuleInfo* rule;             ///< null for a substitution
    uint16_t pass;
  };

  explicit Trace(const Graph& graph) : graph_(&graph) {}

  /// Names what comes next.
  void start_pass(std::string name) { passes_.push_back(std::move(name)); }
  void add(const RuleInfo* rule, const Node* old_node, const Node* new_node) {
    if (passes_.empty()) start_pass("");
    entries_.push_back({old_node, new_node, rule, uint16_t(passes_.size() - 1)});
  }

  const Graph& graph() const { return *graph_; }
  const std::vector<std::string>& passes() const { return passes_; }
  const std::vector<Entry>& entries() const { return entries_; }

  /// The trace that this thread's rewriting of a graph goes to, or null.
  static Trace* of(const Graph& graph) { return current_ && current_->graph_ == &graph ? current_ : nullptr; }

 private:
  friend class Recording;
  static thread_local Trace* current_;

  const Graph* graph_;
  std::vector<std::string> passes_;
  std::vector<Entry> entries_;
};

/// The log as text, a line a step: the pass, the rule, what it matched and what it made of it.
std::string to_string(const Trace& trace);

/// While it lives, this thread's rewriting of the trace's graph is recorded.
class Recording {
 public:
  explicit Recording(Trace& trace) : before_(Trace::current_) { Trace::current_ = &trace; }
  ~Recording() { Trace::current_ = before_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Trace* before_;
};

}  // namespace whit
