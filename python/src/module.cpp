// The module whit._core: Tensor and what the Python files of the package build on.
#include "binding.h"

namespace whit::python {

extern PyType_Slot buffer_slots[];
void bind_capturing(nb::module_& m);

}  // namespace whit::python

NB_MODULE(_core, m) {
  using namespace whit::python;
  nb::set_leak_warnings(false);  // tensors of the user's globals may outlive the module
  translate_errors();
  bind_dtypes(m);
  bind_variables(m);
  TensorClass tensor(m, "Tensor", nb::type_slots(buffer_slots), nb::is_weak_referenceable(),
                     "A lazy n-dimensional array: operations describe, and `realize`, `numpy`, `item`, `tolist` and printing compute.");
  bind_creation(tensor);
  bind_random(tensor);
  bind_values(tensor);
  bind_arrays(tensor);
  bind_operators(tensor);
  bind_elementwise(tensor);
  bind_movement(tensor);
  bind_indexing(tensor);
  bind_reductions(tensor);
  bind_contractions(tensor);
  bind_losses(tensor);
  bind_gradients(tensor);
  bind_runtime(m);
  bind_capturing(m);
  bind_optimizers(m);
  bind_files(m);
}
