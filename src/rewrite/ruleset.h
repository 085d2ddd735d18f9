// Rule tables in the order of their priority, as one set. Concatenation is a list of tables: no row is written or compiled twice.
#pragma once

#include "rewrite/table.h"

namespace whit {

class RuleSet {
 public:
  static constexpr size_t kMaxTables = 12;

  constexpr RuleSet() = default;
  constexpr RuleSet(const RuleTable& table) : tables_{&table}, count_(1) {}  // NOLINT(google-explicit-constructor): a table is a set of one
  friend constexpr RuleSet operator+(RuleSet a, const RuleSet& b) {
    for (size_t i = 0; i < b.count_; ++i) {
      if (a.count_ == kMaxTables) throw "a RuleSet has too many tables";
      a.tables_[a.count_++] = b.tables_[i];
    }
    return a;
  }

  std::span<const RuleTable* const> tables() const& { return {tables_, count_}; }
  std::span<const RuleTable* const> tables() const&& = delete;  // the list lives in the set

  /// The ops at which any row starts.
  OpSet roots() const {
    OpSet roots;
    for (const RuleTable* table : tables()) roots = roots | table->roots;
    return roots;
  }

  /// What the first row that applies makes of the node; null if none does. Allocates in the graph only, and throws nothing of its own.
  const Node* rewrite(const Node* node, Graph& graph, const RuleInfo** hit, bool with_relaxed = false) const {
    for (size_t i = 0; i < count_; ++i)
      if (tables_[i]->roots.contains(node->op))
        if (const Node* result = tables_[i]->rewrite(node, graph, with_relaxed, hit)) return result;
    return nullptr;
  }

 private:
  const RuleTable* tables_[kMaxTables]{};
  size_t count_ = 0;
};

}  // namespace whit
