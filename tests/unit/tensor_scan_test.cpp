// Scans: running sums, products and linear recurrences along an axis, and their gradients.
#include <gtest/gtest.h>
#include <whit/whit.h>

#include <cmath>

#include "tensor_values.h"

namespace whit {
namespace {

TEST(Scan, SumsAlongEachAxisOfEachDevice) {
  for (const char* device : {"CPU:LLVM", "CPU:C", "CPU:INTERP"}) {
    const Tensor x = Tensor::arange(0, 12, 1, {.dtype = DType::float32, .device = device}).reshape({2, 3, 2}).contiguous();
    expect_values(x.cumsum(0), {2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16});
    expect_values(x.cumsum(1), {2, 3, 2}, {0, 1, 2, 4, 6, 9, 6, 7, 14, 16, 24, 27});
    expect_values(x.cumsum(2), {2, 3, 2}, {0, 1, 2, 5, 4, 9, 6, 13, 8, 17, 10, 21});
  }
}

// Vectors along the other axis, rests of vectors, blocks, and what is fused before.
TEST(Scan, LongAndOddShapes) {
  for (const Sizes& shape : {Sizes{1, 1000}, Sizes{1000, 1}, Sizes{37, 129}, Sizes{3, 8193}, Sizes{8193, 3}}) {
    const Tensor x = Tensor::rand(shape).realize();
    const std::vector<float> values = x.to_vector<float>();
    for (int64_t axis = 0; axis < 2; ++axis) {
      const std::vector<float> got = (x * 2 + 1).cumsum(axis).to_vector<float>();
      const int64_t step = axis == 0 ? shape[1] : 1, rows = axis == 0 ? shape[1] : shape[0];
      for (int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < shape[size_t(axis)]; ++i) {
          const size_t at = size_t(i * step + row * (axis == 0 ? 1 : shape[1]));
          sum += double(values[at]) * 2 + 1;
          ASSERT_NEAR(got[at], sum, 1e-6 * sum * std::sqrt(double(i + 1))) << shape[0] << " x " << shape[1] << " along " << axis;
        }
      }
    }
  }
}

TEST(Scan, OfNothingAndOfOne) {
  EXPECT_EQ(Tensor::zeros({0, 3}).cumsum(0).shape(), (Sizes{0, 3}));
  EXPECT_EQ(Tensor::zeros({3, 0}).cumsum(0).shape(), (Sizes{3, 0}));
  expect_values(Tensor({{5.0}, {6.0}}).cumsum(1), {2, 1}, {5, 6});
}

TEST(Scan, HalvesAddUpInFloat32) {
  const Tensor x = Tensor::full({3000}, 1.0, {.dtype = DType::float16}).contiguous();
  EXPECT_EQ(x.cumsum(0)[-1].item(), 3000) << "2048 + 1 is 2048 in float16";
}

TEST(Scan, NaNStaysFromWhereItStands) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> got = Tensor(std::vector<float>{1, nan, 2}).cumsum(0).to_vector<float>();
  EXPECT_EQ(got[0], 1);
  EXPECT_TRUE(std::isnan(got[1]) && std::isnan(got[2]));
}

TEST(Scan, ProductsAndTheirGradients) {
  Tensor x = Tensor(std::vector<float>{2, 3, 0, 4}).requires_grad_();
  expect_values(x.cumprod(0), {4}, {2, 6, 0, 0});
  x.cumprod(0).sum().backward();
  expect_values(x.grad(), {4}, {1 + 3, 2, 6 + 6 * 4, 0});
}

// As PyTorch: of equal ones the last place, and from a NaN on NaN.
TEST(Scan, ExtremesAndWhereTheyStand) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto [values, places] = Tensor(std::vector<float>{1, 3, 2, 3, 0}).cummax(0);
  expect_values(values, {5}, {1, 3, 3, 3, 3});
  expect_values(places, {5}, {0, 1, 1, 3, 3});
  const auto [least, where] = Tensor({{3, 1}, {2, 5}}).cummin(0);
  expect_values(least, {2, 2}, {3, 1, 2, 1});
  expect_values(where, {2, 2}, {0, 0, 1, 0});
  expect_values(Tensor(std::vector<float>{1, nan, 7}).cummax(0).second, {3}, {0, 1, 1});
}

TEST(Scan, LogSumsOfExponentials) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> got = Tensor(std::vector<float>{-inf, 1000, 1000, -1000, inf, 1}).logcumsumexp(0).to_vector<float>();
  EXPECT_EQ(got[0], -inf);
  EXPECT_FLOAT_EQ(got[1], 1000);
  EXPECT_FLOAT_EQ(got[2], float(1000 + std::log(2.0)));
  EXPECT_FLOAT_EQ(got[3], float(1000 + std::log(2.0)));
  EXPECT_EQ(got[4], inf);
  EXPECT_EQ(got[5], inf);
  Tensor x = Tensor(std::vector<float>{0, 1}).requires_grad_();
  x.logcumsumexp(0)[1].backward();
  const double share = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(x.grad()[0].item(), share, 1e-6);
  EXPECT_NEAR(x.grad()[1].item(), 1 - share, 1e-6);
}

}  // namespace
}  // namespace whit
