#include "rewrite/driver.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_local.h"
#include "rewrite/trace.h"

namespace whit {

thread_local Trace* Trace::current_ = nullptr;

// ---- Memo ---------------------------------------------------------------------------------------------------------------------------

std::vector<std::unique_ptr<Memo::Storage>>& Memo::idle() { return of_this_thread<std::vector<std::unique_ptr<Storage>>, Memo>(); }

Memo::Memo() {
  auto& storages = idle();
  if (storages.empty()) {
    storage_ = std::make_unique<Storage>();
  } else {
    storage_ = std::move(storages.back());
    storages.pop_back();
  }
}

Memo::~Memo() {
  for (const uint32_t id : storage_->written) storage_->table[id] = nullptr;
  storage_->written.clear();
  idle().push_back(std::move(storage_));
}

// ---- Rewriter -----------------------------------------------------------------------------------------------------------------------

Rewriter::Rewriter(Graph& graph, const RuleSet& rules, RewriteOptions options)
    : graph_(graph),
      rules_(rules),
      options_(options),
      roots_(rules.roots()),
      budget_(options.budget ? options.budget : 100'000 + 16 * graph.size()) {}

/// The replacement of a node if it is known without a visit, or null.
const Node* Rewriter::known(const Node* node) {
  if (!node->below.intersects(roots_)) return node;
  return memo_.find(node->id);
}

/// The node with the replacements of its sources, all of which are known.
const Node* Rewriter::rebuilt(const Node* node) {
  const auto sources = node->sources();
  size_t i = 0;
  while (i < sources.size() && known(sources[i]) == sources[i]) ++i;
  if (i == sources.size()) return node;
  sources_.assign(sources.begin(), sources.end());
  for (; i < sources.size(); ++i) sources_[i] = known(sources[i]);
  return graph_.with_sources(node, sources_);
}

/// One step of the rules on a node whose sources are final, or null.
const Node* Rewriter::applied(const Node* node) {
  if (!roots_.contains(node->op)) return nullptr;
  ++counts_.visits;
  const RuleInfo* rule = nullptr;
  const Node* result = rules_.rewrite(node, graph_, &rule, options_.relaxed);
  if (!result) return nullptr;
  WHIT_ASSERT(result->dtype == node->dtype, "rule ", rule->name, " turns ", name(node->op), " of ", name(node->dtype), " into ",
              name(result->dtype));
  if (node->rank != result->rank || (node->rank && !std::ranges::equal(node->shape(), result->shape()))) {
    WHIT_ASSERT(result->rank == 0, "rule ", rule->name, " changes the shape of ", name(node->op));
    result = stretch(graph_, result, node->shape());
    if (result == node) return nullptr;
  }
  recent_[counts_.rewrites++ % kRecent] = rule;
  if (Trace* trace = Trace::of(graph_)) trace->add(rule, node, result);
  if (counts_.rewrites > budget_) out_of_budget(node);
  return result;
}

void Rewriter::finish(const Node* result) {
  const Frame& frame = stack_.back();
  for (size_t i = frame.aliases; i < aliases_.size(); ++i) memo_.set(aliases_[i]->id, result);
  aliases_.resize(frame.aliases);
  memo_.set(frame.node->id, result);
  memo_.set(result->id, result);
  stack_.pop_back();
}

const Node* Rewriter::operator()(const Node* root) {
  if (const Node* result = known(root)) return result;
  const size_t bottom = stack_.size();
  stack_.push_back({root, root, 0, uint32_t(aliases_.size())});
  while (stack_.size() > bottom) {
    Frame& frame = stack_.back();
    const auto sources = frame.current->sources();
    while (frame.next < sources.size() && known(sources[frame.next])) ++frame.next;
    if (frame.next < sources.size()) {
      const Node* source = sources[frame.next++];
      stack_.push_back({source, source, 0, uint32_t(aliases_.size())});
      continue;
    }
    const Node* node = rebuilt(frame.current);
    // A node that has been through the rules already, or is made of such, may be known now.
    const Node* result = node == frame.node ? nullptr : known(node);
    if (!result) {
      const Node* next = applied(node);
      if (!next)
        result = node;
      else if (!(result = known(next))) {
        if (node != frame.node) aliases_.push_back(node);
        frame.current = next;
        frame.next = 0;
        continue;
      } else if (node != frame.node) {
        aliases_.push_back(node);
      }
    }
    finish(result);
  }
  return memo_.find(root->id);
}

std::vector<const Node*> Rewriter::operator()(Sources roots) {
  std::vector<const Node*> results;
  results.reserve(roots.size());
  for (const Node* root : roots) results.push_back((*this)(root));
  return results;
}

void Rewriter::out_of_budget(const Node* node) const {
  std::string names;
  for (size_t i = 0; i < std::min(kRecent, counts_.rewrites); ++i) {
    const RuleInfo* rule = recent_[(counts_.rewrites - 1 - i) % kRecent];
    names += concat(i ? ", " : "", rule->table, ".", rule->name);
  }
  throw InternalError(
      concat("rewriting does not end: ", counts_.rewrites, " steps, at ", name(node->op), "; the last rules, latest first: ", names));
}

const Node* rewrite(Graph& graph, const Node* root, const RuleSet& rules, RewriteOptions options) {
  return Rewriter(graph, rules, options)(root);
}

std::vector<const Node*> rewrite(Graph& graph, Sources roots, const RuleSet& rules, RewriteOptions options) {
  return Rewriter(graph, rules, options)(roots);
}

const Node* stretch(Graph& graph, const Node* scalar, ShapeView shape) {
  WHIT_ASSERT(scalar->rank == 0, "only a scalar stretches");
  const std::vector<int64_t> ones(shape.size(), 1);
  const Node* flat = graph.make(Op::Reshape, Sources(&scalar, 1), ones);
  std::vector<const Node*> sources{flat};
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) {
    sizes.push_back(dim.symbol ? kSymbolArg + int64_t(sources.size()) : dim.size);
    if (dim.symbol) sources.push_back(dim.symbol);
  }
  return graph.make(Op::Expand, sources, sizes);
}

std::string hit_counts(const RuleSet& rules) {
  std::string text;
  for (const RuleTable* table : rules.tables())
    for (size_t i = 0; i < table->rules.size(); ++i)
      text += concat(table->name, ".", table->rules[i].name, " ", table->hits[i].load(std::memory_order_relaxed), "\n");
  return text;
}

}  // namespace whit
