// Numbers for tests of layers and optimizers that another program can make too, and comparison with what NumPy computed from them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <whit/nn.h>

namespace whit {

/// Numbers in [-1, 1) from a linear congruential generator: s = s·1664525 + 1013904223 mod 2³², (s >> 8) / 2²³ - 1.
inline Tensor lcg(const Sizes& shape, uint32_t seed) {
  std::vector<float> values;
  size_t count = 1;
  for (const int64_t size : shape) count *= size_t(size);
  while (values.size() < count) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(float(double(seed >> 8) / (1 << 23) - 1));
  }
  return Tensor(std::move(values), shape);
}

inline void expect_near(const Tensor& tensor, const std::vector<double>& expected, double tolerance = 2e-5) {
  const std::vector<double> found = tensor.to_vector<double>();
  ASSERT_EQ(found.size(), expected.size()) << tensor.str();
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
}

}  // namespace whit
