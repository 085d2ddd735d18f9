// Memory shared with NumPy and others: the buffer protocol and DLPack, both ways.
//
// A tensor of numbers made from an array copies it: a lazy tensor must not change when the array is filled with the next batch. What asks
// for sharing (from_dlpack, from_numpy) shares where the memory is contiguous, writable and aligned to 64 bytes. Arrays that are given out
// as buffers or by DLPack are the tensor's own memory and read-only, `numpy()` gives a copy that may be written.
#include "binding.h"

#include <nanobind/ndarray.h>

#include "engine/device.h"
#include "engine/handle.h"
#include "ir/graph.h"
#include "tensor/build.h"

#include <cstring>

namespace whit::python {

namespace {

using AnyArray = nb::ndarray<nb::device::cpu>;

DType dtype_of_dlpack(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  if (type.lanes != 1) return DType::none;
  const auto is = [&](Code code, int bits) { return type.code == uint8_t(code) && type.bits == bits; };
  if (is(Code::Bool, 8)) return DType::boolean;
  if (is(Code::Float, 16)) return DType::float16;
  if (is(Code::Float, 32)) return DType::float32;
  if (is(Code::Float, 64)) return DType::float64;
  if (is(Code::Bfloat, 16)) return DType::bfloat16;
  for (const DType integer : {DType::int8, DType::int16, DType::int32, DType::int64})
    if (is(Code::Int, int(bit_width(integer)))) return integer;
  for (const DType integer : {DType::uint8, DType::uint16, DType::uint32, DType::uint64})
    if (is(Code::UInt, int(bit_width(integer)))) return integer;
  return DType::none;
}

nb::dlpack::dtype dlpack_of(DType type) {
  using Code = nb::dlpack::dtype_code;
  const Code code = type == DType::boolean    ? Code::Bool
                    : type == DType::bfloat16 ? Code::Bfloat
                    : is_float(type)          ? Code::Float
                    : is_signed(type)         ? Code::Int
                                              : Code::UInt;
  return {uint8_t(code), uint8_t(item_size(type) * 8), 1};
}

bool is_contiguous(const AnyArray& array) {
  int64_t expected = 1;
  for (size_t axis = array.ndim(); axis-- > 0;) {
    if (array.shape(axis) != 1 && array.stride(axis) != expected) return false;
    expected *= int64_t(array.shape(axis));
  }
  return true;
}

// The elements of an array with any strides, row by row.
void gather_rows(const AnyArray& array, size_t item, char* to) {
  const size_t axes = array.ndim();
  std::vector<size_t> index(axes, 0);
  const char* from = static_cast<const char*>(array.data());
  for (size_t count = array.size(); count > 0; --count) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < axes; ++axis) offset += int64_t(index[axis]) * array.stride(axis);
    std::memcpy(to, from + offset * int64_t(item), item);
    to += item;
    for (size_t axis = axes; axis-- > 0;) {
      if (++index[axis] < array.shape(axis)) break;
      index[axis] = 0;
    }
  }
}

// Computes the value of a tensor and holds it as it is now: a handle of its own, so that a later write goes elsewhere.
std::shared_ptr<Handle> value_of(const Tensor& tensor) {
  compute_released(tensor);
  return std::make_shared<Handle>(tensor.handle()->node());
}

// Where the host sees it, or null.
void* host_memory(const Node* node) {
  Storage* storage = storage_of(node);
  const bool plain = !is_symbolic(node->shape()) && device_name(storage->device_id()).starts_with("CPU");
  if (plain) device(storage->device_id()).synchronize();
  return plain ? storage->memory() : nullptr;
}

// A tensor's value for others to look at.
struct Exported {
  std::shared_ptr<Handle> handle;  // holds the value
  std::vector<char> copied;        // where it isn't in memory of the host
  void* memory = nullptr;
  Sizes shape;
  DType type = DType::none;
  std::vector<Py_ssize_t> sizes, strides;

