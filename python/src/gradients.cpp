// Gradients, and the optimizers that use them.
#include "binding.h"

#include <nanobind/stl/shared_ptr.h>

#include <memory>

namespace whit::python {

namespace {

nb::object gradients(const Tensor& t, const nb::args& targets, const Tensor* gradient, bool) {
  nb::list list;
  for (const Tensor& result : t.gradient(tensors_of(targets), gradient ? *gradient : Tensor())) list.append(result);
  return list;
}

template <class Class, class... Args>
std::shared_ptr<nn::Optimizer> made(nb::handle tensors, Args&&... args) {
  const std::vector<Tensor> all = tensors_of(tensors);
  const nb::gil_scoped_release released;  // it realises them
  return std::make_shared<Class>(all, std::forward<Args>(args)...);
}

}  // namespace

void bind_gradients(TensorClass& c) {
  c.def(
      "backward",
      [](nb::handle self, const Tensor* gradient) {
        nb::inst_ptr<Tensor>(self)->backward(gradient ? *gradient : Tensor());
        return nb::borrow(self);
      },
      Guard(), "gradient"_a.none() = nb::none(), nb::sig("def backward(self, gradient: Tensor | None = None) -> Tensor"),
      "Adds the derivative of this to the `grad` of the leaves that require it or, if none does, of all. Returns this tensor.");
  c.def("gradient", gradients, Guard(), "targets"_a, "gradient"_a = nb::none(), "materialize_grads"_a = false,
        nb::sig("def gradient(self, *targets: Tensor, gradient: Tensor | None = None, materialize_grads: bool = False) -> list[Tensor]"),
        "The derivative of this by each target, as tensors that can be differentiated again.");
  c.def_prop_rw(
      "grad", [](const Tensor& t) -> std::optional<Tensor> { return t.has_grad() ? std::optional(t.grad()) : std::nullopt; },
      [](Tensor& t, const Tensor* gradient) {
        if (gradient)
          t.set_grad(*gradient);
        else
          t.zero_grad();
      },
      nb::for_setter(nb::arg("gradient").none()), "What backward has added up, or None.");
  c.def_prop_rw(
      "requires_grad", [](const Tensor& t) { return t.requires_grad(); },
      [](Tensor& t, std::optional<bool> value) {
        const Here here;
        t.requires_grad_(value);
      },
      nb::for_setter(nb::arg("value").none()), "True, False or None (unset).");
  c.def_prop_ro(
      "is_param", [](const Tensor& t) { return t.requires_grad() == true; }, "Whether requires_grad is True.");
  for (const char* name : {"requires_grad_", "is_param_"})
    c.def(
        name,
        [](nb::handle self, std::optional<bool> value) {
          nb::inst_ptr<Tensor>(self)->requires_grad_(value);
          return nb::borrow(self);
        },
        Guard(), "requires_grad"_a = true, "Sets requires_grad; returns this tensor.");
}

void bind_optimizers(nb::module_& m) {
  using nn::Optimizer;
  nb::class_<Optimizer>(m, "Optimizer")
      .def_rw("learning_rate", &Optimizer::learning_rate)
      .def_prop_ro("parameters", [](const Optimizer& o) { return o.parameters(); })
      .def("zero_grad", [](Optimizer& o) { o.zero_grad(); })
      .def(
          "step",
          [](Optimizer& o, const std::vector<Tensor>& also) {
            const nb::gil_scoped_release released;
            o.step(also);
          },
          Guard(), "also"_a);
  m.def(
      "sgd",
      [](nb::handle tensors, double lr, double momentum, double decay, bool nesterov) {
        return made<nn::SGD>(tensors, nn::SGDOptions{lr, momentum, decay, nesterov});
      },
      Guard());
  m.def(
      "adam",
      [](nb::handle tensors, double lr, double b1, double b2, double eps, double decay, bool decoupled) {
        if (decoupled) return made<nn::AdamW>(tensors, nn::AdamWOptions{lr, b1, b2, eps, decay});
        return made<nn::Adam>(tensors, nn::AdamOptions{lr, b1, b2, eps, decay});
      },
      Guard());
}

}  // namespace whit::python
