// Every row of every table is a test: that it keeps values, that it makes progress, and that it can be reached.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "base/error.h"
#include "instances.h"
#include "ir/print.h"
#include "rules/decompose.h"
#include "rules/simplify.h"
#include "rules/tables.h"

namespace whit::rule_tests {
namespace {

struct Case {
  const RuleTable* table;
  const RuleInfo* row;

  friend void PrintTo(const Case& test, std::ostream* out) { *out << test.table->name << '.' << test.row->name; }
};

enum class Rows { all, exact, relaxed };

std::vector<Case> rows(Rows which) {
  std::vector<Case> cases;
  const RuleSet set = kernel_rules() + movement_rules + decompose_rules;
  for (const RuleTable* table : set.tables())
    for (const RuleInfo& row : table->rules)
      if (which == Rows::all || (row.note.relaxed != nullptr) == (which == Rows::relaxed)) cases.push_back({table, &row});
  return cases;
}

class Row : public testing::TestWithParam<Case> {
 protected:
  const RuleTable& table() const { return *GetParam().table; }
  const RuleInfo& row() const { return *GetParam().row; }

  /// A node the row may be tried on.
  const Node* sample(Random& random, Graph& graph, DType type) const {
    return row().example ? row().example(random, graph) : instance(random, graph, table(), row(), type);
  }
  const Node* apply(const Node* node, Graph& graph) const { return table().rewrite(node, graph, true, nullptr, &row()); }
  /// The types to try; an example chooses its own.
  std::vector<DType> types() const { return row().example ? std::vector<DType>{DType::none} : types_of(row().domain); }
};

class ExactRow : public Row {};
class RelaxedRow : public Row {};

std::string name_of_case(const testing::TestParamInfo<Case>& test) {
  return std::string(test.param.table->name) + "_" + test.param.row->name;
}

// False if the left side has no value: an index overflows.
bool compare_scalars(const Node* left, const Node* right, const Environment& environment) {
  const std::optional<Bits> before = checked_value(left, environment);
  if (!before) return false;
  const std::optional<Bits> after = checked_value(right, environment);
  EXPECT_TRUE(after.has_value()) << "an index overflows on the right only" << explain(left, right, environment);
  [&] {
    ASSERT_TRUE(after && same_value(left, *before, *after))
        << print_value(left->dtype, *before) << " becomes " << print_value(left->dtype, *after) << explain(left, right, environment);
  }();
  return true;
}

// A function that is lowered is as near as docs/numerics.md says, and so is the reference's own: 2 units in the last place each.
bool is_lowered(const Node* left, Bits before, Bits after) {
  const OpSet functions = OpSet::of(Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Pow);
  if (!functions.contains(left->op)) return false;
  const double x = float_of_bits(left->dtype, before), y = float_of_bits(left->dtype, after);
  if (std::isnan(x) || std::isnan(y)) return false;
  const bool wide = left->dtype == DType::float64;
  const auto next = [wide](double value, double to) {
    return wide ? std::nextafter(value, to) : double(std::nextafterf(float(value), float(to)));
  };
  double near = x;
  for (int i = 0; i < 4 && near != y; ++i) near = next(near, y);
  return near == y;
}

void compare_tensors(const Node* left, const Node* right, const Environment& environment) {
  ASSERT_TRUE(right->rank == 0 || std::ranges::equal(left->shape(), right->shape()))
      << "the shape changes" << explain(left, right, environment);
  const std::vector<Bits> before = tensor_values(left, left->shape(), environment),
                          after = tensor_values(right, left->shape(), environment);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i)
    ASSERT_TRUE(same_value(left, before[i], after[i]) || is_lowered(left, before[i], after[i]))
        << "element " << i << ": " << print_value(left->dtype, before[i]) << " becomes " << print_value(left->dtype, after[i])
        << explain(left, right, environment);
}

constexpr int kAttempts = 4000, kEnough = 400, kAssignments = 6;

TEST_P(ExactRow, KeepsValues) {
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
        if (&table() == &movement_rules || &table() == &decompose_rules)
          compare_tensors(left, right, environment);
        else if (!compare_scalars(left, right, environment))
          continue;
        if (HasFatalFailure()) return;
        ++compared;
      }
    }
    fired_at_all += fired;
    EXPECT_TRUE(fired == 0 || compared > 0) << name(type);
  }
  EXPECT_GT(fired_at_all, 0) << "the row never applies to what it matches";
}

// What docs/numerics.md promises of relaxed rows: on ordinary numbers, a few roundings.
TEST_P(RelaxedRow, StaysNear) {
  Random random(4);
  int compared = 0;
  for (int attempt = 0; attempt < kAttempts && compared < kEnough; ++attempt) {
    Graph graph;
    const Node* left = sample(random, graph, DType::float64);
    const Node* right = left ? apply(left, graph) : nullptr;
    if (!right || !is_float(left->dtype)) continue;
    Environment environment;
    const Node* sides[] = {left, right};
    for (const Node* node : topological_order(sides)) {
      if (node->op == Op::Variable && is_float(node->dtype))
        environment.values[node] = bits_of_number(node->dtype, double(random.between(1, 400)) / 100);
      if (node->op != Op::Param || !is_float(node->dtype)) continue;
      for (int64_t i = 0; i < node->arg(1); ++i)
        environment.arrays[node].push_back(bits_of_number(node->dtype, double(random.between(1, 400)) / 100));
    }
    bind_leaves(random, sides, environment);
    const double before = float_of_bits(left->dtype, evaluate_expression(left, environment)),
                 after = float_of_bits(left->dtype, evaluate_expression(right, environment));
    if (!std::isfinite(before)) continue;
    const double epsilon = left->dtype == DType::float64 ? 1e-12 : left->dtype == DType::float32 ? 1e-4 : 0.2;
    ASSERT_NEAR(before, after, epsilon * std::max(1.0, std::fabs(before))) << explain(left, right, environment);
    ++compared;
  }
  EXPECT_GT(compared, 0);
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
      ASSERT_TRUE(row().note.grows || cost_of(right) < cost_of(left))
          << "the right side costs no less than the left: turn the row round, or say with grows(…) why it ends" << explain(left, right, {});
    }
}

TEST_P(Row, IsNotShadowed) {
  Random random(3);
  const RuleSet set = &table() == &movement_rules    ? tensor_rules()
                      : &table() == &decompose_rules ? RuleSet(decompose_rules)
                                                     : kernel_rules();
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

INSTANTIATE_TEST_SUITE_P(Rules, Row, testing::ValuesIn(rows(Rows::all)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Rules, ExactRow, testing::ValuesIn(rows(Rows::exact)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Rules, RelaxedRow, testing::ValuesIn(rows(Rows::relaxed)), name_of_case);

}  // namespace
}  // namespace whit::rule_tests
