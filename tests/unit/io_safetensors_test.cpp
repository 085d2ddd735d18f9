#include "io/safetensors.h"

#include <gtest/gtest.h>
#include <whit/error.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "unit/mutations.h"

namespace whit {
namespace {

/// A file of this header and this much data.
std::vector<uint8_t> file_of(std::string_view header, size_t data_size) {
  std::vector<uint8_t> file;
  for (int shift = 0; shift < 64; shift += 8) file.push_back(static_cast<uint8_t>(header.size() >> shift));
  file.insert(file.end(), header.begin(), header.end());
  for (size_t i = 0; i < data_size; ++i) file.push_back(static_cast<uint8_t>(i));
  return file;
}

SafetensorsHeader parse(std::span<const uint8_t> file) { return parse_safetensors_header(file, "x"); }

/// What is wrong with the file, without the part that every message has.
std::string error_of(std::span<const uint8_t> file) {
  try {
    parse(file);
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::File);
    std::string text = error.what();
    const std::string common = "invalid safetensors file 'x': ";
    return text.starts_with(common) ? text.substr(common.size()) : text;
  }
  return "no error";
}

std::string error_of(std::string_view header, size_t data_size) { return error_of(file_of(header, data_size)); }

std::string write_error(std::vector<SafetensorsTensor> tensors, const std::map<std::string, std::string>& metadata = {}) {
  try {
    write_safetensors("/dev/null", std::move(tensors), metadata);
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    return error.what();
  }
  return "no error";
}

TEST(SafetensorsTest, ReadsUnsignedTypesAndTheirBytes) {
  const char* header = R"({"u32":{"dtype":"U32","shape":[2],"data_offsets":[0,8]},"u64":{"dtype":"U64","shape":[1],"data_offsets":[8,16]},)"
                       R"("u16":{"dtype":"U16","shape":[2],"data_offsets":[16,20]}})";
  TemporaryDirectory folder("test");
  const std::string path = join_path(folder.path(), "x.safetensors");
  write_file(path, Bytes(file_of(header, 20)));
  const SafetensorsFile file = SafetensorsFile::open(path);
  ASSERT_EQ(file.entries().size(), 3u);
  EXPECT_EQ(file.entries()[2].name, "u16");
  EXPECT_EQ(file.entries()[2].dtype, "U16");
  EXPECT_EQ(file.entries()[2].shape, (std::vector<int64_t>{2}));
  ASSERT_NE(file.find("u64"), nullptr);
  EXPECT_EQ(file.find("u64"), &file.entries()[1]);
  EXPECT_EQ(file.find("u"), nullptr);
  EXPECT_EQ(file.find("zzz"), nullptr);
  const Bytes bytes = file.bytes(*file.find("u64"));
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.end()), (std::vector<uint8_t>{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_TRUE(file.metadata().empty());
}

TEST(SafetensorsTest, ReadsWhatTheReferenceReads) {
  EXPECT_EQ(error_of("{}", 0), "no error");
  EXPECT_EQ(error_of("{}      \n", 0), "no error");
  EXPECT_EQ(error_of(R"({"__metadata__":null})", 0), "no error");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4), "no error");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
            "no error");
  EXPECT_EQ(error_of(R"({"a":{"later":[1,{"x":[null,-1,0.5,"y"]}],"dtype":"U8","more":true,"shape":[1],"data_offsets":[0,1]}})", 1),
            "no error")
      << "unknown keys of a tensor are passed over";
  const SafetensorsHeader header = parse(file_of(R"({"__metadata__":{"format":"pt","é\n":""}})", 0));
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"format", "pt"}, {"é\n", ""}}));
}

TEST(SafetensorsTest, OrdersEntriesByTheirData) {
  const SafetensorsHeader header =
      parse(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 3));
  EXPECT_EQ(header.entries[0].name, "b");
  EXPECT_EQ(header.by_name, (std::vector<size_t>{1, 0}));
}

