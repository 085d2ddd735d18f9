// Number formats against their definitions, exhaustively where there are few encodings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "ir/number.h"

namespace whit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr DType kNarrow[] = {DType::float8_e4m3, DType::float8_e5m2, DType::float16, DType::bfloat16};
constexpr DType kIntegers[] = {DType::int8,  DType::uint8,  DType::int16, DType::uint16,
                               DType::int32, DType::uint32, DType::int64, DType::uint64};

uint32_t encodings(DType type) { return 1u << bit_width(type); }

// The finite values from 0 up, in the order of their encodings.
std::vector<float> ladder(DType type) {
  std::vector<float> values;
  for (uint32_t e = 0; e < encodings(type) / 2 && std::isfinite(decode_narrow(type, uint16_t(e))); ++e)
    values.push_back(decode_narrow(type, uint16_t(e)));
  return values;
}

TEST(Narrow, KnownValues) {
  EXPECT_EQ(decode_narrow(DType::float16, 0x3c00), 1.0f);
  EXPECT_EQ(decode_narrow(DType::float16, 0x7bff), 65504.0f);
  EXPECT_EQ(decode_narrow(DType::float16, 0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(decode_narrow(DType::float16, 0xc500), -5.0f);
  EXPECT_EQ(decode_narrow(DType::float8_e4m3, 0x7e), 448.0f);
  EXPECT_EQ(decode_narrow(DType::float8_e4m3, 0x01), std::ldexp(1.0f, -9));
  EXPECT_EQ(decode_narrow(DType::float8_e4m3, 0x08), std::ldexp(1.0f, -6));
  EXPECT_TRUE(std::isnan(decode_narrow(DType::float8_e4m3, 0x7f)));
  EXPECT_TRUE(std::isnan(decode_narrow(DType::float8_e4m3, 0xff)));
  EXPECT_EQ(decode_narrow(DType::float8_e5m2, 0x7b), 57344.0f);
  EXPECT_EQ(decode_narrow(DType::float8_e5m2, 0xfc), -std::numeric_limits<float>::infinity());
}

// bfloat16 is the upper half of float32, and float8_e5m2 that of float16.
TEST(Narrow, HalvesOfWiderFormats) {
  for (uint32_t e = 0; e < 65536; ++e) {
    const float expected = std::bit_cast<float>(e << 16), value = decode_narrow(DType::bfloat16, uint16_t(e));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(value));
    else
      EXPECT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(expected)) << e;
  }
  for (uint32_t e = 0; e < 256; ++e) {
    const float expected = decode_narrow(DType::float16, uint16_t(e << 8)), value = decode_narrow(DType::float8_e5m2, uint16_t(e));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(value));
    else
      EXPECT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(expected)) << e;
  }
}

TEST(Narrow, EveryEncodingReadsBack) {
  for (const DType type : kNarrow)
    for (uint32_t e = 0; e < encodings(type); ++e) {
      const float value = decode_narrow(type, uint16_t(e));
      const uint16_t back = encode_narrow(type, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_narrow(type, back))) << name(type) << ' ' << e;
      } else {
        EXPECT_EQ(back, e) << name(type) << ' ' << value;
        EXPECT_EQ(float_of_bits(type, bits_of_float(type, value)), value) << name(type);
      }
    }
}

// Between two neighbours the nearer wins, and at the midpoint the one with an even encoding: subnormals included.
TEST(Narrow, RoundsToNearestEven) {
  for (const DType type : kNarrow) {
    const std::vector<float> values = ladder(type);
    for (size_t e = 0; e + 1 < values.size(); ++e) {
      const float middle = float((double(values[e]) + double(values[e + 1])) / 2);
      ASSERT_GT(middle, values[e]);
      for (const uint32_t sign : {0u, encodings(type) / 2}) {
        const float s = sign ? -1.0f : 1.0f;
        EXPECT_EQ(encode_narrow(type, s * middle), sign + (e & 1 ? e + 1 : e)) << name(type) << ' ' << middle;
        EXPECT_EQ(encode_narrow(type, s * std::nextafter(middle, 0.0f)), sign + e) << name(type) << ' ' << middle;
        EXPECT_EQ(encode_narrow(type, s * std::nextafter(middle, std::numeric_limits<float>::infinity())), sign + e + 1)
            << name(type) << ' ' << middle;
      }
    }
  }
}

