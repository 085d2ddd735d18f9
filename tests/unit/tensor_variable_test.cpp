// Sizes that are Variables: each value gives what the number would give, from one plan and its kernels.
#include <functional>

#include "engine/device.h"
#include "engine/handle.h"
#include "ir/graph.h"
#include "unit/tensor_values.h"

namespace whit {
namespace {

constexpr int64_t kMost = 9;

std::vector<std::string> devices() {
  std::vector<std::string> names;
  for (const DeviceStatus& status : device_statuses())
    if (status.reason.empty() && status.name != "NULL") names.push_back(status.name);
  return names;
}

Tensor rows(const std::string& device) {
  std::vector<float> values;
  for (int i = 0; i < kMost * 4; ++i) values.push_back(float(i * 7 % 13) * 0.25f - 1);
  return Tensor(values, {kMost, 4}, {.device = device}).realize();
}

using Work = std::function<Tensor(const Tensor& x, const Size& n)>;

// Runs the work for several values on each device, with a Variable and with the number; then nothing more may be planned or compiled.
void check(const Work& work) {
  for (const std::string& device : devices()) {
    const Tensor x = rows(device), reference = rows("CPU:INTERP");
    const Variable n("n", 1, kMost);
    int64_t plans = 0, kernels = 0;
    for (const int64_t value : {int64_t(4), int64_t(1), kMost, int64_t(5), int64_t(8)}) {
      const Tensor result = work(x, n.bind(value));
      const std::vector<float> values = result.to_vector();
      if (value != 4) {
        EXPECT_EQ(counters().plans_built, plans) << device << " " << value;
        EXPECT_EQ(counters().kernels_compiled, kernels) << device << " " << value;
      }
      const Tensor same = work(reference, value);
      EXPECT_EQ(result.shape(), same.shape()) << device << " " << value;
      const std::vector<float> expected = same.to_vector();
      ASSERT_EQ(values.size(), expected.size()) << device << " " << value;
      for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-5) << device << " n=" << value << " [" << i << "]";
      if (value == 4) work(x, n.bind(value + 1)).to_vector();
      plans = counters().plans_built;
      kernels = counters().kernels_compiled;
      work(x, n.bind(2)).to_vector();
      EXPECT_EQ(counters().plans_built, plans) << device;
    }
  }
}

Tensor first(const Tensor& x, const Size& n) { return x.shrink({{0, n}, {0, 4}}); }

TEST(Variable, Elementwise) {
  check([](const Tensor& x, const Size& n) { return first(x, n) * 2 + 1; });
}
TEST(Variable, Broadcasting) {
  check([](const Tensor& x, const Size& n) { return first(x, n) + x.shrink({{2, 3}, {0, 4}}); });
  check([](const Tensor& x, const Size& n) { return x.shrink({{0, 1}, {0, 4}}).expand({n, 4}) + first(x, n); });
}
TEST(Variable, Made) {
  check([](const Tensor& x, const Size& n) { return Tensor::ones({n, 4}, {.device = x.device()}) * 3 + first(x, n); });
  check([](const Tensor& x, const Size& n) { return Tensor::zeros({2, n}, {.device = x.device()}) + x.shrink({{0, 2}, {0, 1}}); });
}
TEST(Variable, Reductions) {
  check([](const Tensor& x, const Size& n) { return first(x, n).sum(); });
  check([](const Tensor& x, const Size& n) { return first(x, n).max(0); });
  check([](const Tensor& x, const Size& n) { return first(x, n).mean(0); });
  check([](const Tensor& x, const Size& n) { return first(x, n).mean(1); });
  check([](const Tensor& x, const Size& n) { return first(x, n).sum(0, true) + first(x, n); });
}
TEST(Variable, Softmax) {
  check([](const Tensor& x, const Size& n) { return first(x, n).softmax(0); });
}
TEST(Variable, Moved) {
  check([](const Tensor& x, const Size& n) { return first(x, n).permute({1, 0}) * 2; });
  check([](const Tensor& x, const Size& n) { return first(x, n).flip({0, 1}) + 1; });
  check([](const Tensor& x, const Size& n) { return first(x, n).reshape({n, 2, 2}).permute({2, 0, 1}) + 1; });
  check([](const Tensor& x, const Size& n) { return first(x, n).T().reshape({2, -1, n}) + 1; });
  check([](const Tensor& x, const Size& n) { return x.shrink({{n - 1, n}, {1, 3}}) + 1; });
  check([](const Tensor& x, const Size& n) { return x.shrink({{n - 1, kMost}, {0, 4}}) * 2; });
}
TEST(Variable, Stored) {
  check([](const Tensor& x, const Size& n) {
    Tensor y = first(x, n).T().contiguous();
    y.realize();
    return (y + 1).realize().T() * y.reshape({2, 2, n}).sum({0, 1}).unsqueeze(1);
  });
}
TEST(Variable, MatrixProduct) {
  check([](const Tensor& x, const Size& n) { return first(x, n).matmul(x.shrink({{0, 4}, {0, 3}})); });
  check([](const Tensor& x, const Size& n) { return first(x, n).T().matmul(first(x, n)); });
}
TEST(Variable, CausalAttention) {
  check([](const Tensor& x, const Size& n) {
    const Tensor keys = first(x, n), scores = keys.matmul(keys.T());
    const Tensor mask = scores.ones_like().tril();
    return (mask > 0).where(scores, -1e9).softmax(-1).matmul(keys);
  });
}
TEST(Variable, Gradients) {
  check([](const Tensor& x, const Size& n) {
    Tensor leaf = x.clone().realize().requires_grad_();
    (first(leaf, n) * first(leaf, n)).mean().backward();
    return leaf.grad();
  });
}

TEST(Variable, ACacheIsFilledRowByRow) {
  for (const std::string& device : devices()) {
    const Variable at("at", 0, kMost - 1);
    const Tensor x = rows(device);
    const std::vector<float> all = x.to_vector();
    Tensor cache = Tensor::zeros({kMost, 4}, {.device = device}).clone().realize();
    int64_t plans = 0, kernels = 0;
    for (int64_t i = 0; i < kMost; ++i) {
      const Size now = at.bind(i);
      cache.shrink({{now, now + 1}, {0, 4}}).assign(x.shrink({{now, now + 1}, {0, 4}}) + 1);
      const Tensor seen = cache.shrink({{0, now + 1}, {0, 4}}).sum(0);
      const std::vector<float> sums = seen.to_vector();
      for (size_t k = 0; k < 4; ++k) {
        float expected = 0;
        for (int64_t row = 0; row <= i; ++row) expected += all[size_t(row) * 4 + k] + 1;
        EXPECT_NEAR(sums[k], expected, 1e-5) << device << " " << i;
      }
      if (i > 1) {
        EXPECT_EQ(counters().plans_built, plans) << device;
        EXPECT_EQ(counters().kernels_compiled, kernels) << device;
      }
      plans = counters().plans_built;
      kernels = counters().kernels_compiled;
    }
    expect_values(cache, {kMost, 4}, (x + 1).to_vector<double>());
  }
}

TEST(Variable, ShapesSayTheBoundSize) {
  const Variable n("n", 0, 5);
  const Tensor x = Tensor::arange(10).reshape({5, 2}).clone();
  const Tensor part = x.shrink({{0, n.bind(3)}, {0, 2}});
  EXPECT_EQ(part.shape(), (Sizes{3, 2}));
  EXPECT_EQ(part.numel(), 6);
  EXPECT_EQ(part.size(0).str(), "n=3");
  EXPECT_EQ(part.size(1).number(), 2);
  EXPECT_EQ((part + 1).to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(x.shrink({{0, n.bind(0)}, {0, 2}}).to_vector<int>(), std::vector<int>());
  const Size three = n.bind(3);
  EXPECT_EQ((three + 1 - three).number(), 1);
  EXPECT_EQ(x.shrink({{0, n}, {0, 2}}).size(0).str(), "n");
}

TEST(Variable, WhatHasNoValueYetHindersNoWrite) {
  const Variable n("n", 1, 5);
  Tensor x = Tensor::arange(5).clone().realize();
  const Tensor open = x.shrink({{0, n}}) * 2, held = x.shrink({{0, n.bind(2)}}) * 2;
  x += 10;
  expect_values(x, {5}, {10, 11, 12, 13, 14});
  expect_values(held, {2}, {0, 2});
  expect_refused([&] { open.to_vector<int>(); }, ErrorKind::Value, {"n", "bind"});
}

TEST(Variable, SeveralAtOnce) {
  const Variable n("n", 1, 5), m("m", 1, 6);
  const Tensor x = Tensor::arange(30).reshape({5, 6}).clone().realize();
  for (const auto& [a, b] : {std::pair{2, 3}, {5, 1}, {1, 6}, {5, 6}}) {
    const Size rows = n.bind(a), columns = m.bind(b);
    Tensor part = x.shrink({{0, rows}, {0, columns}});
    const Tensor same = x.shrink({{0, a}, {0, b}});
    expect_values(part + part.sum(1, true), {a, b}, (same + same.sum(1, true)).to_vector<double>());
    expect_values(part.T().contiguous() * 2, {b, a}, (same.T() * 2).to_vector<double>());
    part.assign(part + x.shrink({{5 - rows, 5}, {6 - columns, 6}}));
    expect_values(part, {a, b}, x.shrink({{0, a}, {0, b}}).to_vector<double>());
  }
}

TEST(Variable, ALoopHoldsConstantMemory) {
  const Variable n("n", 1, 5);
  const Tensor x = Tensor::arange(5).clone().realize();
  std::vector<size_t> nodes;
  for (int i = 0; i < 50; ++i) {
    (x.shrink({{0, n.bind(1 + i % 5)}}) + 1).sum().item<int>();
    nodes.push_back(TensorGraph::shared().size());
  }
  EXPECT_EQ(nodes[49], nodes[20]);
}

TEST(Variable, MistakesAreNamed) {
  const Variable n("n", 1, 5);
  const Tensor x = Tensor::arange(10).reshape({5, 2}).clone().realize();
  expect_refused([&] { n.bind(6); }, ErrorKind::Value, {"bind", "6", "n goes from 1 to 5"});
  expect_refused([&] { n.bind(0); }, ErrorKind::Value, {"0 is out of bounds"});
  expect_refused([] { Variable("n", -1, 5); }, ErrorKind::Value, {"Variable", "-1"});
  expect_refused([] { Variable("n", 6, 5); }, ErrorKind::Value, {"Variable", "6"});
  Tensor open = x.shrink({{0, n}, {0, 2}}) + 1;
  expect_refused([&] { open.realize(); }, ErrorKind::Value, {"realize", "n", "bind"});
  expect_refused([&] { open.to_vector<int>(); }, ErrorKind::Value, {"n", "bind"});
  expect_refused([&] { open.shape(); }, ErrorKind::Value, {"shape", "n"});
  expect_refused([&] { open.sum().item<int>(); }, ErrorKind::Value, {"n", "bind"});
  Tensor two = x.shrink({{0, n.bind(2)}, {0, 2}}).sum(), three = x.shrink({{0, n.bind(3)}, {0, 2}}).sum();
  expect_refused([&] { (two + three).item<int>(); }, ErrorKind::Value, {"n", "values 2 and 3"});
  EXPECT_EQ(two.item<int>() + three.item<int>(), 6 + 15);
  expect_refused([&] { x.shrink({{0, n.bind(2)}, {0, 2}}) + x.shrink({{0, n.bind(3)}, {0, 2}}); }, ErrorKind::Shape, {"n=2", "n=3"});
  expect_refused([&] { x.shrink({{0, n + 1}, {0, 2}}); }, ErrorKind::Index, {"shrink", "axis 0", "n"});
  expect_refused([&] { x.reshape({n.bind(5), 2}); }, ErrorKind::Shape, {"reshape", "n=5"});
  expect_refused([&] { x.shrink({{0, n.bind(3)}, {0, 2}})[0]; }, ErrorKind::Shape, {"n=3", "Variable"});
}

}  // namespace
}  // namespace whit
