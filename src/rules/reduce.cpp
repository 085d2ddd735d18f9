// Reductions in closed form: arange, counting, embedding and gather are written as sums, and are computed without a loop.
#include "rules/reduce_functions.h"
#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;
using namespace reductions;

constexpr char kName[] = "reduce";

// clang-format off
constexpr Rule kRows[] = {
    {"trivial_range", anything, accumulate(x), drop_trivial, "a range of size 1 is 0; a reduction over nothing is its identity", example_trivial},
    {"flatten", anything, accumulate(accumulate(x)), flatten, "reductions of reductions by one op, where their order does not matter, are one", example_nested},
    {"independent", anything, accumulate(x), independent, "what does not depend on a range is multiplied by its size, or, in a maximum, taken once", example_independent, grows("the loop goes")},
    {"gather", anything, accumulate(x), gather, "the sum over r of (r = e ? f(r) : 0) is f(e), where 0 <= e < size", example_gather, grows("the loop goes")},
    {"count", anything, accumulate(Op::Add, x), count, "the sum over r of (low <= r < high ? v : 0) is v times the number of such r", example_count, grows("the loop goes")},
    {"any_or_all", anything, accumulate(x), any_or_all, "whether a condition on r holds for any or all r, by the number of such r", example_any, grows("the loop goes")},
    {"sum_of_indices", integers, accumulate(Op::Add, x), sum_of_indices, "the sum of a*r + b over low <= r < high, by the formula", example_indices, grows("the loop goes")},
    {"split_sum", integers, accumulate(Op::Add, x), split, "the sum of a + b is the sum of a and that of b, if one of them needs no loop", example_split, grows("a loop goes")},

    // See docs/numerics.md.
    {"independent_relaxed", floats, accumulate(Op::Add, x), independent_relaxed, "what does not depend on a range is multiplied by its size", example_independent, relaxed("the roundings of the sum") | grows("the loop goes")},
    {"gather_product_relaxed", floats, accumulate(Op::Add, x), gather_relaxed, "the sum over r of (r = e) * f(r) is f(e), where 0 <= e < size: an infinite or NaN f(r) elsewhere is not noticed", example_product_gather, relaxed("an infinity or NaN in another f(r) is not noticed") | grows("the loop goes")},
};
// clang-format on

}  // namespace

constinit const RuleTable reduce_rules = rule_table<kRows, kName>();

}  // namespace whit
