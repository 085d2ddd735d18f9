// The LLVM backend as an opened device: kernels of one plan compiled together, launches in chunks, offsets into buffers.
#include <gtest/gtest.h>

#include <whit/error.h>

#include "runtime/backend.h"
#include "unit/linear_builder.h"

namespace whit {

namespace backends {
Backend* llvm();
}

namespace {

class LlvmBackend : public testing::Test {
 protected:
  std::unique_ptr<OpenDevice> device;

  void SetUp() override {
    if (const std::string reason = backends::llvm()->unavailable(); !reason.empty()) GTEST_SKIP() << reason;
    device = backends::llvm()->open(0);
  }
};

/// out[i] = in[i] * factor, with a loop of its own beside the launch's, so that kernels differ in size.
std::unique_ptr<LinearBuilder> scaling(int64_t count, int factor) {
  auto builder = std::make_unique<LinearBuilder>("scale_" + std::to_string(factor));
  LinearBuilder& b = *builder;
  const Node *out = b.output(DType::float32, count), *in = b.input(DType::float32, count);
  const Node* i = b.loop(count / 8, AxisKind::parallel);
  const Node* j = b.loop(8);
  const Node* at = b.scale(i, 8, j);
  const Node* sum = b.load(in, at);
  const Node* x = sum;
  for (int k = 1; k < factor; ++k) sum = b.add(sum, x);
  b.store(out, at, sum);
  b.end(j);
  b.end(i);
  b.kernel.flops = double(count) * factor;
  b.kernel.bytes = double(count) * 8;
  return builder;
}

TEST_F(LlvmBackend, DescribesThisProcessor) {
  const Target& target = device->target();
  EXPECT_EQ(target.name, "CPU:LLVM");
  EXPECT_GE(target.vector_bytes, 16u);
  EXPECT_GE(target.threads, 1u);
  EXPECT_EQ(target.work_group, 0u);
  EXPECT_TRUE(target.claims.contains(Op::Max));
  EXPECT_EQ(target.claims.contains(Op::MulAdd), target.fused_multiply_add);
}

TEST_F(LlvmBackend, CompilesAPlanAndRunsItInChunks) {
  constexpr int64_t count = 1 << 18, kernels = 12;
  std::vector<std::unique_ptr<LinearBuilder>> builders;
  std::vector<const LinearKernel*> plan;
  for (int k = 0; k < kernels; ++k) {
    builders.push_back(scaling(count, 1 + (k * 5) % kernels));
    plan.push_back(&builders.back()->kernel);
  }
  const auto programs = device->compile(plan);
  ASSERT_EQ(programs.size(), plan.size());
  auto* in = static_cast<float*>(device->alloc((count + 4) * sizeof(float)));
  auto* out = static_cast<float*>(device->alloc((count + 4) * sizeof(float)));
  for (int64_t i = 0; i < count + 4; ++i) in[i] = float(i % 1000), out[i] = -1;
  for (size_t k = 0; k < programs.size(); ++k) {
    EXPECT_NE(programs[k]->source.find("define void @" + plan[k]->name + "("), std::string::npos);
    void* const buffers[] = {out, in};
    const size_t offsets[] = {4, 8};  // a view that starts inside its buffer, on any element
    device->launch(*programs[k], buffers, offsets, {}, count / 8);
    device->synchronize();
    const float factor = float(1 + (int(k) * 5) % kernels);
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(out[i + 1], in[i + 2] * factor) << plan[k]->name << " at " << i;
    EXPECT_EQ(out[0], -1);
    EXPECT_EQ(out[count + 1], -1);
  }
  device->free(in, (count + 4) * sizeof(float));
  device->free(out, (count + 4) * sizeof(float));
}

TEST_F(LlvmBackend, AProgramOutlivesItsPlan) {
  std::shared_ptr<Program> kept;
  {
    const auto first = scaling(8, 2), second = scaling(8, 3);
    const LinearKernel* plan[] = {&first->kernel, &second->kernel};
    kept = device->compile(plan)[1];
  }
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {};
  void* const buffers[] = {out, in};
  const size_t offsets[] = {0, 0};
  device->launch(*kept, buffers, offsets, {}, 1);
  EXPECT_EQ(out[7], 24);
  device->launch(*kept, buffers, offsets, {}, 0);  // nothing to do is no mistake
}

TEST_F(LlvmBackend, NothingToCompileIsNoMistake) { EXPECT_TRUE(device->compile({}).empty()); }

TEST_F(LlvmBackend, ANameTwiceIsAnErrorNotTheEndOfTheProcess) {
  const auto first = scaling(8, 2), second = scaling(8, 2);
  const LinearKernel* plan[] = {&first->kernel, &second->kernel};
  EXPECT_THROW(device->compile(plan), BackendError);
}

}  // namespace
}  // namespace whit