TEST(SafetensorsTest, RefusesRangesThatDontFit) {
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[1000,1000],"data_offsets":[0,8]}})", 8),
            "tensor 'a' needs 4000000 bytes, offsets give 8");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8)
                .substr(0, 18),
            "overlapping ranges");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 5),
            "truncated safetensors file 'x': tensor 'a' ends at byte 8 of the data, which has 5; 3 bytes are missing");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3), "1 bytes before tensor 'a' belong to no tensor");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 3), "1 bytes after the last tensor belong to none");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[4,2]}})", 3), "tensor 'a' ends at 2, before its start at 4");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2),
            "overlapping ranges: tensor 'a' starts at 1, tensor 'b' ends at 2");
}

TEST(SafetensorsTest, RefusesSizesThatOverflow) {
  const auto with_shape = [](const std::string& shape, const std::string& end) {
    return error_of(R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,)" + end + "]}}", 8);
  };
  EXPECT_EQ(with_shape("[4611686018427387904,4]", "0"), "the size of tensor 'a' overflows");
  EXPECT_EQ(with_shape("[4294967296,4294967296]", "0"), "the size of tensor 'a' overflows");
  EXPECT_EQ(with_shape("[2305843009213693953]", "4"), "the size of tensor 'a' overflows") << "4 modulo 2^64";
  EXPECT_EQ(with_shape("[0,4294967296,4294967296]", "0"), "the size of tensor 'a' overflows");
  EXPECT_EQ(with_shape("[9223372036854775808]", "0"), "tensor 'a': shape has a size of 9223372036854775808, more than 2^63 - 1");
  EXPECT_EQ(with_shape("[18446744073709551616]", "0"), "tensor 'a': shape holds a number that is no integer below 2^64");
  EXPECT_EQ(with_shape("[2]", "18446744073709551615"), "tensor 'a' needs 8 bytes, offsets give 18446744073709551615");
}

TEST(SafetensorsTest, RefusesDuplicates) {
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})", 8),
            "duplicate name 'a'");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1), "tensor 'a': dtype is given twice");
  EXPECT_EQ(error_of(R"({"__metadata__":{},"__metadata__":{}})", 0), "the header has '__metadata__' twice");
  EXPECT_EQ(error_of(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "a metadata key appears twice");
}

TEST(SafetensorsTest, RefusesHeadersOfTheWrongForm) {
  EXPECT_EQ(error_of("[]", 0), "the header doesn't start with {");
  EXPECT_EQ(error_of("", 0), "the header doesn't start with {");
  EXPECT_EQ(error_of(" {}", 0), "the header doesn't start with {");
  EXPECT_EQ(error_of("{", 0), "the header is no valid JSON at offset 10");
  EXPECT_EQ(error_of("{}x", 0), "the header is no valid JSON at offset 11");
  EXPECT_EQ(error_of("{\"\xff\":1}", 0), "the header is no valid JSON at offset 11");
  EXPECT_EQ(error_of(R"({"a":1})", 0), "tensor 'a': it is a number, not an object");
  EXPECT_EQ(error_of(R"({"a":null})", 0), "tensor 'a': it is null, not an object");
  EXPECT_EQ(error_of(R"({"a":[]})", 0), "tensor 'a': it is an array, not an object");
  EXPECT_EQ(error_of(R"({"a":{}})", 0), "tensor 'a': its dtype, shape or data_offsets is missing");
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F31"}})", 0), "tensor 'a': unknown dtype 'F31'");
  EXPECT_EQ(error_of(R"({"a":{"dtype":["F32"]}})", 0), "tensor 'a': dtype is an array");
  EXPECT_EQ(error_of(R"({"a":{"dtype":3}})", 0), "tensor 'a': dtype is a number");
  EXPECT_EQ(error_of(R"({"a":{"shape":2}})", 0), "tensor 'a': shape holds a number");
  EXPECT_EQ(error_of(R"({"a":{"shape":[-1]}})", 0), "tensor 'a': shape holds a negative number");
  EXPECT_EQ(error_of(R"({"a":{"shape":[1.5]}})", 0), "tensor 'a': shape holds a number that is no integer below 2^64");
  EXPECT_EQ(error_of(R"({"a":{"shape":[[1]]}})", 0), "tensor 'a': shape holds an array");
  EXPECT_EQ(error_of(R"({"a":{"data_offsets":[1]}})", 0), "tensor 'a': data_offsets has 1 numbers, not two");
  EXPECT_EQ(error_of(R"({"a":{"data_offsets":[1,2,3]}})", 0), "tensor 'a': data_offsets has more than two numbers");
  EXPECT_EQ(error_of(R"({"a":{"data_offsets":{"0":1}}})", 0), "tensor 'a': data_offsets holds an object");
  EXPECT_EQ(error_of(R"({"__metadata__":{"k":1}})", 0), "the metadata holds a number where text should be");
  EXPECT_EQ(error_of(R"({"__metadata__":{"k":{}}})", 0), "the metadata holds an object where text should be");
  EXPECT_EQ(error_of(R"({"__metadata__":[]})", 0), "the metadata holds an array where text should be");
}

