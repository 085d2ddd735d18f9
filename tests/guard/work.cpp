// The work whose instructions are counted: `guard_work rewrite` and `guard_work schedule_mnist`.
#include <whit/whit.h>

#include <cstdio>
#include <cstring>

#include "engine/handle.h"
#include "models/mnist.h"
#include "rules/simplify.h"

namespace {

// Forward, backward and Adam of the MNIST net under the null device: scheduling and code generation, nothing run.
void schedule_mnist() {
  using namespace whit;
  set_default_device("NULL");
  const Train train;
  models::MnistNet net;
  nn::Adam optimizer(nn::parameters(net));
  const Tensor images = Tensor::zeros({128, 1, 28, 28}).contiguous(), labels = Tensor::zeros({128}, {.dtype = DType::int32}).contiguous();
  Tensor loss = net(images).sparse_categorical_crossentropy(labels);
  loss.backward();
  optimizer.step({loss});
}

}  // namespace

int main(int argc, char** argv) {
  const char* work = argc == 2 ? argv[1] : "";
  if (std::strcmp(work, "rewrite") == 0) return whit::rewrite_benchmark(20).visits == 0;
  if (std::strcmp(work, "schedule_mnist") == 0) return schedule_mnist(), 0;
  std::fprintf(stderr, "usage: guard_work rewrite|schedule_mnist\n");
  return 2;
}