TEST(Narrow, Overflow) {
  for (const DType type : kNarrow) {
    const std::vector<float> values = ladder(type);
    const float greatest = values.back(), half_step = (greatest - values[values.size() - 2]) / 2;
    const bool even = (values.size() - 1) % 2 == 0;  // then the midpoint beyond the greatest value rounds down
    const float beyond = type == DType::float8_e4m3 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    const auto expect = [&](float value, float rounded) {
      const float actual = round_to(type, value), negated = round_to(type, -value);
      if (std::isnan(rounded))
        EXPECT_TRUE(std::isnan(actual) && std::isnan(negated)) << name(type) << ' ' << value << ' ' << actual;
      else
        EXPECT_TRUE(actual == rounded && negated == -rounded) << name(type) << ' ' << value << ' ' << actual;
    };
    expect(std::nextafter(greatest + half_step, 0.0f), greatest);
    expect(greatest + half_step, even ? greatest : beyond);
    expect(std::nextafter(greatest + half_step, std::numeric_limits<float>::infinity()), beyond);
    expect(std::numeric_limits<float>::max(), beyond);
    expect(std::numeric_limits<float>::infinity(), beyond);
    EXPECT_TRUE(std::isnan(round_to(type, std::numeric_limits<float>::quiet_NaN())));
  }
}

TEST(Narrow, TinyValuesGoToSignedZero) {
  for (const DType type : kNarrow) {
    EXPECT_EQ(encode_narrow(type, std::numeric_limits<float>::denorm_min()), 0) << name(type);
    EXPECT_EQ(encode_narrow(type, -std::numeric_limits<float>::denorm_min()), encodings(type) / 2) << name(type);
    EXPECT_EQ(encode_narrow(type, -0.0f), encodings(type) / 2) << name(type);
  }
}

