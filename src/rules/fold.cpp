// Identities: rows whose result is a source or a constant. A float row must keep NaN, infinities and the sign of zero, so x + 0 and x * 0
// are not among them.
#include "ir/evaluate.h"
#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;

bool excludes_zero(const Node* node) { return node->dtype != DType::uint64 && (node->minimum > 0 || node->maximum < 0); }
bool is_identity(Op op, const Node* constant) { return constant->arg(0) == identity_of(op, constant->dtype); }
bool outside_width(const Node* count) {
  const uint64_t width = count->dtype == DType::boolean ? 8 : bit_width(count->dtype);
  return uint64_t(count->arg(0)) >= width;
}

constexpr char kName[] = "fold";

// clang-format off
constexpr Rule kRows[] = {
    {"add_zero", exact, x + 0, x},
    {"add_negative_zero", floats, x + -0.0, x},
    {"mul_one", numbers | bools, x * 1, x},
    {"mul_zero", exact, x * 0, 0},
    {"mul_minus_one", numbers, x * -1, -x},
    {"neg_neg", numbers, -(-x), x},
    {"divide_one", floats, x / 1, x},
    {"divide_minus_one", floats, x / -1, -x},
    {"one_divided", floats, 1 / x, reciprocal(x)},
    {"fused_one", floats, fused(x, 1, y), x + y},
    {"fused_nothing", floats, fused(x, y, -0.0), x * y},
    {"trunc_trunc", floats, trunc(trunc(x)), trunc(x)},
    {"trunc_integer", floats, trunc(cast(x.of(exact))), cast(x)},
    {"pow_zero", floats, pow(x, 0), 1},
    {"pow_one", floats, pow(x, 1), x},

    {"quotient_one", exact, quotient(x, 1), x},
    {"quotient_zero", exact, quotient(x, 0), 0},
    {"quotient_minus_one", signed_ints | indices, quotient(x, -1), -x},
    {"quotient_self", integers, quotient(x, x), 1, [](const Match& m) { return excludes_zero(m[x]); }},
    {"zero_quotient", exact, quotient(0, x), 0},
    {"remainder_one", exact, x % 1, 0},
    {"remainder_zero", exact, x % 0, 0},
    {"remainder_minus_one", signed_ints | indices, x % -1, 0},
    {"remainder_self", exact, x % x, 0},
    {"zero_remainder", exact, 0 % x, 0},

    {"and_zero", exact, x & 0, 0},
    {"and_ones", exact, x & c0, x, [](const Match& m) { return is_identity(Op::And, m[c0]); }},
    {"and_self", exact, x & x, x},
    {"and_absorb", exact, (x | y) & x, x},
    {"or_zero", exact, x | 0, x},
    {"or_ones", exact, x | c0, c0, [](const Match& m) { return is_identity(Op::And, m[c0]); }},
    {"or_self", exact, x | x, x},
    {"or_absorb", exact, (x & y) | x, x},
    {"xor_zero", exact, x ^ 0, x},
    {"xor_self", exact, x ^ x, 0},
    {"shl_zero", exact, x << 0, x},
    {"shr_zero", exact, x >> 0, x},
    {"zero_shl", exact, 0 << x, 0},
    {"zero_shr", exact, 0 >> x, 0},
    {"shl_all", exact, x << c0, 0, [](const Match& m) { return outside_width(m[c0]); }},
    {"shr_all", unsigned_ints | bools, x >> c0, 0, [](const Match& m) { return outside_width(m[c0]); }},

    {"max_self", numbers | bools, max(x, x), x},
    {"max_least", numbers | bools, max(x, c0), x, [](const Match& m) { return is_identity(Op::Max, m[c0]); }},
    {"max_greatest", exact, max(x, c0), c0, [](const Match& m) { return is_identity(Op::Min, m[c0]); }},
    {"max_absorb", exact, max(min(x, y), x), x},
    {"min_self", numbers | bools, min(x, x), x},
    {"min_greatest", numbers | bools, min(x, c0), x, [](const Match& m) { return is_identity(Op::Min, m[c0]); }},
    {"min_least", exact, min(x, c0), c0, [](const Match& m) { return is_identity(Op::Max, m[c0]); }},
    {"min_absorb", exact, min(max(x, y), x), x},

    {"less_self", numbers | bools, x < x, 0},
    {"not_equal_self", exact, x != x, 0},
    {"where_true", anything, where(1, x, y), x},
    {"where_false", anything, where(0, x, y), y},
    {"where_same", anything, where(p, x, x), x},
};
// clang-format on

}  // namespace

constinit const RuleTable fold_rules = rule_table<kRows, kName>();

}  // namespace whit
