// What the files of the Python module share: the caller's line, and how Python values become what the C++ functions take.
//
// Every bound function carries `nb::call_guard<Here>`, so that errors and nodes name the Python line; functions that compute release the
// GIL around that part only, because reading arguments needs it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <whit/whit.h>

#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace whit::python {

/// The line of the innermost Python frame outside this package.
Site caller();
/// Frames of code whose file is in this folder are passed over.
void set_package_folder(std::string folder);

/// While one stands, what is called names the Python caller's line.
struct Here {
  Call call{caller()};
};
using Guard = nb::call_guard<Here>;

/// Keeps a Python object alive for C++ code that may let it go on any thread, with or without the GIL.
std::shared_ptr<const void> keep_alive(nb::object object);

/// Maps UserError by its kind, and BackendError and InternalError to RuntimeError.
void translate_errors();

/// Throws what Python raised meanwhile (KeyboardInterrupt), now and then; called between kernels.
void check_signals();

// ---- Arguments ----

/// One side of an operation: a Tensor, a number, or what an array is made of.
struct Value {
  const Tensor* tensor = nullptr;
  Tensor own;
  Scalar scalar = 0;

  operator Operand() const { return tensor ? Operand(*tensor) : Operand(scalar); }
  /// As a tensor of the type in which it meets `like`.
  Tensor as_tensor(const Tensor& like) const;
  bool read(nb::handle source, bool lists);
};
/// The same, lists included: for arguments, where nothing else could be meant. Operators leave lists to the other side.
struct AnyValue : Value {};

/// None, a number, or several: the axes of a reduction.
struct AxesArg {
  Axes axes;
  bool nothing = false;  ///< an empty tuple: reduces over no axis
};
/// One number or several.
struct NumbersArg {
  std::vector<int64_t> list;
  bool one = true;
  operator PerAxis() const { return one ? PerAxis(list[0]) : PerAxis(list); }
};

/// The dtype that floats are made in, dtypes.default_float.
extern DType default_float;

/// `reshape(2, 3)` and `reshape((2, 3))` alike.
nb::object unpacked(const nb::args& args);
Size size_of(nb::handle item);
SizeList sizes_of(const nb::args& args);
std::vector<int64_t> numbers_of(nb::handle sequence, const char* what);
std::vector<int64_t> numbers_of(const nb::args& args, const char* what);
std::vector<Tensor> tensors_of(nb::handle sequence);
Scalar scalar_of(nb::handle number);
std::optional<Scalar> number_or_nothing(nb::handle object);

std::string device_of(nb::handle device);
Options options_of(DType dtype, nb::handle device);
/// As options_of, with the default float where no dtype is given.
Options float_options(DType dtype, nb::handle device);
Reduction reduction_of(const std::string& name);
Tensor requiring(Tensor tensor, std::optional<bool> requires_grad);

/// Nested lists, arrays of other libraries, bytes, numbers.
Tensor tensor_from(nb::handle data, const Options& options);
Tensor tensor_from_list(nb::handle list, const Options& options);
/// Something with a buffer or DLPack. `share`: its memory itself where its address and layout allow.
Tensor tensor_from_array(nb::handle array, const Options& options, bool share);
bool is_array(nb::handle object);

nb::object dtype_object(DType type);
bool read_dtype(nb::handle source, DType& type);

/// Computes, with the GIL released.
void compute_released(const Tensor& tensor);
/// Reading values is refused while a function is captured.
void check_reading(const char* what);

// ---- The parts of the module ----
using TensorClass = nb::class_<Tensor>;
void bind_dtypes(nb::module_& m);
void bind_variables(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_optimizers(nb::module_& m);
void bind_files(nb::module_& m);
void bind_creation(TensorClass& c);
void bind_random(TensorClass& c);
void bind_values(TensorClass& c);
void bind_arrays(TensorClass& c);
void bind_gradients(TensorClass& c);
void bind_operators(TensorClass& c);
void bind_elementwise(TensorClass& c);
void bind_movement(TensorClass& c);
void bind_indexing(TensorClass& c);
void bind_reductions(TensorClass& c);
void bind_contractions(TensorClass& c);
void bind_losses(TensorClass& c);

/// The Tensor in a Python object of that type, or null.
inline Tensor* tensor_in(nb::handle object) { return nb::isinstance<Tensor>(object) ? nb::inst_ptr<Tensor>(object) : nullptr; }

}  // namespace whit::python

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <>
struct type_caster<whit::DType> {
  NB_TYPE_CASTER(whit::DType, const_name("DType | str"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept { return whit::python::read_dtype(source, value); }
  static handle from_cpp(whit::DType type, rv_policy, cleanup_list*) noexcept { return whit::python::dtype_object(type).release(); }
};

template <>
struct type_caster<whit::python::Value> {
  NB_TYPE_CASTER(whit::python::Value, const_name("Tensor | float | int | bool"))
  bool from_python(handle source, uint8_t, cleanup_list*) { return value.read(source, false); }
};
template <>
struct type_caster<whit::python::AnyValue> {
  NB_TYPE_CASTER(whit::python::AnyValue, const_name("Tensor | float | int | bool | list"))
  bool from_python(handle source, uint8_t, cleanup_list*) { return value.read(source, true); }
};

template <>
struct type_caster<whit::python::AxesArg> {
  NB_TYPE_CASTER(whit::python::AxesArg, const_name("int | tuple[int, ...] | None"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept;
};
template <>
struct type_caster<whit::python::NumbersArg> {
  NB_TYPE_CASTER(whit::python::NumbersArg, const_name("int | tuple[int, ...]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept;
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