TEST(SafetensorsTest, RefusesHeaderSizesThatDontFit) {
  EXPECT_EQ(error_of(std::vector<uint8_t>(7)), "truncated safetensors file 'x': 7 bytes, and the size of its header alone needs 8");
  EXPECT_EQ(error_of(std::vector<uint8_t>(8)), "the header doesn't start with {");
  std::vector<uint8_t> file = file_of("{}", 0);
  file[0] = 3;
  EXPECT_EQ(error_of(file), "truncated safetensors file 'x': its header of 3 bytes lacks 1");
  std::fill_n(file.begin(), 8, uint8_t{0xff});
  EXPECT_EQ(error_of(file), "it states a header of 18446744073709551615 bytes, the limit is 100000000");
}

TEST(SafetensorsTest, DeepNestingIsHarmless) {
  EXPECT_EQ(error_of(R"({"a":{"x":)" + std::string(5'000'000, '['), 0), "the header is nested more than 64 levels deep");
  std::string objects = R"({"a":{"x":)";
  for (int i = 0; i < 1'000'000; ++i) objects += R"({"x":)";
  EXPECT_EQ(error_of(objects, 0), "the header is nested more than 64 levels deep");
  EXPECT_EQ(error_of("{\"a\":" + std::string(5'000'000, '['), 0), "tensor 'a': it is an array, not an object");
}

TEST(SafetensorsTest, LongNamesMakeShortMessages) {
  const std::string name(1'000'000, 'n');
  EXPECT_LT(error_of("{\"" + name + "\":1}", 0).size(), 200u);
  EXPECT_EQ(error_of("{\"a\\u001b[2J\":1}", 0), "tensor 'a?[2J': it is a number, not an object");
}

TEST(SafetensorsTest, SurvivesDamage) {
  const std::vector<uint8_t> good = file_of(
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[2],"data_offsets":[8,10]}})",
      10);
  const auto read = [](std::span<const uint8_t> bytes) {
    const SafetensorsHeader header = parse(bytes);
    // What the header promises must be there to read.
    unsigned total = 0;
    for (const SafetensorsEntry& entry : header.entries)
      for (size_t i = entry.begin; i < entry.end; ++i) total += bytes[header.data_begin + i];
    EXPECT_LT(total, 1u << 20);
  };
  test::expect_every_truncation_refused(good, read);
  test::expect_mutations_survived(good, 10'000, read);
}

class SafetensorsWriteTest : public testing::Test {
 protected:
  TemporaryDirectory folder_{"test"};
  std::string path_ = join_path(folder_.path(), "x.safetensors");
};

// The layout and text of safetensors 0.5.3, checked there by writing all dtypes with both.
TEST_F(SafetensorsWriteTest, LaysOutLikeTheReference) {
  const std::vector<uint8_t> data(64, 7);
  const auto first = [&](size_t count) { return Bytes(data).first(count); };
  write_safetensors(path_,
                    {{"z", "U8", {3}, first(3)},
                     {"b", "F32", {1, 2}, first(8)},
                     {"a", "F32", {}, first(4)},
                     {"half", "BF16", {2}, first(4)},
                     {"long", "I64", {1}, first(8)},
                     {"none", "F16", {0, 5}, {}}},
                    {{"format", "pt"}});
  const std::string text = read_text_file(path_);
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"long":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[12,20]},)"
      R"("half":{"dtype":"BF16","shape":[2],"data_offsets":[20,24]},"none":{"dtype":"F16","shape":[0,5],"data_offsets":[24,24]},)"
      R"("z":{"dtype":"U8","shape":[3],"data_offsets":[24,27]}})";
  const size_t padded = (header.size() + 7) / 8 * 8;
  EXPECT_EQ(static_cast<uint8_t>(text[0]) + 256u * static_cast<uint8_t>(text[1]), padded);
  EXPECT_EQ(text.substr(8, padded), header + std::string(padded - header.size(), ' '));
  EXPECT_EQ(text.size(), 8 + padded + 27);
}

