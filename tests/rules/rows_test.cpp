// Every row of every table is a test: that it keeps values, that it makes progress, and that it can be reached.
#include <gtest/gtest.h>

#include "base/error.h"
#include "instances.h"
#include "ir/print.h"
#include "rules/simplify.h"
#include "rules/tables.h"

namespace whit::rule_tests {
namespace {

struct Case {
  const RuleTable* table;
  const RuleInfo* row;
};

std::vector<Case> all_rows() {
  std::vector<Case> cases;
  const RuleSet set = simplify_rules();
  for (const RuleTable* table : set.tables())
    for (const RuleInfo& row : table->rules) cases.push_back({table, &row});
  return cases;
}

class Row : public testing::TestWithParam<Case> {
 protected:
  const RuleTable& table() const { return *GetParam().table; }
  const RuleInfo& row() const { return *GetParam().row; }

  /// A node the row may be tried on.
  const Node* sample(Random& random, Graph& graph, DType type) const { return row().example ? row().example(random, graph) : instance(random, graph, table(), row(), type); }
  const Node* apply(const Node* node, Graph& graph) const { return table().rewrite(node, graph, true, nullptr, &row()); }
  /// The types to try; an example chooses its own.
  std::vector<DType> types() const { return row().example ? std::vector<DType>{DType::none} : types_of(row().domain); }
};

constexpr int kAttempts = 4000, kEnough = 400, kAssignments = 6;

TEST_P(Row, KeepsValues) {
  if (row().note.relaxed) GTEST_SKIP() << "a relaxed row may change a result: its bounds are in docs/numerics.md";
  Random random(1);
  int fired_at_all = 0;
  for (const DType type : types()) {
    int fired = 0, compared = 0;
    for (int attempt = 0; attempt < kAttempts && fired < kEnough; ++attempt) {
      Graph graph;
      const Node* left = sample(random, graph, type);
      const Node* right = left ? apply(left, graph) : nullptr;
      if (!right) continue;
      ++fired;
      ASSERT_EQ(left->dtype, right->dtype);
      for (int i = 0; i < kAssignments; ++i) {
        Environment environment;
        const Node* sides[] = {left, right};
        bind_leaves(random, sides, environment);
        const std::optional<Bits> before = checked_value(left, environment);
        if (!before) continue;
        const std::optional<Bits> after = checked_value(right, environment);
        ASSERT_TRUE(after.has_value()) << "an index overflows on the right only" << explain(left, right, environment);
        ASSERT_TRUE(same_value(left, *before, *after)) << print_value(left->dtype, *before) << " becomes " << print_value(left->dtype, *after) << explain(left, right, environment);
        ++compared;
      }
    }
    fired_at_all += fired;
    EXPECT_TRUE(fired == 0 || compared > 0) << name(type);
  }
  EXPECT_GT(fired_at_all, 0) << "the row never applies to what it matches";
}

TEST_P(Row, LowersTheCostOrSaysWhyNot) {
  Random random(2);
  for (const DType type : types())
    for (int attempt = 0, fired = 0; attempt < kAttempts && fired < 20; ++attempt) {
      Graph graph;
      const Node* left = sample(random, graph, type);
      const Node* right = left ? apply(left, graph) : nullptr;
      if (!right) continue;
      ++fired;
      ASSERT_TRUE(row().note.grows || cost_of(right) < cost_of(left)) << "tag the row grows(reason)" << explain(left, right, {});
    }
}

TEST_P(Row, IsNotShadowed) {
  Random random(3);
  const RuleSet set = simplify_rules();
  std::string instead;
  for (int attempt = 0; attempt < 400; ++attempt)
    for (const DType type : types()) {
      Graph graph;
      const Node* left = sample(random, graph, type);
      if (!left || !apply(left, graph)) continue;
      const RuleInfo* hit = nullptr;
      set.rewrite(left, graph, &hit, true);
      if (hit == &row()) return;
      if (hit) instead = hit->name;
    }
  FAIL() << "no example reaches the row; an earlier one applies, such as " << instead;
}

INSTANTIATE_TEST_SUITE_P(Rules, Row, testing::ValuesIn(all_rows()), [](const auto& test) { return std::string(test.param.table->name) + "_" + test.param.row->name; });

}  // namespace
}  // namespace whit::rule_tests
