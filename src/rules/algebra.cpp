// Algebra. Integers form a ring whether they wrap or not, so signs, constants and like terms move freely; floats allow only what keeps
// every bit: signs may move through a product, never through a sum. Rows that reassociate floats are `relaxed`.
#include <cmath>

#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;

// Whether 1/c is exact in the type: then x/c and x*(1/c) round the same real number.
bool has_exact_reciprocal(const Node* constant) {
  const double number = constant->number();
  int exponent = 0;
  if (std::fabs(std::frexp(number, &exponent)) != 0.5 || std::abs(exponent) > 120) return false;
  return float_of_bits(constant->dtype, bits_of_float(constant->dtype, 1 / number)) * number == 1;
}

constexpr Note outwards = grows("the constant moves one op outwards, towards the root");
constexpr Note sign_outwards = grows("the sign moves one op outwards, towards the root");

constexpr char kName[] = "algebra";

// clang-format off
constexpr Rule kRows[] = {
    // Sums: constants gather at the outside, like terms merge.
    {"add_cancel", integers, x + -x, 0},
    {"add_sub_cancel", integers, (x + y) + -y, x},
    {"sub_add_cancel", integers, (x + -y) + y, x},
    {"add_const", integers, (x + c0) + c1, x + (c0 + c1)},
    {"add_const_outwards", integers, (x + c0) + y, (x + y) + c0, outwards},
    {"add_self", integers, x + x, x * 2, grows("a sum becomes a product, never the reverse")},
    {"add_scaled", integers, x * c0 + x, x * (c0 + 1)},
    {"sub_scaled", integers, x * c0 + -x, x * (c0 + -1)},
    {"add_scaled_both", integers, x * c0 + x * c1, x * (c0 + c1)},
    {"add_factored", ints, x * y + x * z, x * (y + z)},

    // Products and signs.
    {"mul_const", integers, (x * c0) * c1, x * (c0 * c1)},
    {"mul_const_outwards", integers, (x * c0) * y, (x * y) * c0, outwards},
    {"neg_mul_const", numbers, -x * c0, x * -c0},
    {"mul_const_neg", numbers, -(x * c0), x * -c0},
    {"neg_mul_neg", numbers, -x * -y, x * y},
    {"neg_mul", numbers, -x * y, -(x * y), sign_outwards},
    {"neg_sub", ints, -(x + -y), y + -x},
    {"neg_add_neg", ints, -x + -y, -(x + y)},
    {"neg_divide_const", floats, -x / c0, x / -c0},
    {"const_divide_neg", floats, c0 / -x, -c0 / x},
    {"neg_divide", floats, -x / y, -(x / y), sign_outwards},
    {"divide_neg", floats, x / -y, -(x / y), sign_outwards},
    {"reciprocal_neg", floats, reciprocal(-x), -reciprocal(x), sign_outwards},
    {"trunc_neg", floats, trunc(-x), -trunc(x), sign_outwards},
    {"divide_power_of_two", floats, x / c0, x * reciprocal(c0), [](const Match& m) { return has_exact_reciprocal(m[c0]); }},

    // Bits.
    {"and_const", exact, (x & c0) & c1, x & (c0 & c1)},
    {"or_const", exact, (x | c0) | c1, x | (c0 | c1)},
    {"xor_const", exact, (x ^ c0) ^ c1, x ^ (c0 ^ c1)},
    {"and_same", exact, (x & y) & x, x & y},
    {"or_same", exact, (x | y) | x, x | y},
    {"xor_same", exact, (x ^ y) ^ x, y},

    // Extrema.
    {"max_const", numbers, max(max(x, c0), c1), max(x, max(c0, c1))},
    {"min_const", numbers, min(min(x, c0), c1), min(x, min(c0, c1))},
    {"max_same", numbers, max(max(x, y), x), max(x, y)},
    {"min_same", numbers, min(min(x, y), x), min(x, y)},

    // Comparisons.
    {"not_equal_add_const", integers, x + c0 != c1, x != c1 + -c0},
    {"not_equal_add_consts", integers, x + c0 != y + c1, x + (c0 + -c1) != y},
    {"not_equal_add", integers, x + y != x + z, y != z},
    {"not_equal_add_own", integers, x + y != x, y != 0},
    {"not_equal_neg", numbers, -x != -y, x != y},
    {"not_equal_neg_const", numbers, -x != c0, x != -c0},
    {"not_equal_xor_const", exact, (x ^ c0) != c1, x != (c0 ^ c1)},
    {"less_neg", floats, -x < -y, y < x},
    {"less_neg_const", floats, -x < c0, -c0 < x},
    {"const_less_neg", floats, c0 < -x, x < -c0},

    // What a float result may lose by: see docs/numerics.md.
    {"add_zero_relaxed", floats, x + 0, x, relaxed("-0 + 0 is 0")},
    {"mul_zero_relaxed", floats, x * 0, 0, relaxed("NaN, infinities and the sign of zero are lost")},
    {"add_cancel_relaxed", floats, x + -x, 0, relaxed("NaN and infinities are lost")},
    {"add_const_relaxed", floats, (x + c0) + c1, x + (c0 + c1), relaxed("one rounding less; cancellation may lose all digits of either form, and c0 + c1 may overflow")},
    {"mul_const_relaxed", floats, (x * c0) * c1, x * (c0 * c1), relaxed("1.5 ulp; c0 * c1 may overflow or vanish")},
    {"mul_const_outwards_relaxed", floats, (x * c0) * y, (x * y) * c0, relaxed("2 ulp; x * y may overflow or vanish") | outwards},
    {"add_factored_relaxed", floats, x * y + x * z, x * (y + z), relaxed("all digits where the products cancel; y + z may overflow")},
    {"divide_const_relaxed", floats, x / c0, x * reciprocal(c0), [](const Match& m) { return std::isnormal(m[c0]->number()); }, relaxed("1 ulp")},
};
// clang-format on

}  // namespace

constinit const RuleTable algebra_rules = rule_table<kRows, kName>();

}  // namespace whit
