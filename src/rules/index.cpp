// Address arithmetic. The index type never overflows, so intervals decide comparisons and sums have one normal form.
#include "rules/index_functions.h"
#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;
using namespace index_rewrites;

constexpr OpSet kElementwise = OpSet::with(alu);
constexpr TypeSet kBounded = exact & ~TypeSet(DType::uint64);  // an interval in int64 cannot tell of uint64

bool divides(const Match& m, const Hole& divisor, const Hole& number) {
  return m.integer(divisor) > 0 && m.integer(number) > 0 && m.integer(number) % m.integer(divisor) == 0;
}
bool excludes_zero(const Node* node) { return node->minimum > 0 || node->maximum < 0; }

// Whether the product of two positive constants fits their type, so that dividing by one after the other is dividing by it.
bool product_fits(const Match& m, const Hole& a, const Hole& b) {
  int64_t product = 0;
  if (m.integer(a) <= 0 || m.integer(b) <= 0 || __builtin_mul_overflow(m.integer(a), m.integer(b), &product)) return false;
  return bits_of_integer(m[a]->dtype, product) == product;
}

constexpr char kName[] = "index";

// clang-format off
constexpr Rule kRows[] = {
    {"known_value", kBounded, any(kElementwise, rest), known_value, "a value whose interval is one number is that number", example_known},
    {"known_source", anything, any(kElementwise, rest), known_source, "a source whose interval is one number is that number", example_known_source},

    // Sums and products.
    {"sum", indices, x + y, canonical_sum, "a sum of multiples in normal form: like terms merged, in order, x/c*c + x%c joined, the constant last", example_sum, grows("reaches a normal form")},
    {"neg_sum", indices, -(x + y), canonical_sum, "a negated sum is a sum of negated terms", example_sum, grows("reaches a normal form")},
    {"scaled_sum", indices, (x + y) * c0, canonical_sum, "a multiple of a sum is a sum of multiples", example_sum, grows("reaches a normal form")},
    {"product", indices, x * y, canonical_product, "the factors of a product in order", example_product, grows("reaches a normal form")},

    // Division, by constants and by sizes. It truncates, so most facts hold for values that are not negative.
    {"quotient_quotient", integers, quotient(quotient(x, c0), c1), quotient(x, c0 * c1), [](const Match& m) { return product_fits(m, c0, c1); }},
    {"remainder_remainder", integers, (x % c0) % c1, x % c1, [](const Match& m) { return divides(m, c1, c0); }},
    {"remainder_quotient", indices, quotient(x % c0, c1), quotient(x, c1) % quotient(c0, c1), [](const Match& m) { return divides(m, c1, c0); }, grows("the quotient moves inwards")},
    {"quotient_of_size", indices, quotient(x, y), quotient_by_size, "a sum divided by a size: multiples of the size are taken out of what counts below it", example_quotient_by_size, grows("a division less")},
    {"remainder_of_size", indices, x % y, remainder_by_size, "a sum modulo a size: multiples of the size are dropped from what counts below it", example_remainder_by_size, grows("a division less")},
    {"quotient_remainder_join", integers, quotient(x, c0) * c0 + x % c0, x, [](const Match& m) { return m.integer(c0) != 0; }},
    {"quotient_remainder_join_size", indices, quotient(x, y) * y + x % y, x, [](const Match& m) { return excludes_zero(m[y]); }},
    {"quotient", indices, quotient(x, c0), index_rewrites::quotient, "a sum divided by a constant: multiples are taken out, common factors cancel", example_quotient, grows("the divisor or the factors get smaller")},
    {"remainder", indices, x % c0, index_rewrites::remainder, "a sum modulo a constant: multiples are dropped, common factors taken out", example_remainder, grows("the divisor or the factors get smaller")},

    // Comparisons and extrema.
    {"less", indices, x < y, index_rewrites::less, "a comparison of sums in normal form, or decided by intervals", example_less, grows("reaches a normal form")},
    {"not_equal", indices, x != y, index_rewrites::not_equal, "an equality of sums in normal form, or decided by intervals", example_not_equal, grows("reaches a normal form")},
    {"max", kBounded, max(x, y), extremum, "the greater side, where intervals tell", example_extremum},
    {"min", kBounded, min(x, y), extremum, "the lesser side, where intervals tell", example_extremum},
};
// clang-format on

}  // namespace

constinit const RuleTable index_rules = rule_table<kRows, kName>();

}  // namespace whit