TEST_F(SafetensorsWriteTest, WhatIsWrittenIsRead) {
  std::vector<uint8_t> data(48);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i);
  const char* dtypes[] = {"BOOL", "U8", "I8", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "F64", "I64", "U64", "F8_E4M3", "F8_E5M2"};
  std::vector<SafetensorsTensor> tensors;
  for (const char* dtype : dtypes) {
    const size_t size = *safetensors_item_size(dtype);
    tensors.push_back({std::string("tensor \"") + dtype + "\"\n", dtype, {2, 3}, Bytes(data).first(6 * size)});
  }
  const std::map<std::string, std::string> metadata = {{"", "é"}, {"\t", "\\"}};
  write_safetensors(path_, tensors, metadata);
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.entries().size(), tensors.size());
  for (const SafetensorsTensor& tensor : tensors) {
    const SafetensorsEntry* entry = file.find(tensor.name);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->dtype, tensor.dtype);
    EXPECT_EQ(entry->shape, tensor.shape);
    EXPECT_TRUE(std::ranges::equal(file.bytes(*entry), tensor.bytes));
  }
  const std::string once = read_text_file(path_);
  std::ranges::reverse(tensors);
  write_safetensors(path_, tensors, metadata);
  EXPECT_EQ(read_text_file(path_), once) << "the order given makes no difference";
}

TEST_F(SafetensorsWriteTest, RefusesWhatTheFormatCantHold) {
  const std::vector<uint8_t> data(8);
  EXPECT_EQ(write_error({{"a", "C64", {1}, data}}), "safetensors: tensor 'a' has the unknown dtype 'C64'");
  EXPECT_EQ(write_error({{"a", "F32", {1}, data}}), "safetensors: tensor 'a' needs 4 bytes, 8 are given");
  EXPECT_EQ(write_error({{"a", "F32", {-2}, data}}), "safetensors: tensor 'a' has the negative size -2");
  EXPECT_EQ(write_error({{"a", "F32", {INT64_MAX, 2}, data}}), "safetensors: the size of tensor 'a' overflows");
  EXPECT_EQ(write_error({{"a", "F32", {2}, data}, {"a", "U8", {8}, data}}), "safetensors: duplicate name 'a'");
  EXPECT_EQ(write_error({{"__metadata__", "F32", {2}, data}}),
            "safetensors: a tensor can't be named '__metadata__', the format keeps that name");
  EXPECT_EQ(write_error({{"\xff", "F32", {2}, data}}), "safetensors: a name or a metadata text is not valid UTF-8");
}

/// The project's shared cases of this kind, where they lie beside the checkout.
TEST(SafetensorsCasesTest, AllHold) {
  namespace fs = std::filesystem;
  const fs::path folder = "../shared/cases";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no folder of shared cases beside this checkout";
  int seen = 0;
  for (const fs::directory_entry& item : fs::directory_iterator(folder)) {
    if (item.path().filename().string().find("safetensors_file") == std::string::npos) continue;
    SCOPED_TRACE(item.path().filename().string());
    const nlohmann::json test_case = nlohmann::json::parse(read_text_file(item.path().string()));
    const auto bytes_of_hex = [](const std::string& hex) {
      std::vector<uint8_t> bytes;
      for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
      return bytes;
    };
    const std::vector<uint8_t> file = bytes_of_hex(test_case["inputs"]["file"]["hex"]);
    const bool refused = test_case["expected"].contains("raises");
    EXPECT_EQ(error_of(file) != "no error", refused) << error_of(file);
    if (test_case.contains("control_file")) {
      EXPECT_EQ(error_of(bytes_of_hex(test_case["control_file"]["hex"])), "no error");
    }
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace whit
