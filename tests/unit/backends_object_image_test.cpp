#include "backends/support/object_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "backends/support/llvm_compiler.h"
#include "backends/support/relocation.h"
#include "base/error.h"

namespace whit {
namespace {

using Object = std::vector<uint8_t>;

int64_t outside_value = 5;
int64_t triple_of(int64_t x) { return 3 * x; }

void* resolve(std::string_view name) {
  if (name == "outside_value") return &outside_value;
  if (name == "triple_of") return reinterpret_cast<void*>(triple_of);
  return kernel_external(name);
}

/// Calls outwards, data from outside, constants, zeros, initialised data that holds addresses, and a jump table.
constexpr const char* kSource = R"(
@outside_value = external global i64
@counter = internal global i64 0
@start = global i64 100
@table = internal unnamed_addr constant [3 x i64*] [i64* @counter, i64* @start, i64* @counter]
declare i64 @triple_of(i64)
declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)

define i64 @work(i64 %x) nounwind {
  %outside = load i64, i64* @outside_value
  %tripled = call i64 @triple_of(i64 %x)
  %count = load i64, i64* @counter
  %more = add i64 %count, 1
  store i64 %more, i64* @counter
  %slot = getelementptr [3 x i64*], [3 x i64*]* @table, i64 0, i64 %x
  %place = load i64*, i64** %slot
  %value = load i64, i64* %place
  %a = add i64 %outside, %tripled
  %b = add i64 %a, %value
  ret i64 %b
}

define double @pick(i64 %x) nounwind {
  switch i64 %x, label %other [ i64 0, label %c0  i64 1, label %c1  i64 2, label %c2  i64 3, label %c3  i64 4, label %c4 ]
c0:
  store i64 1, i64* @start
  ret double 1.25
c1:
  store i64 7, i64* @counter
  ret double 3.5
c2:
  ret double 7.75
c3:
  store i64 9, i64* @outside_value
  ret double 2.125
c4:
  store i64 4, i64* @counter
  ret double 9.5
other:
  ret double -1.0
}

define void @fill(i8* %memory, i64 %size) nounwind {
  call void @llvm.memset.p0i8.i64(i8* %memory, i8 42, i64 %size, i1 false)
  ret void
}
)";

class ObjectImageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string reason = LlvmCompiler::unavailable_reason(); !reason.empty()) GTEST_SKIP() << reason;
  }
  static Object compile(const std::string& text) { return LlvmCompiler::shared().compile(text); }

  static std::string refusal(const Object& object) {
    try {
      ObjectImage image(object, resolve);
    } catch (const BackendError& error) {
      return error.what();
    }
    return "";
  }
};

/// The rights of the page that holds an address, as the system shows them ("r-xp"); empty where nothing is mapped.
std::string rights(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    uintptr_t from = 0, to = 0;
    char dash = 0;
    std::string result;
    fields >> std::hex >> from >> dash >> to >> result;
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    if (from <= wanted && wanted < to) return result;
  }
  return "";
}

TEST_F(ObjectImageTest, LinksEveryKindOfReference) {
  ObjectImage image(compile(kSource), resolve);
  auto work = reinterpret_cast<int64_t (*)(int64_t)>(image.symbol("work"));
  outside_value = 5;
  EXPECT_EQ(work(0), 5 + 0 + 1);
  EXPECT_EQ(work(1), 5 + 3 + 100);
  EXPECT_EQ(work(2), 5 + 6 + 3);
  auto* start = static_cast<int64_t*>(image.symbol("start"));
  *start = 1000;
  EXPECT_EQ(work(1), 5 + 3 + 1000);

  auto pick = reinterpret_cast<double (*)(int64_t)>(image.symbol("pick"));
  const double expected[] = {1.25, 3.5, 7.75, 2.125, 9.5, -1};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(pick(i), expected[i]);
  EXPECT_EQ(outside_value, 9);
  EXPECT_EQ(*start, 1);

  auto fill = reinterpret_cast<void (*)(void*, int64_t)>(image.symbol("fill"));
  std::string memory(1000, ' ');
  fill(memory.data(), 999);
  EXPECT_EQ(memory, std::string(999, '*') + " ");
}

TEST_F(ObjectImageTest, NoPageIsWritableAndExecutable) {
  void *code = nullptr, *data = nullptr;
  {
    ObjectImage image(compile(kSource), resolve);
    code = image.symbol("work");
    data = image.symbol("start");
    if (rights(code).empty()) GTEST_SKIP() << "this system doesn't show its mappings";
    EXPECT_EQ(rights(code), "r-xp");
    EXPECT_EQ(rights(data), "rw-p");
  }
  EXPECT_EQ(rights(code).find('x'), std::string::npos) << "unmapped when the image dies";
}

TEST_F(ObjectImageTest, MovesWithItsCode) {
  ObjectImage first(compile(kSource), resolve);
  ObjectImage second(compile("define i64 @two() uwtable {\n  ret i64 2\n}\n"));
  ObjectImage third(std::move(first));
  EXPECT_NE(third.symbol("work"), nullptr);
  third = std::move(second);
  EXPECT_EQ(reinterpret_cast<int64_t (*)()>(third.symbol("two"))(), 2);
}

TEST_F(ObjectImageTest, NamesWhatIsMissing) {
  const Object object = compile("declare void @nowhere()\ndefine void @f() nounwind {\n  call void @nowhere()\n  ret void\n}\n");
  EXPECT_NE(refusal(object).find("nowhere"), std::string::npos) << refusal(object);
  ObjectImage image(compile(kSource), resolve);
  for (const char* name : {"absent", "counter", "", "triple_of"}) EXPECT_THROW(image.symbol(name), BackendError) << name;
}

