// The promotion lattice, type by type.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>
#include <whit/dtype.h>

namespace whit {
namespace {

// Row and column: bool to float64. b bool, i/u with bits, e4 e5 the fp8s, h float16, g bfloat16, f float32, d float64.
constexpr const char* kTable[] = {
    "b   i8  u8  i16 u16 i32 u32 i64 u64 e4 e5 h g f d",  // bool
    "i8  i8  i16 i16 i32 i32 i64 i64 f   e4 e5 h g f d",  // int8
    "u8  i16 u8  i16 u16 i32 u32 i64 u64 e4 e5 h g f d",  // uint8
    "i16 i16 i16 i16 i32 i32 i64 i64 f   e4 e5 h g f d",  // int16
    "u16 i32 u16 i32 u16 i32 u32 i64 u64 e4 e5 h g f d",  // uint16
    "i32 i32 i32 i32 i32 i32 i64 i64 f   e4 e5 h g f d",  // int32
    "u32 i64 u32 i64 u32 i64 u32 i64 u64 e4 e5 h g f d",  // uint32
    "i64 i64 i64 i64 i64 i64 i64 i64 f   e4 e5 h g f d",  // int64
    "u64 f   u64 f   u64 f   u64 f   u64 e4 e5 h g f d",  // uint64
    "e4  e4  e4  e4  e4  e4  e4  e4  e4  e4 h  h g f d",  // float8_e4m3
    "e5  e5  e5  e5  e5  e5  e5  e5  e5  h  e5 h g f d",  // float8_e5m2
    "h   h   h   h   h   h   h   h   h   h  h  h f f d",  // float16
    "g   g   g   g   g   g   g   g   g   g  g  f g f d",  // bfloat16
    "f   f   f   f   f   f   f   f   f   f  f  f f f d",  // float32
    "d   d   d   d   d   d   d   d   d   d  d  d d d d",  // float64
};

DType of_short_name(const std::string& text) {
  static const std::vector<std::string> names = {"none", "b",   "i8", "u8", "i16", "u16", "i32", "u32",
                                                 "i64",  "u64", "e4", "e5", "h",   "g",   "f",   "d"};
  return DType(std::ranges::find(names, text) - names.begin());
}

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (size_t i = 1; i < kDTypeCount; ++i) types.push_back(DType(i));
  return types;
}

TEST(DTypePromotion, IsTheTable) {
  for (size_t row = 0; row < std::size(kTable); ++row) {
    std::istringstream columns(kTable[row]);
    std::string text;
    for (size_t column = 0; columns >> text; ++column) {
      const DType a = DType(row + 1), b = DType(column + 1);
      EXPECT_EQ(promote(a, b), of_short_name(text)) << name(a) << " with " << name(b) << " is " << name(promote(a, b));
    }
  }
}

TEST(DTypePromotion, IndexIsAnInt64ThatYieldsToIt) {
  EXPECT_EQ(promote(DType::index, DType::index), DType::index);
  for (const DType type : all_types())
    EXPECT_EQ(promote(DType::index, type), type == DType::index ? type : promote(DType::int64, type)) << name(type);
}

TEST(DTypePromotion, Commutes) {
  for (const DType a : all_types())
    for (const DType b : all_types()) EXPECT_EQ(promote(a, b), promote(b, a)) << name(a) << ' ' << name(b);
}

TEST(DTypePromotion, GivesAnUpperBound) {
  for (const DType a : all_types())
    for (const DType b : all_types()) {
      EXPECT_EQ(promote(a, promote(a, b)), promote(a, b)) << name(a) << ' ' << name(b);
      EXPECT_EQ(promote(promote(a, b), DType::none), promote(a, b));
    }
}

// No order that puts every float above every integer, and has two fp8s, can be a lattice: some pairs have no least upper bound. These
// are the only places where it shows.
TEST(DTypePromotion, AssociatesWhereItCan) {
  const auto leaps = [](DType a, DType b) { return !is_float(a) && !is_float(b) && promote(a, b) == DType::float32; };
  for (const DType a : all_types())
    for (const DType b : all_types())
      for (const DType c : all_types()) {
        const std::array<DType, 3> three = {a, b, c};
        const auto any = [&](DType type) { return std::ranges::find(three, type) != three.end(); };
        const bool integers_leap = (leaps(a, b) || leaps(b, c) || leaps(a, c)) && std::ranges::any_of(three, is_narrow_float);
        const bool fp8s_leap = any(DType::float8_e4m3) && any(DType::float8_e5m2) && any(DType::bfloat16);
        if (integers_leap || fp8s_leap) continue;
        EXPECT_EQ(promote(promote(a, b), c), promote(a, promote(b, c))) << name(a) << ' ' << name(b) << ' ' << name(c);
      }
}

TEST(DTypePromotion, OfSeveralIgnoresTheirOrder) {
  for (const DType a : all_types())
    for (const DType b : all_types()) {
      EXPECT_EQ(promote(std::array{a, b}), promote(a, b)) << name(a) << ' ' << name(b);
      for (const DType c : all_types()) {
        std::array<DType, 3> three = {a, b, c};
        const DType expected = promote(three);
        for (const DType type : three) EXPECT_EQ(promote(type, expected), expected);
        for (int i = 0; i < 6; ++i) {
          std::ranges::next_permutation(three);
          EXPECT_EQ(promote(three), expected) << name(a) << ' ' << name(b) << ' ' << name(c);
        }
      }
    }
  EXPECT_EQ(promote(std::array{DType::int64, DType::uint64, DType::float16}), DType::float16);
  EXPECT_EQ(promote(std::array{DType::float8_e4m3, DType::float8_e5m2, DType::bfloat16}), DType::bfloat16);
  EXPECT_EQ(promote(std::span<const DType>()), DType::none);
}

TEST(DType, SumsWidenSmallIntegers) {
  EXPECT_EQ(sum_type(DType::boolean), DType::int32);
  EXPECT_EQ(sum_type(DType::int8), DType::int32);
  EXPECT_EQ(sum_type(DType::int16), DType::int32);
  EXPECT_EQ(sum_type(DType::uint8), DType::uint32);
  EXPECT_EQ(sum_type(DType::uint16), DType::uint32);
  for (const DType type : {DType::int32, DType::uint32, DType::int64, DType::uint64, DType::float16, DType::bfloat16, DType::float32,
                           DType::float64, DType::index})
    EXPECT_EQ(sum_type(type), type);
}

TEST(DType, NamesReadBack) {
  for (const DType type : all_types()) EXPECT_EQ(dtype_of_name(name(type)), type);
  EXPECT_EQ(dtype_of_name("float"), DType::none);
  EXPECT_EQ(dtype_of_name(""), DType::none);
}

}  // namespace
}  // namespace whit
