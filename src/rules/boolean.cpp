// Conditions, and choices between values by a condition. Arithmetic on bools becomes logic; !p is p ^ 1.
#include "ir/evaluate.h"
#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;

bool is_least(const Node* constant) { return constant->arg(0) == identity_of(Op::Max, constant->dtype); }
bool is_greatest(const Node* constant) { return constant->arg(0) == identity_of(Op::Min, constant->dtype); }

constexpr Note becomes_logic = grows("one op less, or another op, that is never turned back");

constexpr char kName[] = "boolean";

// clang-format off
constexpr Rule kRows[] = {
    // Arithmetic that means logic.
    {"add_is_or", bools, x + y, x | y, becomes_logic},
    {"mul_is_and", bools, x * y, x & y, becomes_logic},
    {"max_is_or", bools, max(x, y), x | y, becomes_logic},
    {"min_is_and", bools, min(x, y), x & y, becomes_logic},
    {"neg_is_same", bools, -x, x},
    {"not_equal_is_xor", bools, x != y, x ^ y, becomes_logic},
    {"less_true", bools, x < 1, !x, becomes_logic},
    {"false_less", bools, 0 < x, x},
    {"less_false", bools, x < 0, 0},
    {"true_less", bools, 1 < x, 0},

    // Logic.
    {"and_not", bools, x & !x, 0},
    {"or_not", bools, x | !x, 1},
    {"and_or_not", bools, (x | !y) & y, x & y},
    {"and_not_or", bools, (x | y) & !y, x & !y},
    {"or_and_not", bools, (x & !y) | y, x | y},
    {"or_not_and", bools, (x & y) | !y, x | !y},
    {"or_common", bools, (x & y) | (x & z), x & (y | z)},
    {"and_common", bools, (x | y) & (x | z), x | (y & z)},
    {"xor_not", bools, !x ^ y, !(x ^ y), grows("the negation moves one op outwards")},

    // A negated comparison of integers is another comparison.
    {"not_less_const", bools, !(x.of(integers) < c0), c0 + -1 < x, [](const Match& m) { return !is_least(m[c0]); }},
    {"not_const_less", bools, !(c0.of(integers) < x), x < c0 + 1, [](const Match& m) { return !is_greatest(m[c0]); }},

    // Choices.
    {"where_not", anything, where(!p, x, y), where(p, y, x)},
    {"where_p_true", bools, where(p, 1, x), p | x},
    {"where_p_false", bools, where(p, x, 0), p & x},
    {"where_true_p", bools, where(p, x, 1), x | !p, becomes_logic},
    {"where_false_p", bools, where(p, 0, x), x & !p, becomes_logic},
    {"where_same_first", anything, where(p, where(p, x, y), z), where(p, x, z)},
    {"where_same_second", anything, where(p, x, where(p, y, z)), where(p, x, z)},
    {"where_and", anything, where(p, where(q, x, y), y), where(p & q, x, y)},
    {"where_and_not", anything, where(p, where(q, x, y), x), where(q | !p, x, y), becomes_logic},
    {"where_not_and", anything, where(p, y, where(q, x, y)), where(q & !p, x, y), becomes_logic},
    {"where_or", anything, where(p, x, where(q, x, y)), where(p | q, x, y)},
    {"where_both_first", anything, where(p & q, where(p, x, y), z), where(p & q, x, z)},
    {"where_either_second", anything, where(p | q, x, where(p, y, z)), where(p | q, x, z)},
    {"not_of_where", bools, !where(p, x, c0), where(p, !x, !c0), grows("the negation moves inwards, to a constant")},
};
// clang-format on

}  // namespace

constinit const RuleTable boolean_rules = rule_table<kRows, kName>();

}  // namespace whit
