// The printed pages name every op and every row, in the notation of the tables.
#include "rules/document.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "ir/op.h"
#include "rules/tables.h"

namespace whit {
namespace {

const RuleInfo& row_of(const RuleTable& table, std::string_view name) {
  for (const RuleInfo& row : table.rules)
    if (row.name == name) return row;
  throw InternalError(concat("no row ", name));
}

TEST(Document, NamesEveryRow) {
  const std::string text = rules_markdown();
  for (const RuleTable* table : rule_tables()) {
    EXPECT_NE(text.find(concat("\n## ", table->name, "\n")), std::string::npos);
    for (const RuleInfo& row : table->rules) EXPECT_NE(text.find(concat("| ", row.name, " | ")), std::string::npos) << row.name;
  }
}

TEST(Document, NamesEveryOp) {
  const std::string text = ops_markdown();
  for (const OpInfo& op : kOps) EXPECT_NE(text.find(concat("| ", op.name, " | ")), std::string::npos) << op.name;
  EXPECT_NE(text.find("| Sin | 1 | alu \\| floating \\| lowered | `sin(a)` | `sin($0)` | `dy * cos(x)` |"), std::string::npos);
}

TEST(Document, PrintsPatternsAsTheyAreWritten) {
  const auto text = [](const RuleTable& table, std::string_view name) {
    return left_text(table, row_of(table, name)) + " → " + right_text(table, row_of(table, name));
  };
  EXPECT_EQ(text(algebra_rules, "add_const"), "(x + c0) + c1 → x + (c0 + c1)");
  EXPECT_EQ(text(fold_rules, "add_negative_zero"), "x + -0.0 → x");
  EXPECT_EQ(text(boolean_rules, "or_and_not"), "(x & !y) | y → x | y");
  EXPECT_EQ(text(cast_rules, "bool_not_one"), "cast(p) != 1 → !p");
  EXPECT_EQ(text(index_rules, "quotient_quotient"), "quotient(quotient(x, c0), c1) → quotient(x, c0 * c1)");
  EXPECT_EQ(types_text(patterns::numbers), "int, index, float");
  EXPECT_NE(relaxed_markdown().find("| `algebra.mul_zero_relaxed`: `x * 0` → `0` | NaN, infinities and the sign of zero are lost |\n"),
            std::string::npos);
}

TEST(Document, NumericsListsTheRelaxedRows) {
  const std::string page = read_text_file("docs/numerics.md");
  EXPECT_TRUE(with_relaxed(page) == page) << "the list is not what the tables say; `./dev docs` prints it anew";
  EXPECT_THROW(with_relaxed("# Numerics\n"), UserError);
}

}  // namespace
}  // namespace whit
