#include "io/gzip.h"

#include <gtest/gtest.h>
#include <whit/error.h>

#include <cstdlib>
#include <string>

#include "base/file.h"
#include "unit/gzip_pack.h"
#include "unit/mutations.h"

namespace whit {
namespace {

using test::gzip;

constexpr size_t kPlenty = 1 << 20;

std::vector<uint8_t> sample(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * i >> 3);
  return bytes;
}

std::string error_of(std::span<const uint8_t> packed, size_t limit = kPlenty) {
  try {
    gunzip(packed, limit, "x.gz");
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::File);
    return error.what();
  }
  return "no error";
}

TEST(GzipTest, Unpacks) {
  for (size_t size : {0u, 1u, 100u, 65536u, 1'000'000u}) {
    SCOPED_TRACE(size);
    EXPECT_EQ(gunzip(gzip(sample(size)), kPlenty, "x.gz"), sample(size));
  }
}

TEST(GzipTest, UnpacksSeveralMembersAndPadding) {
  std::vector<uint8_t> packed = gzip(sample(1000));
  const std::vector<uint8_t> empty = gzip({}), second = gzip(sample(10));
  packed.insert(packed.end(), empty.begin(), empty.end());
  packed.insert(packed.end(), second.begin(), second.end());
  packed.insert(packed.end(), 512, 0);
  std::vector<uint8_t> expected = sample(1000);
  const std::vector<uint8_t> tail = sample(10);
  expected.insert(expected.end(), tail.begin(), tail.end());
  EXPECT_EQ(gunzip(packed, kPlenty, "x.gz"), expected);
}

TEST(GzipTest, TheLimitIsExact) {
  for (size_t size : {0u, 1u, 64u, 1000u, 100'000u}) {
    SCOPED_TRACE(size);
    EXPECT_EQ(gunzip(gzip(sample(size)), size, "x.gz").size(), size);
    if (size > 0) {
      EXPECT_EQ(error_of(gzip(sample(size)), size - 1), "'x.gz' unpacks to more than the " + std::to_string(size - 1) + " bytes expected");
    }
  }
}

TEST(GzipTest, ABombIsStoppedAtTheLimit) {
  const std::vector<uint8_t> packed = gzip(std::vector<uint8_t>(20'000'000, 0));
  EXPECT_LT(packed.size(), 25'000u);
  EXPECT_EQ(error_of(packed, 10'000), "'x.gz' unpacks to more than the 10000 bytes expected");
}

TEST(GzipTest, AStatedSizeIsNotBelieved) {
  std::vector<uint8_t> packed = gzip(sample(1000));
  for (size_t i = packed.size() - 4; i < packed.size(); ++i) packed[i] = 0xff;
  EXPECT_NE(error_of(packed, SIZE_MAX).find("is damaged near offset"), std::string::npos);
}

TEST(GzipTest, ErrorsNameFileAndOffset) {
  const std::vector<uint8_t> good = gzip(sample(1000));
  EXPECT_EQ(error_of({}), "'x.gz' is no gzip file");
  EXPECT_EQ(error_of(bytes_of("plain text")), "'x.gz' is no gzip file");
  EXPECT_EQ(error_of(std::span(good).first(50)), "'x.gz' is truncated: it ends at offset 50 inside the gzip data");
  std::vector<uint8_t> wrong_sum = good;
  wrong_sum[good.size() - 8] ^= 1;
  EXPECT_NE(error_of(wrong_sum).find("incorrect data check"), std::string::npos);
  std::vector<uint8_t> trailing = good;
  trailing.push_back('x');
  EXPECT_EQ(error_of(trailing), "'x.gz': 1 bytes at offset " + std::to_string(good.size()) + " follow the gzip data");
}

TEST(GzipTest, SurvivesDamage) {
  const std::vector<uint8_t> good = gzip(sample(300));
  const auto read = [](std::span<const uint8_t> bytes) { gunzip(bytes, 10'000, "x.gz"); };
  test::expect_every_truncation_refused(good, read);
  test::expect_mutations_survived(good, 10'000, read);
}

}  // namespace
}  // namespace whit
