// Comparing tensors with numbers, and calls with the errors they should give.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>
#include <whit/whit.h>

namespace whit {

/// Numbers in [-1, 1) that other programs can make too: s = s·1664525 + 1013904223 mod 2³², (s >> 8) / 2²³ - 1.
inline std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(float(double(seed >> 8) / (1 << 23) - 1));
  }
  return values;
}

inline Tensor sample(const Sizes& shape, uint32_t seed) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return Tensor(numbers(count, seed), shape);
}

/// Exactly these values (NaN equals NaN) in this shape.
inline void expect_values(const Tensor& tensor, const Sizes& shape, const std::vector<double>& expected) {
  EXPECT_EQ(tensor.shape(), shape);
  const std::vector<double> found = tensor.to_vector<double>();
  ASSERT_EQ(found.size(), expected.size()) << tensor.str();
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(found[i]) && std::isnan(expected[i])) continue;
    EXPECT_EQ(found[i], expected[i]) << "element " << i << " of " << tensor.str();
  }
}

inline void expect_close(const Tensor& tensor, const Sizes& shape, const std::vector<double>& expected, double tolerance = 2e-6) {
  EXPECT_EQ(tensor.shape(), shape);
  const std::vector<double> found = tensor.to_vector<double>();
  ASSERT_EQ(found.size(), expected.size()) << tensor.str();
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(found[i]) && std::isnan(expected[i])) continue;
    const double bound = std::isfinite(expected[i]) ? tolerance * std::max(1.0, std::abs(expected[i])) : 0;
    if (found[i] == expected[i]) continue;
    EXPECT_NEAR(found[i], expected[i], bound) << "element " << i << " of " << tensor.str();
  }
}

/// The call throws a UserError of this kind whose message holds all these texts and names the line of the call: this one or, where the
/// call is written over several lines, one of the next three.
template <class CallIt>
void expect_refused(CallIt call, ErrorKind kind, std::initializer_list<std::string> texts, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  const auto site = [&](int below) { return std::string(file) + ":" + std::to_string(line + below); };
  try {
    call();
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_EQ(int(error.kind()), int(kind)) << site(0) << ": " << message;
    for (const std::string& text : texts)
      EXPECT_NE(message.find(text), std::string::npos) << site(0) << ": no \"" << text << "\" in: " << message;
    bool named = false;
    for (int below = 0; below < 4; ++below) named |= message.starts_with(site(below) + ": ");
    EXPECT_TRUE(named) << "the line isn't " << site(0) << " in: " << message;
    return;
  } catch (const std::exception& error) {
    ADD_FAILURE() << site(0) << ": not a UserError: " << error.what();
    return;
  }
  ADD_FAILURE() << site(0) << ": nothing was thrown";
}

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace whit
