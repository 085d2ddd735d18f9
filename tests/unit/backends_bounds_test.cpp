// Guarded code (CHECK=bounds) on every backend: what is out of bounds is left out and told of, the rest is as before.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/bounds.h"
#include "rules/spec.h"
#include "runtime/backend.h"
#include "unit/linear_builder.h"

namespace whit {
namespace {

class Bounds : public testing::TestWithParam<Backend*> {
 protected:
  void SetUp() override {
    if (GetParam()->device == "NULL") GTEST_SKIP() << "computes nothing";
    if (std::string reason = GetParam()->unavailable(); !reason.empty()) GTEST_SKIP() << reason;
    device_ = GetParam()->open(0);
  }

  /// Guards the kernel and runs it: buffer 0 counts from 1 (float32), buffer 1 is what it writes. The text of the report.
  std::string run(LinearKernel& kernel, size_t in, size_t out, int64_t count) {
    const BoundsGuard guard = guard_bounds(kernel, device_->target());
    EXPECT_EQ(verify(Level::linear, kernel.code), "");
    const LinearKernel* kernels[] = {&kernel};
    const auto program = device_->compile(kernels)[0];
    std::vector<float> read(in), zeros(out, -1);
    for (size_t i = 0; i < in; ++i) read[i] = float(i + 1);
    written_.assign(out, 0);
    std::vector<int64_t> words(size_t(guard.elements) + 1);
    std::vector<std::byte> report(words.size() * item_size(guard.type));
    std::vector<void*> memory{device_->alloc(in * 4), device_->alloc(out * 4), device_->alloc(report.size())};
    device_->copy_in(memory[0], 0, read.data(), in * 4);
    device_->copy_in(memory[1], 0, zeros.data(), out * 4);
    device_->copy_in(memory[2], 0, report.data(), report.size());
    memory.resize(kernel.params.size());
    const std::vector<size_t> offsets(memory.size());
    device_->launch(*program, memory, offsets, {}, count);
    device_->synchronize();
    device_->copy_out(written_.data(), memory[1], 0, out * 4);
    if (guard.accesses.empty()) return "proven";
    device_->copy_out(report.data(), memory[2], 0, report.size());
    for (size_t i = 0; i < words.size(); ++i) words[i] = load_element(guard.type, report.data() + i * item_size(guard.type));
    return describe_report(kernel.name, guard, words);
  }

