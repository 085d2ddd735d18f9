// evaluate() against the semantics that stand on top of ops.def, written here a second time over unbounded integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ir/evaluate.h"
#include "ir/meaning.h"

namespace whit {
namespace {

using Wide = __int128;
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr DType kIntegers[] = {DType::boolean, DType::int8,   DType::uint8, DType::int16,  DType::uint16,
                               DType::int32,   DType::uint32, DType::int64, DType::uint64, DType::index};
constexpr DType kFloats[] = {DType::float8_e4m3, DType::float8_e5m2, DType::float16, DType::bfloat16, DType::float32, DType::float64};

Wide value_of(DType type, Bits bits) { return type == DType::uint64 ? Wide(uint64_t(bits)) : Wide(bits); }

Bits wrap(DType type, Wide value) {
  if (type == DType::boolean) return value != 0;
  return bits_of_integer(type, int64_t(uint64_t(value)));
}

// 2^count as a factor; the caller keeps count below 64.
Wide power_of_two(Wide count) { return Wide(1) << int(count); }

Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Bits expected(Op op, DType type, Wide a, Wide b) {
  const bool inside = b >= 0 && b < Wide(bit_width(type));
  switch (op) {
    case Op::Neg: return wrap(type, -a);
    case Op::Add: return wrap(type, a + b);
    case Op::Mul: return wrap(type, Wide(__uint128_t(a) * __uint128_t(b)));
    case Op::Quotient: return b == 0 ? 0 : wrap(type, a / b);
    case Op::Remainder: return b == 0 ? 0 : wrap(type, a % b);
    case Op::Max: return wrap(type, std::max(a, b));
    case Op::Min: return wrap(type, std::min(a, b));
    case Op::Less: return a < b;
    case Op::NotEqual: return a != b;
    case Op::And: return wrap(type, a & b);
    case Op::Or: return wrap(type, a | b);
    case Op::Xor: return wrap(type, a ^ b);
    case Op::Shl: return inside ? wrap(type, Wide(__uint128_t(a) << int(b))) : 0;
    case Op::Shr: return inside ? wrap(type, floor_divide(a, power_of_two(b))) : a < 0 ? wrap(type, -1) : 0;
    default: return a ? 1 : 0;
  }
}

constexpr Op kIntegerOps[] = {Op::Neg,  Op::Add,      Op::Mul, Op::Quotient, Op::Remainder, Op::Max, Op::Min,
                              Op::Less, Op::NotEqual, Op::And, Op::Or,       Op::Xor,       Op::Shl, Op::Shr};

// All values of the 8-bit types; of others the edges, small numbers, shift counts and some random ones.
std::vector<Bits> samples(DType type) {
  std::vector<Bits> values;
  if (item_size(type) == 1) {
    for (int v = 0; v < 256; ++v) values.push_back(bits_of_integer(type, v));
  } else {
    std::mt19937_64 random(3);
    for (const int64_t v : {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000})
      for (const int64_t signed_v : {v, -v}) values.push_back(bits_of_integer(type, signed_v));
    for (const int64_t top : {int64_t(1) << (bit_width(type) - 1), int64_t(-1)})
      for (int64_t v = -2; v <= 2; ++v) values.push_back(bits_of_integer(type, int64_t(uint64_t(top) + uint64_t(v))));
    for (int i = 0; i < 40; ++i) values.push_back(bits_of_integer(type, int64_t(random() >> (random() % 64))));
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

TEST(EvaluateIntegers, AgreesWithUnboundedArithmetic) {
  for (const DType type : kIntegers)
    for (const Op op : kIntegerOps)
      for (const Bits a : samples(type))
        for (const Bits b : samples(type)) {
          const std::array<Bits, 2> operands = {a, b};
          const Bits actual = evaluate(op, type, std::span(operands).first(size_t(info(op).arity)));
          ASSERT_EQ(actual, expected(op, type, value_of(type, a), value_of(type, b)))
              << name(op) << ' ' << name(type) << ' ' << a << ' ' << b;
        }
}

TEST(EvaluateIntegers, EdgesByName) {
  const auto apply = [](Op op, DType type, Bits a, Bits b) { return evaluate(op, type, std::array{a, b}); };
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(apply(Op::Quotient, DType::int64, least, -1), least);
  EXPECT_EQ(apply(Op::Remainder, DType::int64, least, -1), 0);
  EXPECT_EQ(apply(Op::Quotient, DType::int32, -2147483648, -1), -2147483648);
  EXPECT_EQ(apply(Op::Quotient, DType::int8, -128, -1), -128);
  EXPECT_EQ(apply(Op::Quotient, DType::int32, -7, 2), -3);
  EXPECT_EQ(apply(Op::Remainder, DType::int32, -7, 2), -1);
  for (const DType type : kIntegers) {
    EXPECT_EQ(apply(Op::Quotient, type, 1, 0), 0) << name(type);
    EXPECT_EQ(apply(Op::Remainder, type, 1, 0), 0) << name(type);
  }
  EXPECT_EQ(apply(Op::Shl, DType::int32, 1, 32), 0);
  EXPECT_EQ(apply(Op::Shl, DType::int32, 1, -1), 0);
  EXPECT_EQ(apply(Op::Shr, DType::int32, -5, 100), -1);
  EXPECT_EQ(apply(Op::Shr, DType::uint64, -1, 63), 1);
  EXPECT_EQ(apply(Op::Shl, DType::boolean, 1, 1), 0);
}

TEST(EvaluateIntegers, WhereChooses) {
  for (const DType type : kIntegers) {
    EXPECT_EQ(evaluate(Op::Where, type, std::array<Bits, 3>{1, 1, 0}), 1) << name(type);
    EXPECT_EQ(evaluate(Op::Where, type, std::array<Bits, 3>{0, 1, 0}), 0) << name(type);
  }
}

TEST(EvaluateThreefry, KnownAnswers) {
  // Counter, key, result: from the reference implementation's known-answer file, low word first.
  const auto threefry = [](uint64_t counter, uint64_t key) {
    return uint64_t(evaluate(Op::Threefry, DType::uint64, std::array{Bits(counter), Bits(key)}));
  };
  const auto pair = [](uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; };
  EXPECT_EQ(threefry(0, 0), pair(0x6b200159, 0x99ba4efe));
  EXPECT_EQ(threefry(~uint64_t(0), ~uint64_t(0)), pair(0x1cb996fc, 0xbb002be7));
  EXPECT_EQ(threefry(pair(0x243f6a88, 0x85a308d3), pair(0x13198a2e, 0x03707344)), pair(0xc4923a9c, 0x483df7a0));
}

double on_floats(Op op, DType type, double a, double b = 0, double c = 0) {
  const std::array<Bits, 3> operands = {bits_of_float(type, a), bits_of_float(type, b), bits_of_float(type, c)};
  const Bits result = evaluate(op, type, std::span(operands).first(size_t(info(op).arity)));
  return has(op, compares) ? double(result) : float_of_bits(type, result);
}

TEST(EvaluateFloats, NaNInMaxMinAndComparisons) {
  for (const DType type : kFloats)
    for (const auto& [a, b] : {std::pair(kNaN, 1.0), std::pair(1.0, kNaN), std::pair(kNaN, kNaN)}) {
      EXPECT_TRUE(std::isnan(on_floats(Op::Max, type, a, b))) << name(type);
      EXPECT_TRUE(std::isnan(on_floats(Op::Min, type, a, b))) << name(type);
      EXPECT_EQ(on_floats(Op::Less, type, a, b), 0) << name(type);
      EXPECT_EQ(on_floats(Op::NotEqual, type, a, b), 1) << name(type);
    }
}

TEST(EvaluateFloats, SignedZeros) {
  for (const DType type : kFloats) {
    EXPECT_TRUE(std::signbit(on_floats(Op::Neg, type, 0.0))) << name(type);
    EXPECT_FALSE(std::signbit(on_floats(Op::Add, type, -0.0, 0.0))) << name(type);
    EXPECT_TRUE(std::signbit(on_floats(Op::Add, type, -0.0, -0.0))) << name(type);
    EXPECT_TRUE(std::signbit(on_floats(Op::Mul, type, -1.0, 0.0))) << name(type);
    EXPECT_TRUE(std::signbit(on_floats(Op::Sqrt, type, -0.0))) << name(type);
    EXPECT_TRUE(std::signbit(on_floats(Op::Trunc, type, -0.5))) << name(type);
    EXPECT_EQ(on_floats(Op::Less, type, -0.0, 0.0), 0) << name(type);
    EXPECT_EQ(on_floats(Op::NotEqual, type, -0.0, 0.0), 0) << name(type);
    EXPECT_EQ(on_floats(Op::Max, type, -0.0, 0.0), 0) << name(type);
  }
}

TEST(EvaluateFloats, InfinitiesAndDivision) {
  for (const DType type : {DType::float8_e5m2, DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    EXPECT_EQ(on_floats(Op::Divide, type, 1, 0), kInfinity) << name(type);
    EXPECT_EQ(on_floats(Op::Divide, type, 1, -0.0), -kInfinity) << name(type);
    EXPECT_TRUE(std::isnan(on_floats(Op::Divide, type, 0, 0))) << name(type);
    EXPECT_EQ(on_floats(Op::Reciprocal, type, -kInfinity), 0) << name(type);
    EXPECT_TRUE(std::isnan(on_floats(Op::Add, type, kInfinity, -kInfinity))) << name(type);
    EXPECT_TRUE(std::isnan(on_floats(Op::Sqrt, type, -1))) << name(type);
    EXPECT_EQ(on_floats(Op::Max, type, -kInfinity, 1), 1) << name(type);
    EXPECT_EQ(on_floats(Op::Trunc, type, -2.5), -2) << name(type);
  }
  EXPECT_TRUE(std::isnan(on_floats(Op::Divide, DType::float8_e4m3, 1, 0)));  // it has no infinity
}

TEST(EvaluateFloats, RoundOncePerOp) {
  EXPECT_EQ(on_floats(Op::Add, DType::float16, 2048, 1), 2048);
  EXPECT_EQ(on_floats(Op::Add, DType::float16, 2050, 1), 2052);
  EXPECT_EQ(on_floats(Op::Mul, DType::float16, 256, 256), kInfinity);
  EXPECT_EQ(on_floats(Op::Add, DType::bfloat16, 256, 1), 256);
  EXPECT_EQ(on_floats(Op::Add, DType::float8_e4m3, 16, 1), 16);
  EXPECT_EQ(on_floats(Op::Add, DType::float32, 16777216, 1), 16777216);
  EXPECT_EQ(on_floats(Op::Add, DType::float64, 16777216, 1), 16777217);
  // One rounding, where a product and a sum would have two.
  const double x = 1 + std::ldexp(1.0, -12);
  EXPECT_EQ(on_floats(Op::MulAdd, DType::float32, x, x, -1), std::ldexp(1.0, -11) + std::ldexp(1.0, -24));
  EXPECT_NE(on_floats(Op::Add, DType::float32, on_floats(Op::Mul, DType::float32, x, x), -1), std::ldexp(1.0, -11) + std::ldexp(1.0, -24));
  EXPECT_EQ(on_floats(Op::Sqrt, DType::float16, 2), float_of_bits(DType::float16, bits_of_float(DType::float16, std::sqrt(2.0f))));
  const double tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(on_floats(Op::Add, DType::float32, tiny, tiny), 2 * tiny);  // subnormals are kept
}

TEST(EvaluateFloats, WhereKeepsTheOtherSideOut) {
  for (const DType type : kFloats) {
    const std::array<Bits, 3> operands = {1, bits_of_float(type, -0.0), bits_of_float(type, kNaN)};
    EXPECT_EQ(evaluate(Op::Where, type, operands), operands[1]) << name(type);
  }
}

TEST(Evaluate, IdentitiesAreNeutral) {
  for (const DType type : kIntegers)
    for (const Op op : {Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or, Op::Xor})
      for (const Bits value : samples(type))
        ASSERT_EQ(evaluate(op, type, std::array{identity_of(op, type), value}), value) << name(op) << ' ' << name(type);
  for (const DType type : kFloats)
    for (const Op op : {Op::Add, Op::Mul, Op::Max, Op::Min})
      for (const double value : {1.5, -2.0, 0.0})
        EXPECT_EQ(on_floats(op, type, float_of_bits(type, identity_of(op, type)), value), value) << name(op) << ' ' << name(type);
}

}  // namespace
}  // namespace whit
