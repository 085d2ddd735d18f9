// Prints a digest of the bits of many results. Run with different numbers of threads, it must print the same.
#include <whit/nn.h>
#include <whit/optim.h>
#include <whit/state.h>
#include <whit/whit.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <random>

#include "models/mnist.h"

using namespace whit;

namespace {

void show(const char* name, const Tensor& tensor) {
  uint64_t digest = 0xCBF29CE484222325;  // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv
  for (const float value : tensor.to_vector<float>()) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    digest = (digest ^ bits) * 0x100000001B3;
  }
  std::cout << name << ' ' << std::hex << digest << std::dec << '\n';
}

// Sums whose rounding shows how they were cut, and products that a fused multiply-add would round otherwise.
void known_graphs() {
  Tensor a = Tensor::randn({700, 300}), b = Tensor::randn({300, 500}), long_row = Tensor::randn({1 << 20}), odd = Tensor::randn({1000003});
  show("matmul", a.matmul(b));
  show("softmax", a.softmax(-1));
  show("softmax of columns", a.softmax(0));
  show("layernorm", a.layernorm());
  show("sum", long_row.sum());
  show("sum of a prime number", odd.sum());
  show("variance", long_row.var());
  show("standardised", (a - a.mean()) / a.std());
  show("row and column sums", a.sum(0) + b.sum(1).mean() + a.matmul(b).square().sum());
  show("attention", (a.matmul(a.transpose()) * 0.1).softmax(-1).matmul(a));
  Tensor images = Tensor::randn({9, 3, 33, 31}), filters = Tensor::randn({8, 3, 3, 3});
  show("conv", images.conv2d(filters).relu().max_pool2d({2, 2}).sum({2, 3}));
}

// Chains of elementwise steps, folds and products with shapes that few tiles divide.
void random_graph(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](uint64_t count) { return int64_t(random() % count); };
  std::vector<Tensor> known{Tensor::randn({1 + pick(90), 1 + pick(200)})};
  for (int step = 0; step < 10; ++step) {
    const Tensor x = known[size_t(pick(known.size()))];
    const Tensor y = known[size_t(pick(known.size()))];
    switch (pick(7)) {
      case 0: known.push_back((x * 1.1 + x.square()).tanh()); break;
      case 1: known.push_back(x - x.sum(pick(2), true) * 0.01); break;
      case 2: known.push_back(x.matmul(Tensor::randn({x.shape()[1], 1 + pick(120)})) * 0.05); break;
      case 3: known.push_back(x.transpose().matmul(x) * 0.02); break;
      case 4: known.push_back(x.softmax(pick(2)) * 3.0); break;
      case 5: known.push_back(x * y.mean() + y.abs().sum() * 1e-4); break;
      case 6: known.push_back(x.transpose().exp().clip(0.0, 4.0)); break;
    }
  }
  show("random graph", known.back() + 0.001 * known[size_t(pick(known.size()))].square().sum());
}

void training() {
  Tensor::manual_seed(5);
  models::MnistNet net;
  nn::Adam optimizer(nn::parameters(net), {.learning_rate = 1e-3});
  Train train;
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    Tensor loss = net(Tensor::rand({12, 1, 28, 28})).cross_entropy(Tensor::randint(0, 10, {12}));
    loss.backward();
    optimizer.step({loss});
    show("loss", loss);
  }
  for (const Tensor& parameter : nn::parameters(net)) show("parameter", parameter);
}

}  // namespace

int main() {
  Tensor::manual_seed(1);
  known_graphs();
  for (uint64_t seed = 0; seed < 40; ++seed) random_graph(seed);
  training();
}
