#include "unit/tensor_values.h"

namespace whit {
namespace {

Tensor grid() { return Tensor({{1, 2, 3}, {4, 5, 6}}); }

TEST(TensorMovement, Reshape) {
  expect_values(grid().reshape({3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(grid().reshape({-1}).shape(), Sizes{6});
  EXPECT_EQ(grid().reshape({3, -1, 1}).shape(), (Sizes{3, 2, 1}));
  EXPECT_EQ(Tensor(1).reshape({1, 1}).shape(), (Sizes{1, 1}));
  EXPECT_EQ(Tensor({1}).reshape({}).shape(), Sizes{});
  EXPECT_EQ(Tensor::zeros({0, 3}).reshape({3, 0, 2}).shape(), (Sizes{3, 0, 2}));
  expect_refused([] { grid().reshape({4}); }, ErrorKind::Shape, {"reshape", "(2, 3)", "6 elements", "(4,)"});
  expect_refused([] { grid().reshape({4, -1}); }, ErrorKind::Shape, {"reshape", "multiple of 4"});
  expect_refused([] { grid().reshape({-1, -1}); }, ErrorKind::Shape, {"only one"});
  expect_refused([] { grid().reshape({-2, 3}); }, ErrorKind::Shape, {"-2", "negative"});
  expect_refused([] { Tensor::zeros({0}).reshape({0, -1}); }, ErrorKind::Shape, {"-1"});
}

TEST(TensorMovement, PermuteAndTranspose) {
  expect_values(grid().permute({1, 0}), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_values(grid().transpose(), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_values(grid().T(), {3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(Tensor::zeros({2, 3, 4}).permute({-1, 0, 1}).shape(), (Sizes{4, 2, 3}));
  EXPECT_EQ(Tensor::zeros({2, 3, 4}).transpose(0, -1).shape(), (Sizes{4, 3, 2}));
  EXPECT_EQ(Tensor(1).T().shape(), Sizes{});
  expect_refused([] { grid().permute({0}); }, ErrorKind::Shape, {"permute", "1 axes", "(2, 3)"});
  expect_refused([] { grid().permute({0, 0}); }, ErrorKind::Value, {"axis 0", "twice"});
  expect_refused([] { grid().permute({0, 2}); }, ErrorKind::Index, {"axis 2", "ndim 2"});
  expect_refused([] { grid().transpose(0, -3); }, ErrorKind::Index, {"axis -3", "-2 to 1"});
}

TEST(TensorMovement, Expand) {
  expect_values(Tensor({{1}, {2}}).expand({2, 3}), {2, 3}, {1, 1, 1, 2, 2, 2});
  expect_values(Tensor({1, 2}).expand({2, -1}), {2, 2}, {1, 2, 1, 2});
  EXPECT_EQ(Tensor::zeros({1}).expand({0}).shape(), Sizes{0});
  expect_refused([] { grid().expand({2, 4}); }, ErrorKind::Shape, {"expand", "(2, 3)", "(2, 4)"});
  expect_refused([] { grid().expand({3}); }, ErrorKind::Shape, {"expand"});
  // Rows of 65537 of a single number: indices beyond 2^31, and no memory.
  const Tensor huge = Tensor({7.0}).expand({65536, 65537});
  EXPECT_EQ((huge[{65535, 65536}].item()), 7);
  EXPECT_EQ((huge[{Slice{}, -1}].sum().item()), 458752);
}

TEST(TensorMovement, PadShrinkFlip) {
  expect_values(Tensor({1, 2}).pad({{1, 2}}), {5}, {0, 1, 2, 0, 0});
  expect_values(Tensor({1, 2}).pad({{1, 0}}, 9), {3}, {9, 1, 2});
  expect_values(Tensor({1.0, 2.0}).pad({{1, 1}}, -kInf), {4}, {-kInf, 1, 2, -kInf});
  expect_values(Tensor({1, 2, 3, 4}).pad({{-1, 1}}), {4}, {2, 3, 4, 0});
  expect_values(grid().pad({{0, 0}, {0, 0}}), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values(Tensor({true}).pad({{1, 0}}), {2}, {0, 1});
  expect_values(grid().shrink({{0, 2}, {1, 3}}), {2, 2}, {2, 3, 5, 6});
  EXPECT_EQ(grid().shrink({{1, 1}, {0, 3}}).shape(), (Sizes{0, 3}));
  expect_values(grid().flip(0), {2, 3}, {4, 5, 6, 1, 2, 3});
  expect_values(grid().flip({-1, 0}), {2, 3}, {6, 5, 4, 3, 2, 1});
  expect_refused([] { grid().pad({{1, 1}}); }, ErrorKind::Shape, {"pad", "1 pairs", "(2, 3)"});
  expect_refused([] { grid().pad({{-3, 0}, {0, 0}}); }, ErrorKind::Shape, {"pad", "cuts off"});
  expect_refused([] { grid().shrink({{0, 3}, {0, 3}}); }, ErrorKind::Index, {"shrink", "[0, 3)", "axis 0"});
  expect_refused([] { grid().flip(2); }, ErrorKind::Index, {"flip", "axis 2"});
  expect_refused([] { grid().flip({0, -2}); }, ErrorKind::Value, {"twice"});
}

TEST(TensorMovement, SqueezeUnsqueezeFlatten) {
  const Tensor x = Tensor::zeros({2, 1, 3, 1});
  EXPECT_EQ(x.squeeze().shape(), (Sizes{2, 3}));
  EXPECT_EQ(x.squeeze(1).shape(), (Sizes{2, 3, 1}));
  EXPECT_EQ(x.squeeze(0).shape(), x.shape());
  EXPECT_EQ(x.squeeze({1, -1}).shape(), (Sizes{2, 3}));
  EXPECT_EQ(Tensor(1).squeeze(0).shape(), Sizes{});
  EXPECT_EQ(Tensor(1).squeeze(-1).shape(), Sizes{});
  EXPECT_EQ(x.unsqueeze(-1).shape(), (Sizes{2, 1, 3, 1, 1}));
  EXPECT_EQ(Tensor(1).unsqueeze(0).shape(), Sizes{1});
  EXPECT_EQ(x.flatten().shape(), Sizes{6});
  EXPECT_EQ(x.flatten(1).shape(), (Sizes{2, 3}));
  EXPECT_EQ(x.flatten(-2, -1).shape(), (Sizes{2, 1, 3}));
  EXPECT_EQ(Tensor(1).flatten().shape(), Sizes{1});
  EXPECT_EQ(Tensor::zeros({6, 2}).unflatten(0, {2, -1}).shape(), (Sizes{2, 3, 2}));
  expect_refused([] { Tensor(1).squeeze(1); }, ErrorKind::Index, {"squeeze", "axis 1"});
  expect_refused([] { Tensor(1).squeeze(-2); }, ErrorKind::Index, {"squeeze", "axis -2"});
  expect_refused([] { grid().unsqueeze(4); }, ErrorKind::Index, {"unsqueeze"});
  expect_refused([] { grid().flatten(1, 0); }, ErrorKind::Value, {"flatten"});
}

TEST(TensorMovement, RepeatRollTriangles) {
  expect_values(Tensor({1, 2}).repeat({3}), {6}, {1, 2, 1, 2, 1, 2});
  expect_values(Tensor({1, 2}).repeat({2, 1}), {2, 2}, {1, 2, 1, 2});
  EXPECT_EQ(grid().repeat({0, 2}).shape(), (Sizes{0, 6}));
  EXPECT_EQ(Tensor::zeros({1LL << 30}).repeat({4}).shape(), Sizes{1LL << 32});
  expect_refused([] { grid().repeat({2}); }, ErrorKind::Shape, {"repeat"});
  expect_values(Tensor({1, 2, 3, 4}).roll(1, 0), {4}, {4, 1, 2, 3});
  expect_values(Tensor({1, 2, 3, 4}).roll(-6, 0), {4}, {3, 4, 1, 2});
  expect_values(grid().roll(3, 1), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values(grid().triu(), {2, 3}, {1, 2, 3, 0, 5, 6});
  expect_values(grid().tril(), {2, 3}, {1, 0, 0, 4, 5, 0});
  expect_values(grid().triu(1), {2, 3}, {0, 2, 3, 0, 0, 6});
}

TEST(TensorMovement, SplitAndChunk) {
  const std::vector<Tensor> pieces = Tensor::arange(5).split(2);
  ASSERT_EQ(pieces.size(), 3u);
  expect_values(pieces[0], {2}, {0, 1});
  expect_values(pieces[2], {1}, {4});
  const std::vector<Tensor> columns = grid().split(std::vector<int64_t>{1, 2}, 1);
  expect_values(columns[1], {2, 2}, {2, 3, 5, 6});
  EXPECT_EQ(Tensor::arange(7).chunk(3).size(), 3u);
  EXPECT_EQ(Tensor::arange(7).chunk(3)[2].shape(), Sizes{1});
  EXPECT_EQ(Tensor::zeros({0, 2}).chunk(3).size(), 1u);
  expect_refused([] { grid().split(std::vector<int64_t>{1, 1}, 1); }, ErrorKind::Shape, {"split", "2 together", "has 3"});
  expect_refused([] { grid().split(0); }, ErrorKind::Value, {"split"});
  expect_refused([] { grid().chunk(2, 5); }, ErrorKind::Index, {"chunk", "axis 5"});
}

TEST(TensorMovement, CatAndStack) {
  expect_values(Tensor::cat({Tensor({1, 2}), Tensor({3}), Tensor({4, 5})}), {5}, {1, 2, 3, 4, 5});
  expect_values(Tensor::cat({grid(), grid()}, 1), {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_values(Tensor::cat({Tensor({1}), Tensor::zeros({0}, {.dtype = DType::int32}), Tensor({2})}, -1), {2}, {1, 2});
  expect_values(Tensor::stack({Tensor({1, 2}), Tensor({3, 4})}), {2, 2}, {1, 2, 3, 4});
  expect_values(Tensor::stack({Tensor({1, 2}), Tensor({3, 4})}, -1), {2, 2}, {1, 3, 2, 4});
  const Tensor mixed = Tensor::cat({Tensor({0.1}, {.dtype = DType::float16}), Tensor({0.1})});
  EXPECT_EQ(mixed.dtype(), DType::float32);
  expect_values(mixed, {2}, {0.0999755859375, double(0.1f)});
  const Tensor ints = Tensor::cat({Tensor({true}), Tensor({5})});
  EXPECT_EQ(ints.dtype(), DType::int32);
  expect_values(ints, {2}, {1, 5});
  // Special values come through as they are.
  const std::vector<float> kept = Tensor::cat({Tensor({-0.0, kNaN}), Tensor({kInf, -0.0})}).to_vector<float>();
  EXPECT_TRUE(std::signbit(kept[0]) && std::isnan(kept[1]) && std::isinf(kept[2]) && std::signbit(kept[3]));
  EXPECT_EQ(Tensor::cat(std::vector<Tensor>(5, Tensor::zeros({1LL << 30}))).shape(), Sizes{5LL << 30});
  expect_refused([] { Tensor::cat({}); }, ErrorKind::Value, {"cat", "no tensors"});
  expect_refused([] { Tensor::cat({grid(), Tensor({1})}); }, ErrorKind::Shape, {"cat", "(2, 3)", "(1,)"});
  expect_refused([] { Tensor::cat({grid(), grid().T()}); }, ErrorKind::Shape, {"cat", "(3, 2)"});
  expect_refused([] { Tensor::cat({grid()}, 2); }, ErrorKind::Index, {"cat", "axis 2"});
  expect_refused([] { Tensor::cat({Tensor(1)}); }, ErrorKind::Index, {"cat", "scalar"});
  expect_refused([] { Tensor::stack({grid(), Tensor({1})}); }, ErrorKind::Shape, {"stack", "(1,)"});
}

}  // namespace
}  // namespace whit