  explicit Exported(const Tensor& tensor) : shape(tensor.shape()), type(tensor.dtype()) {
    sizes.assign(shape.begin(), shape.end());
    strides.resize(shape.size());
    Py_ssize_t stride = Py_ssize_t(item_size(type));
    for (size_t axis = shape.size(); axis-- > 0; stride *= sizes[axis]) strides[axis] = stride;
    if (tensor.numel() == 0) {
      copied.resize(1);
      memory = copied.data();
      return;
    }
    handle = value_of(tensor);
    memory = host_memory(handle->node().get());
    if (memory) return;
    copied.resize(size_t(tensor.numel()) * item_size(type));
    memory = copied.data();
    const nb::gil_scoped_release released;
    read_back(handle->node().get(), copied.data());
  }
};

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  try {
    const Here here;
    check_reading("a buffer");
    const Tensor& tensor = *nb::inst_ptr<Tensor>(object);
    const nb::object format = dtype_object(tensor.dtype()).attr("fmt");
    if (format.is_none() || (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
      PyErr_SetString(PyExc_BufferError,
                      format.is_none() ? "Tensor: Python has no format for this dtype" : "Tensor: the buffer of a tensor is read-only");
      return -1;
    }
    auto exported = std::make_unique<Exported>(tensor);
    view->buf = exported->memory;
    view->len = Py_ssize_t(tensor.numel()) * Py_ssize_t(item_size(exported->type));
    view->itemsize = Py_ssize_t(item_size(exported->type));
    view->readonly = 1;
    view->ndim = int(exported->sizes.size());
    view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(nb::cast<const char*>(format)) : nullptr;
    view->shape = exported->sizes.data();
    view->strides = exported->strides.data();
    view->suboffsets = nullptr;
    view->obj = Py_NewRef(object);
    view->internal = exported.release();
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  view->obj = nullptr;
  return -1;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

nb::object dlpack_array(const Tensor& tensor) {
  check_reading("__dlpack__");
  auto* exported = new Exported(tensor);
  const nb::capsule owner(exported, [](void* pointer) noexcept { delete static_cast<Exported*>(pointer); });
  const std::vector<size_t> shape(exported->shape.begin(), exported->shape.end());
  return nb::cast(nb::ndarray<>(exported->memory, shape.size(), shape.data(), owner, nullptr, dlpack_of(exported->type)));
}

// A NumPy array of its own: it may be written.
nb::object numpy_array(const Tensor& tensor) {
  check_reading("numpy");
  const Tensor readable = is_narrow_float(tensor.dtype()) && tensor.dtype() != DType::float16 ? tensor.cast(DType::float32) : tensor;
  const Sizes sizes = readable.shape();
  const DType type = readable.dtype();
  nb::list shape;
  for (const int64_t size : sizes) shape.append(size);
  static PyObject* empty = nb::module_::import_("numpy").attr("empty").ptr();
  nb::object array = nb::handle(empty)(nb::tuple(shape), std::string(name(type)));
  const size_t bytes = size_t(readable.numel()) * item_size(type);
  if (bytes == 0) return array;
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
  void* memory = view.buf;
  PyBuffer_Release(&view);  // the array keeps its memory
  const nb::gil_scoped_release released;
  readable.copy_to(memory, bytes);
  return array;
}

}  // namespace

PyType_Slot buffer_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)}, {0, nullptr}};

bool is_array(nb::handle object) {
  return PyObject_CheckBuffer(object.ptr()) || PyObject_HasAttrString(object.ptr(), "__dlpack__") ||
         PyObject_HasAttrString(object.ptr(), "__array_interface__");
}

Tensor tensor_from_array(nb::handle source, const Options& options, bool share) {
  nb::object data = nb::borrow(source);
  if (!PyObject_CheckBuffer(source.ptr()) && !PyObject_HasAttrString(source.ptr(), "__dlpack__"))
    data = nb::module_::import_("numpy").attr("asarray")(source);
  nb::ndarray<nb::ro, nb::device::cpu> array;
  if (!nb::try_cast(data, array)) {
    std::string what = nb::repr(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(source.ptr())))).c_str();
    if (nb::hasattr(source, "dtype")) what += std::string(" of dtype ") + nb::str(source.attr("dtype")).c_str();
    throw UserError(ErrorKind::Type, "Tensor: no dtype fits " + what + ", or it isn't in memory of the host");
  }
  const AnyArray& any = reinterpret_cast<const AnyArray&>(array);
  const DType type = dtype_of_dlpack(array.dtype());
  if (type == DType::none) throw UserError(ErrorKind::Type, "Tensor: no dtype fits this array's elements");
  Sizes shape;
  for (size_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(int64_t(array.shape(axis)));
  Options here{.dtype = type, .device = options.device};
  Tensor tensor;
  static const char nothing[64] = {};
  if (array.size() == 0)
    tensor = Tensor::from_blob(nothing, shape, here);
  else if (is_contiguous(any))
    tensor = Tensor::from_blob(array.data(), shape, here, share ? keep_alive(data) : nullptr);
  else {
    std::vector<char> packed(array.size() * item_size(type));
    gather_rows(any, item_size(type), packed.data());
    tensor = Tensor::from_blob(packed.data(), shape, here);
  }
  return options.dtype == DType::none ? tensor : tensor.cast(options.dtype);
}

void bind_arrays(TensorClass& c) {
  c.def("numpy", numpy_array, Guard(), nb::sig("def numpy(self) -> numpy.typing.NDArray"),
        "Computes the tensor; its value as a NumPy array that may be written. bfloat16 and fp8 become float32.");
  c.def(
      "__array__",
      [](const Tensor& t, nb::object dtype, nb::object) {
        nb::object array = numpy_array(t);
        return dtype.is_none() ? array : array.attr("astype")(dtype);
      },
      Guard(), "dtype"_a = nb::none(), "copy"_a = nb::none());
  c.def(
      "data", [](nb::handle t) { return nb::steal(PyMemoryView_FromObject(t.ptr())); }, Guard(), nb::sig("def data(self) -> memoryview"),
      "Computes the tensor; a read-only view of its memory.");
  c.def(
      "__dlpack__", [](const Tensor& t, nb::kwargs options) { return dlpack_array(t).attr("__dlpack__")(**options); }, Guard());
  c.def("__dlpack_device__", [](const Tensor&) { return nb::make_tuple(1, 0); });
  c.def_static(
      "from_dlpack", [](nb::object array) { return tensor_from_array(array, {}, true); }, Guard(), "array"_a,
      "The memory of an array of another library, where its layout allows; else a copy.");
  c.def_static(
      "from_numpy", [](nb::object array) { return tensor_from_array(array, {}, true); }, Guard(), "array"_a, "As from_dlpack.");
  c.def_static(
      "from_blob",
      [](uintptr_t address, nb::object shape, DType dtype, nb::object device) {
        const nb::tuple one = nb::make_tuple(shape);
        return Tensor::from_blob(reinterpret_cast<const void*>(address), numbers_of(nb::borrow<nb::args>(one), "a size"),
                                 float_options(dtype, device));
      },
      Guard(), "ptr"_a, "shape"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "A copy of the elements at an address.");
}

}  // namespace whit::python
