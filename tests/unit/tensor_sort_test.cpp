// Sorting and scattering, on every device that computes.
#include <gtest/gtest.h>
#include <whit/whit.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tensor_values.h"

namespace whit {
namespace {

const float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

TEST(Sort, NaNIsGreatestAndEqualOnesStay) {
  for (const char* device : {"CPU:LLVM", "CPU:C", "CPU:INTERP"}) {
    const Tensor x = Tensor(std::vector<float>{3, kNaN, -1, 0, -0.0f, kInfinity, -kInfinity, 3}, {.device = device});
    const auto [values, places] = x.sort();
    expect_values(places, {8}, {6, 2, 3, 4, 0, 7, 5, 1});
    const std::vector<float> got = values.to_vector<float>();
    EXPECT_EQ(got[0], -kInfinity);
    EXPECT_TRUE(std::isnan(got[7]));
    expect_values(x.argsort(0, true), {8}, {1, 5, 0, 7, 3, 4, 2, 6});
  }
}

template <class Element>
void expect_stable_order(DType type, int64_t rows, int64_t size, double low, double high) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<Element> values;
  for (int64_t i = 0; i < rows * size; ++i) values.push_back(Element(draw(random)));
  const Tensor x = Tensor(values, {rows, size}).cast(type).contiguous();
  const std::vector<Element> kept = x.to_vector<Element>();
  for (const bool descending : {false, true}) {
    const auto [sorted, places] = x.sort(1, descending);
    const std::vector<Element> got = sorted.to_vector<Element>();
    const std::vector<int> order = places.to_vector<int>();
    for (int64_t row = 0; row < rows; ++row) {
      const Element* const elements = kept.data() + row * size;
      std::vector<int> wanted;
      for (int i = 0; i < int(size); ++i) wanted.push_back(i);
      std::ranges::stable_sort(wanted, [&](int a, int b) { return descending ? elements[a] > elements[b] : elements[a] < elements[b]; });
      for (int64_t i = 0; i < size; ++i) {
        ASSERT_EQ(order[size_t(row * size + i)], wanted[size_t(i)]) << name(type) << ", row " << row;
        ASSERT_EQ(got[size_t(row * size + i)], elements[wanted[size_t(i)]]) << name(type);
      }
    }
  }
}

TEST(Sort, IsStableInEveryType) {
  expect_stable_order<float>(DType::float32, 3, 5000, -2, 2);
  expect_stable_order<float>(DType::float16, 3, 700, -2, 2);
  expect_stable_order<double>(DType::float64, 2, 300, -1e300, 1e300);
  expect_stable_order<int>(DType::int32, 40, 33, -9, 9);
  expect_stable_order<int>(DType::int8, 4, 1000, -128, 127);
  expect_stable_order<int>(DType::uint16, 2, 1000, 0, 65535);
  expect_stable_order<int64_t>(DType::int64, 2, 5000, -1e18, 1e18);
  expect_stable_order<int>(DType::boolean, 2, 9, 0, 2);
}

TEST(Sort, AlongOtherAxesOfOneAndOfNothing) {
  const Tensor x = Tensor({{3, 1}, {2, 5}, {1, 4}});
  expect_values(x.sort(0).first, {3, 2}, {1, 1, 2, 4, 3, 5});
  expect_values(Tensor(7).sort().first, {}, {7});
  EXPECT_EQ(Tensor::zeros({0, 3}).sort(0).first.shape(), (Sizes{0, 3}));
  expect_values(Tensor({{5.0}, {6.0}}).argsort(1), {2, 1}, {0, 0});
}

TEST(Sort, GradientsGoWhereTheValuesCameFrom) {
  Tensor x = Tensor(std::vector<float>{3, 1, 2}).requires_grad_();
  (x.sort().first * Tensor(std::vector<float>{10, 20, 30})).sum().backward();
  expect_values(x.grad(), {3}, {30, 10, 20});
}

TEST(Sort, TopOnes) {
  const Tensor x = Tensor({{5.0, 1.0, 3.0}, {9.0, 2.0, 4.0}});
  const auto [values, places] = x.topk(2);
  expect_values(values, {2, 2}, {5, 3, 9, 4});
  expect_values(places, {2, 2}, {0, 2, 0, 2});
  expect_values(x.topk(1, 0, false).first, {1, 3}, {5, 1, 3});
  EXPECT_EQ(x.topk(0).first.shape(), (Sizes{2, 0}));
  EXPECT_THROW(x.topk(4), UserError);
}

TEST(Scatter, WritesAndAdds) {
  for (const char* device : {"CPU:LLVM", "CPU:C", "CPU:INTERP"}) {
    const Tensor base = Tensor::full({2, 4}, 1.0, {.device = device});
    const Tensor index = Tensor({{0, 2}, {3, 3}}, {.dtype = DType::int32, .device = device});
    const Tensor source = Tensor({{1.0, 2.0}, {3.0, 4.0}}, {.device = device});
    expect_values(base.scatter(1, index, source), {2, 4}, {1, 1, 2, 1, 1, 1, 1, 4});
    expect_values(base.scatter_add(1, index, source), {2, 4}, {2, 1, 3, 1, 1, 1, 1, 8});
    expect_values(base.scatter(1, index, 9), {2, 4}, {9, 1, 9, 1, 1, 1, 1, 9});
  }
}

// The index tells what is written: it may be smaller than the tensor and than the source. -1 is the last place, as in gather.
TEST(Scatter, SmallerIndicesAndPlacesOutside) {
  const Tensor base = Tensor::zeros({3, 3});
  expect_values(base.scatter(0, Tensor({{1, 2}}), Tensor({{5.0, 6.0, 7.0}, {8.0, 9.0, 1.0}})), {3, 3}, {0, 0, 0, 5, 0, 0, 0, 6, 0});
  expect_values(Tensor::zeros({3}).scatter(0, Tensor(std::vector<int>{-1, 3, -4}), 2), {3}, {0, 0, 2});
  EXPECT_THROW(base.scatter(0, Tensor(std::vector<int>{1}), base), UserError);
  EXPECT_THROW(base.scatter(2, Tensor({{1}}), base), UserError);
  EXPECT_THROW(base.scatter(0, Tensor({{1.5}}), base), UserError);
}

TEST(Scatter, Reductions) {
  const Tensor base = Tensor(std::vector<float>{1, 2, 3}), index = Tensor(std::vector<int>{0, 0, 2});
  const Tensor source = Tensor(std::vector<float>{4, 6, 5});
  const auto reduce = [&](const char* how, bool self) { return base.scatter_reduce(0, index, source, how, self); };
  expect_values(reduce("sum", true), {3}, {11, 2, 8});
  expect_values(reduce("sum", false), {3}, {10, 2, 5});
  expect_values(reduce("prod", true), {3}, {24, 2, 15});
  expect_values(reduce("prod", false), {3}, {24, 2, 5});
  expect_values(reduce("amax", false), {3}, {6, 2, 5});
  expect_values(reduce("amin", true), {3}, {1, 2, 3});
  expect_values(reduce("mean", false), {3}, {5, 2, 5});
  expect_close(reduce("mean", true), {3}, {11 / 3.0, 2, 4});
  EXPECT_THROW(reduce("median", true), UserError);
}

TEST(Scatter, GradientsOfReductions) {
  const Tensor index = Tensor(std::vector<int>{0, 0, 1});
  const auto slopes = [&](const char* how, std::vector<float> old, std::vector<float> given) {
    Tensor base = Tensor(old).requires_grad_(), source = Tensor(given).requires_grad_();
    base.scatter_reduce(0, index, source, how).sum().backward();
    return std::pair(base.grad(), source.grad());
  };
  const auto [sum_base, sum_source] = slopes("sum", {1, 2}, {3, 4, 5});
  expect_values(sum_base, {2}, {1, 1});
  expect_values(sum_source, {3}, {1, 1, 1});
  const auto [max_base, max_source] = slopes("amax", {4, 2}, {4, 1, 5});
  expect_values(max_base, {2}, {0.5, 0});
  expect_values(max_source, {3}, {0.5, 0, 1});
  const auto [product_base, product_source] = slopes("prod", {2, 0}, {3, 5, 7});
  expect_values(product_base, {2}, {15, 7});
  expect_values(product_source, {3}, {10, 6, 0});
}

TEST(Scatter, SlicesByOneIndexEach) {
  const Tensor rows = Tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  expect_values(Tensor::zeros({2, 2}).index_add(0, Tensor(std::vector<int>{1, 0, 1}), rows), {2, 2}, {3, 4, 6, 8});
  EXPECT_THROW(Tensor::zeros({2, 2}).index_add(0, Tensor(std::vector<int>{1, 0}), rows), UserError);
}

}  // namespace
}  // namespace whit