TEST_F(ObjectImageTest, AnEmptyObjectIsFine) {
  ObjectImage image(compile(""));
  EXPECT_THROW(image.symbol("f"), BackendError);
}

TEST_F(ObjectImageTest, AnObjectCutShortAnywhereIsRefused) {
  const Object object = compile(kSource);
  // The section headers come last, so every prefix lacks some of them.
  for (size_t size = 0; size < object.size(); ++size) {
    // A copy of its own, so that reading one byte too far is seen by a sanitizer.
    EXPECT_NE(refusal(Object(object.begin(), object.begin() + static_cast<ptrdiff_t>(size))), "") << size;
  }
  EXPECT_EQ(refusal(object), "");
}

TEST_F(ObjectImageTest, ADamagedObjectIsLoadedOrRefusedButNeverCrashes) {
  const Object object = compile(kSource);
  std::mt19937 random(1);
  int refused = 0;
  for (size_t at = 0; at < object.size(); ++at) {
    for (int value : {0, 1, 0x7f, 0x80, 0xff, static_cast<int>(random() & 0xff)}) {
      Object damaged = object;
      damaged[at] = static_cast<uint8_t>(value);
      refused += !refusal(damaged).empty();
    }
  }
  for (int round = 0; round < 20000; ++round) {
    Object damaged = object;
    for (unsigned changes = 1 + random() % 8; changes > 0; --changes) damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    refused += !refusal(damaged).empty();
  }
  EXPECT_GT(refused, 1000);
}

#if defined(__x86_64__)
TEST_F(ObjectImageTest, LinksAbsoluteAddresses) {
  ObjectImage image(compile(R"(
module asm ".text"
module asm ".globl zero_extended, sign_extended, wide, distance, here"
module asm "here: ret"
module asm "zero_extended: movl $here, %eax"
module asm "  ret"
module asm "sign_extended: movq $here, %rax"
module asm "  ret"
module asm "wide: movabsq $here, %rax"
module asm "  ret"
module asm ".data"
module asm "distance: .quad here - ."
)"));
  void* here = image.symbol("here");
  for (const char* name : {"zero_extended", "sign_extended", "wide"}) {
    EXPECT_EQ(reinterpret_cast<void* (*)()>(image.symbol(name))(), here) << name;
  }
  auto* distance = static_cast<char**>(image.symbol("distance"));
  EXPECT_EQ(reinterpret_cast<intptr_t>(*distance), static_cast<char*>(here) - reinterpret_cast<char*>(distance));
}

TEST_F(ObjectImageTest, RefusesWhatItCannotGive) {
  EXPECT_NE(refusal(compile("@t = thread_local global i64 1\n")).find(".tdata"), std::string::npos);
  EXPECT_NE(refusal(compile("module asm \".section odd,\\22awx\\22\"\nmodule asm \"nop\"\n")).find("odd"), std::string::npos);
  EXPECT_NE(refusal(compile("module asm \".section .init_array,\\22aw\\22,@init_array\"\nmodule asm \".quad 0\"\n")).find("runs code"),
            std::string::npos);
  EXPECT_NE(refusal(compile("@big = global [2000000000 x i8] zeroinitializer\n")).find("bytes"), std::string::npos);
  EXPECT_NE(refusal(compile("module asm \".text\"\nmodule asm \".word 0\"\nmodule asm \".byte outside_value\"\n")).find("type 14"),
            std::string::npos);
}
#endif

/// What relocating makes of one aarch64 instruction that reaches `offset` bytes past the start of its page.
uint32_t relocated(uint32_t type, uint32_t instruction, int64_t offset, int64_t addend = 0) {
  alignas(4096) static uint8_t page[4096];
  std::memcpy(page + 64, &instruction, 4);
  relocate(Machine::Arm, type, page + 64, reinterpret_cast<uintptr_t>(page) + static_cast<uint64_t>(offset), addend);
  std::memcpy(&instruction, page + 64, 4);
  return instruction;
}

TEST(Relocation, Aarch64Instructions) {
  EXPECT_EQ(relocated(283, 0x94000000, 64 + 0x100), 0x94000040u) << "bl forwards";
  EXPECT_EQ(relocated(282, 0x14000000, 0), 0x17fffff0u) << "b backwards";
  EXPECT_EQ(relocated(275, 0x90000000, 0x12345678), 0xb0091a20u) << "adrp x0";
  EXPECT_EQ(relocated(275, 0x90000001, -0x1000), 0xf0ffffe1u) << "adrp x1, one page back";
  EXPECT_EQ(relocated(277, 0x91000000, 0x2abc), 0x912af000u) << "add x0, x0, #0xabc";
  EXPECT_EQ(relocated(286, 0xf9400000, 0x2ab0, 8), 0xf9455c00u) << "ldr x0, [x0, #0xab8]";
  EXPECT_EQ(relocated(285, 0xbd400000, 0x2abc), 0xbd4abc00u) << "ldr s0, [x0, #0xabc]";
  EXPECT_EQ(relocated(299, 0x3dc00000, 0x2ab0), 0x3dc2ac00u) << "ldr q0, [x0, #0xab0]";
  EXPECT_EQ(relocated(278, 0x39400000, 0x2abd), 0x396af400u) << "ldrb w0, [x0, #0xabd]";
  EXPECT_THROW(relocated(299, 0x3dc00000, 0x2ab8), BackendError) << "an address that ldr q can't hold";
  EXPECT_THROW(relocated(283, 0x94000000, int64_t{1} << 28), BackendError);
  EXPECT_THROW(relocated(275, 0x90000000, int64_t{1} << 33), BackendError);
  EXPECT_THROW(relocated(9999, 0, 0), BackendError);
}

}  // namespace
}  // namespace whit
