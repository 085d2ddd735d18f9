// Optimizers against trajectories that NumPy computed from PyTorch's formulas, and what they must not do: compile anew, lose track.
#include <functional>

#include "engine/handle.h"
#include "unit/nn_values.h"

namespace whit {
namespace {

struct Problem {
  Tensor scale = (lcg({3}, 22) + 1.5).realize(), target = lcg({3}, 23), point = (lcg({3}, 24) * 2).realize();

  Tensor loss() const { return (scale * (point - target).square()).sum(); }
  void step(nn::Optimizer& optimizer) const {
    optimizer.zero_grad();
    loss().backward();
    optimizer.step();
  }
};

TEST(Optim, SGD) {
  const auto run = [](nn::SGDOptions options) {
    const Problem problem;
    nn::SGD optimizer({problem.point}, options);
    for (int i = 0; i < 4; ++i) problem.step(optimizer);
    return problem.point;
  };
  expect_near(run({.learning_rate = 0.05}), {-0.8452607, -0.211205, -0.2669926});
  expect_near(run({.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.1}), {-0.5929484, -0.2450262, 0.6203362});
  expect_near(run({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}), {-0.5612632, -0.2645775, 0.5594757});
  EXPECT_THROW(run({.nesterov = true}), UserError);
}

TEST(Optim, Adam) {
  const auto run = [](auto make) {
    const Problem problem;
    const auto optimizer = make(std::vector<Tensor>{problem.point});
    for (int i = 0; i < 4; ++i) problem.step(*optimizer);
    return problem.point;
  };
  expect_near(run([](auto tensors) { return std::make_unique<nn::Adam>(tensors, nn::AdamOptions{.learning_rate = 0.1}); }),
              {-0.6310263, -0.3087813, -0.5931716});
  expect_near(
      run([](auto tensors) { return std::make_unique<nn::Adam>(tensors, nn::AdamOptions{.learning_rate = 0.1, .weight_decay = 0.2}); }),
      {-0.6291074, -0.2475292, -0.5931965});
  expect_near(
      run([](auto tensors) { return std::make_unique<nn::AdamW>(tensors, nn::AdamWOptions{.learning_rate = 0.1, .weight_decay = 0.2}); }),
      {-0.5687634, -0.3003612, -0.5290652});
}

TEST(Optim, EveryStepHasThePlanOfTheFirst) {
  const Problem problem;
  nn::AdamW optimizer({problem.point}, {.learning_rate = 0.1, .weight_decay = 0});
  problem.step(optimizer);
  const Counters before = counters();
  for (int i = 2; i <= 4; ++i) {
    optimizer.learning_rate = 0.1 / i;
    problem.step(optimizer);
  }
  EXPECT_EQ(counters().plans_built, before.plans_built);
  EXPECT_EQ(counters().kernels_compiled, before.kernels_compiled);
  expect_near(problem.point, {-0.8123485, -0.3125191, -0.7821832});
}

TEST(Optim, WhatTheStepIsAskedForComesWithIt) {
  const Problem problem;
  nn::SGD optimizer({problem.point}, {.learning_rate = 0.05});
  Tensor loss = problem.loss();
  const double first = problem.loss().item<double>();
  loss.backward();
  optimizer.step({loss});
  EXPECT_TRUE(loss.is_realized());
  EXPECT_NEAR(loss.item<double>(), first, 1e-6);  // of the parameters before the step
  EXPECT_LT(problem.loss().item<double>(), first);
}

TEST(Optim, Parameters) {
  const Problem problem;
  Tensor frozen = lcg({2}, 1), number = Tensor{1, 2}, idle = lcg({2}, 2);
  frozen.requires_grad_(false);
  nn::SGD optimizer({problem.point, frozen, number, idle, problem.point}, {.learning_rate = 0.05});
  EXPECT_EQ(optimizer.parameters().size(), 2u);  // the twin counts once
  EXPECT_EQ(problem.point.requires_grad(), true);
  EXPECT_EQ(frozen.requires_grad(), false);
  const std::vector<float> before = idle.to_vector();
  problem.step(optimizer);  // `idle` has no gradient and stays
  EXPECT_EQ(idle.to_vector(), before);
  optimizer.zero_grad();
  EXPECT_FALSE(problem.point.has_grad());
  EXPECT_THROW(nn::SGD({}), UserError);
  EXPECT_THROW(nn::SGD({number}), UserError);
  EXPECT_THROW(nn::SGD({Tensor()}), UserError);
}

TEST(Optim, NarrowAndWideParameters) {
  for (const DType type : {DType::float16, DType::bfloat16, DType::float64}) {
    const Tensor point = (lcg({3}, 24) * 2).cast(type).realize();
    const Problem like;
    nn::Adam optimizer({point}, {.learning_rate = 0.1});
    for (int i = 0; i < 4; ++i) {
      optimizer.zero_grad();
      (like.scale * (point - like.target).square()).sum().backward();
      optimizer.step();
    }
    EXPECT_EQ(point.dtype(), type);
    expect_near(point, {-0.6310263, -0.3087813, -0.5931716}, type == DType::float64 ? 1e-6 : type == DType::float16 ? 1e-3 : 1e-2);
  }
}

struct Net {
  nn::Linear hidden{4, 16};
  nn::BatchNorm norm{16};
  nn::Linear out{16, 1};
  Tensor operator()(const Tensor& x) const { return out(norm(hidden(x)).relu()); }
};

TEST(Optim, TrainsANetAndLetsNothingPileUp) {
  const Train train;
  Tensor::manual_seed(1);
  const Net net;
  nn::Adam optimizer(nn::parameters(net), {.learning_rate = 0.02});
  const Tensor x = lcg({32, 4}, 41), y = (x.square().sum(1, true) - 1).realize();
  const auto step = [&] {
    optimizer.zero_grad();
    Tensor loss = net(x).mse_loss(y);
    loss.backward();
    optimizer.step({loss});
    return loss.item<double>();
  };
  const double first = step();
  const int64_t plans = counters().plans_built;
  step();
  const Counters before = counters();
  EXPECT_EQ(before.plans_built, plans);
  const size_t nodes = TensorGraph::shared().size();
  double last = 0;
  for (int i = 0; i < 40; ++i) last = step();
  EXPECT_LT(last, first / 3);
  EXPECT_EQ(counters().plans_built, before.plans_built);
  EXPECT_EQ(counters().bytes_in_use, before.bytes_in_use);
  EXPECT_LE(TensorGraph::shared().size(), nodes);
  EXPECT_EQ(net.norm.num_batches_tracked.item<int64_t>(), 42);
}

}  // namespace
}  // namespace whit
