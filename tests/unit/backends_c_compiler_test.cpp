#include "backends/support/c_compiler.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/error.h"

namespace whit {
namespace {

class CCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string reason = CCompiler::unavailable_reason(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

int64_t answer(const DynamicLibrary& library) {
  int64_t (*function)();
  library.load("answer", function);
  return function();
}

TEST_F(CCompilerTest, CompilesAndLoads) {
  auto library = CCompiler::shared().compile_shared("long answer(void) { return 42; }\n");
  EXPECT_EQ(answer(*library), 42);
  EXPECT_FALSE(std::filesystem::exists(library->name())) << "the file must be gone";
}

TEST_F(CCompilerTest, RunsAKernel) {
  auto library = CCompiler::shared().compile_shared(R"(
    void kernel(void* const* buffers, const long long* variables, long long begin, long long end) {
      float* out = buffers[0];
      const float *a = buffers[1], *b = buffers[2];
      for (long long i = begin; i < end; ++i) out[i] = a[i] * b[i] + a[i];
    })");
  void (*kernel)(void* const*, const int64_t*, int64_t, int64_t);
  library->load("kernel", kernel);
  std::vector<float> out(100), a(100), b(100);
  for (size_t i = 0; i < 100; ++i) a[i] = 1.0f + 1e-7f * static_cast<float>(i * i), b[i] = 1.0f / static_cast<float>(i + 1);
  void* buffers[] = {out.data(), a.data(), b.data()};
  kernel(buffers, nullptr, 0, 100);
  for (size_t i = 0; i < 100; ++i) {
    volatile float product = a[i] * b[i];  // rounded before the sum: a fused multiply-add would differ
    EXPECT_EQ(out[i], product + a[i]) << i;
  }
}

TEST_F(CCompilerTest, KeepsIeeeResults) {
  auto library = CCompiler::shared().compile_shared(R"(
    long answer(void) {
      volatile float nan = __builtin_nanf(""), zero = 0.0f, big = 1e8f, one = 1.0f;
      long ok = nan != nan;
      ok += 2 * (__builtin_signbit(zero * -one) != 0);
      ok += 4 * ((big + one) - big == zero);
      ok += 8 * (one / zero > 3e38f);
      volatile int most = 2147483647;
      ok += 16 * (most + 1 < most);
      return ok;
    })");
  EXPECT_EQ(answer(*library), 31);
}

TEST_F(CCompilerTest, AnErrorCarriesWhatTheCompilerSaid) {
  try {
    CCompiler::shared().compile_shared("int broken( {");
    FAIL() << "it compiled";
  } catch (const BackendError& error) {
    EXPECT_NE(std::string(error.what()).find("kernel.c:1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("-ffp-contract=off"), std::string::npos) << error.what();
  }
}

TEST_F(CCompilerTest, ALinkErrorIsABackendError) {
  EXPECT_THROW(CCompiler::shared().compile_shared("int nowhere(void); int answer(void) { return nowhere(); }"), BackendError);
}

TEST_F(CCompilerTest, SeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  threads.reserve(3);
  std::atomic<int> right{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      auto library = CCompiler::shared().compile_shared("long answer(void) { return " + std::to_string(i) + "; }");
      right += answer(*library) == i;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 3);
}

TEST_F(CCompilerTest, WorksWhereTheProgramIgnoresItsChildren) {
  auto before = signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(answer(*CCompiler::shared().compile_shared("long answer(void) { return 7; }")), 7);
  EXPECT_THROW(CCompiler::shared().compile_shared("int broken( {"), BackendError);
  signal(SIGCHLD, before);
}

TEST_F(CCompilerTest, TheSettingMayHoldArguments) {
  const std::string program = CCompiler::shared().command()[0];
  CCompiler compiler((program + "  -DVALUE=9 ").c_str());
  EXPECT_EQ(compiler.command(), (std::vector<std::string>{program, "-DVALUE=9"}));
  EXPECT_EQ(answer(*compiler.compile_shared("long answer(void) { return VALUE; }")), 9);
}

TEST_F(CCompilerTest, ASettingThatIsNoProgramIsPassedOver) {
  for (const char* setting : {"/nonexistent/compiler", "nonexistent-compiler -O1", "", "  ", "/"}) {
    EXPECT_EQ(CCompiler(setting).command().size(), 1u) << setting;
  }
}

// A shell would run the second command; a list of arguments makes it one odd word.
TEST_F(CCompilerTest, NoShellReadsTheSetting) {
  const std::string marker = testing::TempDir() + "whit_no_shell";
  std::filesystem::remove(marker);
  CCompiler compiler((CCompiler::shared().command()[0] + " ;touch " + marker).c_str());
  EXPECT_THROW(compiler.compile_shared("int x;"), BackendError);
  EXPECT_FALSE(std::filesystem::exists(marker));
}

}  // namespace
}  // namespace whit
