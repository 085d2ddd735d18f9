// ln x and log2 x. x = 2^e · m with m near 1, so log x = e·log 2 + log(1 + f) with f = m - 1 exact.
//
// Where m's range starts, as bits, is subtracted from x's bits: what then stands in the exponent's field is e, and the mantissa's field
// plus the start is m. Subnormal x are scaled up first. Neither x ≤ 0, infinity nor NaN comes out right of that: they are chosen last.
#include <cmath>
#include <limits>

#include "rules/decompose_value.h"

namespace whit {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Parts {
  Value exponent, f;
};

/// e and m - 1 of a positive x, where m lies in [start, 2·start) and `start_bits` are the bits of start < 1.
Parts split(const Value& x, const FloatFormat& format, int64_t start_bits) {
  const Value subnormal = x < std::ldexp(1.0, 1 - format.bias);
  const Value normal = where(subnormal, x * std::ldexp(1.0, format.mantissa_bits), x);
  // Vectors convert int32 but not int64. There e is left positive, by the bias and as much again as subnormals are scaled, put into the
  // last bits of the float 2^mantissa_bits, and that is subtracted.
  const bool by_cast = format.width == 32;
  const int64_t surplus = by_cast ? 0 : format.bias + format.mantissa_bits;
  const int64_t offset = (surplus << format.mantissa_bits) - start_bits, scaled = int64_t(format.mantissa_bits) << format.mantissa_bits;
  const Value bits = bitcast(normal, by_cast ? format.signed_word : format.word);
  const Value moved = bits + where(subnormal, bits.constant(offset - scaled), offset);
  const Value m = bitcast((moved & format.mantissa_mask()) + start_bits, format.type), shifted = moved >> format.mantissa_bits;
  if (by_cast) return {cast(shifted, format.type), m - 1};
  const int64_t counter = int64_t(format.bias + format.mantissa_bits) << format.mantissa_bits;
  return {bitcast(shifted | counter, format.type) - (std::ldexp(1.0, format.mantissa_bits) + double(surplus)), m - 1};
}

Value with_special_cases(const Value& x, const Value& log) {
  const Value finite = where(x < kInfinity, log, kInfinity);
  return where(0 < x, finite, where(x != 0, x.constant(kNaN), -kInfinity));
}

// ---- float32: a polynomial in f, |f| ≤ 1/3 ------------------------------------------------------------------------------------------

constexpr int64_t kTwoThirds32 = 0x3f2aaaab;

// log(1 + f) = f + f²·p(f), relative error 2^-27.6. Remez, rounded as in decompose_exp.cpp.
constexpr double kLog32[] = {-0.5,          0x1.555506p-2,  -0x1.fffeep-3, 0x1.99d086p-3, -0x1.55a126p-3,
                             0x1.1ecfdcp-3, -0x1.f2a814p-4, 0x1.1e8f7cp-3, -0x1.0903a2p-3};
// log2(1 + f) = f·log2 e + f²·p(f), 2^-27.5: the coefficients of the above times log2 e, then the best of those nearby. log2 e is in two
// parts, of which f·1.5 is exact, since the exponent may cancel half of the logarithm.
constexpr double kLog2_32[] = {-0x1.d57136p-5, -0x1.715476p-1, 0x1.ec702ap-2,  -0x1.7153bep-2, 0x1.279ebp-2,
                               -0x1.ecdd94p-3, 0x1.9dc3b6p-3,  -0x1.67abd6p-3, 0x1.9d6728p-3,  -0x1.7e51e4p-3};

Value log32(const Value& x) {
  const auto [e, f] = split(x, kFloat32, kTwoThirds32);
  return multiply_add(e, 0x1.62e43p-1, multiply_add(f * f, polynomial(f, kLog32), f));
}

Value log2_32(const Value& x) {
  const auto [e, f] = split(x, kFloat32, kTwoThirds32);
  return multiply_add(f, 1.5, f * polynomial(f, kLog2_32)) + e;
}

// ---- float64: a series in s = f/(2 + f), |s| ≤ 0.172 --------------------------------------------------------------------------------
// log(1 + f) = 2s + s³·p(s²) = f - (f²/2 - s·(f²/2 + s²·p(s²))): the second form adds a small correction to the exact f.

constexpr int64_t kRootHalf64 = 0x3fe6a09e667f3bcd;
constexpr double kLog64[] = {0x1.5555555555592p-1, 0x1.999999997ff39p-2, 0x1.24924941df14cp-2, 0x1.c71c52161f36ap-3,
                             0x1.74663c9a51fb6p-3, 0x1.39a1ef7245a79p-3, 0x1.2f038b2bfd916p-3};  // relative error 2^-59.5

struct Correction {
  Value half_square, s_term;  // log(1 + f) = f - (half_square - s_term)
};

Correction correction_of(const Value& f) {
  const Value s = f / (f + 2), z = s * s, half_square = f * 0.5 * f;
  return {half_square, s * multiply_add(z, polynomial(z, kLog64), half_square)};
}

Value log64(const Value& x) {
  const auto [e, f] = split(x, kFloat64, kRootHalf64);
  const auto [half_square, s_term] = correction_of(f);
  const Value low = multiply_add(e, 0x1.ef35793c76730p-45, s_term);
  return multiply_add(e, 0x1.62e42fefa38p-1, f - (half_square - low));
}

// The product with log2(e) is done in two parts: `high` has few bits, so that its product with the head of log2(e) is exact.
Value log2_64(const Value& x) {
  const auto [e, f] = split(x, kFloat64, kRootHalf64);
  const auto [half_square, s_term] = correction_of(f);
  const Value high = bitcast(bitcast(f - half_square, DType::uint64) & int64_t(0xffffffff00000000), DType::float64);
  const Value low = f - high - half_square + s_term;
  constexpr double kHead = 0x1.71547652p+0, kTail = 0x1.705fc2eefa2p-33;
  const Value product = high * kHead, sum = e + product;
  const Value rest = multiply_add(high, kTail, multiply_add(low, kHead, low * kTail));
  return sum + (e - sum + product + rest);
}

}  // namespace

const Node* lower_log(Graph& graph, const Node* node, const Lowering& lowering) {
  const Value x = value_of(graph, node, lowering);
  return with_special_cases(x, &format_of(x) == &kFloat32 ? log32(x) : log64(x)).node;
}

const Node* lower_log2(Graph& graph, const Node* node, const Lowering& lowering) {
  const Value x = value_of(graph, node, lowering);
  return with_special_cases(x, &format_of(x) == &kFloat32 ? log2_32(x) : log2_64(x)).node;
}

}  // namespace whit
