// Writes in place: a value made before a write keeps the old version, whatever is computed when.
#include <gtest/gtest.h>
#include <whit/whit.h>

#include "engine/handle.h"

namespace whit {
namespace {

using Floats = std::vector<float>;
Floats values(const Tensor& tensor) { return tensor.to_vector<float>(); }
Tensor numbers(std::initializer_list<float> list) { return Tensor(std::vector<float>(list)).realize(); }

TEST(Writes, AReaderMadeBeforeSeesTheOldVersion) {
  Tensor x = numbers({1, 2, 3});
  const Tensor before = x * 2.0;
  x.assign(x + 10.0);
  EXPECT_EQ(values(x), (Floats{11, 12, 13}));
  EXPECT_EQ(values(before), (Floats{2, 4, 6}));
}

TEST(Writes, AReaderMadeBeforeMayBeReadFirst) {
  Tensor x = numbers({1, 2, 3});
  const Tensor before = x * 2.0;
  x.assign(x + 10.0);
  EXPECT_EQ(values(before), (Floats{2, 4, 6}));
  EXPECT_EQ(values(x), (Floats{11, 12, 13}));
}

TEST(Writes, AViewMadeBeforeKeepsTheOldValues) {
  Tensor x = numbers({1, 2, 3, 4});
  const Tensor view = x.reshape({2, 2}).permute({1, 0});
  x.assign(x * 0.0);
  EXPECT_EQ(values(x), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(values(view), (Floats{1, 3, 2, 4}));
}

TEST(Writes, OneTensorMayReadBothVersions) {
  Tensor x = numbers({1, 2, 3});
  const Tensor old = x + 0.5;
  x.assign(x * 2.0);
  const Tensor both = old + x;
  EXPECT_EQ(values(both), (Floats{3.5, 6.5, 9.5}));
  EXPECT_EQ(values(x), (Floats{2, 4, 6}));
}

TEST(Writes, TwoTensorsSwap) {
  Tensor a = numbers({1, 2}), b = numbers({3, 4});
  const Tensor kept = a + 0.0;
  a.assign(b + 0.0);
  b.assign(kept);
  EXPECT_EQ(values(a), (Floats{3, 4}));
  EXPECT_EQ(values(b), (Floats{1, 2}));
}

TEST(Writes, AValueMayReadItsTargetElsewhere) {
  Tensor x = Tensor::arange(9).cast(DType::float32).reshape({3, 3}).contiguous().realize();
  x.assign(x.permute({1, 0}));
  EXPECT_EQ(values(x), (Floats{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  x.assign(x.flip({0}) + x);
  EXPECT_EQ(values(x), (Floats{2, 8, 14, 2, 8, 14, 2, 8, 14}));
}

TEST(Writes, SeveralInARow) {
  Tensor x = numbers({1});
  for (int i = 0; i < 5; ++i) x.assign(x * 2.0);
  EXPECT_EQ(values(x), (Floats{32}));
  for (int i = 0; i < 5; ++i) x.assign(x + 1.0).realize();
  EXPECT_EQ(values(x), (Floats{37}));
}

TEST(Writes, ThroughAViewTheyReachTheBase) {
  Tensor x = Tensor::zeros({2, 3}).contiguous().realize();
  x[1].assign(Tensor({1.0f, 2.0f, 3.0f}));
  EXPECT_EQ(values(x), (Floats{0, 0, 0, 1, 2, 3}));
  x[0] = 7.0;
  EXPECT_EQ(values(x), (Floats{7, 7, 7, 1, 2, 3}));
}

TEST(Writes, AnAliasOfTheSameHandleSeesThemACloneDoesNot) {
  Tensor x = numbers({1, 2});
  const Tensor alias = x, clone = x.clone();
  x.assign(x + 1.0).realize();
  EXPECT_EQ(values(alias), (Floats{2, 3}));
  EXPECT_EQ(values(clone), (Floats{1, 2}));
}

TEST(Writes, EqualExpressionsShareUntilOneIsWritten) {
  const Tensor base = numbers({1, 2});
  Tensor a = base * 3.0, b = base * 3.0;
  a.realize();
  b.realize();
  a.assign(a + 1.0).realize();
  EXPECT_EQ(values(a), (Floats{4, 7}));
  EXPECT_EQ(values(b), (Floats{3, 6}));
}

TEST(Writes, LossAfterTheStepIsThatOfTheOldWeights) {
  Tensor w = numbers({2}).requires_grad_();
  Tensor loss = (w * w).sum();
  loss.backward();
  const int64_t before = counters().kernels;
  w.assign(w.detach() - w.grad() * 0.25);
  w.realize();
  EXPECT_EQ(loss.item<float>(), 4.0f);
  EXPECT_EQ(values(w), (Floats{1}));
  EXPECT_LE(counters().kernels - before, 3) << "the loss is computed once, with the step";
}

TEST(Writes, WriteInPlaceWhenNothingElseHoldsTheStorage) {
  Tensor x = Tensor::zeros({1 << 20}).contiguous().realize();
  const int64_t bytes = counters().bytes_in_use;
  for (int i = 0; i < 3; ++i) x.assign(x + 1.0).realize();
  EXPECT_EQ(counters().bytes_in_use, bytes);
  EXPECT_EQ(x.sum().item<float>(), 3.0f * (1 << 20));
}

// What a realise costs: kernels, and bytes of storage beside what was there.
struct Cost {
  int64_t kernels, bytes;
};
Cost cost(Tensor& x) {
  const int64_t kernels = counters().kernels, bytes = counters().bytes_in_use;
  x.realize();
  return {counters().kernels - kernels, counters().bytes_in_use - bytes};
}

TEST(Writes, APartIsWrittenByOneKernelThatWritesNoMore) {
  for (const Sizes& shape : {Sizes{1 << 18}, Sizes{1 << 10, 1 << 8}, Sizes{64, 64, 64}}) {
    Tensor x = Tensor::zeros(shape).clone().realize();
    x[Slice{2, 4}] += 1.0;
    const Cost first = cost(x);
    EXPECT_EQ(first.kernels, 1);
    EXPECT_EQ(first.bytes, 0);
    x[3] = x[2] * 2.0;  // a view of the old version, which is not held
    EXPECT_EQ(cost(x).kernels, 1);
    x[Slice{0, 4}] = x[Slice{0, 4}].flip({0});  // overlaps itself: by way of a copy of the part
    const Cost last = cost(x);
    EXPECT_EQ(last.kernels, 2);
    EXPECT_EQ(last.bytes, 0);
    EXPECT_EQ(x[1].max().item<float>(), 1.0f);
    EXPECT_EQ(x[0].max().item<float>(), 2.0f);
    EXPECT_EQ(x.sum().item<float>(), 3.0f * float((1 << 18) / shape[0]));
  }
}

TEST(Writes, SeveralPartsTakeAKernelEach) {
  Tensor x = Tensor::zeros({256, 256}).clone().realize();
  x[1] = 1.0;
  x[2] = x[1] + 1.0;
  x.T()[0] += 5.0;
  const Cost all = cost(x);
  EXPECT_EQ(all.kernels, 3);
  EXPECT_EQ(all.bytes, 0);
  EXPECT_EQ(x.sum().item<float>(), 256 * 8.0f);
}

TEST(Writes, AMatrixIsWrittenInPlace) {
  Tensor x = Tensor::zeros({512, 512}).clone().realize();
  x += 1.0;
  const Cost whole = cost(x);
  EXPECT_EQ(whole.kernels, 1);
  EXPECT_EQ(whole.bytes, 0);
  EXPECT_EQ(x.sum().item<float>(), 512.0f * 512);
}

TEST(Writes, AHeldOldVersionIsNotWrittenOver) {
  Tensor x = numbers({1, 2, 3, 4});
  const Tensor held = x.reshape({2, 2});
  x[Slice{0, 2}] = 9.0;
  EXPECT_EQ(values(x), (Floats{9, 9, 3, 4}));
  EXPECT_EQ(values(held), (Floats{1, 2, 3, 4}));
}

TEST(Writes, TwoTensorsOfOneStorageAreWrittenApart) {
  Tensor a = numbers({1, 2, 3}), b = a.to(a.device());
  a += 1.0;
  b += 10.0;
  realize({a, b});
  EXPECT_EQ(values(a), (Floats{2, 3, 4}));
  EXPECT_EQ(values(b), (Floats{11, 12, 13}));
}

TEST(Writes, AnOldViewReadBeforeTheWriteRunsChangesNothing) {
  Tensor a = numbers({1, 2, 3, 4});
  const Tensor old = a[Slice{1, 3}];
  a[Slice{1, 3}] = 0.0;
  EXPECT_EQ(values(old), (Floats{2, 3}));
  EXPECT_EQ(values(a), (Floats{1, 0, 0, 4}));
  EXPECT_EQ(values(old), (Floats{2, 3}));
}

TEST(Lifetime, ALoopOf100000StepsHoldsConstantMemory) {
  Tensor x = numbers({0});
  x.assign(x + 1.0).realize();
  const size_t nodes = TensorGraph::shared().size();
  const int64_t bytes = counters().bytes_in_use, plans = counters().plans_built;
  for (int i = 0; i < 100000; ++i) x.assign(x + 1.0).realize();
  EXPECT_EQ(TensorGraph::shared().size(), nodes);
  EXPECT_EQ(counters().bytes_in_use, bytes);
  EXPECT_LE(counters().plans_built - plans, 1);
  EXPECT_EQ(x.item<float>(), 100001.0f);
}

}  // namespace
}  // namespace whit
