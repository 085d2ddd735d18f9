// Long loops that the lanes do not divide are cut into blocks; folds before them have ranges of their own, whatever those were cut into.
#include <gtest/gtest.h>
#include <whit/whit.h>

#include <cmath>

namespace whit {
namespace {

void expect_standardised(const char* device, Sizes shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  std::vector<float> values;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(float(i * 7919 % 1000) / 1000);
    sum += double(values.back());
  }
  const double mean = sum / double(count);
  for (const float value : values) squares += (double(value) - mean) * (double(value) - mean);
  const double deviation = std::sqrt(squares / double(count - 1));
  const Tensor x = Tensor(values, shape, {.device = device});
  const std::vector<float> got = ((x - x.mean()) / x.std()).to_vector<float>();
  ASSERT_EQ(int64_t(got.size()), count);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_NEAR(got[size_t(i)], (double(values[size_t(i)]) - mean) / deviation, 1e-5) << device << ", element " << i << " of " << count;
}

TEST(Blocks, KeepApartFromTheFoldsBeforeThem) {
  for (const char* device : {"CPU:LLVM", "CPU:INTERP"})
    for (const Sizes& shape : {Sizes{700, 300}, Sizes{99991}, Sizes{3, 33331}, Sizes{123, 457}, Sizes{4097}})
      expect_standardised(device, shape);
}

}  // namespace
}  // namespace whit