TEST(Bits, ZerosDifferAndNaNsAreOne) {
  for (const DType type : {DType::float8_e4m3, DType::float8_e5m2, DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    EXPECT_NE(bits_of_float(type, 0.0), bits_of_float(type, -0.0)) << name(type);
    EXPECT_EQ(bits_of_float(type, kNaN), bits_of_float(type, -kNaN)) << name(type);
    EXPECT_EQ(canonical(type, bits_of_float(type, kNaN)), bits_of_float(type, kNaN));
    EXPECT_EQ(canonical(type, bits_of_float(type, -1.5)), bits_of_float(type, -1.5));
  }
  const uint32_t payload = 0xffc12345;
  EXPECT_EQ(load_element(DType::float32, &payload), bits_of_float(DType::float32, kNaN));
  EXPECT_EQ(canonical(DType::float32, Bits(payload)), bits_of_float(DType::float32, kNaN));
  const uint64_t wide = 0xfff8000000000001;
  EXPECT_EQ(load_element(DType::float64, &wide), bits_of_float(DType::float64, kNaN));
}

struct Saturation {
  DType type;
  double value;
  int64_t expected;
};

TEST(Cast, FloatToIntegerTruncatesAndSaturates) {
  const int64_t least = std::numeric_limits<int64_t>::min(), greatest = std::numeric_limits<int64_t>::max();
  const Saturation rows[] = {
      {DType::int8, 127.9, 127},
      {DType::int8, 128, 127},
      {DType::int8, -128.9, -128},
      {DType::int8, -129, -128},
      {DType::int8, -0.9, 0},
      {DType::uint8, 255.9, 255},
      {DType::uint8, 256, 255},
      {DType::uint8, -0.5, 0},
      {DType::uint8, -1, 0},
      {DType::int16, 32767.5, 32767},
      {DType::int16, 1e9, 32767},
      {DType::int16, -1e9, -32768},
      {DType::uint16, 65535.5, 65535},
      {DType::uint16, 1e9, 65535},
      {DType::int32, 2147483647.5, 2147483647},
      {DType::int32, 1e20, 2147483647},
      {DType::int32, -1e20, -2147483648},
      {DType::uint32, 4294967295.5, 4294967295},
      {DType::uint32, 1e20, 4294967295},
      {DType::uint32, -3, 0},
      {DType::int64, 9.3e18, greatest},
      {DType::int64, -9.3e18, least},
      {DType::int64, 9007199254740993.0, 9007199254740992},
      {DType::uint64, 9.3e18, int64_t(9300000000000000000u)},
      {DType::uint64, 2e19, -1},
      {DType::uint64, -5, 0},
      {DType::index, 1e30, greatest},
  };
  for (const Saturation& row : rows) {
    EXPECT_EQ(bits_of_number(row.type, row.value), row.expected) << name(row.type) << ' ' << row.value;
    EXPECT_EQ(convert(DType::float64, row.type, bits_of_float(DType::float64, row.value)), row.expected)
        << name(row.type) << ' ' << row.value;
  }
  for (const DType type : kIntegers) {
    EXPECT_EQ(bits_of_number(type, kNaN), 0) << name(type);
    EXPECT_EQ(bits_of_number(type, kInfinity), bits_of_number(type, 1e300)) << name(type);
    EXPECT_EQ(bits_of_number(type, -kInfinity), bits_of_number(type, -1e300)) << name(type);
    EXPECT_EQ(bits_of_number(type, -0.0), 0) << name(type);
  }
}

TEST(Cast, ToBoolIsNotZero) {
  for (const double value : {0.0, -0.0}) EXPECT_EQ(convert(DType::float32, DType::boolean, bits_of_float(DType::float32, value)), 0);
  for (const double value : {1.0, -0.25, kInfinity, kNaN, 1e-45})
    EXPECT_EQ(convert(DType::float32, DType::boolean, bits_of_float(DType::float32, value)), 1) << value;
  EXPECT_EQ(convert(DType::int32, DType::boolean, 256), 1);
  EXPECT_EQ(convert(DType::boolean, DType::float16, 1), bits_of_float(DType::float16, 1));
}

TEST(Cast, IntegersWrap) {
  EXPECT_EQ(convert(DType::int32, DType::int8, 200), -56);
  EXPECT_EQ(convert(DType::int32, DType::uint8, -1), 255);
  EXPECT_EQ(convert(DType::uint64, DType::int64, -1), -1);
  EXPECT_EQ(convert(DType::int8, DType::uint64, -1), -1);
  EXPECT_EQ(convert(DType::uint32, DType::int32, 4294967295), -1);
  EXPECT_EQ(convert(DType::int64, DType::uint16, 65536 + 7), 7);
}

TEST(Cast, IntegersRoundOnceToFloat32) {
  EXPECT_EQ(convert(DType::int32, DType::float32, 16777217), bits_of_float(DType::float32, 16777216));
  EXPECT_EQ(convert(DType::int64, DType::float32, 9007199791611905),
            bits_of_float(DType::float32, 9007200328482816.0));  // by way of double it would be a tie
  EXPECT_EQ(convert(DType::uint64, DType::float32, -1), bits_of_float(DType::float32, 18446744073709551616.0));
  EXPECT_EQ(convert(DType::uint64, DType::float64, -1), bits_of_float(DType::float64, 18446744073709551616.0));
  EXPECT_EQ(convert(DType::int32, DType::float8_e4m3, 449), bits_of_float(DType::float8_e4m3, 448));
  EXPECT_EQ(convert(DType::int32, DType::float16, 70000), bits_of_float(DType::float16, kInfinity));
}

TEST(Memory, ElementsReadBack) {
  std::mt19937_64 random(7);
  for (size_t i = 1; i < kDTypeCount; ++i) {
    const DType type = DType(i);
    for (int k = 0; k < 2000; ++k) {
      const uint64_t memory = random();
      const Bits bits = load_element(type, &memory);
      EXPECT_EQ(canonical(type, bits), bits) << name(type);
      uint64_t copy = 0;
      store_element(type, &copy, bits);
      EXPECT_EQ(load_element(type, &copy), bits) << name(type);
      const double number = float_of_bits(type, bits);
      if (type != DType::boolean && number == number) {
        EXPECT_EQ(std::memcmp(&copy, &memory, item_size(type)), 0) << name(type);
      }
    }
  }
}

TEST(Memory, BitcastKeepsTheBytes) {
  EXPECT_EQ(reinterpret(DType::float32, DType::int32, bits_of_float(DType::float32, -1.0)), int32_t(0xbf800000));
  EXPECT_EQ(reinterpret(DType::float32, DType::uint32, bits_of_float(DType::float32, -1.0)), 0xbf800000);
  EXPECT_EQ(reinterpret(DType::int8, DType::uint8, -1), 255);
  EXPECT_EQ(reinterpret(DType::uint16, DType::float16, 0x3c00), bits_of_float(DType::float16, 1));
  EXPECT_EQ(reinterpret(DType::bfloat16, DType::int16, bits_of_float(DType::bfloat16, 1)), 0x3f80);
  EXPECT_EQ(reinterpret(DType::int64, DType::float64, 0x3ff0000000000000), bits_of_float(DType::float64, 1));
}

}  // namespace
}  // namespace whit
