// x^y = 2^(y·log2|x|), with the sign and the special cases of C's pow.
//
// y·log2|x| reaches 128 (1024), so log2 must be right to about 10 (13) bits more than the result. For float32 that is float64 arithmetic
// with short polynomials, and one rounding at the end. For float64, and for float32 where there is no float64, it is arithmetic on
// unevaluated sums of two floats.
#include <cmath>
#include <limits>

#include "rules/decompose_value.h"

namespace whit {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// |x|^y with x = ±1 and y = 0 not yet right, made a whole: `infinite` and such are of |x|.
Value with_special_cases(const Value& x, const Value& y, const Value& power) {
  const FloatFormat& format = format_of(x);
  const Value bits = bitcast(x, format.word);
  const Value magnitude = bitcast(bits & format.magnitude_mask(), format.type);
  const Value ordinary = where((magnitude != 1) & (y != 0), power, 1);
  const Value half = y * 0.5;
  const Value fraction = truncate(y) != y, odd = (truncate(half) != half) & !fraction;
  const Value sign = where(odd, bits & format.sign_bit(), 0);
  const Value with_sign = bitcast(bitcast(ordinary, format.word) ^ sign, format.type);
  // A negative finite base (-0 is not one) has only integer powers.
  return where((x < 0) & (-kInfinity < x) & fraction, kNaN, with_sign);
}

/// The logarithm of magnitude, corrected where the arithmetic on its exponent doesn't hold. NaN stays NaN.
Value log_with_ends(const Value& magnitude, const Value& log) {
  return where(magnitude != 0, where(magnitude < kInfinity, log, magnitude), -kInfinity);
}

// ---- float32 by float64 -------------------------------------------------------------------------------------------------------------

// log2 m = s·p(s²) with s = (m - 1)/(m + 1), relative error 2^-37.8; 2^r for |r| ≤ 1/2, 2^-28.5. Remez.
constexpr double kLog2[] = {0x1.71547652bee01p+1, 0x1.ec709d12bc312p-1, 0x1.27777ff7fba31p-1, 0x1.a58d8118e2d09p-2, 0x1.5ce8ea0b185f7p-2};
constexpr double kExp2[] = {1,
                            0x1.62e4311791f24p-1,
                            0x1.ebfbe2c61c00cp-3,
                            0x1.c6ae726d587f7p-5,
                            0x1.3b270da52ed65p-7,
                            0x1.5f72aaeff0141p-10,
                            0x1.470bb0fa08d4ep-13};

constexpr int64_t kRootHalf64 = 0x3fe6a09e667f3bcd;

struct Parts {
  Value exponent, m;
};

/// e and m of a positive normal number 2^e·m with m in [start, 2·start), as in decompose_log.cpp.
Parts split(const Value& x, const FloatFormat& format, int64_t start_bits) {
  const int64_t one = int64_t(format.bias) << format.mantissa_bits;
  const int64_t counter = int64_t(format.bias + format.mantissa_bits) << format.mantissa_bits;
  const Value moved = bitcast(x, format.word) + (one - start_bits);
  const Value biased = bitcast((moved >> format.mantissa_bits) | counter, format.type);
  return {biased - (std::ldexp(1.0, format.mantissa_bits) + format.bias),
          bitcast((moved & format.mantissa_mask()) + start_bits, format.type)};
}

Value power_by_float64(const Value& x, const Value& y) {
  const Value magnitude = cast(bitcast(bitcast(x, DType::uint32) & kFloat32.magnitude_mask(), DType::float32), DType::float64);
  const auto [e, m] = split(magnitude, kFloat64, kRootHalf64);
  const Value s = (m - 1) / (m + 1);
  const Value log = log_with_ends(magnitude, multiply_add(s, polynomial(s * s, kLog2), e));
  // Between these every float32 has its result; beyond, the cast overflows or vanishes as it should.
  const Value exponent = clamp(cast(y, DType::float64) * log, -200, 200);
  const double rounder = std::ldexp(1.5, kFloat64.mantissa_bits) + kFloat64.bias;
  const Value shifted = exponent + rounder, r = exponent - (shifted - rounder);
  const Value scale = bitcast(bitcast(shifted, DType::uint64) << kFloat64.mantissa_bits, DType::float64);
  return cast(polynomial(r, kExp2) * scale, DType::float32);
}

// ---- Sums of two floats -------------------------------------------------------------------------------------------------------------

/// high + low, with |low| about half a unit in the last place of high.
struct Pair {
  Value high, low;
};

/// a + b exactly, where |a| ≥ |b| or a = 0.
Pair fast_sum(const Value& a, const Value& b) {
  const Value sum = a + b;
  return {sum, b - (sum - a)};
}

/// a·b, exactly but for a last rounding far below `low`.
Pair product(const Value& a, const Value& b) {
  const Value high = a * b;
  if (a.fused) return {high, a.make(Op::MulAdd, {a.node, b.node, (-high).node})};
  const Value a_head = head_of(a), a_tail = a - a_head, b_head = head_of(b), b_tail = b - b_head;
  return {high, (a_head * b_head - high) + a_head * b_tail + a_tail * b_head + a_tail * b_tail};
}

Pair product(const Pair& a, const Pair& b) {
  const Pair main = product(a.high, b.high);
  return fast_sum(main.high, main.low + multiply_add(a.high, b.low, a.low * b.high));
}

struct Series {
  std::span<const double> log;  // log2 m = s·(c + s²·(d + s²·p(s²))): p
  double c_high, c_low, d_high, d_low;
  std::span<const double> exp2;
  int64_t start;
  double least, greatest, small;  // of the exponent, as in decompose_exp.cpp
};

constexpr double kTail32[] = {0x1.27770ep-1, 0x1.a5bb8ep-2, 0x1.59f69ap-2};  // relative error of the logarithm 2^-36.8
constexpr double kTail64[] = {0x1.2776c50ef9d23p-1, 0x1.a61762a759ba7p-2, 0x1.484b1421748e2p-2, 0x1.0c9a63e2ca50cp-2,
                              0x1.c69f87e7bbfd8p-3, 0x1.87b11ff465174p-3, 0x1.85e5ce9020103p-3};  // 2^-66.3
constexpr double kExp2_32[] = {1, 0x1.62e432p-1, 0x1.ebfbe6p-3, 0x1.c6ada8p-5, 0x1.3b21c8p-7, 0x1.5fbfeap-10, 0x1.4c14aap-13};
constexpr double kExp2_64[] = {1,
                               0x1.62e42fefa39f3p-1,
                               0x1.ebfbdff82c599p-3,
                               0x1.c6b08d7048dc6p-5,
                               0x1.3b2ab6fba1af8p-7,
                               0x1.5d87fe7bf7478p-10,
                               0x1.4309130a33d43p-13,
                               0x1.ffcbed3f5c38ap-17,
                               0x1.62bfd21d9994ap-20,
                               0x1.b54336c0b1c77p-24,
                               0x1.e60af919a5953p-28,
                               0x1.bdfcc72dac957p-32};
constexpr Series kSeries32 = {kTail32, 0x1.715476p+1, 0x1.4ae0cp-25, 0x1.ec709ep-1, -0x1.e2fe02p-28, kExp2_32, 0x3f3504f3, -151, 128, -124};
constexpr Series kSeries64 = {
    kTail64, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55, 0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55, kExp2_64, kRootHalf64, -1076, 1024,
    -1020};

/// log2 of a positive finite number, to about twice its digits less a few.
Pair log2_pair(const Value& magnitude, const FloatFormat& format, const Series& series) {
  const Value subnormal = magnitude < std::ldexp(1.0, 1 - format.bias);
  const Value normal = where(subnormal, magnitude * std::ldexp(1.0, format.mantissa_bits), magnitude);
  const auto [biased, m] = split(normal, format, series.start);
  const Value e = biased - where(subnormal, biased.constant(format.mantissa_bits), 0);
  // s = (m - 1)/(m + 1): the remainder of the rounded quotient, divided again, is its low part.
  const Value f = m - 1, sum = m + 1, sum_low = m - (sum - 1);
  const Value quotient = f / sum;
  const Pair back = product(quotient, sum);
  const Pair s = {quotient, (f - back.high - back.low - quotient * sum_low) / sum};
  const Pair square = product(s, s);
  const Value tail = square.high * polynomial(square.high, series.log);
  const Value d = f.constant(series.d_high);
  Pair inner = fast_sum(d, tail);
  inner.low = inner.low + series.d_low;
  inner = product(square, inner);
  Pair outer = fast_sum(f.constant(series.c_high), inner.high);
  outer.low = outer.low + inner.low + series.c_low;
  const Pair fraction = product(s, outer);
  const Pair whole = fast_sum(e, fraction.high);
  return fast_sum(whole.high, whole.low + fraction.low);
}

Value power_by_pairs(const Value& x, const Value& y) {
  const FloatFormat& format = format_of(x);
  const Series& series = format.width == 32 ? kSeries32 : kSeries64;
  const Value magnitude = bitcast(bitcast(x, format.word) & format.magnitude_mask(), format.type);
  Pair log = log2_pair(magnitude, format, series);
  log.high = log_with_ends(magnitude, log.high);
  const Pair main = product(y, log.high);
  const Value exponent = clamp(main.high, series.least, series.greatest);
  // Out of range the low part may be NaN, and would not count.
  const Value low = where(exponent != main.high, 0, main.low + y * log.low);
  const Value small = exponent < series.small;
  const double rounder = std::ldexp(1.5, format.mantissa_bits) + format.bias - 1;
  const Value base = where(small, exponent.constant(rounder + 64), rounder);
  const Value shifted = exponent + base, r = exponent - (shifted - base) + low;
  const Value scale = bitcast(bitcast(shifted, format.word) << format.mantissa_bits, format.type);
  return polynomial(r, series.exp2) * scale * where(small, r.constant(std::ldexp(1.0, -63)), 2);
}

}  // namespace

const Node* lower_pow(Graph& graph, const Node* base, const Node* exponent, const Lowering& lowering) {
  const Value x = value_of(graph, base, lowering), y = value_of(graph, exponent, lowering);
  const bool by_float64 = x.type() == DType::float32 && lowering.types.contains(DType::float64);
  return with_special_cases(x, y, by_float64 ? power_by_float64(x, y) : power_by_pairs(x, y)).node;
}

}  // namespace whit
