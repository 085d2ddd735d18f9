// The reference pages that are printed from the tables: docs/ops.md and docs/rules.md.
#pragma once

#include <string>

#include "rewrite/table.h"

namespace whit {

/// Every op with its columns.
std::string ops_markdown();
/// Every rule table row by row, and what may stand at which level.
std::string rules_markdown();
/// The rows tagged `relaxed`, as a table: the part of docs/numerics.md on them.
std::string relaxed_markdown();
/// The page docs/numerics.md with that part as it is now, between the lines that mark it.
std::string with_relaxed(const std::string& page);

/// The two sides of a row as they are written in its table; of a function row, what the function does.
std::string left_text(const RuleTable& table, const RuleInfo& rule);
std::string right_text(const RuleTable& table, const RuleInfo& rule);
/// "int, index": the names of a set of dtypes, by class.
std::string types_text(TypeSet types);

/// All rule tables there are.
std::span<const RuleTable* const> rule_tables();

}  // namespace whit
