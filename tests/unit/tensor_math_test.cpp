// The composed functions of real numbers against the C library.
#include <bit>
#include <functional>

#include "unit/tensor_values.h"

namespace whit {
namespace {

// Distance in representable float32 numbers.
int64_t steps_between(float a, float b) {
  const auto place = [](float x) {
    const int32_t bits = std::bit_cast<int32_t>(x);
    return bits < 0 ? int64_t(INT32_MIN) - bits : int64_t(bits);
  };
  return std::abs(place(a) - place(b));
}

struct Function {
  const char* name;
  Tensor (*composed)(const Tensor&);
  double (*exact)(double);
  double low, high;  // where it is defined
  int64_t float32_steps;
  double float64_error;  // relative
};

const Function kFunctions[] = {
    {"tanh", [](const Tensor& x) { return x.tanh(); }, std::tanh, -20, 20, 4, 1e-14},
    {"sinh", [](const Tensor& x) { return x.sinh(); }, std::sinh, -80, 80, 6, 1e-13},
    {"cosh", [](const Tensor& x) { return x.cosh(); }, std::cosh, -80, 80, 4, 1e-13},
    {"expm1", [](const Tensor& x) { return x.expm1(); }, std::expm1, -30, 80, 6, 1e-13},
    {"log1p", [](const Tensor& x) { return x.log1p(); }, std::log1p, -0.999, 1e6, 4, 1e-14},
    {"log10", [](const Tensor& x) { return x.log10(); }, std::log10, 1.5, 1e6, 3, 1e-14},
    {"tan", [](const Tensor& x) { return x.tan(); }, std::tan, -1.5, 1.5, 4, 1e-14},
    {"asin", [](const Tensor& x) { return x.asin(); }, std::asin, -1, 1, 4, 1e-14},
    {"acos", [](const Tensor& x) { return x.acos(); }, std::acos, -0.999, 0.999, 4, 1e-14},
    {"atan", [](const Tensor& x) { return x.atan(); }, std::atan, -1e4, 1e4, 3, 1e-14},
    {"asinh", [](const Tensor& x) { return x.asinh(); }, std::asinh, -1e5, 1e5, 4, 1e-14},
    {"acosh", [](const Tensor& x) { return x.acosh(); }, std::acosh, 1, 1e5, 5, 1e-14},
    {"atanh", [](const Tensor& x) { return x.atanh(); }, std::atanh, -0.999, 0.999, 5, 1e-14},
    {"erf", [](const Tensor& x) { return x.erf(); }, std::erf, -6, 6, 5, 1e-14},
    {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 4, 1e-14},
    {"softplus", [](const Tensor& x) { return softplus(x); },
     [](double x) { return std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0); }, -80, 80, 6, 1e-13},
};

// Points all over the range, and near 0 where it is within.
template <class Real>
std::vector<Real> points(double low, double high) {
  std::vector<Real> result;
  for (int i = 0; i <= 2000; ++i) {
    const double place = low + (high - low) * i / 2000, small = place * std::pow(2.0, -i % 24);
    result.push_back(Real(place));
    if (small >= low && small <= high) result.push_back(Real(small));
  }
  return result;
}

TEST(TensorMath, Float32WithinAFewUnits) {
  for (const Function& f : kFunctions) {
    const std::vector<float> x = points<float>(f.low, f.high), found = f.composed(Tensor(x)).to_vector<float>();
    int64_t worst = 0;
    float where = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (const int64_t steps = steps_between(found[i], float(f.exact(double(x[i])))); steps > worst) {
        worst = steps;
        where = x[i];
      }
    EXPECT_LE(worst, f.float32_steps) << f.name << " at " << where;
  }
}

TEST(TensorMath, Float64ToNearlyFullPrecision) {
  for (const Function& f : kFunctions) {
    const std::vector<double> x = points<double>(f.low, f.high), found = f.composed(Tensor(x)).to_vector<double>();
    double worst = 0, where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = f.exact(x[i]), error = exact == found[i] ? 0 : std::abs(found[i] - exact) / std::max(std::abs(exact), 1e-300);
      if (!(error <= worst)) {
        worst = error;
        where = x[i];
      }
    }
    EXPECT_LE(worst, f.float64_error) << f.name << " at " << where;
  }
}

