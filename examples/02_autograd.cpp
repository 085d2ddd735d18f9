// Gradients of z = log(x² + 1). Prints:
//
//   dz/dx   Tensor([-1.,  0.,  1.], shape=(3,), dtype=float32, device=CPU, grad=False)
//   d2z/dx2 Tensor([0., 2., 0.], shape=(3,), dtype=float32, device=CPU, grad=False)
//   as by hand: yes
#include <whit/whit.h>

#include <iostream>

using whit::Tensor;

int main() {
  const Tensor x{-1.0, 0.0, 1.0};
  const Tensor z = (x * x + 1).log();

  // backward adds the derivatives of a scalar to the `grad` of each leaf it was made of.
  z.sum().backward();
  std::cout << "dz/dx   " << x.grad().realize() << '\n';

  // gradient gives derivatives as tensors, which can be differentiated again.
  const auto second_derivative = [](const Tensor& at) {
    const Tensor first = (at * at + 1).log().sum().gradient({at})[0];
    return first.sum().gradient({at})[0];
  };
  std::cout << "d2z/dx2 " << second_derivative(x).realize() << '\n';

  // By hand: (2 - 2x²) / (x² + 1)².
  const Tensor points = Tensor::linspace(-3, 3, 100), square = points * points;
  const Tensor error = (second_derivative(points) - (2 - 2 * square) / (square + 1).square()).abs().max();
  const bool right = error.item() < 1e-5;
  std::cout << "as by hand: " << (right ? "yes" : "no") << '\n';
  return right ? 0 : 1;
}
