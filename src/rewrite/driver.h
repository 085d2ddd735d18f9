// The driver: applies a rule set to a graph from the sources up, until nothing more applies.
#pragma once

#include <string>
#include <vector>

#include "base/function_ref.h"
#include "rewrite/memo.h"
#include "rewrite/ruleset.h"

namespace whit {

struct RewriteOptions {
  bool relaxed = false;  ///< use the rows tagged `relaxed` too
  size_t budget = 0;     ///< steps before a set is held not to end; 0: by the size of the graph
};

struct RewriteCounts {
  size_t visits = 0;  ///< nodes that were offered to the rules
  size_t rewrites = 0;
};

/// Rewrites nodes of one graph by one rule set. What it found for a node it keeps, so that many roots share the work.
///
/// Sources come first, then the rules on the node with its new sources, to a fixed point. A subgraph none of whose ops any row starts at
/// is not entered. Where a row makes a scalar of a node with a shape (x*0 → 0), the scalar is stretched to the shape. Uses no recursion.
class Rewriter {
 public:
  Rewriter(Graph& graph, const RuleSet& rules, RewriteOptions options = {});

  const Node* operator()(const Node* root);
  std::vector<const Node*> operator()(Sources roots);
  const RewriteCounts& counts() const { return counts_; }

 private:
  struct Frame {
    const Node* node;     ///< whose replacement is sought
    const Node* current;  ///< what it has become so far
    uint32_t next;        ///< the source to visit next
    uint32_t aliases;     ///< where its former forms start in aliases_
  };
  const Node* known(const Node* node);
  void finish(const Node* result);
  const Node* rebuilt(const Node* node);
  const Node* applied(const Node* node);
  [[noreturn]] void out_of_budget(const Node* node) const;

  Graph& graph_;
  const RuleSet rules_;
  const RewriteOptions options_;
  const OpSet roots_;
  size_t budget_;
  Memo memo_;
  RewriteCounts counts_;
  std::vector<Frame> stack_;
  std::vector<const Node*> aliases_;
  std::vector<const Node*> sources_;
  static constexpr size_t kRecent = 8;
  const RuleInfo* recent_[kRecent]{};
};

const Node* rewrite(Graph& graph, const Node* root, const RuleSet& rules, RewriteOptions options = {});
std::vector<const Node*> rewrite(Graph& graph, Sources roots, const RuleSet& rules, RewriteOptions options = {});

/// A scalar as a node of this shape: a Reshape to axes of size 1, then an Expand.
const Node* stretch(Graph& graph, const Node* scalar, ShapeView shape);

/// The rules of the set and how often each has applied in this process, as text: for `DEBUG` and tests.
std::string hit_counts(const RuleSet& rules);

}  // namespace whit
