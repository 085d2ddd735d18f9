#include "unit/tensor_values.h"

namespace whit {
namespace {

TEST(TensorAutograd, BackwardFillsTheLeaves) {
  Tensor x({1.0, 2.0, -1.5});
  Tensor z = (x * x + 1).log();
  EXPECT_FALSE(x.has_grad());
  Tensor loss = z.sum();
  EXPECT_EQ(&loss.backward(), &loss);
  expect_close(x.grad(), {3}, {1, 0.8, -0.923076923});
  EXPECT_FALSE(z.has_grad());
  EXPECT_FALSE(loss.has_grad());
  z.sum().backward();  // adds up
  expect_close(x.grad(), {3}, {2, 1.6, -1.846153846});
  x.zero_grad();
  EXPECT_FALSE(x.has_grad());
  expect_refused([&] { x.grad(); }, ErrorKind::Value, {"grad", "backward()"});
}

TEST(TensorAutograd, RequiredOnesComeFirstAndFalseOnesNever) {
  Tensor a({2.0}), b({3.0}), c({4.0});
  b.requires_grad_();
  c.requires_grad_(false);
  EXPECT_EQ(a.requires_grad(), std::nullopt);
  EXPECT_EQ(b.requires_grad(), true);
  EXPECT_EQ(c.requires_grad(), false);
  (a * b * c).sum().backward();
  EXPECT_FALSE(a.has_grad());
  EXPECT_FALSE(c.has_grad());
  expect_values(b.grad(), {1}, {8});
  b.requires_grad_(std::nullopt);
  b.zero_grad();
  (a * b * c).sum().backward();
  expect_values(a.grad(), {1}, {12});
  EXPECT_TRUE(b.has_grad());
  EXPECT_FALSE(c.has_grad());
}

TEST(TensorAutograd, NonScalarsNeedAGradient) {
  Tensor x({1.0, 2.0});
  Tensor y = x * 3;
  expect_refused([&] { y.backward(); }, ErrorKind::Shape, {"backward", "(2,)", "sum()"});
  expect_refused([&] { y.backward(Tensor({1.0})); }, ErrorKind::Shape, {"(1,)", "(2,)"});
  y.backward(Tensor({1.0, 10.0}));
  expect_values(x.grad(), {2}, {3, 30});
  x.zero_grad();
  (x * 2)[{Slice{0, 1}}].backward();
  expect_values(x.grad(), {2}, {2, 0});
}

TEST(TensorAutograd, ReachingNoLeafIsAnError) {
  Tensor x({1.0});
  expect_refused([&] { x.detach().sum().backward(); }, ErrorKind::Value, {"backward", "detached"});
  expect_refused([&] { (Tensor({1, 2}).sum()).backward(); }, ErrorKind::Type, {"backward", "int32"});
  expect_refused([&] { Tensor({1.0}).requires_grad_(false).sum().backward(); }, ErrorKind::Value, {"backward"});
  const Tensor drawn = Tensor::rand({3}).requires_grad_(false), loss = (drawn * 2.0).sum();  // without storage, as the loss is
  expect_refused([&] { Tensor(loss).backward(); }, ErrorKind::Value, {"backward"});
  EXPECT_FALSE(loss.has_grad());
  expect_refused([&] { (x > 0).cast(DType::float32).sum().backward(); }, ErrorKind::Value, {"backward"});
  expect_refused([] { Tensor({1}).requires_grad_(); }, ErrorKind::Type, {"requires_grad_", "int32"});
}

TEST(TensorAutograd, EqualConstantsHaveGradientsOfTheirOwn) {
  Tensor a(2.0), b(2.0);
  (a * b * b).backward();
  EXPECT_EQ(a.grad().item(), 4);
  EXPECT_EQ(b.grad().item(), 8);
  Tensor w = Tensor::zeros({2}).requires_grad_(), v = Tensor::zeros({2}).requires_grad_();
  (w * 3 + v * 5).sum().backward();
  expect_values(w.grad(), {2}, {3, 3});
  expect_values(v.grad(), {2}, {5, 5});
  const Tensor p = Tensor::ones({2}), q = Tensor::ones({2});
  expect_refused([&] { (p * q).sum().backward(); }, ErrorKind::Value, {"2 tensors", "requires_grad_"});
  const Tensor only = Tensor::ones({3});
  (only * only).sum().backward();
  expect_values(only.grad(), {3}, {2, 2, 2});
}

TEST(TensorAutograd, GradientCanBeTakenTwice) {
  Tensor x({1.0, 2.0});
  const Tensor first = (x * x * x).sum().gradient({x})[0];
  expect_close(first, {2}, {3, 12});
  expect_close(first.sum().gradient({x})[0], {2}, {6, 12});
  EXPECT_FALSE(x.has_grad());
  expect_refused([&] { x.sum().gradient({Tensor({1.0})}); }, ErrorKind::Value, {"gradient", "target 0"});
  expect_refused([&] { x.sum().gradient({Tensor({1})}); }, ErrorKind::Type, {"gradient", "int32"});
}

TEST(TensorAutograd, ReadingOnTheWayChangesNothing) {
  Tensor x({{1.0, 2.0}}), w({{3.0}, {4.0}}), v({{5.0}});
  const Tensor hidden = x.matmul(w);
  EXPECT_EQ(hidden.item(), 11);
  const Tensor y = hidden.matmul(v);
  EXPECT_EQ(y.item(), 55);
  EXPECT_NE(hidden.str().find("11."), std::string::npos);
  y.sum().backward();
  expect_values(x.grad(), {1, 2}, {15, 20});
  expect_values(w.grad(), {2, 1}, {5, 10});
  expect_values(v.grad(), {1, 1}, {11});
}

TEST(TensorAutograd, ATemporaryUnderAViewIsNoLeaf) {
  Tensor w = Tensor({1.0, 2.0, 3.0, 4.0}).reshape({2, 2});
  (w * w).sum().backward();
  expect_values(w.grad(), {2, 2}, {2, 4, 6, 8});
}

TEST(TensorAutograd, ThroughWrites) {
  Tensor base = Tensor::ones({2, 5}), v({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}), w({{1.0, -2.0, 3.0, -4.0, 5.0}, {0.5, 1.5, 2.5, 3.5, 4.5}});
  base = base.clone();
  Tensor t = base.clone();
  t[{Slice{}, Slice{None, None, 2}}] = v;
  const std::vector<Tensor> found = (t * w).sum().gradient({v, base});
  expect_values(t, {2, 5}, {1, 1, 2, 1, 3, 4, 1, 5, 1, 6});
  expect_values(found[0], {2, 3}, {1, 3, 5, 0.5, 2.5, 4.5});
  expect_values(found[1], {2, 5}, {0, -2, 0, -4, 0, 0, 1.5, 0, 3.5, 0});
}

TEST(TensorAutograd, GradientsAtSpecialPlaces) {
  const auto slope = [](Tensor (*f)(const Tensor&), std::initializer_list<NestedList> places) {
    Tensor x(places);
    return f(x).sum().gradient({x})[0];
  };
  expect_values(slope([](const Tensor& x) { return x.relu(); }, {-1.0, 0.0, 2.0}), {3}, {0, 0, 1});
  expect_values(slope([](const Tensor& x) { return x.abs(); }, {-1.0, 0.0, 2.0}), {3}, {-1, 0, 1});
  expect_values(slope([](const Tensor& x) { return x.sqrt(); }, {0.0, 4.0}), {2}, {kInf, 0.25});
  expect_values(slope([](const Tensor& x) { return x.pow(0); }, {0.0, 2.0}), {2}, {0, 0});
  expect_close(slope([](const Tensor& x) { return x.pow(0.3); }, {1.0, 2.0}), {2}, {0.3, 0.18467167}, 1e-6);
  expect_close(slope([](const Tensor& x) { return x.pow(-1); }, {1.0, 2.0}), {2}, {-1, -0.25});
  // Functions made of two forms: both sides of the seam, and where an exponential would overflow.
  expect_close(slope([](const Tensor& x) { return x.sigmoid(); }, {-200.0, -1.0, 0.0, 1.0, 200.0}), {5},
               {0, 0.196611933, 0.25, 0.196611933, 0}, 1e-6);
  expect_close(slope([](const Tensor& x) { return x.tanh(); }, {-100.0, -0.7, -0.5, 0.0, 0.3, 1.0, 100.0}), {7},
               {0, 0.634739590, 0.786447733, 1, 0.915137, 0.419974342, 0}, 2e-6);
  expect_close(slope([](const Tensor& x) { return softplus(x); }, {-200.0, 0.0, 200.0}), {3}, {0, 0.5, 1}, 1e-6);
  expect_close(slope([](const Tensor& x) { return x.gelu(); }, {-30.0, -1.0, 0.0, 1.0, 30.0}), {5}, {0, -0.0833154706, 0.5, 1.08331547, 1},
               2e-6);
  expect_close(slope([](const Tensor& x) { return x.silu(); }, {-200.0, 0.0, 1.0, 200.0}), {4}, {0, 0.5, 0.927670512, 1}, 2e-6);
  expect_close(slope([](const Tensor& x) { return x.log1p(); }, {0.0, 1e-5, 1.0}), {3}, {1, 0.99999, 0.5}, 2e-6);
  expect_close(slope([](const Tensor& x) { return x.atan(); }, {-3.0, 0.0, 0.5, 1.0, 1e6}), {5}, {0.1, 1, 0.8, 0.5, 1e-12}, 2e-6);
  expect_close(slope(
                   [](const Tensor& x) {
                     return x.binary_crossentropy_logits(Tensor({0.0, 1.0, 1.0}), Reduction::sum);
                   },
                   {0.0, 0.0, -300.0}),
               {3}, {0.5, -0.5, -1}, 1e-6);
  expect_values(slope([](const Tensor& x) { return Tensor({true, false}).where((x + 1).square(), 999.0); }, {0.0, 1.0}), {2}, {2, 0});
  expect_values(slope([](const Tensor& x) { return x.max(); }, {1.0, 3.0, 2.0}), {3}, {0, 1, 0});
}

// d(sum of f)/dx against differences, in float64.
void expect_differences(const std::vector<double>& start, const Sizes& shape, Tensor (*f)(const Tensor&), const char* what) {
  const Tensor weights = Tensor(std::vector<double>{0.3, -0.7, 1.1, 0.9, -0.2});
  const auto value = [&](const Tensor& x) {
    const Tensor y = f(x).flatten();
    return (y * (Tensor::arange(y.numel(), {.dtype = DType::float64}) * 0.37 + 0.3).sin()).sum();
  };
  const Tensor x(start, shape);
  const std::vector<double> found = value(x).gradient({x})[0].to_vector<double>();
  for (size_t i = 0; i < start.size(); ++i) {
    std::vector<double> up = start, down = start;
    up[i] += 1e-6;
    down[i] -= 1e-6;
    const double expected = (value(Tensor(up, shape)).item<double>() - value(Tensor(down, shape)).item<double>()) / 2e-6;
    EXPECT_NEAR(found[i], expected, 1e-6 * std::max(1.0, std::abs(expected))) << what << " at " << i;
  }
}

std::vector<double> wide(int64_t count, uint32_t seed) {
  const std::vector<float> values = numbers(count, seed);
  return std::vector<double>(values.begin(), values.end());
}

TEST(TensorAutograd, AgreesWithDifferences) {
  struct {
    const char* name;
    Sizes shape;
    Tensor (*f)(const Tensor&);
  } cases[] = {
      {"softmax", {2, 3}, [](const Tensor& x) { return x.softmax(); }},
      {"log_softmax", {2, 3}, [](const Tensor& x) { return x.log_softmax(0); }},
      {"logsumexp", {2, 3}, [](const Tensor& x) { return x.logsumexp(1); }},
      {"layernorm", {2, 3}, [](const Tensor& x) { return x.layernorm(); }},
      {"var", {2, 3}, [](const Tensor& x) { return x.var(0); }},
      {"std", {2, 3}, [](const Tensor& x) { return x.std(); }},
      {"prod", {2, 3}, [](const Tensor& x) { return x.prod(1); }},
      {"cumsum", {2, 3}, [](const Tensor& x) { return x.cumsum(1); }},
      {"cat",
       {2, 3},
       [](const Tensor& x) {
         return Tensor::cat({x, x * 2, x[{Slice{0, 1}}]});
       }},
      {"matmul", {2, 3}, [](const Tensor& x) { return x.matmul(x.T() * x.T()); }},
      {"slices",
       {6},
       [](const Tensor& x) {
         return x[Slice{None, None, -2}].square();
       }},
      {"gather",
       {6},
       [](const Tensor& x) {
         return x[Tensor({0, 5, 5, -1, 9})].exp();
       }},
      {"pad",
       {2, 3},
       [](const Tensor& x) {
         return x.pad({{1, 0}, {0, 2}}, 3.0).square();
       }},
      {"conv2d",
       {1, 2, 3, 3},
       [](const Tensor& x) {
         return x.conv2d(x[{Slice{}, Slice{}, Slice{0, 2}, Slice{0, 2}}] * 2, {}, {.stride = 2, .padding = 1});
       }},
      {"conv_transpose2d",
       {1, 2, 2, 2},
       [](const Tensor& x) {
         return x.conv_transpose2d(x.permute({1, 0, 2, 3}).square(), {}, {.stride = 2});
       }},
      {"max_pool2d", {1, 1, 4, 4}, [](const Tensor& x) { return x.max_pool2d(2, {.stride = 1}); }},
      {"avg_pool2d", {1, 1, 4, 4}, [](const Tensor& x) { return x.avg_pool2d(3, {.padding = 1, .count_include_pad = false}); }},
      {"cross_entropy",
       {3, 4},
       [](const Tensor& x) {
         return x.cross_entropy(Tensor({2, 0, 3}), Reduction::mean, 0.1);
       }},
      {"erf", {5}, [](const Tensor& x) { return (x * 3).erf(); }},
      {"gelu", {5}, [](const Tensor& x) { return (x * 3).gelu(true); }},
      {"mish", {5}, [](const Tensor& x) { return mish(x * 3); }},
      {"sinh", {5}, [](const Tensor& x) { return (x * 3).sinh() + x.asinh() + x.atanh() + (2 + x).acosh(); }},
      {"asin", {5}, [](const Tensor& x) { return x.asin() + x.acos() + x.tan() + (2 + x).log10(); }},
      {"mod", {5}, [](const Tensor& x) { return (x * 10) % 3 + x.fmod(0.4); }},
  };
  for (const auto& c : cases) {
    int64_t count = 1;
    for (const int64_t size : c.shape) count *= size;
    expect_differences(wide(count, 31), c.shape, c.f, c.name);
  }
}

}  // namespace
}  // namespace whit
