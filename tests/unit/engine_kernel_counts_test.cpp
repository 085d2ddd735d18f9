// How many kernels known graphs take: no more than these, which are tinygrad's own asserted counts or fewer.
#include <gtest/gtest.h>
#include <whit/nn.h>
#include <whit/optim.h>
#include <whit/state.h>
#include <whit/whit.h>

#include "engine/handle.h"

namespace whit {
namespace {

template <class Run>
int64_t kernels(Run run) {
  const int64_t before = counters().kernels;
  run();
  return counters().kernels - before;
}

Tensor data(Sizes shape) { return Tensor::rand(std::move(shape)).realize(); }

TEST(KernelCounts, ElementwiseIsOne) {
  Tensor a = data({64, 64}), b = data({64, 64});
  EXPECT_EQ(kernels([&] { ((a + b) * a - 1.0).relu().exp().realize(); }), 1);
}

TEST(KernelCounts, SubtractTheMean) {
  Tensor a = data({32, 1024});
  EXPECT_LE(kernels([&] { (a - a.mean()).realize(); }), 2);
  Tensor big = data({1024, 1024});
  EXPECT_LE(kernels([&] { (big - big.mean()).realize(); }), 3) << "the long sum is cut in two";
}

TEST(KernelCounts, Softmax) {
  Tensor a = data({64, 512});
  EXPECT_LE(kernels([&] { a.softmax(-1).realize(); }), 1) << "tinygrad: 3";
  EXPECT_LE(kernels([&] { a.log_softmax(-1).realize(); }), 1) << "tinygrad: 3";
}

TEST(KernelCounts, LayerNorm) {
  Tensor a = data({64, 512});
  EXPECT_LE(kernels([&] { a.layernorm().realize(); }), 1) << "tinygrad: 3";
}

TEST(KernelCounts, ArgMax) {
  Tensor a = data({64, 512});
  EXPECT_LE(kernels([&] { a.argmax(-1).realize(); }), 1) << "tinygrad: 2";
}

// Comparing positions with indices is index arithmetic: what is left is one gated load of each row, and no sum over the table.
TEST(KernelCounts, Gather) {
  Tensor table = data({1000, 64}), rows = Tensor(std::vector<int>{3, 1, 999, 0}, {2, 2});
  rows.realize();
  EXPECT_EQ(kernels([&] { table[rows].realize(); }), 1);
  nn::Embedding embedding(1000, 64);
  embedding.weight.realize();
  EXPECT_EQ(kernels([&] { embedding(rows).realize(); }), 1);
  EXPECT_EQ(kernels([&] { (embedding(rows) * 2.0 + table[rows]).softmax(-1).realize(); }), 1);
}

TEST(KernelCounts, Attention) {
  Tensor q = data({2, 4, 64, 32}), k = data({2, 4, 64, 32}), v = data({2, 4, 64, 32});
  EXPECT_LE(kernels([&] { (q.matmul(k.transpose(-1, -2)) * 0.17).softmax(-1).matmul(v).realize(); }), 3) << "tinygrad: 4";
}

TEST(KernelCounts, ConvolutionAndBatchNorm) {
  nn::Conv2d conv(8, 16, 3);
  nn::BatchNorm norm(16);
  for (Tensor& parameter : nn::parameters(conv)) parameter.realize();
  for (Tensor& parameter : nn::parameters(norm)) parameter.realize();
  Tensor x = data({8, 8, 16, 16});
  {
    Train train;
    EXPECT_LE(kernels([&] { norm(conv(x)).realize(); }), 4);
  }
  norm.running_mean.realize();
  norm.running_var.realize();
  EXPECT_LE(kernels([&] { norm(conv(x)).realize(); }), 1);
}

TEST(KernelCounts, BatchNormBackward) {
  nn::BatchNorm norm(16);
  norm.weight.requires_grad_();
  norm.bias.requires_grad_();
  Tensor x = data({8, 16, 12, 12}).requires_grad_();
  Train train;
  Tensor out = norm(x);
  const int64_t count = kernels([&] {
    out.square().sum().backward();
    x.grad().realize();
    norm.weight.grad().realize();
    norm.bias.grad().realize();
  });
  EXPECT_LE(count, 10);
}

TEST(KernelCounts, LinearWithAdam) {
  nn::Linear layer(32, 16);
  nn::Adam optimizer(nn::parameters(layer));
  Tensor x = data({8, 32});
  const auto step = [&] {
    optimizer.zero_grad();
    layer(x).square().mean().backward();
    optimizer.step();
  };
  step();
  step();
  EXPECT_LE(kernels(step), 13);
}

TEST(KernelCounts, PaddingAndMovementCostNothing) {
  Tensor a = data({8, 8});
  EXPECT_EQ(kernels([&] { (a.pad({{1, 1}, {2, 2}}).permute({1, 0}).flip({0}) + 1.0).realize(); }), 1);
}

TEST(KernelCounts, EqualStructureIsOnePlan) {
  Tensor a = data({40, 3}), b = data({40, 3});
  (a * 2.0 + 1.0).realize();
  const int64_t plans = counters().plans_built;
  (b * 2.0 + 1.0).realize();
  EXPECT_EQ(counters().plans_built, plans);
}

TEST(KernelCounts, DrawingAnewNeedsNoNewPlan) {
  Tensor::rand({100}).realize();
  const int64_t plans = counters().plans_built;
  Tensor::rand({100}).realize();
  EXPECT_EQ(counters().plans_built, plans);
}

TEST(KernelCounts, AGrownKernelIsCut) {
  Tensor x = data({1000});
  for (int i = 0; i < 4000; ++i) x = x * 1.0001 + 0.5;
  const int64_t count = kernels([&] { x.realize(); });
  EXPECT_GT(count, 4);
  EXPECT_LT(count, 200);
}

}  // namespace
}  // namespace whit
