#include "unit/tensor_values.h"

namespace whit {
namespace {

Tensor grid() { return Tensor({{1, 2, 3}, {4, 5, 6}}); }

TEST(TensorReduce, SumsAndProducts) {
  expect_values(grid().sum(), {}, {21});
  expect_values(grid().sum(0), {3}, {5, 7, 9});
  expect_values(grid().sum(-1, true), {2, 1}, {6, 15});
  expect_values(grid().sum({0, 1}, true), {1, 1}, {21});
  expect_values(grid().prod(1), {2}, {6, 120});
  expect_values(Tensor(3.5).sum(), {}, {3.5});
  expect_values(Tensor(3.5).sum(0), {}, {3.5});
  expect_values(Tensor(3.5).sum(-1, true), {}, {3.5});
  expect_refused([] { Tensor(3.5).sum(1); }, ErrorKind::Index, {"sum", "axis 1", "ndim 0"});
  expect_refused([] { grid().sum(2); }, ErrorKind::Index, {"sum", "axis 2", "ndim 2", "-2 to 1"});
  expect_refused([] { grid().sum(-3); }, ErrorKind::Index, {"axis -3"});
  expect_refused([] { grid().sum({0, -2}); }, ErrorKind::Value, {"twice"});
}

TEST(TensorReduce, SmallTypesAccumulateInLargerOnes) {
  using enum DType;
  expect_values(Tensor::full({1000}, 255, {.dtype = uint8}).sum(), {}, {255000});
  expect_values(Tensor::full({70000}, 1, {.dtype = uint16}).sum(), {}, {70000});
  expect_values(Tensor({200, 200}, {.dtype = uint8}).prod(), {}, {40000});
  expect_values(Tensor({true, true, false}).sum(), {}, {2});
  for (const auto& [type, sum] : std::vector<std::pair<DType, DType>>{{boolean, int32},
                                                                      {int8, int32},
                                                                      {uint8, uint32},
                                                                      {int16, int32},
                                                                      {int32, int32},
                                                                      {int64, int64},
                                                                      {float16, float16},
                                                                      {bfloat16, bfloat16},
                                                                      {float32, float32}}) {
    const Tensor ones = Tensor::ones({4, 4}, {.dtype = type});
    EXPECT_EQ(ones.sum().dtype(), sum) << name(type);
    EXPECT_EQ(ones.prod().dtype(), sum) << name(type);
    EXPECT_EQ(ones.cumsum().dtype(), sum) << name(type);
    EXPECT_EQ(ones.max().dtype(), type) << name(type);
    EXPECT_EQ(ones.sum().item(), 16) << name(type);
    EXPECT_EQ(ones.contiguous().sum().item(), 16) << name(type);
  }
  EXPECT_EQ(Tensor::ones({8192}, {.dtype = float16}).sum().item(), 8192);
  EXPECT_EQ(Tensor({60000.0, 60000.0, 60000.0}, {.dtype = float16}).mean().item(), 60000);
  EXPECT_EQ(Tensor::ones({4}, {.dtype = int8}).sum({}, false, int64).dtype(), int64);
}

TEST(TensorReduce, Extremes) {
  expect_values(grid().max(), {}, {6});
  expect_values(grid().max(0), {3}, {4, 5, 6});
  expect_values(grid().min(1, true), {2, 1}, {1, 4});
  expect_values(Tensor({200, 3, 255, 17}, {.dtype = DType::uint8}).min(), {}, {3});
  expect_values(Tensor({true, false}).max(), {}, {1});
  for (int count = 1; count < 10; ++count)
    EXPECT_TRUE(std::isnan(Tensor::cat({Tensor::full({count}, kNaN), Tensor({42.0})}).max().item())) << count;
  expect_values(Tensor({-kInf, kInf}).min(), {}, {-kInf});
  expect_refused([] { Tensor::zeros({2, 0}).max(1); }, ErrorKind::Value, {"max", "axis 1", "(2, 0)", "empty"});
  expect_refused([] { Tensor::zeros({0}).min(); }, ErrorKind::Value, {"min", "axis 0"});
  EXPECT_EQ(Tensor::zeros({0, 3}).max(1).shape(), Sizes{0});
}

TEST(TensorReduce, ReducingNothingGivesTheIdentity) {
  const Tensor x = Tensor::ones({2, 0});
  expect_values(x.sum(1), {2}, {0, 0});
  expect_values(x.prod(1), {2}, {1, 1});
  expect_values(x.mean(1), {2}, {kNaN, kNaN});
  expect_values(x.to_bool().any(1), {2}, {0, 0});
  expect_values(x.to_bool().all(1), {2}, {1, 1});
  expect_values(Tensor::ones({1, 0, 3}).var(1), {1, 3}, {kNaN, kNaN, kNaN});
  expect_refused([&] { x.argmax(1); }, ErrorKind::Value, {"argmax", "empty"});
}

TEST(TensorReduce, MeanVarianceDeviation) {
  const Tensor c = sample({2, 3, 4}, 19);
  expect_close(c.var(1), {2, 4}, {0.039669326, 0.7717812, 0.180071628, 0.493838157, 0.286508445, 0.539051859, 0.088712059, 0.057179604});
  expect_close(c.std(), {}, {0.567618947});
  expect_close(c.mean({0, 2}), {3}, {-0.173775524, -0.193900928, -0.087865323});
  expect_close(c.var({0, 2}, true, 0), {1, 3, 1}, {0.372921452, 0.332183995, 0.214851404});
  expect_close(c.prod(2), {2, 3}, {-0.086652491, 0.036045621, 0.018604086, -0.049133704, 0.000543536, 0.026362921});
  expect_values(Tensor({1, 2}).mean(), {}, {1.5});
  expect_values(Tensor({1.0, 2.0}).var({}, false, 2), {}, {kInf});
  expect_values(Tensor({1.0, 2.0}).var({}, false, 3), {}, {kInf});
  expect_values(Tensor({3.0}).var(), {}, {kNaN});
}

TEST(TensorReduce, AnyAndAll) {
  expect_values(Tensor({-0.0, 0.0}).any(), {}, {0});
  expect_values(Tensor({-0.0, 1.0}).any(), {}, {1});
  expect_values(Tensor({0.5, -0.0}).all(), {}, {0});
  expect_values(Tensor({{1, 0}, {2, 3}}).all(1), {2}, {0, 1});
  EXPECT_EQ(Tensor({1, 0}).any().dtype(), DType::boolean);
}

TEST(TensorReduce, PlacesOfExtremes) {
  expect_values(grid().argmax(), {}, {5});
  expect_values(grid().argmax(0), {3}, {1, 1, 1});
  expect_values(grid().argmin(1, true), {2, 1}, {0, 0});
  expect_values(Tensor({3, 7, 7, 1, 1}).argmax(), {}, {1});
  expect_values(Tensor({3, 7, 7, 1, 1}).argmin(), {}, {3});
  expect_values(Tensor({0, INT32_MIN}).argmax(), {}, {0});
  expect_values(Tensor({INT32_MIN, 0}).argmax(), {}, {1});
  expect_values(Tensor({0, INT32_MIN}).argmin(), {}, {1});
  expect_values(Tensor({1.0, kNaN, 5.0}).argmax(), {}, {1});
  expect_values(Tensor({1.0, kNaN, -5.0, kNaN}).argmin(), {}, {1});
  expect_values(Tensor({-kInf, -kInf}).argmax(), {}, {0});
  expect_values(Tensor(4.0).argmax(), {}, {0});
  EXPECT_EQ(grid().argmax().dtype(), DType::int32);
  std::vector<float> flat(5000, 0);
  flat[17] = flat[4097] = flat[4999] = 2;
  EXPECT_EQ(Tensor(flat).argmax().item<int>(), 17);
  EXPECT_EQ((-Tensor(flat)).argmin().item<int>(), 17);
  expect_refused([] { grid().argmax(2); }, ErrorKind::Index, {"argmax", "axis 2"});
}

TEST(TensorReduce, RunningSums) {
  expect_values(grid().cumsum(0), {2, 3}, {1, 2, 3, 5, 7, 9});
  expect_values(grid().cumsum(-1), {2, 3}, {1, 3, 6, 4, 9, 15});
  expect_values(Tensor(7).cumsum(), {}, {7});
  expect_values(Tensor({{1.5, 2.5}}).cumsum(0), {1, 2}, {1.5, 2.5});
  for (const Sizes& shape : {Sizes{2, 0, 4}, Sizes{0, 3}, Sizes{2, 3, 0}}) EXPECT_EQ(Tensor::ones(shape).cumsum(1).shape(), shape);
  expect_refused([] { grid().cumsum(2); }, ErrorKind::Index, {"cumsum", "axis 2"});
  EXPECT_EQ(Tensor::ones({4096}, {.dtype = DType::float16}).cumsum()[-1].item(), 4096);
  // Lengths around those at which the axis is cut into blocks.
  for (const int64_t size : {2, 63, 64, 65, 127, 128, 129, 1000, 4097}) {
    std::vector<int64_t> values, sums;
    int64_t total = 0;
    for (int64_t i = 0; i < size; ++i) {
      values.push_back((i * 7919) % 1013 - 500);
      sums.push_back(total += values.back());
    }
    EXPECT_EQ(Tensor(values).cumsum().to_vector<int64_t>(), sums) << size;
    EXPECT_EQ(Tensor(values, {size, 1}).cumsum(0).to_vector<int64_t>(), sums) << size;
  }
}

}  // namespace
}  // namespace whit
