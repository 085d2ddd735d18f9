#include "backends/support/llvm_compiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/support/object_image.h"
#include "base/error.h"

namespace whit {
namespace {

using KernelFunction = void (*)(void* const*, const int64_t*, int64_t, int64_t);

/// out = a * b + a over blocks of 8, in the form that kernels have. The sum must not be contracted to a fused multiply-add.
constexpr const char* kKernel = R"(
define void @kernel(i8** %buffers, i64* %variables, i64 %begin, i64 %end) #0 {
entry:
  %out.slot = getelementptr i8*, i8** %buffers, i64 0
  %a.slot = getelementptr i8*, i8** %buffers, i64 1
  %b.slot = getelementptr i8*, i8** %buffers, i64 2
  %out.raw = load i8*, i8** %out.slot
  %a.raw = load i8*, i8** %a.slot
  %b.raw = load i8*, i8** %b.slot
  %out = bitcast i8* %out.raw to float*
  %a = bitcast i8* %a.raw to float*
  %b = bitcast i8* %b.raw to float*
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %exit
body:
  %at = mul i64 %i, 8
  %a.at = getelementptr float, float* %a, i64 %at
  %b.at = getelementptr float, float* %b, i64 %at
  %out.at = getelementptr float, float* %out, i64 %at
  %a.vector = bitcast float* %a.at to <8 x float>*
  %b.vector = bitcast float* %b.at to <8 x float>*
  %out.vector = bitcast float* %out.at to <8 x float>*
  %x = load <8 x float>, <8 x float>* %a.vector, align 4
  %y = load <8 x float>, <8 x float>* %b.vector, align 4
  %product = fmul <8 x float> %x, %y
  %sum = fadd <8 x float> %product, %x
  store <8 x float> %sum, <8 x float>* %out.vector, align 4
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" }
)";

/// The forms of IR that depend on how pointers are written: intrinsics named after them, tables, local and static arrays.
constexpr const char* kPointerForms = R"(
@table = private unnamed_addr constant [4 x float] [float 1.0, float 2.0, float 4.0, float 8.0], align 16
@zeros = internal global [64 x float] zeroinitializer, align 64
define void @forms(i8** noalias %buffers, i64* %variables, i64 %begin, i64 %end) nounwind {
  %raw = load i8*, i8** %buffers, align 8
  %data = bitcast i8* %raw to float*
  %vector = bitcast float* %data to <4 x float>*
  %x = call <4 x float> @llvm.masked.load.v4f32.p0v4f32(<4 x float>* %vector, i32 4, <4 x i1> <i1 1, i1 1, i1 1, i1 0>, <4 x float> zeroinitializer)
  %local = alloca [4 x float], align 16
  %local.vector = bitcast [4 x float]* %local to <4 x float>*
  store <4 x float> %x, <4 x float>* %local.vector, align 16
  %local.at = getelementptr inbounds [4 x float], [4 x float]* %local, i64 0, i64 %begin
  %p = load float, float* %local.at
  %table.at = getelementptr inbounds [4 x float], [4 x float]* @table, i64 0, i64 %end
  %q = load float, float* %table.at
  %zeros.at = getelementptr inbounds [64 x float], [64 x float]* @zeros, i64 0, i64 %end
  %r = load float, float* %zeros.at
  %pq = fadd float %p, %q
  %pqr = fadd float %pq, %r
  store float %pqr, float* %zeros.at
  %places = getelementptr float, float* %data, <4 x i64> <i64 0, i64 2, i64 4, i64 6>
  %g = call <4 x float> @llvm.masked.gather.v4f32.v4p0f32(<4 x float*> %places, i32 4, <4 x i1> <i1 1, i1 1, i1 1, i1 1>, <4 x float> undef)
  %rest = getelementptr float, float* %data, i64 8
  %rest.vector = bitcast float* %rest to <4 x float>*
  call void @llvm.masked.store.v4f32.p0v4f32(<4 x float> %g, <4 x float>* %rest.vector, i32 4, <4 x i1> <i1 1, i1 1, i1 1, i1 1>)
  store float %pqr, float* %data
  call void @llvm.prefetch.p0i8(i8* %raw, i32 0, i32 3, i32 1)
  %far = getelementptr i8, i8* %raw, i64 64
  %count = load i64, i64* %variables
  call void @llvm.memset.p0i8.i64(i8* %far, i8 1, i64 %count, i1 false)
  ret void
}
declare <4 x float> @llvm.masked.load.v4f32.p0v4f32(<4 x float>*, i32, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0v4f32(<4 x float>, <4 x float>*, i32, <4 x i1>)
declare <4 x float> @llvm.masked.gather.v4f32.v4p0f32(<4 x float*>, i32, <4 x i1>, <4 x float>)
declare void @llvm.prefetch.p0i8(i8*, i32, i32, i32)
declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)
)";

/// Every version that this machine has; one process may hold them all.
class LlvmCompilerTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    static std::map<int, std::unique_ptr<LlvmCompiler>>& loaded = *new std::map<int, std::unique_ptr<LlvmCompiler>>;
    auto& compiler = loaded[GetParam()];
    try {
      if (!compiler) compiler = std::make_unique<LlvmCompiler>(std::to_string(GetParam()));
    } catch (const BackendError& error) {
      GTEST_SKIP() << error.what();
    }
    llvm_ = compiler.get();
  }

  std::string refusal(const std::string& text) {
    try {
      llvm_->compile(text);
    } catch (const BackendError& error) {
      return error.what();
    }
    return "it compiled";
  }

  LlvmCompiler* llvm_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Version, LlvmCompilerTest, testing::Range(14, 20));

