#include "unit/tensor_values.h"

namespace whit {
namespace {

Tensor line() { return Tensor({0, 10, 20, 30, 40, 50, 60, 70}); }
Tensor grid() { return Tensor({{1, 2, 3}, {4, 5, 6}}); }

TEST(TensorIndex, Integers) {
  EXPECT_EQ(line()[3].item<int>(), 30);
  EXPECT_EQ(line()[-1].item<int>(), 70);
  expect_values(grid()[1], {3}, {4, 5, 6});
  EXPECT_EQ((grid()[{1, -3}].item<int>()), 4);
  expect_refused([] { line()[8]; }, ErrorKind::Index, {"index 8", "size 8"});
  expect_refused([] { line()[-9]; }, ErrorKind::Index, {"index -9", "size 8"});
  expect_refused([] { grid()[{0, 3}]; }, ErrorKind::Index, {"index 3", "axis 1", "(2, 3)"});
  expect_refused([] { grid()[{0, 0, 0}]; }, ErrorKind::Index, {"3 indices", "2 axes"});
  expect_refused([] { Tensor(1)[0]; }, ErrorKind::Index, {"1 indices"});
}

TEST(TensorIndex, SlicesAsInPython) {
  expect_values(line()[Slice{2, 5}], {3}, {20, 30, 40});
  expect_values(line()[Slice{None, -6}], {2}, {0, 10});
  expect_values(line()[Slice{1, None, 3}], {3}, {10, 40, 70});
  expect_values(line()[Slice{None, None, -1}], {8}, {70, 60, 50, 40, 30, 20, 10, 0});
  expect_values(line()[Slice{5, 2, -1}], {3}, {50, 40, 30});
  expect_values(line()[Slice{None, None, -3}], {3}, {70, 40, 10});
  expect_values(line()[Slice{-2, 0, -4}], {2}, {60, 20});
  expect_values(line()[Slice{100, None, -5}], {2}, {70, 20});
  for (const Slice& none : {Slice{2, 5, -1}, Slice{1, 1, -2}, Slice{5, 2}, Slice{8}, Slice{100, 200}}) EXPECT_EQ(line()[none].numel(), 0);
  expect_values(grid()[{Slice{None, None, -1}, Slice{None, None, 2}}], {2, 2}, {4, 6, 1, 3});
  expect_refused([] { line()[Slice{0, 3, 0}]; }, ErrorKind::Value, {"step"});
  EXPECT_EQ((Tensor::zeros({0})[Slice{None, None, -2}].shape()), Sizes{0});
}

TEST(TensorIndex, NewAxesAndEllipsis) {
  EXPECT_EQ((grid()[{None, Ellipsis, None}].shape()), (Sizes{1, 2, 3, 1}));
  expect_values(grid()[{Ellipsis, 0}], {2}, {1, 4});
  expect_values(grid()[{1, Ellipsis}], {3}, {4, 5, 6});
  EXPECT_EQ((grid()[{0, 1, Ellipsis}].shape()), Sizes{});
  EXPECT_EQ((Tensor(1)[{None}].shape()), Sizes{1});
  expect_refused([] { grid()[{Ellipsis, Ellipsis}]; }, ErrorKind::Index, {"one Ellipsis"});
}

TEST(TensorIndex, TensorsOfIntegersGather) {
  expect_values(line()[Tensor({1, 1, -1, 5})], {4}, {10, 10, 70, 50});
  expect_values(line()[Tensor({{0, 1}, {2, 3}})], {2, 2}, {0, 10, 20, 30});
  expect_values(grid()[Tensor({1, 0, 1})], {3, 3}, {4, 5, 6, 1, 2, 3, 4, 5, 6});
  expect_values(grid()[{Slice{}, Tensor({2, 0})}], {2, 2}, {3, 1, 6, 4});
  expect_values(grid()[{Tensor({0, 1, 1}), Tensor({0, 2, -2})}], {3}, {1, 6, 5});
  expect_values(grid()[{Tensor({{0}, {1}}), Tensor({1, 2})}], {2, 2}, {2, 3, 5, 6});
  EXPECT_EQ(grid()[Tensor(1)].shape(), Sizes{3});
  // What lies outside reads 0, also where only one of several indices does.
  expect_values(line()[Tensor({7, 8, -8, -9, 1000})], {5}, {70, 0, 0, 0, 0});
  expect_values(grid()[{Tensor({0, 2, 0, -3}), Tensor({3, 0, 0, 1})}], {4}, {0, 0, 1, 0});
  expect_values(Tensor({true, false, true})[Tensor({0, 1, 5})], {3}, {1, 0, 0});
  expect_values(Tensor({kNaN, 1.0, kInf})[Tensor({1, 2, 0})], {3}, {1, kInf, kNaN});
  EXPECT_EQ(line()[Tensor({1}, {.dtype = DType::int64})].dtype(), DType::int32);
  EXPECT_EQ(line()[Tensor::zeros({0, 2}, {.dtype = DType::int32})].shape(), (Sizes{0, 2}));
  expect_refused([] { line()[Tensor({true, false})]; }, ErrorKind::Type, {"bool", "where or masked_fill"});
  expect_refused([] { line()[Tensor({1.0})]; }, ErrorKind::Type, {"float32", "integers"});
}

TEST(TensorIndex, IndexTensorsPutTheirAxesLikeNumPy) {
  const Tensor x = Tensor::arange(2 * 3 * 4 * 5).reshape({2, 3, 4, 5}), a({0, 1}), b({{1}, {2}});
  EXPECT_EQ((x[{Slice{}, a}].shape()), (Sizes{2, 2, 4, 5}));
  EXPECT_EQ((x[{Slice{}, a, b}].shape()), (Sizes{2, 2, 2, 5}));
  EXPECT_EQ((x[{a, Slice{}, b}].shape()), (Sizes{2, 2, 3, 5}));
  EXPECT_EQ((x[{Slice{}, Slice{}, None, a}].shape()), (Sizes{2, 3, 1, 2, 5}));
  // x[:, [0, 1], 1:3, [2, 3]]
  const Tensor apart = x[{Slice{}, a, Slice{1, 3}, Tensor({2, 3})}];
  expect_values(apart, {2, 2, 2}, {7, 12, 67, 72, 28, 33, 88, 93});
  expect_values(x[{1, a, Tensor({3, 0}), -1}], {2}, {79, 84});
}

TEST(TensorIndex, Gather) {
  expect_values(grid().gather(1, Tensor({{2, 0}, {1, 1}})), {2, 2}, {3, 1, 5, 5});
  expect_values(grid().gather(0, Tensor({{1, 0, 1}})), {1, 3}, {4, 2, 6});
  expect_values(grid().gather(-1, Tensor({{-1, 7}})), {1, 2}, {3, 0});
  expect_refused([] { grid().gather(2, Tensor({{0}})); }, ErrorKind::Index, {"gather", "axis 2"});
  expect_refused([] { grid().gather(0, Tensor({0})); }, ErrorKind::Shape, {"gather", "(1,)"});
  expect_refused([] { grid().gather(0, Tensor({{0, 0, 0, 0}})); }, ErrorKind::Shape, {"larger"});
}

// ---- Writing ------------------------------------------------------------------------------------------------------------------------

TEST(TensorIndex, WritingThroughIndicesChangesTheTensor) {
  Tensor t({1, 2, 3, 4, 5});
  t[Slice{None, 3}] *= 10;
  t[Slice{1, 4}] += t[Slice{2, 5}];
  expect_values(t, {5}, {10, 50, 34, 9, 5});
  t[0] = -1;
  t[Slice{None, None, -2}] = Tensor({7, 8, 9});
  expect_values(t, {5}, {9, 50, 8, 9, 7});
  t.set({Slice{1, 3}}, 0);
  expect_values(t, {5}, {9, 0, 0, 9, 7});
  Tensor g = grid();
  g.T()[{Slice{1, None}}] = Tensor({{20, 50}, {30, 60}});
  expect_values(g, {2, 3}, {1, 20, 30, 4, 50, 60});
  g.flatten()[5] = 0;
  expect_values(g, {2, 3}, {1, 20, 30, 4, 50, 0});
  expect_refused([&] { g[0] = Tensor({1, 2}); }, ErrorKind::Shape, {"assign", "(2,)", "(3,)"});
  expect_refused([&] { g[0] = 1.5; }, ErrorKind::Type, {"assign", "float32", "int32"});
}

TEST(TensorIndex, WritingIntoAnExpression) {
  Tensor t = Tensor::zeros({2, 5}, {.dtype = DType::int32});
  t[{Slice{}, Slice{None, None, 2}}] = Tensor({{1, 2, 3}, {4, 5, 6}});
  expect_values(t, {2, 5}, {1, 0, 2, 0, 3, 4, 0, 5, 0, 6});
  Tensor u = Tensor::arange(6).reshape({2, 3}) + 0;
  u[{1, Slice{None, None, -2}}] = Tensor({-1, -2});
  expect_values(u, {2, 3}, {0, 1, 2, -2, 4, -1});
  u.T()[{Slice{0, 2}, 0}] = 9;
  expect_values(u, {2, 3}, {9, 9, 2, -2, 4, -1});
  Tensor v = Tensor::arange(8) + 0;
  v[Slice{1, 7, 3}] = 0;
  expect_values(v, {8}, {0, 0, 2, 3, 0, 5, 6, 7});
  Tensor floats = Tensor({kNaN, 1.0}) + 0;
  floats[0] = 2;  // what is replaced doesn't matter
  expect_values(floats, {2}, {2, 1});
}

TEST(TensorIndex, WritingThroughIndexTensors) {
  Tensor t = Tensor::zeros({4, 5});
  t.set({Slice{1, 3}, Tensor({4, 0, 2})}, Tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}));
  t.set({Tensor({3, 1}), 0}, -1);
  expect_values(t, {4, 5}, {0, 0, 0, 0, 0, -1, 0, 3, 0, 1, 5, 0, 6, 0, 4, -1, 0, 0, 0, 0});
  Tensor column({{1}, {5}, {7}});
  column.set({Tensor({0, 0, 2})}, Tensor({{1}, {2}, {9}}));  // the last value for a place stays
  expect_values(column, {3, 1}, {2, 5, 9});
  column.set({Tensor({5, -4})}, 100);  // outside: nowhere
  expect_values(column, {3, 1}, {2, 5, 9});
  column.set({Tensor::zeros({0}, {.dtype = DType::int32})}, 100);
  expect_values(column, {3, 1}, {2, 5, 9});
}

}  // namespace
}  // namespace whit
