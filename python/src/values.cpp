// What a tensor is, computing it, and its values as Python objects.
#include "binding.h"

#include "tensor/build.h"

namespace whit::python {

namespace {

bool capturing = false;

nb::object size_object(const Size& size) { return size.is_number() ? nb::cast(size.number()) : nb::cast(size); }

nb::object shape_of_tensor(const Tensor& t) {
  const Node* node = node_of(t, "shape");
  const ShapeView dims = node->shape();
  nb::object shape = nb::steal(PyTuple_New(Py_ssize_t(dims.size())));
  for (size_t i = 0; i < dims.size(); ++i)
    PyTuple_SET_ITEM(shape.ptr(), Py_ssize_t(i),
                     dims[i].symbol ? size_object(t.size(int64_t(i))).release().ptr() : PyLong_FromLongLong(dims[i].size));
  return shape;
}

// Element `i` as Python's bool, int or float.
template <class T>
PyObject* element(const std::vector<T>& values, size_t i) {
  if constexpr (std::is_floating_point_v<T>)
    return PyFloat_FromDouble(double(values[i]));
  else if constexpr (std::is_same_v<T, uint64_t>)
    return PyLong_FromUnsignedLongLong(values[i]);
  else if constexpr (std::is_same_v<T, uint8_t>)
    return Py_NewRef(values[i] ? Py_True : Py_False);
  else
    return PyLong_FromLongLong(values[i]);
}

template <class T>
nb::object nested(const std::vector<T>& values, const Sizes& shape, size_t axis, size_t& next) {
  if (axis == shape.size()) return nb::steal(element(values, next++));
  nb::object list = nb::steal(PyList_New(shape[axis]));
  for (int64_t i = 0; i < shape[axis]; ++i) PyList_SET_ITEM(list.ptr(), i, nested(values, shape, axis + 1, next).release().ptr());
  return list;
}

template <class T>
nb::object list_of(const Tensor& t) {
  std::vector<T> values;
  {
    const nb::gil_scoped_release released;
    values = t.to_vector<T>();
  }
  size_t next = 0;
  return nested(values, t.shape(), 0, next);
}

nb::object tolist(const Tensor& t) {
  check_reading("tolist");
  if (t.dtype() == DType::boolean) return list_of<uint8_t>(t);
  if (is_float(t.dtype())) return list_of<double>(t);
  return t.dtype() == DType::uint64 ? list_of<uint64_t>(t) : list_of<int64_t>(t);
}

template <class T>
T read_item(const Tensor& t) {
  const nb::gil_scoped_release released;
  return t.item<T>();
}

nb::object item(const Tensor& t) {
  check_reading("item");
  if (t.dtype() == DType::boolean) return nb::cast(read_item<bool>(t));
  if (is_float(t.dtype())) return nb::cast(read_item<double>(t));
  return t.dtype() == DType::uint64 ? nb::cast(read_item<uint64_t>(t)) : nb::cast(read_item<int64_t>(t));
}

int64_t length(const Tensor& t) {
  if (t.ndim() == 0) throw nb::type_error("len() of a 0-d Tensor; it has no axes");
  return t.shape(0);
}

nb::object iterate(nb::handle self) {
  const Tensor& t = *nb::inst_ptr<Tensor>(self);
  if (t.ndim() == 0) throw nb::type_error("iteration over a 0-d Tensor; it has no axes");
  return nb::steal(PySeqIter_New(self.ptr()));
}

void realize_all(nb::handle self, const nb::args& others) {
  std::vector<Tensor> all{*nb::inst_ptr<Tensor>(self)};
  for (const Tensor& t : tensors_of(others)) all.push_back(t);
  const nb::gil_scoped_release released;
  realize(all);
}

nb::object pickled(nb::handle self) {
  const Tensor& t = *nb::inst_ptr<Tensor>(self);
  std::vector<char> bytes(size_t(t.numel()) * item_size(t.dtype()));
  {
    const nb::gil_scoped_release released;
    t.copy_to(bytes.data(), bytes.size());
  }
  const nb::object rebuild = nb::module_::import_("whit._core").attr("unpickled");
  nb::object wants = nb::none();
  if (t.requires_grad()) wants = nb::bool_(*t.requires_grad());
  return nb::make_tuple(
      rebuild, nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), nb::tuple(nb::cast(t.shape())), t.dtype(), t.device(), wants));
}

}  // namespace

void compute_released(const Tensor& tensor) {
  if (tensor.numel() == 0) return;
  const nb::gil_scoped_release released;
  compute(tensor);
}

void check_reading(const char* what) {
  if (capturing)
    throw UserError(ErrorKind::Device, std::string(what) +
                                           ": a value is read inside a function that is captured by TinyJit, "
                                           "where later calls would not read it again; return it instead");
}

