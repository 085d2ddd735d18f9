// sin x and cos x for every finite x. x = (n + t)·π/2 with |t| ≤ 1/2, so either is ±sin or ±cos of t·π/2, as n modulo 4 says.
//
// The reduction is Payne and Hanek's, in integers. x is M·2^k with an integer M, and only the bits of 2/π from a place that depends on k
// on matter modulo 4. Three words from that place, times M, modulo their width, hold x·2/π modulo 4 as a fixed-point number: two bits of
// n, then t, with about a word more of digits than t can lose by lying close to 0. The words are chosen by halving, two Wheres on each
// bit of the place and no gather. Where |x| < 1, x itself needs no reduction.
#include <cmath>
#include <limits>

#include "rules/decompose_value.h"

namespace whit {

namespace {

// 2/π by words. So many bits before the binary point are 0 that the place of |x| = 1 is the first bit.
constexpr uint64_t kWords32[] = {0x51, 0x7cc1b727, 0x220a94fe, 0x13abe8fa, 0x9a6ee06d, 0xb14acc9e, 0x21c820ff};
constexpr uint64_t kWords64[] = {0x28b,
                                 0xe60db9391054a7f0,
                                 0x9d5f47d4d377036d,
                                 0x8a5664f10e4107f9,
                                 0x458eaf7aef1586dc,
                                 0x91b8e909374b8019,
                                 0x24bba827464873f8,
                                 0x77ac72c4a69cfba2,
                                 0x08d7d4baed1213a6,
                                 0x71c09ad17df904e6,
                                 0x4758e60d4ce7d272,
                                 0x117e2ef7e4a0ec7f,
                                 0xe25fff7816603fbc,
                                 0xbc462d6829b47db4,
                                 0xd9fb3c9f2c26dd3d,
                                 0x18fd9a797fa8b5d4,
                                 0x9eeb1faf97c5ecf4,
                                 0x1ce7de294a4ba9af,
                                 0xed7ec47e35742158};

// sin r = r + r³·p(r²) and cos r = 1 - r²/2 + r⁴·p(r²) on |r| ≤ 1; relative errors 2^-31.5, 2^-29.2; 2^-62.7, 2^-58.2. Remez, rounded as in
// decompose_exp.cpp.
constexpr double kSin32[] = {-0x1.555556p-3, 0x1.11113ep-7, -0x1.a01ffep-13, 0x1.6dea2cp-19};
constexpr double kCos32[] = {-0.5, 0x1.555524p-5, -0x1.6bfaa0p-10, 0x1.960902p-16};
constexpr double kSin64[] = {-0x1.5555555555555p-3,  0x1.111111111108ep-7,  -0x1.a01a01a008ed9p-13, 0x1.71de3a447ff45p-19,
                             -0x1.ae64448566fe2p-26, 0x1.6119dd76e3c61p-33, -0x1.a81b27ad93751p-41};
constexpr double kCos64[] = {-0.5,
                             0x1.5555555555487p-5,
                             -0x1.6c16c16c01c64p-10,
                             0x1.a01a018672170p-16,
                             -0x1.27e4ebfb8482fp-22,
                             0x1.1ee3a921dbab1p-29,
                             -0x1.8d2851e4a4557p-37};

struct Circle {
  const FloatFormat& format;
  std::span<const uint64_t> words;
  std::span<const double> sine, cosine;
  double half_pi_head, half_pi_high, half_pi_low;  // the head has half the digits
};
constexpr Circle kCircle32 = {kFloat32, kWords32, kSin32, kCos32, 0x1.92p+0, 0x1.921fb6p+0, -0x1.777a5cp-25};
constexpr Circle kCircle64 = {kFloat64, kWords64, kSin64, kCos64, 0x1.921fb54p+0, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

/// The three words of 2/π from bit `place` on, where `place` is below words · width.
void words_at(const Circle& circle, const Value& place, Value (&window)[3]) {
  const int width = circle.format.width;
  std::vector<Value> words;
  for (const uint64_t word : circle.words) words.push_back(place.constant(int64_t(word)));
  size_t needed = words.size() - 4;
  while (needed > 0) {
    // Drop as many words as the highest remaining bit of the word's number says.
    const size_t half = (needed + 1) / 2;
    const Value skip = (place & int64_t(half) * width) != 0;
    for (size_t i = 0; i + half < words.size(); ++i) words[i] = where(skip, words[i + half], words[i]);
    words.resize(half + 3);
    needed = half - 1;
  }
  const Value left = place & (width - 1), right = left ^ (width - 1);
  for (size_t i = 0; i < 3; ++i) window[i] = (words[i] << left) | ((words[i + 1] >> 1) >> right);
}

/// The upper half of a product of two words, the first of which is below 2^(width - 8).
Value multiply_high(const Value& a, const Value& b) {
  if (a.type() == DType::uint32) return cast((cast(a, DType::uint64) * cast(b, DType::uint64)) >> 32, DType::uint32);
  constexpr int64_t kLow = 0xffffffff;
  const Value a_low = a & kLow, a_high = a >> 32, b_low = b & kLow, b_high = b >> 32;
  const Value low = a_high * b_low + ((a_low * b_low) >> 32);
  const Value middle = a_low * b_high + (low & kLow);
  return a_high * b_high + (low >> 32) + (middle >> 32);
}

struct Turn {
  Value high, low;  // x·2/π modulo 4, the binary point behind the second bit
};

Turn turn_of(const Circle& circle, const Value& magnitude) {
  const FloatFormat& format = circle.format;
  // For |x| ≥ 1 the place is the exponent. The bias is one less than a power of two, and its high bits don't reach the words.
  const Value place = (magnitude >> format.mantissa_bits) + 1;
  Value window[3];
  words_at(circle, place, window);
  const Value m = (magnitude & format.mantissa_mask()) | format.hidden_bit();
  const Value carried = multiply_high(m, window[2]), low = m * window[1] + carried;
  return {m * window[0] + multiply_high(m, window[1]) + cast(low < carried, format.word), low};
}

/// t as a float, times 2^(mantissa_bits + 1).
Value fraction_of(const FloatFormat& format, const Turn& turn) {
  // The digits a float can hold, rounded, and what is left as a signed word: both convert exactly or nearly so, and the sum rounds once.
  const int width = format.width, drop = width - 1 - format.mantissa_bits;
  const Value rest = bitcast((turn.high << (width - drop + 2)) | (turn.low >> (drop - 2)), format.signed_word);
  const Value digits = (bitcast(turn.high << 2, format.signed_word) >> drop) - (rest >> (width - 1));
  return cast(digits, format.type) + cast(rest, format.type) * std::ldexp(1.0, -width);
}

/// An angle that is not multiplied out, so that it is rounded but once more: u·scale·(1 + error), where scale = head + tail.
struct Angle {
  Value u, scale, head, tail, error;
};

Value sine_of(const Angle& angle, const Value& square, std::span<const double> coefficients) {
  const auto& [u, scale, head, tail, error] = angle;
  const Value rest = u * (scale * multiply_add(square, polynomial(square, coefficients), error));
  if (u.fused) return multiply_add(u, scale, rest);
  const Value u_head = head_of(u), u_tail = u - u_head;
  return u_head * head + (u_head * tail + u_tail * scale + rest);
}

const Node* lower_circular(const Value& x, bool cosine) {
  const Circle& circle = x.type() == DType::float32 ? kCircle32 : kCircle64;
  const FloatFormat& format = format_of(x);
  const Value bits = bitcast(x, format.word), magnitude = bits & format.magnitude_mask();
  const Value absolute = bitcast(magnitude, format.type), direct = absolute < 1;
  const Turn turn = turn_of(circle, magnitude);
  // What the unit of t is as an angle.
  const double unit = std::ldexp(1.0, -1 - format.mantissa_bits), scale = circle.half_pi_high * unit, head = circle.half_pi_head * unit;
  const auto choose = [&](double straight, double reduced) { return where(direct, x.constant(straight), reduced); };
  const Angle angle = {where(direct, absolute, fraction_of(format, turn)), choose(1, scale), choose(1, head), choose(0, scale - head),
                       choose(0, circle.half_pi_low / circle.half_pi_high)};
  const Value r = angle.u * angle.scale, square = r * r;
  // The nearest n stands in the first two bits; cos is the sin of a quarter more.
  const int64_t quarter = int64_t(1) << (format.width - 2), more = cosine ? quarter : 0;
  const Value n = where(direct, turn.high.constant(more), turn.high + (more + quarter / 2));
  const Value result =
      where((n & quarter) != 0, multiply_add(square, polynomial(square, circle.cosine), 1), sine_of(angle, square, circle.sine));
  const Value sign = (cosine ? n : n ^ bits) & format.sign_bit();
  const Value with_sign = bitcast(bitcast(result, format.word) ^ sign, format.type);
  return where(absolute < std::numeric_limits<double>::infinity(), with_sign, std::numeric_limits<double>::quiet_NaN()).node;
}

}  // namespace

const Node* lower_sin(Graph& graph, const Node* x, const Lowering& lowering) { return lower_circular(value_of(graph, x, lowering), false); }
const Node* lower_cos(Graph& graph, const Node* x, const Lowering& lowering) { return lower_circular(value_of(graph, x, lowering), true); }

}  // namespace whit