TEST(TensorMath, Limits) {
  const Tensor x({-kInf, kInf, kNaN});
  expect_values(x.tanh(), {3}, {-1, 1, kNaN});
  expect_values(x.erf(), {3}, {-1, 1, kNaN});
  expect_values(x.sinh(), {3}, {-kInf, kInf, kNaN});
  expect_values(x.cosh(), {3}, {kInf, kInf, kNaN});
  expect_values(x.expm1(), {3}, {-1, kInf, kNaN});
  expect_values(x.log1p(), {3}, {kNaN, kInf, kNaN});
  expect_close(x.atan(), {3}, {-1.5707963268, 1.5707963268, kNaN}, 1e-7);
  expect_values(x.asinh(), {3}, {-kInf, kInf, kNaN});
  expect_values(Tensor({0.5, kInf}).acosh(), {2}, {kNaN, kInf});
  expect_values(Tensor({-1.0, 1.0, 2.0}).atanh(), {3}, {-kInf, kInf, kNaN});
  expect_close(Tensor({-1.0, 1.0, 2.0}).asin(), {3}, {-1.5707963268, 1.5707963268, kNaN}, 1e-7);
  expect_close(Tensor({-1.0, 1.0, 2.0}).acos(), {3}, {3.1415926536, 0, kNaN}, 1e-7);
  expect_values(Tensor({0.0, -1.0}).rsqrt(), {2}, {kInf, kNaN});
  expect_values(Tensor({-1.0, 0.0}).log1p(), {2}, {-kInf, 0});
}

TEST(TensorMath, RoundingAndSigns) {
  const Tensor x({0.5, 1.5, 2.5, -0.5, -1.5, 3.4999998, -2.7, 0.49999997, 8388609.0, -kInf});
  expect_values(x.round(), {10}, {0, 2, 2, 0, -2, 3, -3, 0, 8388609, -kInf});
  expect_values(x.floor(), {10}, {0, 1, 2, -1, -2, 3, -3, 0, 8388609, -kInf});
  expect_values(x.ceil(), {10}, {1, 2, 3, 0, -1, 4, -2, 1, 8388609, -kInf});
  expect_values(x.trunc(), {10}, {0, 1, 2, 0, -1, 3, -2, 0, 8388609, -kInf});
  EXPECT_TRUE(std::signbit(Tensor(-0.5).round().item()));
  expect_values(Tensor({kNaN}).round(), {1}, {kNaN});
  expect_values(Tensor({2.5}, {.dtype = DType::bfloat16}).round(), {1}, {2});
  expect_values(Tensor({-2.0, 0.0, 3.0, kNaN}).sign(), {4}, {-1, 0, 1, kNaN});
  expect_values(Tensor({-2, 0, 3}).sign(), {3}, {-1, 0, 1});
  EXPECT_EQ(Tensor(std::vector<uint64_t>{0xa11cc311cb6acd70, 0}).sign().to_vector<uint64_t>(), (std::vector<uint64_t>{1, 0}));
  expect_values(Tensor({-2.0, -0.0, 0.0, -kInf}).abs(), {4}, {2, 0, 0, kInf});
  for (const float zero : Tensor({-0.0, 0.0}).abs().to_vector()) EXPECT_FALSE(std::signbit(zero));
  expect_values(copysign(Tensor({1.0, -2.0, 3.0}), Tensor({-0.0, 5.0, -1.0})), {3}, {-1, 2, -3});
}

TEST(TensorMath, Kinds) {
  const Tensor x({1.0, kInf, -kInf, kNaN});
  expect_values(x.isnan(), {4}, {0, 0, 0, 1});
  expect_values(x.isinf(), {4}, {0, 1, 1, 0});
  expect_values(x.isfinite(), {4}, {1, 0, 0, 0});
  expect_values(Tensor({1}).isinf(), {1}, {0});
  expect_values(isclose(Tensor({1.0, 1.000001, 1.1, kInf, kNaN}), Tensor({1.0, 1.0, 1.0, kInf, kNaN})), {5}, {1, 1, 0, 1, 0});
  expect_values(isclose(Tensor({kNaN}), Tensor({kNaN}), 1e-5, 1e-8, true), {1}, {1});
}

}  // namespace
}  // namespace whit
