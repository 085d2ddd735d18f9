#include <thread>

#include "ir/meaning.h"
#include "unit/tensor_values.h"

namespace whit {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / double(values.size());
}

double moment(const std::vector<double>& values, int power) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value, power);
  return sum / double(values.size());
}

TEST(TensorRandom, UniformNumbersAreTheWordsOfThreefry) {
  Tensor::manual_seed(7);
  const std::vector<double> found = Tensor::rand({5}).to_vector<double>();
  for (size_t i = 0; i < 5; ++i) {
    const uint64_t word = meaning::threefry2x32(i / 2, 7);
    EXPECT_EQ(found[i], double(uint32_t(word >> (i % 2 * 32)) >> 8) / (1 << 24));
  }
  // The five numbers have used three words.
  EXPECT_EQ(Tensor::rand({1}).to_vector<double>()[0], double(uint32_t(meaning::threefry2x32(3, 7)) >> 8) / (1 << 24));
}

TEST(TensorRandom, DrawsAreFixedWhenTheyAreMade) {
  Tensor::manual_seed(1);
  const Tensor a = Tensor::rand({4}), b = Tensor::rand({4});
  const std::vector<float> second = b.to_vector(), first = a.to_vector();
  EXPECT_NE(first, second);
  Tensor::manual_seed(1);
  EXPECT_EQ(Tensor::rand({4}).to_vector(), first);
  EXPECT_EQ(Tensor::rand({4}).to_vector(), second);
  EXPECT_EQ(a.to_vector(), first);
  Tensor::manual_seed(2);
  EXPECT_NE(Tensor::rand({4}).to_vector(), first);
  Tensor::manual_seed(UINT64_MAX);
  EXPECT_EQ(Tensor::rand({4}).numel(), 4);
}

TEST(TensorRandom, UniformStaysBelowOneInEveryType) {
  Tensor::manual_seed(3);
  for (const DType type : {DType::float16, DType::bfloat16, DType::float32, DType::float64, DType::float8_e4m3, DType::float8_e5m2}) {
    const Tensor drawn = Tensor::rand({2000}, {.dtype = type});
    EXPECT_EQ(drawn.dtype(), type);
    const std::vector<double> values = drawn.to_vector<double>();
    for (const double value : values) EXPECT_TRUE(value >= 0 && value < 1) << name(type) << " " << value;
    EXPECT_NEAR(mean_of(values), 0.5, 0.08) << name(type);
  }
  const std::vector<double> wide = Tensor::uniform({4000}, -3, 5).to_vector<double>();
  EXPECT_NEAR(mean_of(wide), 1, 0.2);
  EXPECT_NEAR(moment(wide, 2) - 1, 64.0 / 12, 0.5);
  expect_refused([] { Tensor::rand({2}, {.dtype = DType::int32}); }, ErrorKind::Type, {"rand", "int32", "randint"});
}

TEST(TensorRandom, NormalNumbers) {
  Tensor::manual_seed(4);
  for (const DType type : {DType::float32, DType::float64, DType::float16}) {
    const std::vector<double> values = Tensor::randn({20001}, {.dtype = type}).to_vector<double>();
    EXPECT_NEAR(mean_of(values), 0, 0.03) << name(type);
    EXPECT_NEAR(moment(values, 2), 1, 0.04) << name(type);
    EXPECT_NEAR(moment(values, 3), 0, 0.1) << name(type);
    EXPECT_NEAR(moment(values, 4), 3, 0.25) << name(type);
    for (const double value : values) ASSERT_TRUE(std::isfinite(value));
  }
  EXPECT_NEAR(mean_of(Tensor::normal({4000}, 10, 2).to_vector<double>()), 10, 0.15);
}