void bind_values(TensorClass& c) {
  c.def_prop_ro("shape", shape_of_tensor, Guard(), nb::sig("def shape(self) -> tuple[int, ...]"), "The sizes of the axes.");
  c.def_prop_ro(
      "dtype", [](const Tensor& t) { return t.dtype(); }, nb::sig("def dtype(self) -> DType"), "The type of the elements.");
  c.def_prop_ro(
      "device", [](const Tensor& t) { return t.device(); }, "The name of the device.");
  c.def_prop_ro(
      "ndim", [](const Tensor& t) { return t.ndim(); }, "The number of axes.");
  c.def(
      "numel", [](const Tensor& t) { return t.numel(); }, Guard(), "The number of elements.");
  c.def(
      "size",
      [](const Tensor& t, std::optional<int64_t> dim) -> nb::object { return dim ? size_object(t.size(*dim)) : shape_of_tensor(t); },
      Guard(), "dim"_a = nb::none(), "The shape, or the size of one axis.");
  c.def(
      "element_size", [](const Tensor& t) { return item_size(t.dtype()); }, "Bytes of an element.");
  c.def(
      "nbytes", [](const Tensor& t) { return t.numel() * int64_t(item_size(t.dtype())); }, Guard(), "Bytes of all elements.");
  c.def("is_floating_point", [](const Tensor& t) { return is_float(t.dtype()); });
  c.def_prop_ro(
      "is_realized", [](const Tensor& t) { return t.is_realized(); }, "Whether the value is there.");

  c.def(
      "realize",
      [](nb::handle self, nb::args others) {
        realize_all(self, others);
        return nb::borrow(self);
      },
      Guard(), "lst"_a, nb::sig("def realize(self, *lst: Tensor) -> Tensor"), "Computes this and the others in one plan; returns this.");
  c.def("item", item, Guard(), nb::sig("def item(self) -> float | int | bool"), "The only element as a Python number.");
  c.def("tolist", tolist, Guard(), nb::sig("def tolist(self) -> list | float | int | bool"), "The elements as nested lists.");
  c.def(
      "__float__",
      [](const Tensor& t) {
        check_reading("float()");
        return read_item<double>(t);
      },
      Guard());
  c.def(
      "__int__", [](const Tensor& t) { return nb::int_(item(t)); }, Guard());
  c.def(
      "__bool__",
      [](const Tensor& t) {
        return nb::cast<bool>(nb::bool_(nb::bool_(nb::handle(item(t)).ptr() == Py_True || nb::cast<double>(nb::float_(item(t))) != 0)));
      },
      Guard());
  c.def(
      "__index__",
      [](const Tensor& t) {
        if (is_float(t.dtype())) throw nb::type_error("a Tensor of floats can't be used as an index");
        return nb::int_(item(t));
      },
      Guard());
  c.def("__len__", length, Guard());
  c.def("__iter__", iterate, Guard(), nb::sig("def __iter__(self) -> collections.abc.Iterator[Tensor]"));
  c.def(
      "__repr__", [](const Tensor& t) { return t.str(); }, Guard());
  c.def("__hash__", [](nb::handle self) { return Py_ssize_t(reinterpret_cast<uintptr_t>(self.ptr()) >> 4); });
  c.def("__reduce__", pickled, Guard());
  c.def(
      "__deepcopy__", [](const Tensor& t, nb::handle) { return t.clone(); }, Guard(), "memo"_a);

  c.def(
      "clone", [](const Tensor& t) { return t.clone(); }, Guard(), "The same value in storage of its own.");
  c.def(
      "contiguous", [](const Tensor& t) { return t.contiguous(); }, Guard(), "The same value, stored as it stands.");
  c.def(
      "to", [](const Tensor& t, nb::object device) { return device.is_none() ? t : t.to(device_of(device)); }, Guard(), "device"_a.none(),
      "The same value on a device.");
  c.def(
      "to_",
      [](nb::handle self, nb::object device) {
        Tensor& t = *nb::inst_ptr<Tensor>(self);
        t = t.to(device_of(device));
        return nb::borrow(self);
      },
      Guard(), "device"_a, nb::sig("def to_(self, device: str) -> Tensor"), "Moves this tensor to a device.");
  c.def(
      "replace",
      [](nb::handle self, const Tensor& other) {
        *nb::inst_ptr<Tensor>(self) = other;
        return nb::borrow(self);
      },
      "x"_a, nb::sig("def replace(self, x: Tensor) -> Tensor"), "Makes this object another name for the tensor x.");
  c.def(
      "assign",
      [](nb::handle self, AnyValue value) {
        nb::inst_ptr<Tensor>(self)->assign(value);
        return nb::borrow(self);
      },
      Guard(), "x"_a, nb::sig("def assign(self, x: Tensor | float | int | bool | list) -> Tensor"),
      "Gives this tensor a new value; what was computed from the old one keeps that.");
}

void bind_capturing(nb::module_& m) {
  m.def(
      "set_capturing", [](bool on) { return std::exchange(capturing, on); }, "on"_a, "While on, reading a value is an error.");
  m.def("unpickled", [](nb::bytes bytes, std::vector<int64_t> shape, DType dtype, std::string device, std::optional<bool> requires_grad) {
    return requiring(Tensor::from_blob(bytes.c_str(), std::move(shape), {dtype, device}), requires_grad);
  });
}

}  // namespace whit::python
