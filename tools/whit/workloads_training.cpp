// Training steps: forward, backward and optimizer, with the loss read after each.
#include <memory>
#include <string>
#include <whit/device.h>

#include "engine/plan_cache.h"
#include "models/mnist.h"
#include "workloads.h"

namespace whit::tool {

namespace {

// A net with an optimizer, on random images that stay the same.
struct MnistStep {
  models::MnistNet net;
  nn::Adam optimizer{nn::parameters(net), {.learning_rate = 1e-3}};
  Tensor images, labels;

  explicit MnistStep(int64_t batch) : images(random_input({batch, 1, 28, 28})) {
    std::vector<int32_t> digits;
    for (int64_t i = 0; i < batch; ++i) digits.push_back(int32_t(i * 7 % 10));
    labels = Tensor(digits);
    realize(nn::parameters(net));  // drawing the weights is no part of a step
  }

  Tensor operator()() {
    const Train training;
    optimizer.zero_grad();
    Tensor loss = net(images).cross_entropy(labels);
    loss.backward();
    optimizer.step({loss});
    return loss;
  }
};

Workload mnist_step(int64_t batch) {
  return {.name = "mnist_step_bs" + std::to_string(batch),
          .description = "training step of the MNIST net, batch " + std::to_string(batch) + ", random images",
          .prepare = [batch]() -> std::function<Sample()> {
            const auto step = std::make_shared<MnistStep>(batch);
            return [step] { return timed([&] { (*step)().item(); }); };
          }};
}

// From tensors to the source text of every kernel; the device NULL runs nothing.
Workload compile_mnist() {
  return {.name = "compile_mnist",
          .description = "the MNIST step at batch 128 made into source text, nothing run",
          .device = "NULL",
          .prepare = []() -> std::function<Sample()> {
            return [] {
              MnistStep step(128);
              forget_plans();
              return timed([&] { step(); });
            };
          }};
}

struct Mlp {
  nn::Linear first{784, 512}, second{512, 512}, third{512, 10};
  Tensor operator()(const Tensor& x) const { return third(second(first(x).relu()).relu()); }
};

struct MlpStep {
  Mlp net;
  nn::SGD optimizer{nn::parameters(net), {.learning_rate = 0.01}};
  Tensor input = random_input({1, 784}), label{3};

  float operator()() {
    const Train training;
    optimizer.zero_grad();
    Tensor loss = net(input).cross_entropy(label);
    loss.backward();
    optimizer.step({loss});
    return loss.item();
  }
};

Workload mlp_step() {
  return {.name = "mlp_step_bs1",
          .description = "training step of a perceptron 784-512-512-10 on one sample",
          .repeats = 200,
          .prepare = []() -> std::function<Sample()> {
            const auto step = std::make_shared<MlpStep>();
            realize(nn::parameters(step->net));
            return [step] { return timed([&] { (*step)(); }); };
          }};
}

}  // namespace

std::vector<Workload> training_workloads() { return {mnist_step(128), mnist_step(512), mlp_step(), compile_mnist()}; }

}  // namespace whit::tool