TEST(TensorRandom, Integers) {
  Tensor::manual_seed(5);
  std::vector<int> counts(7);
  for (const int value : Tensor::randint(-3, 4, {7000}).to_vector<int>()) {
    ASSERT_TRUE(value >= -3 && value < 4);
    ++counts[size_t(value + 3)];
  }
  double chi = 0;
  for (const int count : counts) chi += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi, 27);  // p = 1e-4 at 6 degrees of freedom
  EXPECT_EQ(Tensor::randint(0, 10, {2}).dtype(), DType::int32);
  for (const int64_t value : Tensor::randint(INT64_MIN, INT64_MAX, {10}, {.dtype = DType::int64}).to_vector<int64_t>())
    EXPECT_NE(value, INT64_MAX);
  expect_refused([] { Tensor::randint(3, 3, {2}); }, ErrorKind::Value, {"randint", "[3, 3)"});
  expect_refused([] { Tensor::randint(0, int64_t(1) << 40, {2}); }, ErrorKind::Value, {"randint", "int32", "wider"});
  expect_refused([] { Tensor::randint(-129, 3, {2}, {.dtype = DType::int8}); }, ErrorKind::Value, {"randint", "[-129, 3)", "int8"});
  expect_refused([] { Tensor::randint(-1, 3, {2}, {.dtype = DType::uint64}); }, ErrorKind::Value, {"randint", "uint64"});
  Tensor::randint(-128, 128, {2}, {.dtype = DType::int8});
  Tensor::randint(0, 256, {2}, {.dtype = DType::uint8});
  Tensor::randint(0, INT64_MAX, {2}, {.dtype = DType::uint64});
  expect_refused([] { Tensor::randint(0, 3, {2}, {.dtype = DType::float32}); }, ErrorKind::Type, {"randint"});
}

TEST(TensorRandom, Weights) {
  Tensor::manual_seed(6);
  const auto greatest = [](const Tensor& tensor) { return tensor.abs().max().item<double>(); };
  const double kaiming = std::sqrt(6 / ((1 + 1e-4) * 3 * 25)), glorot = std::sqrt(6.0 / (200 + 100));
  EXPECT_LE(greatest(Tensor::kaiming_uniform({32, 3, 5, 5})), kaiming);
  EXPECT_GT(greatest(Tensor::kaiming_uniform({32, 3, 5, 5})), 0.98 * kaiming);
  EXPECT_LE(greatest(Tensor::glorot_uniform({200, 100})), glorot);
  EXPECT_GT(greatest(Tensor::glorot_uniform({200, 100})), 0.98 * glorot);
}

TEST(TensorRandom, EmptyScalarAndHuge) {
  EXPECT_EQ(Tensor::rand({0, 3}).to_vector().size(), 0u);
  EXPECT_EQ(Tensor::randn({}).shape(), Sizes{});
  EXPECT_TRUE(std::isfinite(Tensor::randn({}).item()));
  const float before = Tensor::rand({1}).item();
  const Tensor huge = Tensor::rand({1 << 17, 1 << 17});
  EXPECT_EQ(huge.numel(), int64_t(1) << 34);
  EXPECT_NE(Tensor::rand({1}).item(), before);
}

TEST(TensorRandom, DropoutOnlyWhileTraining) {
  const Tensor x({1.0, 2.0, kInf});
  expect_values(x.dropout(0.5), {3}, {1, 2, kInf});
  for (const double p : {-0.1, 1.5, kNaN}) expect_refused([&] { x.dropout(p); }, ErrorKind::Value, {"dropout", "between 0 and 1"});
  const Train train;
  expect_values(x.dropout(0), {3}, {1, 2, kInf});
  expect_values(x.dropout(1), {3}, {0, 0, 0});
  Tensor::manual_seed(8);
  const std::vector<double> dropped = Tensor::ones({10000}).dropout(0.2).to_vector<double>();
  int zeros = 0;
  for (const double value : dropped) {
    EXPECT_TRUE(value == 0 || value == 1.25);
    zeros += value == 0;
  }
  EXPECT_NEAR(zeros, 2000, 200);
  {
    const Train off(false);
    EXPECT_FALSE(Train::on());
  }
  EXPECT_TRUE(Train::on());
  std::thread([] { EXPECT_FALSE(Train::on()); }).join();
}

}  // namespace
}  // namespace whit
