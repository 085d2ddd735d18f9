// dtypes as Python objects: one for each, so that `is` and `==` agree.
#include "binding.h"

#include <algorithm>
#include <array>

namespace whit::python {

namespace {

struct DTypeBox {
  DType type;
};

// tinygrad's names, and the letters of Python's struct module.
struct Spelling {
  DType type;
  const char* name;
  const char* format;
};

constexpr Spelling kSpellings[] = {
    {DType::boolean, "bool", "?"},
    {DType::int8, "char", "b"},
    {DType::uint8, "uchar", "B"},
    {DType::int16, "short", "h"},
    {DType::uint16, "ushort", "H"},
    {DType::int32, "int", "i"},
    {DType::uint32, "uint", "I"},
    {DType::int64, "long", "q"},
    {DType::uint64, "ulong", "Q"},
    {DType::float8_e4m3, "fp8e4m3", nullptr},
    {DType::float8_e5m2, "fp8e5m2", nullptr},
    {DType::float16, "half", "e"},
    {DType::bfloat16, "bfloat16", nullptr},
    {DType::float32, "float", "f"},
    {DType::float64, "double", "d"},
};

const Spelling* spelling(DType type) {
  const auto* found = std::ranges::find(kSpellings, type, &Spelling::type);
  return found == std::end(kSpellings) ? nullptr : found;
}

std::array<PyObject*, kDTypeCount>& objects() {
  static std::array<PyObject*, kDTypeCount> list{};
  return list;
}

DType by_name(std::string name) {
  if (name.starts_with("dtypes.")) name = name.substr(7);
  if (const DType type = dtype_of_name(name); type != DType::none && type != DType::index) return type;
  for (const Spelling& row : kSpellings)
    if (name == row.name) return row.type;
  return DType::none;
}

}  // namespace

nb::object dtype_object(DType type) { return nb::borrow(objects()[size_t(type)] ? objects()[size_t(type)] : Py_None); }

bool read_dtype(nb::handle source, DType& type) {
  PyObject* object = source.ptr();
  type = DType::none;
  if (source.is_none()) return true;
  if (nb::isinstance<DTypeBox>(source)) {
    type = nb::inst_ptr<DTypeBox>(source)->type;
    return true;
  }
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) type = default_float;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) type = DType::int32;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) type = DType::boolean;
  if (PyUnicode_Check(object)) {
    const char* text = PyUnicode_AsUTF8(object);
    if (text) type = by_name(text);
    PyErr_Clear();
  } else if (type == DType::none && PyObject_HasAttrString(object, PyType_Check(object) ? "__name__" : "name")) {  // numpy.float32
    PyObject* name = PyObject_GetAttrString(object, PyType_Check(object) ? "__name__" : "name");
    const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (text) type = by_name(text);
    Py_XDECREF(name);
    PyErr_Clear();
  }
  return type != DType::none;
}

void bind_dtypes(nb::module_& m) {
  nb::class_<DTypeBox>(m, "DType", "The type of one element: `dtypes.float32` and its like.")
      .def_prop_ro(
          "name", [](const DTypeBox& box) { return spelling(box.type)->name; }, "tinygrad's name: \"float\" for float32.")
      .def_prop_ro(
          "canonical", [](const DTypeBox& box) { return std::string(name(box.type)); }, "NumPy's name: \"float32\".")
      .def_prop_ro(
          "itemsize", [](const DTypeBox& box) { return item_size(box.type); }, "Bytes of an element.")
      .def_prop_ro(
          "bitsize", [](const DTypeBox& box) { return bit_width(box.type); }, "Bits that hold the value: 1 for bool.")
      .def_prop_ro(
          "fmt", [](const DTypeBox& box) { return spelling(box.type)->format; }, nb::sig("def fmt(self) -> str | None"),
          "The letter of Python's struct module, or None.")
      .def_prop_ro("is_float", [](const DTypeBox& box) { return is_float(box.type); })
      .def_prop_ro(
          "is_integer", [](const DTypeBox& box) { return is_integer(box.type); }, "False for bool.")
      .def_prop_ro("is_signed", [](const DTypeBox& box) { return is_signed(box.type); })
      .def("__repr__", [](const DTypeBox& box) { return std::string("dtypes.") + spelling(box.type)->name; })
      .def("__reduce__", [m](const DTypeBox& box) { return nb::make_tuple(m.attr("dtype"), nb::make_tuple(std::string(name(box.type)))); });
  for (const Spelling& row : kSpellings) objects()[size_t(row.type)] = nb::cast(DTypeBox{row.type}).release().ptr();
  m.def(
      "dtype", [](DType type) { return type; }, "type"_a,
      "The dtype with this name, of this NumPy dtype, or of Python's bool, int or float.");
  m.def(
      "promote", [](const std::vector<DType>& types) { return promote(types); }, "types"_a,
      "The least dtype that all of these convert to.");
  m.def(
      "sum_type", [](DType type) { return sum_type(type); }, "type"_a, "What a sum of these is accumulated and returned in.");
  m.def("default_float", [] { return default_float; });
  m.def(
      "set_default_float", [](DType type) { default_float = type; }, "type"_a);
}

}  // namespace whit::python
