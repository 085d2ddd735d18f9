#include "ir/graph.h"
#include "unit/tensor_values.h"

namespace whit {
namespace {

TEST(TensorStorage, ACopyIsAnotherNameACloneIsAnotherTensor) {
  Tensor a({1.0, 2.0});
  Tensor alias = a, clone = a.clone();
  alias += 1;
  expect_values(a, {2}, {2, 3});
  expect_values(clone, {2}, {1, 2});
  clone *= 10;
  expect_values(a, {2}, {2, 3});
  expect_values(clone, {2}, {10, 20});
  alias = clone;  // names another tensor now
  alias += 1;
  expect_values(a, {2}, {2, 3});
}

TEST(TensorStorage, ValuesComputedBeforeAWriteKeepTheOldOnes) {
  for (const bool old_first : {true, false}) {
    Tensor x({1.0, 2.0, 3.0});
    Tensor y = x * 2;
    x += 10;
    if (old_first) y.realize();
    expect_values(x, {3}, {11, 12, 13});
    expect_values(y, {3}, {2, 4, 6});
  }
}

TEST(TensorStorage, EqualExpressionsAreApartOnceWritten) {
  Tensor a = Tensor::eye(2).contiguous(), b = Tensor::eye(2).contiguous();
  realize({a, b});
  a[{0, 0}] = 5;
  expect_values(a, {2, 2}, {5, 0, 0, 1});
  expect_values(b, {2, 2}, {1, 0, 0, 1});
  Tensor c = Tensor::zeros({2}), d = Tensor::zeros({2});
  c += 1;
  expect_values(d, {2}, {0, 0});
  expect_values(c, {2}, {1, 1});
}

TEST(TensorStorage, AssignBroadcastsAndKeepsTheType) {
  Tensor x = Tensor::zeros({2, 2}).clone();
  x.assign(Tensor({1, 2}));
  expect_values(x, {2, 2}, {1, 2, 1, 2});
  EXPECT_EQ(x.dtype(), DType::float32);
  x.assign(7);
  expect_values(x, {2, 2}, {7, 7, 7, 7});
  Tensor ints({1, 2});
  expect_refused([&] { ints.assign(Tensor({0.5, 1.0})); }, ErrorKind::Type, {"assign", "float32", "int32"});
  expect_refused([&] { ints /= 2; }, ErrorKind::Type, {"assign", "float32"});
  expect_refused([&] { ints.assign(Tensor({{1, 2}, {3, 4}})); }, ErrorKind::Shape, {"assign", "(2, 2)", "(2,)"});
  expect_refused([&] { ints.assign(Tensor({1, 2, 3})); }, ErrorKind::Shape, {"(3,)"});
  expect_values(ints, {2}, {1, 2});  // nothing lost
}

TEST(TensorStorage, EveryOperatorHasItsWritingForm) {
  Tensor x({12, 7});
  x += 1;
  x -= 2;
  x *= 3;
  x %= 5;
  x |= 8;
  x &= 11;
  x ^= 1;
  x <<= 2;
  x >>= 1;
  expect_values(x, {2}, {20, 20});
  Tensor y({1.0, 3.0});
  y /= 2;
  expect_values(y, {2}, {0.5, 1.5});
}

TEST(TensorStorage, ManyWritesInARow) {
  Tensor x = Tensor::zeros({4}).clone();
  for (int i = 0; i < 50; ++i) {
    x += 1;
    x[i % 4] = -1;
  }
  expect_values(x, {4}, {0, -1, 2, 1});
}

TEST(TensorStorage, AViewThatWasReadStillWritesItsBase) {
  Tensor t({1, 2, 3, 4});
  Tensor part = t[Slice{1, 3}];
  expect_values(part, {2}, {2, 3});
  part += 10;
  expect_values(t, {4}, {1, 12, 13, 4});
  expect_values(part, {2}, {12, 13});
  part.realize();
  part.assign(0);
  expect_values(t, {4}, {1, 0, 0, 4});
  // A view is a value: it keeps what it showed when its base is written otherwise; writing through it writes the base of now.
  Tensor first = t[0];
  t += 100;
  expect_values(first, {}, {1});
  first += 1;
  expect_values(t, {4}, {2, 100, 100, 104});
}

TEST(TensorStorage, ExpandedViewsCantBeWritten) {
  Tensor t({1.0});
  expect_refused([&] { t.expand({3}) += 1; }, ErrorKind::Value, {"expand", "clone"});
}

TEST(TensorStorage, Reading) {
  const Tensor x({1.5, -2.5, 300.0});
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, -2, 300}));
  EXPECT_EQ(x.to_vector<bool>(), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(Tensor({true, false}).to_vector<float>(), (std::vector<float>{1, 0}));
  float out[3];
  x.copy_to(out, sizeof out);
  EXPECT_EQ(out[1], -2.5f);
  expect_refused([&] { x.copy_to(out, 4); }, ErrorKind::Value, {"copy_to", "4 bytes", "12"});
  expect_refused([&] { x.item(); }, ErrorKind::Shape, {"item", "(3,)", "3 elements"});
  expect_refused([] { Tensor::zeros({0}).item(); }, ErrorKind::Shape, {"item", "(0,)"});
  EXPECT_EQ(Tensor({{7}}).item<int>(), 7);
  EXPECT_EQ(x.shape(-1), 3);
  expect_refused([&] { x.shape(1); }, ErrorKind::Index, {"shape", "axis 1"});
}

TEST(TensorStorage, LoopsLeaveNothingBehind) {
  Tensor x({1.0, 2.0}), scale({0.5, 0.5});
  std::vector<size_t> sizes;
  for (int i = 0; i < 300; ++i) {
    x = x * scale + 1;
    x.realize();
    sizes.push_back(TensorGraph::shared().size());
  }
  EXPECT_EQ(sizes[299], sizes[100]);
  sizes.clear();
  for (int i = 0; i < 300; ++i) {
    x += scale;
    x.realize();
    Tensor y({1.0});
    (y * 3).sum().backward().realize();
    sizes.push_back(TensorGraph::shared().size());
  }
  EXPECT_EQ(sizes[299], sizes[100]);
}

TEST(TensorStorage, MovesAndContainers) {
  std::vector<Tensor> list{Tensor(1.0), Tensor(2.0)};
  list.insert(list.begin(), Tensor(0.0));
  std::swap(list[0], list[2]);
  EXPECT_EQ(list[0].item(), 2);
  Tensor moved = std::move(list[1]);
  EXPECT_EQ(moved.item(), 1);
  moved = Tensor({5.0})[0];
  EXPECT_EQ(moved.item(), 5);
}

}  // namespace
}  // namespace whit
