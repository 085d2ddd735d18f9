#include "io/idx.h"

#include <gtest/gtest.h>
#include <whit/error.h>

#include <bit>
#include <cstring>
#include <limits>

#include "unit/mutations.h"

namespace whit {
namespace {

std::vector<uint8_t> idx_file(uint8_t type, const std::vector<uint32_t>& shape, size_t value_bytes) {
  std::vector<uint8_t> file{0, 0, type, static_cast<uint8_t>(shape.size())};
  for (uint32_t length : shape)
    for (int shift = 24; shift >= 0; shift -= 8) file.push_back(static_cast<uint8_t>(length >> shift));
  for (size_t i = 0; i < value_bytes; ++i) file.push_back(static_cast<uint8_t>(i + 1));
  return file;
}

std::string error_of(std::span<const uint8_t> file) {
  try {
    parse_idx(file, "x.idx");
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::File);
    return error.what();
  }
  return "no error";
}

TEST(IdxTest, ReadsTypeShapeAndValues) {
  const std::vector<uint8_t> file = idx_file(0x08, {2, 3}, 6);
  const IdxArray array = parse_idx(file, "x.idx");
  EXPECT_EQ(array.type, IdxType::UInt8);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.bytes.data(), file.data() + 12);
  EXPECT_EQ(native_values(array), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(IdxTest, ReadsEveryTypeInNativeOrder) {
  const struct {
    uint8_t type;
    size_t size;
  } types[] = {{0x08, 1}, {0x09, 1}, {0x0b, 2}, {0x0c, 4}, {0x0d, 4}, {0x0e, 8}};
  for (const auto& [type, size] : types) {
    SCOPED_TRACE(int{type});
    const std::vector<uint8_t> file = idx_file(type, {3}, 3 * size);
    const IdxArray array = parse_idx(file, "x.idx");
    EXPECT_EQ(item_size(array.type), size);
    EXPECT_EQ(native_values(array).size(), 3 * size);
  }
  const std::vector<uint8_t> file = {0, 0, 0x0d, 1, 0, 0, 0, 2, 0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0};
  float values[2];
  std::memcpy(values, native_values(parse_idx(file, "x.idx")).data(), sizeof values);
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[1], -2.5f);
}

TEST(IdxTest, ReadsScalarsAndEmptyArrays) {
  const std::vector<uint8_t> scalar = idx_file(0x08, {}, 1), empty = idx_file(0x0e, {0, 1000, 1000}, 0);
  EXPECT_TRUE(parse_idx(scalar, "x.idx").shape.empty());
  EXPECT_EQ(parse_idx(scalar, "x.idx").bytes.size(), 1u);
  EXPECT_EQ(parse_idx(empty, "x.idx").shape, (std::vector<int64_t>{0, 1000, 1000}));
}

TEST(IdxTest, ErrorsNameFileAndOffset) {
  const std::vector<uint8_t> good = idx_file(0x08, {2, 3}, 6);
  EXPECT_EQ(error_of({}), "IDX file 'x.idx' is truncated: 0 bytes, and its header alone needs 4");
  EXPECT_EQ(error_of(std::span(good).first(9)), "IDX file 'x.idx' is truncated at offset 9: the sizes of 2 axes end at 12");
  EXPECT_EQ(error_of(std::span(good).first(16)),
            "IDX file 'x.idx' is truncated at offset 16: 6 bytes of values from offset 12 on are promised, 2 are missing");
  EXPECT_EQ(error_of(idx_file(0x08, {2, 3}, 7)), "IDX file 'x.idx': 1 bytes at offset 18 follow the last value");
  EXPECT_EQ(error_of(idx_file(0x0a, {1}, 1)), "IDX file 'x.idx': unknown type 10 at offset 2");
  EXPECT_EQ(error_of(std::vector<uint8_t>{1, 0, 8, 0, 0}), "'x.idx' is no IDX file: bytes 0 and 1 are not zero");
}

TEST(IdxTest, RefusesShapesThatOverflow) {
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  const std::string error = error_of(idx_file(0x08, {kMax, kMax, kMax}, 8));
  EXPECT_EQ(error, "IDX file 'x.idx': size 4294967295 of axis 1 at offset 8 makes the array too large");
  EXPECT_NE(error_of(idx_file(0x0e, {1u << 31, 1u << 31, 4}, 0)), "no error");
  EXPECT_NE(error_of(idx_file(0x08, {1u << 16, 1u << 16, 1u << 16, 1u << 16}, 0)), "no error") << "2^64 wraps to 0";
  EXPECT_NE(error_of(idx_file(0x08, {0, kMax, kMax, kMax}, 0)), "no error") << "strides would overflow";
  EXPECT_NE(error_of(idx_file(0x08, std::vector<uint32_t>(255, 2), 1000)), "no error");
}

TEST(IdxTest, SurvivesDamage) {
  const std::vector<uint8_t> good = idx_file(0x0b, {3, 2, 2}, 24);
  const auto read = [](std::span<const uint8_t> bytes) { native_values(parse_idx(bytes, "x.idx")); };
  test::expect_every_truncation_refused(good, read);
  test::expect_mutations_survived(good, 10'000, read);
}

}  // namespace
}  // namespace whit
