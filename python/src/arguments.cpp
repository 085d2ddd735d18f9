// How Python values become arguments.
#include "binding.h"

namespace whit::python {

DType default_float = DType::float32;

namespace {

bool has_index(PyObject* object) { return PyLong_Check(object) || (PyIndex_Check(object) && !tensor_in(object)); }

int64_t integer_of(nb::handle item, const char* what) {
  if (PyLong_Check(item.ptr())) {
    const int64_t value = PyLong_AsLongLong(item.ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
  }
  if (Tensor* tensor = tensor_in(item); tensor && tensor->numel() == 1 && !is_float(tensor->dtype())) {
    compute_released(*tensor);
    return tensor->item<int64_t>();
  }
  if (PyFloat_Check(item.ptr()) && PyFloat_AS_DOUBLE(item.ptr()) == double(int64_t(PyFloat_AS_DOUBLE(item.ptr()))))
    throw nb::type_error((std::string(what) + " has to be an int, not the float " + nb::repr(item).c_str()).c_str());
  PyObject* number = PyNumber_Index(item.ptr());
  if (!number) {
    PyErr_Clear();
    throw nb::type_error((std::string(what) + " has to be an int, not " + nb::repr(item).c_str()).c_str());
  }
  return integer_of(nb::steal(number), what);
}

}  // namespace

Scalar scalar_of(nb::handle number) {
  PyObject* object = number.ptr();
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (PyFloat_Check(object)) return Scalar(PyFloat_AS_DOUBLE(object));
  if (PyLong_Check(object)) {
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow) return Scalar(value);
    if (overflow > 0) {
      const uint64_t large = PyLong_AsUnsignedLongLong(object);
      if (!PyErr_Occurred()) return Scalar(large);
      PyErr_Clear();
    }
    throw UserError(ErrorKind::Value, std::string("the integer ") + nb::repr(number).c_str() + " doesn't fit 64 bits; write it as a float");
  }
  throw nb::type_error((std::string("a number is expected, not ") + nb::repr(number).c_str()).c_str());
}

std::optional<Scalar> number_or_nothing(nb::handle object) {
  if (object.is_none()) return {};
  if (PyBool_Check(object.ptr()) || PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr())) return scalar_of(object);
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return Scalar(value);
}

bool Value::read(nb::handle source, bool lists) {
  PyObject* object = source.ptr();
  if (Tensor* found = tensor_in(source)) {
    tensor = found;
    return true;
  }
  if (PyFloat_Check(object) || PyLong_Check(object)) {
    scalar = scalar_of(source);
    return true;
  }
  if (lists && (PyList_Check(object) || PyTuple_Check(object)))
    own = tensor_from_list(source, {});
  else if (is_array(source))
    own = tensor_from_array(source, {}, false);
  else
    return false;
  tensor = &own;
  return true;
}

Tensor Value::as_tensor(const Tensor& like) const {
  if (tensor) return *tensor;
  DType type = like.dtype();
  if (scalar.kind == Scalar::Kind::floating && !is_float(type)) type = default_float;
  if (scalar.kind == Scalar::Kind::integer && type == DType::boolean) type = DType::int32;
  return Tensor::full({}, scalar, {.dtype = type, .device = like.device()});
}

// ---- Sizes and axes -----------------------------------------------------------------------------------------------------------------

nb::object unpacked(const nb::args& args) {
  if (args.size() == 1 && (PyTuple_Check(nb::handle(args[0]).ptr()) || PyList_Check(nb::handle(args[0]).ptr())))
    return nb::borrow(nb::handle(args[0]));
  return nb::borrow(args);
}

Size size_of(nb::handle item) {
  if (nb::isinstance<Size>(item)) return *nb::inst_ptr<Size>(item);
  if (nb::isinstance<Variable>(item)) return static_cast<const Size&>(*nb::inst_ptr<Variable>(item));
  return Size(integer_of(item, "a size"));
}

SizeList sizes_of(const nb::args& args) {
  std::vector<Size> sizes;
  for (nb::handle item : unpacked(args)) sizes.push_back(size_of(item));
  return sizes;
}

std::vector<int64_t> numbers_of(nb::handle sequence, const char* what) {
  std::vector<int64_t> numbers;
  if (has_index(sequence.ptr()) || !PySequence_Check(sequence.ptr()) || tensor_in(sequence)) return {integer_of(sequence, what)};
  for (nb::handle item : nb::borrow(sequence)) numbers.push_back(integer_of(item, what));
  return numbers;
}

std::vector<int64_t> numbers_of(const nb::args& args, const char* what) { return numbers_of(unpacked(args), what); }

std::vector<Tensor> tensors_of(nb::handle sequence) {
  std::vector<Tensor> tensors;
  for (nb::handle item : nb::borrow(sequence)) {
    if (const Tensor* one = tensor_in(item))
      tensors.push_back(*one);
    else if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr()))
      for (const Tensor& tensor : tensors_of(item)) tensors.push_back(tensor);
    else
      throw nb::type_error((std::string("a Tensor is expected, not ") + nb::repr(item).c_str()).c_str());
  }
  return tensors;
}

// ---- Options ------------------------------------------------------------------------------------------------------------------------

std::string device_of(nb::handle device) {
  if (!device.is_valid() || device.is_none()) return "";
  if (PyUnicode_Check(device.ptr())) return nb::cast<std::string>(device);
  if (PyTuple_Check(device.ptr()) || PyList_Check(device.ptr())) {
    if (nb::len(device) == 1) return device_of(device[0]);
    throw UserError(ErrorKind::Device, "several devices for one tensor are not there yet; name one");
  }
  return nb::cast<std::string>(nb::str(device));
}

Options options_of(DType dtype, nb::handle device) { return {.dtype = dtype, .device = device_of(device)}; }

Options float_options(DType dtype, nb::handle device) { return options_of(dtype == DType::none ? default_float : dtype, device); }

Reduction reduction_of(const std::string& name) {
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  throw UserError(ErrorKind::Value, "reduction=\"" + name + "\": it is \"mean\", \"sum\" or \"none\"");
}

Tensor requiring(Tensor tensor, std::optional<bool> requires_grad) {
  if (requires_grad) tensor.requires_grad_(requires_grad);
  return tensor;
}

}  // namespace whit::python

namespace nanobind::detail {

bool type_caster<whit::python::NumbersArg>::from_python(handle source, uint8_t, cleanup_list*) noexcept {
  try {
    value.one = !PySequence_Check(source.ptr());
    value.list = whit::python::numbers_of(source, "an argument");
    if (!value.one && value.list.size() == 1) value.one = false;
    return true;
  } catch (...) {
    return false;
  }
}

bool type_caster<whit::python::AxesArg>::from_python(handle source, uint8_t, cleanup_list*) noexcept {
  if (source.is_none()) return true;
  try {
    value.axes = whit::Axes(whit::python::numbers_of(source, "an axis"));
    value.nothing = value.axes.list().empty();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace nanobind::detail
