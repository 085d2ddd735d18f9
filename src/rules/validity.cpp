// What a gate or condition lets one assume.
#include "rules/tables.h"
#include "rules/validity_functions.h"

namespace whit {

namespace {

using namespace patterns;
using namespace validity;

constexpr char kName[] = "validity";

// clang-format off
constexpr Rule kRows[] = {
    {"load_always", anything, load(x, y, 1), always, "a Load or Store whose gate is true needs none", example_always},
    {"store_always", anything, store(x, y, z, 1), always, "a Load or Store whose gate is true needs none", example_store_always},
    {"load_never", anything, load(x, y, 0), never, "a Load whose gate is false is 0", example_never},
    {"and_implied", bools, p & q, strongest, "a bound that another one implies is left out; two that exclude each other are false", example_and, grows("fewer comparisons, never more")},
    {"or_implied", bools, p | q, weakest, "a bound that implies another one is left out; two of which one holds are true", example_or, grows("fewer comparisons, never more")},
    {"choice_under_condition", anything, where(p, x, y), under_condition, "where a condition chooses, it is true or false itself", example_choice, grows("conditions become constants")},
    {"index_under_gate", anything, load(x, y, p), tighten_index, "an index may assume what its gate says", example_gated, grows("the index gets simpler")},
    {"store_under_gate", anything, store(x, y, z, p), tighten_index, "an index may assume what its gate says", example_gated_store, grows("the index gets simpler")},
    {"needless_gate", anything, where(p, load(x, y, q), z), drop_gate, "a Load that a condition guards anyway, and that stays within its storage, needs no gate", example_needless, grows("a gate goes")},
};
// clang-format on

}  // namespace

constinit const RuleTable validity_rules = rule_table<kRows, kName>();

}  // namespace whit