TEST_P(LlvmCompilerTest, KnowsItselfAndTheHost) {
  EXPECT_EQ(llvm_->version(), GetParam());
  EXPECT_NE(llvm_->cpu(), "");
  EXPECT_NE(llvm_->features(), "");
  EXPECT_NE(llvm_->triple().find("linux-gnu"), std::string::npos);
}

TEST_P(LlvmCompilerTest, RunsAVectorKernel) {
  std::vector<float> a(64), b(64);
  for (size_t i = 0; i < 64; ++i) a[i] = 1.0f + 1e-7f * static_cast<float>(i * i), b[i] = 1.0f / static_cast<float>(i + 1);
  for (int optimization : {0, 1, 2}) {
    ObjectImage image(llvm_->compile(kKernel, optimization));
    std::vector<float> out(64, -1);
    void* buffers[] = {out.data(), a.data(), b.data()};
    reinterpret_cast<KernelFunction>(image.symbol("kernel"))(buffers, nullptr, 1, 7);
    for (size_t i = 0; i < 64; ++i) {
      volatile float product = a[i] * b[i];  // rounded before the sum
      EXPECT_EQ(out[i], i < 8 || i >= 56 ? -1 : product + a[i]) << i;
    }
  }
}

TEST_P(LlvmCompilerTest, TakesEveryFormOfTypedPointer) {
  for (int optimization : {0, 1, 2}) {
    ObjectImage image(llvm_->compile(kPointerForms, optimization));
    auto forms = reinterpret_cast<KernelFunction>(image.symbol("forms"));
    for (int round = 1; round < 3; ++round) {
      std::vector<float> data(32);
      for (size_t i = 0; i < 32; ++i) data[i] = static_cast<float>(i) + 10;
      void* buffers[] = {data.data()};
      const int64_t size = 8;
      forms(buffers, &size, 2, 3);
      EXPECT_EQ(data[0], (12.0f + 8.0f) * static_cast<float>(round)) << "the static array keeps its sum";
      EXPECT_EQ(std::vector<float>(data.begin() + 8, data.begin() + 12), (std::vector<float>{10, 12, 14, 16}));
      EXPECT_NE(data[17], 27) << "memset reached it";
      EXPECT_EQ(data[18], 28);
    }
  }
}

TEST_P(LlvmCompilerTest, BrokenTextGivesLlvmsMessage) {
  std::string message = refusal("define void @f() {\n  %x = add i64 1, %nothing\n  ret void\n}\n");
  EXPECT_NE(message.find("nothing"), std::string::npos) << message;
  EXPECT_NE(message.find(":2:"), std::string::npos) << message;
  EXPECT_NE(refusal("garbage").find("expected top-level entity"), std::string::npos);
}

TEST_P(LlvmCompilerTest, TextThatParsesButIsWrongIsRefused) {
  std::string message = refusal(R"(
define i64 @f(i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %x = add i64 1, 2
  br label %right
right:
  ret i64 %x
}
)");
  EXPECT_NE(message.find("does not dominate all uses"), std::string::npos) << message;
}

TEST_P(LlvmCompilerTest, ATextCutShortAnywhereIsRefused) {
  const std::string text = kKernel;
  const size_t last = text.find("}\nattributes");
  for (size_t size = text.find("entry:"); size <= last; size += 11) EXPECT_NE(refusal(text.substr(0, size)), "it compiled") << size;
  EXPECT_NO_THROW(llvm_->compile(kKernel));
}

TEST_P(LlvmCompilerTest, WritesAssemblyAndOptimizedText) {
  EXPECT_NE(llvm_->assembly(kKernel).find("kernel:"), std::string::npos);
  const std::string optimized = llvm_->optimized(kKernel);
  EXPECT_NE(optimized.find("fadd <8 x float>"), std::string::npos);
  EXPECT_EQ(optimized.find("mul i64"), std::string::npos) << "instcombine makes it a shift";
}

TEST_P(LlvmCompilerTest, SeveralThreadsAtOnce) {
  const auto expected = llvm_->compile(kKernel);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) right += llvm_->compile(kKernel) == expected && refusal("garbage") != "it compiled";
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40) << "compiling is deterministic";
}

TEST(LlvmCompiler, SaysWhatItTried) {
  for (const char* wanted : {"/nonexistent/libLLVM.so", "99", "libm.so.6"}) {
    try {
      LlvmCompiler compiler(wanted);
      FAIL() << "it loaded";
    } catch (const BackendError& error) {
      EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what();
    }
  }
}

TEST(LlvmCompiler, CanBeUnloadedAndLoadedAgain) {
  if (!LlvmCompiler::unavailable_reason().empty()) GTEST_SKIP() << LlvmCompiler::unavailable_reason();
  const std::string version = std::to_string(LlvmCompiler::shared().version());
  for (int round = 0; round < 3; ++round) EXPECT_FALSE(LlvmCompiler(version).compile(kKernel).empty());
}

TEST(LlvmCompiler, SharedOneWorksOrSaysWhy) {
  if (std::string reason = LlvmCompiler::unavailable_reason(); !reason.empty()) {
    EXPECT_THROW(LlvmCompiler::shared(), BackendError);
    GTEST_SKIP() << reason;
  }
  EXPECT_GE(LlvmCompiler::shared().version(), 14);
  EXPECT_EQ(&LlvmCompiler::shared(), &LlvmCompiler::shared());
  ObjectImage image(LlvmCompiler::shared().compile(kKernel));
  EXPECT_NE(image.symbol("kernel"), nullptr);
}

}  // namespace
}  // namespace whit
