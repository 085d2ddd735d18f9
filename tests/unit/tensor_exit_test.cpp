// Computing when the thread's own variables and what was made in main are gone: in destructors of statics and in exit handlers.
#include <cstdlib>

#include "unit/tensor_values.h"

namespace whit {
namespace {

// Exits with 7 if all is well, so that neither a crash nor the end of the test program is taken for it.
void compute_and_leave() {
  bool right = true;
  for (const char* device : {"CPU", "CPU:INTERP"}) {
    const Tensor x = Tensor::arange(100, {.dtype = DType::float32, .device = device}).clone();
    right = right && (x * 2 + 1).sum().item() == 10000 && !Tensor::ones({3}).str().empty();
    try {
      x.sum(5);
      right = false;
    } catch (const UserError&) {
    }
  }
  std::_Exit(right ? 7 : 8);
}

TEST(TensorExit, ExitHandlersCompute) {
  EXPECT_EXIT(
      {
        std::atexit(compute_and_leave);  // before whit is used, so it runs after what whit has made is destroyed
        Tensor::ones({3}).clone().realize();
        Tensor({1, 2}, {.device = "CPU:INTERP"}).sum().item<int>();
        std::exit(0);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace whit
