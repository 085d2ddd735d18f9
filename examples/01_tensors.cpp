// Tensors, and when they are computed. Prints:
//
//   Tensor(shape=(2, 3), dtype=float32, device=CPU, op=Add, not computed)
//   Tensor([[ 3.,  5.,  7.],
//           [ 9., 11., 13.]], shape=(2, 3), dtype=float32, device=CPU, grad=False)
//   Tensor([1., 1.], shape=(2,), dtype=float32, device=CPU, grad=False)
//   Tensor([1.5, 2.5, 3.5], shape=(3,), dtype=float32, device=CPU, grad=False)
//   Tensor([3., 2., 1.], shape=(3,), dtype=float32, device=CPU, grad=False)
//   Tensor([[0., 0., 0.],
//           [7., 8., 9.]], shape=(2, 3), dtype=float32, device=CPU, grad=False)
//   30 24
#include <whit/whit.h>

#include <iostream>

using whit::Slice;
using whit::Tensor;

int main() {
  const Tensor x{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};

  // An operation describes its result. Nothing is computed before somebody asks: realize, item, to_vector.
  Tensor y = x * 2 + 1;
  std::cout << y << '\n';
  y.realize();
  std::cout << y << '\n';

  // Shapes broadcast as in NumPy, types promote, and a literal takes the type of the tensor it meets.
  const Tensor row_sums = y.sum(1, true);
  std::cout << (y / row_sums).sum(1).realize() << '\n';
  std::cout << (Tensor{1, 2, 3} + 0.5).realize() << '\n';

  // Movement is free: it only changes which element is read. Views can be written through.
  std::cout << x.transpose()[{Slice{{}, {}, -1}, 0}].realize() << '\n';
  Tensor table = Tensor::zeros({2, 3});
  table[1] = Tensor{7.0, 8.0, 9.0};
  std::cout << table.realize() << '\n';

  // A copy is another name for the same tensor; clone makes another one.
  Tensor same = table;
  const Tensor other = table.clone();
  same += 1;
  std::cout << table.sum().item() << ' ' << other.sum().item() << '\n';
  return table.sum().item() == 30 && other.sum().item() == 24 ? 0 : 1;
}
