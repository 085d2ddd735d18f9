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
  const RuleSet set = kernel_rules() + movement_rules;
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

// False if the left side has no value: an index overflows.
bool compare_scalars(const Node* left, const Node* right, const Environment& environment) {
  const std::optional<Bits> before = checked_value(left, environment);
  if (!before) return false;
  const std::optional<Bits> after = checked_value(right, environment);
  EXPECT_TRUE(after.has_value()) << "an index overflows on the right only" << explain(left, right, environment);
  [&] { ASSERT_TRUE(after && same_value(left, *before, *after)) << print_value(left->dtype, *before) << " becomes " << print_value(left->dtype, *after) << explain(left, right, environment); }();
  return true;
}

void compare_tensors(const Node* left, const Node* right, const Environment& environment) {
  ASSERT_TRUE(right->rank == 0 || std::ranges::equal(left->shape(), right->shape())) << "the shape changes" << explain(left, right, environment);
  const std::vector<Bits> before = tensor_values(left, left->shape(), environment), after = tensor_values(right, left->shape(), environment);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i)
    ASSERT_TRUE(same_value(left, before[i], after[i])) << "element " << i << ": " << print_value(left->dtype, before[i]) << " becomes " << print_value(left->dtype, after[i]) << explain(left, right, environment);
}

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
        if (&table() == &movement_rules) compare_tensors(left, right, environment);
        else if (!compare_scalars(left, right, environment)) continue;
        if (HasFatalFailure()) return;
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
  const RuleSet set = &table() == &movement_rules ? tensor_rules() : kernel_rules();
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
