#include <numeric>

#include "unit/tensor_values.h"

namespace whit {
namespace {

TEST(TensorCreation, ScalarsHaveTheirWeakType) {
  EXPECT_EQ(Tensor(true).dtype(), DType::boolean);
  EXPECT_EQ(Tensor(3).dtype(), DType::int32);
  EXPECT_EQ(Tensor(3'000'000'000).dtype(), DType::int64);
  EXPECT_EQ(Tensor(3.5).dtype(), DType::float32);
  EXPECT_EQ(Tensor(3.5f).item(), 3.5f);
  EXPECT_EQ(Tensor(3.7, {.dtype = DType::int8}).item<int>(), 3);
  EXPECT_EQ(Tensor(-1, {.dtype = DType::uint8}).item<int>(), 255);
  EXPECT_EQ(Tensor(UINT64_MAX).item<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Tensor(2).shape(), Sizes{});
}

TEST(TensorCreation, NestedLists) {
  expect_values(Tensor({1, 2, 3}), {3}, {1, 2, 3});
  expect_values(Tensor({{1, 2}, {3, 4}, {5, 6}}), {3, 2}, {1, 2, 3, 4, 5, 6});
  expect_values(Tensor({{{1.5}}}), {1, 1, 1}, {1.5});
  EXPECT_EQ(Tensor({1, 2}).dtype(), DType::int32);
  EXPECT_EQ(Tensor({1, 2.0}).dtype(), DType::float32);
  EXPECT_EQ(Tensor({true, false}).dtype(), DType::boolean);
  EXPECT_EQ(Tensor({1, 1LL << 40}).dtype(), DType::int64);
  // Values of mixed kinds meet in one type; an explicit type converts each by its own rules.
  EXPECT_EQ(Tensor({NestedList(true), NestedList(2)}).dtype(), DType::int32);
  expect_values(Tensor({1.9, -1.9}, {.dtype = DType::int32}), {2}, {1, -1});
  expect_values(Tensor({0.5, 0.0}, {.dtype = DType::boolean}), {2}, {1, 0});
  expect_values(Tensor({0.1, 1.0 / 3, 256.5}, {.dtype = DType::bfloat16}), {3}, {0.10009765625, 0.333984375, 256});
}

TEST(TensorCreation, EmptyListsKeepTheirShape) {
  const std::initializer_list<NestedList> none = {};
  EXPECT_EQ(Tensor(none).shape(), Sizes{0});
  EXPECT_EQ(Tensor({NestedList(none), NestedList(none)}).shape(), (Sizes{2, 0}));
  EXPECT_EQ(Tensor(none).dtype(), DType::float32);
}

TEST(TensorCreation, RaggedListsAreRefused) {
  expect_refused([] { Tensor({{1, 2}, {3}}); }, ErrorKind::Shape, {"ragged", "depth 1", "2 items", "another 1"});
  expect_refused([] { Tensor({NestedList(1), NestedList({2})}); }, ErrorKind::Shape, {"ragged"});
  expect_refused([] { Tensor({NestedList({2}), NestedList(1)}); }, ErrorKind::Shape, {"ragged"});
}

TEST(TensorCreation, FromVectorsSpansAndMemory) {
  expect_values(Tensor(std::vector<float>{1, 2, 3}), {3}, {1, 2, 3});
  EXPECT_EQ(Tensor(std::vector<double>{1}).dtype(), DType::float64);
  EXPECT_EQ(Tensor(std::vector<uint16_t>{1}).dtype(), DType::uint16);
  expect_values(Tensor(std::vector<bool>{true, false}), {2}, {1, 0});
  expect_values(Tensor(std::vector<double>{1.5, 2.5}, {2, 1}, {.dtype = DType::float16}), {2, 1}, {1.5, 2.5});
  const std::vector<int64_t> longs{1, 2, 3, 4};
  expect_values(Tensor(std::span<const int64_t>(longs), {2, 2}), {2, 2}, {1, 2, 3, 4});
  const float raw[] = {1, 2};
  expect_values(Tensor::from_blob(raw, {2}), {2}, {1, 2});
  expect_refused([&] { Tensor(longs, {3}); }, ErrorKind::Shape, {"4 values", "(3,)"});
  expect_refused([&] { Tensor(longs, {-4}); }, ErrorKind::Shape, {"negative"});
}

TEST(TensorCreation, AnOwnerKeepsMemoryThatIsNotCopied) {
  struct alignas(64) Block {
    float values[16];
  };
  auto block = std::make_shared<Block>();
  std::iota(block->values, block->values + 16, 0.0f);
  Tensor tensor = Tensor::from_blob(block->values, {16}, {.device = "CPU"}, block);
  EXPECT_GT(block.use_count(), 1);
  block->values[3] = 50;  // seen, so it is the memory itself
  EXPECT_EQ(tensor[3].item(), 50);
  tensor = Tensor();
  EXPECT_EQ(block.use_count(), 1);
  std::byte bytes[sizeof(Block) + 4];
  const Tensor copied =
      Tensor::from_blob(bytes + (reinterpret_cast<uintptr_t>(bytes) % 64 == 0 ? 4 : 0), {2}, {.dtype = DType::int8}, block);
  EXPECT_EQ(copied.numel(), 2);
}

TEST(TensorCreation, Constants) {
  expect_values(Tensor::zeros({2, 2}), {2, 2}, {0, 0, 0, 0});
  expect_values(Tensor::ones({3}, {.dtype = DType::int16}), {3}, {1, 1, 1});
  expect_values(Tensor::full({2}, 7), {2}, {7, 7});
  EXPECT_EQ(Tensor::full({2}, 7).dtype(), DType::int32);
  EXPECT_EQ(Tensor::full({2}, true).dtype(), DType::boolean);
  EXPECT_EQ(Tensor::zeros({2}).dtype(), DType::float32);
  EXPECT_EQ(Tensor::empty({4, 0}).shape(), (Sizes{4, 0}));
  EXPECT_EQ(Tensor::empty({4, 2}).numel(), 8);
  const Tensor like = Tensor({1, 2}, {.dtype = DType::int8}).ones_like();
  EXPECT_EQ(like.dtype(), DType::int8);
  expect_values(like, {2}, {1, 1});
  EXPECT_EQ(Tensor({1}).zeros_like({.dtype = DType::float64}).dtype(), DType::float64);
  expect_refused([] { Tensor::zeros({2, -1}); }, ErrorKind::Shape, {"full", "negative"});
  expect_refused([] { Tensor::zeros({1LL << 40, 1LL << 40}); }, ErrorKind::Shape, {"2^59"});
}

TEST(TensorCreation, Ranges) {
  expect_values(Tensor::arange(4), {4}, {0, 1, 2, 3});
  EXPECT_EQ(Tensor::arange(4).dtype(), DType::int32);
  expect_values(Tensor::arange(10, 0, -3), {4}, {10, 7, 4, 1});
  EXPECT_EQ(Tensor::arange(3, 5, -2).shape(), Sizes{0});
  EXPECT_EQ(Tensor::arange(5.0, 3.0).shape(), Sizes{0});
  expect_close(Tensor::arange(0.0, 1.0, 0.3), {4}, {0, 0.3, 0.6, 0.9}, 1e-7);
  expect_close(Tensor::arange(0.0, 0.5, 0.1), {5}, {0, 0.1, 0.2, 0.3, 0.4}, 1e-7);
  expect_values(Tensor::arange(2147483646LL, 2147483650LL), {4}, {2147483646.0, 2147483647.0, 2147483648.0, 2147483649.0});
  EXPECT_EQ(Tensor::arange(1LL << 40, (1LL << 40) + 3).dtype(), DType::int64);
  EXPECT_EQ(Tensor::arange(-(1LL << 40), -(1LL << 40) + 2).to_vector<int64_t>(), (std::vector<int64_t>{-(1LL << 40), -(1LL << 40) + 1}));
  expect_values(Tensor::arange(5, {.dtype = DType::float16}), {5}, {0, 1, 2, 3, 4});
  expect_values(Tensor::arange(3, 0, -1, {.dtype = DType::uint8}), {3}, {3, 2, 1});
  expect_values(Tensor::arange(3, 0, -1, {.dtype = DType::uint64}), {3}, {3, 2, 1});
  expect_refused([] { Tensor::arange(1, 5, 0); }, ErrorKind::Value, {"arange", "step is 0"});
  expect_refused([] { Tensor::arange(0.0, kInf); }, ErrorKind::Value, {"arange"});
  EXPECT_EQ(Tensor::zeros({1LL << 30, 2}).flatten().shape(), Sizes{1LL << 31});
}

TEST(TensorCreation, LinspaceIsExactAtBothEnds) {
  expect_close(Tensor::linspace(0, 1, 5), {5}, {0, 0.25, 0.5, 0.75, 1}, 1e-7);
  const std::vector<float> values = Tensor::linspace(0.1, 0.7, 1000).to_vector<float>();
  EXPECT_EQ(values.front(), 0.1f);
  EXPECT_EQ(values.back(), 0.7f);
  expect_values(Tensor::linspace(3, 9, 1), {1}, {3});
  EXPECT_EQ(Tensor::linspace(3, 9, 0).shape(), Sizes{0});
  expect_refused([] { Tensor::linspace(0, 1, -1); }, ErrorKind::Value, {"linspace", "-1 steps"});
}

TEST(TensorCreation, Eye) {
  expect_values(Tensor::eye(2), {2, 2}, {1, 0, 0, 1});
  expect_values(Tensor::eye(2, 3, {.dtype = DType::int32}), {2, 3}, {1, 0, 0, 0, 1, 0});
  EXPECT_EQ(Tensor::eye(0).shape(), (Sizes{0, 0}));
}

TEST(TensorCreation, AnUnknownDeviceIsNamedWithTheLine) {
  expect_refused([] { Tensor::zeros({2}, {.device = "FOO"}); }, ErrorKind::Device, {"FOO"});
  expect_refused([] { Tensor({1, 2}, {.device = "FOO"}); }, ErrorKind::Device, {"FOO"});
  expect_refused([] { Tensor({1, 2}).to("FOO"); }, ErrorKind::Device, {"to", "FOO"});
  expect_refused([] { Device::set_default("FOO"); }, ErrorKind::Device, {"FOO"});
}

TEST(TensorCreation, NothingIsRefused) {
  const Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  expect_refused([&] { nothing + 1; }, ErrorKind::Value, {"add", "holds nothing"});
  expect_refused([&] { nothing.sum(); }, ErrorKind::Value, {"sum", "holds nothing"});
}

}  // namespace
}  // namespace whit