  std::unique_ptr<OpenDevice> device_;
  std::vector<float> written_;
};

TEST_P(Bounds, AProvenKernelIsLeftAsItIs) {
  LinearBuilder b("proven");
  const Node *in = b.input(DType::float32, 16), *out = b.output(DType::float32, 16);
  const Node* i = b.loop(16, AxisKind::parallel);
  b.store(out, i, b.load(in, i));
  b.end(i);
  EXPECT_EQ(run(b.kernel, 16, 16, 16), "proven");
  EXPECT_EQ(written_[15], 16);
}

TEST_P(Bounds, ALoadPastTheEnd) {
  LinearBuilder b("reads");
  const Node *in = b.input(DType::float32, 10), *out = b.output(DType::float32, 12);
  const Node* i = b.loop(12, AxisKind::parallel);
  b.store(out, i, b.load(in, i));
  b.end(i);
  const std::string report = run(b.kernel, 10, 12, 12);
  EXPECT_NE(report.find("kernel reads: a Load of buffer 0 at "), std::string::npos) << report;
  EXPECT_TRUE(report.find("reaches element 10; it has 10") != std::string::npos ||
              report.find("reaches element 11; it has 10") != std::string::npos)
      << report;
  EXPECT_EQ(written_[9], 10);
  EXPECT_EQ(written_[10], 0) << "nothing is read";
}

TEST_P(Bounds, AStoreBeforeTheBeginning) {
  LinearBuilder b("writes");
  const Node *in = b.input(DType::float32, 8), *out = b.output(DType::float32, 8);
  const Node* i = b.loop(8, AxisKind::parallel);
  const Node* value = b.load(in, i);
  b.store(out, b.add(i, b.index(-1)), value);
  b.end(i);
  const std::string report = run(b.kernel, 8, 8, 8);
  EXPECT_NE(report.find("kernel writes: a Store of buffer 1"), std::string::npos) << report;
  EXPECT_NE(report.find("reaches element -1; it has 8"), std::string::npos) << report;
  EXPECT_EQ(written_[0], 2);
  EXPECT_EQ(written_[6], 8);
  EXPECT_EQ(written_[7], -1) << "nothing is written";
}

TEST_P(Bounds, AVectorThatEndsBeyond) {
  if (device_->target().vector_bytes == 0) GTEST_SKIP() << "scalar code only";
  LinearBuilder b("vectors");
  const Node *in = b.input(DType::float32, 10), *out = b.output(DType::float32, 12), *lanes = b.vector(4);
  const Node* i = b.loop(3, AxisKind::parallel);
  const Node* index = b.mul(i, b.index(4));
  b.store(out, index, b.load(in, index, lanes, nullptr), lanes, nullptr);
  b.end(i);
  const std::string report = run(b.kernel, 10, 12, 3);
  EXPECT_NE(report.find("kernel vectors: a VectorLoad of buffer 0"), std::string::npos) << report;
  EXPECT_NE(report.find("reaches element 11; it has 10"), std::string::npos) << report;
  EXPECT_EQ(written_[7], 8);
  EXPECT_EQ(written_[8], 0);
}

TEST_P(Bounds, AGateIsHeeded) {
  LinearBuilder b("gated");
  const Node *in = b.input(DType::float32, 10), *out = b.output(DType::float32, 12);
  const Node* i = b.loop(12, AxisKind::parallel);
  b.store(out, i, b.load(in, i, b.less(i, b.index(10))));
  b.end(i);
  EXPECT_EQ(run(b.kernel, 10, 12, 12), "");
  EXPECT_EQ(written_[9], 10);
  EXPECT_EQ(written_[11], 0);
}

TEST_P(Bounds, AGateOfEachLaneIsHeeded) {
  if (device_->target().vector_bytes == 0) GTEST_SKIP() << "scalar code only";
  LinearBuilder b("masked");
  const Node *in = b.input(DType::float32, 10), *out = b.output(DType::float32, 12), *lanes = b.vector(4);
  const Node* i = b.loop(3, AxisKind::parallel);
  const Node* index = b.mul(i, b.index(4));
  const Node* place = b.add(index, lanes);
  b.store(out, index, b.load(in, index, lanes, b.less(place, b.index(10))), lanes, nullptr);
  b.end(i);
  EXPECT_EQ(run(b.kernel, 10, 12, 3), "");
  EXPECT_EQ(written_[9], 10);
  EXPECT_EQ(written_[10], 0);
}

TEST_P(Bounds, LanesThatGatherAreToldApart) {
  if (device_->target().vector_bytes == 0) GTEST_SKIP() << "scalar code only";
  LinearBuilder b("gathers");
  const Node *in = b.input(DType::float32, 7), *out = b.output(DType::float32, 4), *lanes = b.vector(4);
  const Node* places = b.mul(lanes, b.index(3));  // 0 3 6 9
  b.store(out, b.index(0), b.load(in, places), lanes, nullptr);
  const std::string report = run(b.kernel, 7, 4, 1);
  EXPECT_NE(report.find("reaches element 9; it has 7"), std::string::npos) << report;
  EXPECT_EQ(written_[2], 7);
  EXPECT_EQ(written_[3], 0);
}

INSTANTIATE_TEST_SUITE_P(All, Bounds, testing::ValuesIn(registered_backends()), [](const auto& test) {
  return std::string(test.param->device) + (test.param->compiler.empty() ? "" : "_") + std::string(test.param->compiler);
});

}  // namespace
}  // namespace whit
