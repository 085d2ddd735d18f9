// Tensors from data, constants, sequences and random draws.
#include "binding.h"

#include <algorithm>

namespace whit::python {

namespace {

// The leaves of nested lists, in the narrowest form that holds them all.
struct ListReader {
  Sizes shape;
  std::vector<Scalar> values;
  bool tensors = false;  // some leaf is a Tensor: then the list is stacked instead
  bool all_bool = true, any_float = false, any_large = false;

  static bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

  void find_shape(PyObject* list) {
    for (PyObject* level = list; is_list(level); level = PySequence_Fast_GET_ITEM(level, 0)) {
      shape.push_back(PySequence_Fast_GET_SIZE(level));
      if (shape.back() == 0) break;
    }
  }

  void read(PyObject* object, size_t depth) {
    if (tensors) return;
    if (!is_list(object)) {
      if (tensor_in(object)) {
        tensors = true;
        return;
      }
      if (depth != shape.size()) ragged(depth, "a number stands where there is a list elsewhere");
      add(object);
      return;
    }
    if (depth == shape.size()) ragged(depth, "a list stands where there is a number elsewhere");
    const int64_t count = PySequence_Fast_GET_SIZE(object);
    if (count != shape[depth]) ragged(depth, "one list has " + std::to_string(shape[depth]) + " items, another " + std::to_string(count));
    PyObject** items = PySequence_Fast_ITEMS(object);
    for (int64_t i = 0; i < count; ++i) read(items[i], depth + 1);
  }

  void add(PyObject* object) {
    const std::optional<Scalar> value = PyFloat_Check(object) || PyLong_Check(object) ? scalar_of(object) : converted(object);
    all_bool &= value->kind == Scalar::Kind::boolean;
    any_float |= value->kind == Scalar::Kind::floating;
    any_large |= value->beyond_int64;
    values.push_back(*value);
  }

  static Scalar converted(PyObject* object) {
    const nb::object number = nb::steal(PyIndex_Check(object) ? PyNumber_Index(object) : PyNumber_Float(object));
    if (!number.is_valid()) {
      PyErr_Clear();
      throw nb::type_error((std::string("Tensor: a list holds ") + nb::repr(object).c_str() + ", which is no number").c_str());
    }
    return scalar_of(number);
  }

  [[noreturn]] static void ragged(size_t depth, const std::string& what) {
    throw UserError(ErrorKind::Shape, "Tensor: the nested lists are ragged at depth " + std::to_string(depth) + ": " + what +
                                          "; all lists of one depth need the same length");
  }

  template <class T>
  Tensor as(DType natural, Options options) const {
    std::vector<T> elements;
    elements.reserve(values.size());
    for (const Scalar& value : values) {
      if constexpr (std::is_same_v<T, double>)
        elements.push_back(value.real);
      else
        elements.push_back(T(value.integer));
    }
    if (options.dtype == DType::none) options.dtype = natural;
    return Tensor(std::move(elements), shape, options);
  }

  Tensor tensor(const Options& options) const {
    if (any_float || values.empty()) return as<double>(default_float, options);
    if (any_large) return as<uint64_t>(DType::uint64, options);
    if (all_bool)
      return as<uint8_t>(DType::uint8, {.dtype = DType::uint8, .device = options.device})
          .cast(options.dtype == DType::none ? DType::boolean : options.dtype);
    const bool narrow = std::ranges::all_of(values, [](const Scalar& v) { return v.integer == int32_t(v.integer); });
    return as<int64_t>(narrow ? DType::int32 : DType::int64, options);
  }
};

Tensor stacked(nb::handle list) {
  std::vector<Tensor> parts;
  for (nb::handle item : nb::borrow(list)) {
    if (const Tensor* tensor = tensor_in(item))
      parts.push_back(*tensor);
    else
      parts.push_back(tensor_from(item, {}));
  }
  return Tensor::stack(parts);
}

Tensor converted(Tensor tensor, const Options& options) {
  if (!options.device.empty()) tensor = tensor.to(options.device);
  return options.dtype == DType::none ? tensor : tensor.cast(options.dtype);
}

Tensor from_bytes(nb::handle data, Options options) {
  if (options.dtype == DType::none) options.dtype = DType::uint8;
  const char* text = PyBytes_AS_STRING(data.ptr());
  const size_t bytes = size_t(PyBytes_GET_SIZE(data.ptr())), item = item_size(options.dtype);
  if (bytes % item)
    throw UserError(ErrorKind::Shape,
                    "Tensor: " + std::to_string(bytes) + " bytes are no whole number of " + std::string(name(options.dtype)));
  return Tensor::from_blob(text, {int64_t(bytes / item)}, options);
}

}  // namespace

Tensor tensor_from_list(nb::handle list, const Options& options) {
  ListReader reader;
  reader.find_shape(list.ptr());
  reader.read(list.ptr(), 0);
  return reader.tensors ? converted(stacked(list), options) : reader.tensor(options);
}

Tensor tensor_from(nb::handle data, const Options& options) {
  PyObject* object = data.ptr();
  if (const Tensor* tensor = tensor_in(data)) return converted(*tensor, options);
  if (data.is_none())
    return Tensor(std::vector<float>{}, Sizes{0}, {options.dtype == DType::none ? default_float : options.dtype, options.device});
  if (PyFloat_Check(object)) return Tensor(scalar_of(data), {options.dtype == DType::none ? default_float : options.dtype, options.device});
  if (PyLong_Check(object)) return Tensor(scalar_of(data), options);
  if (PyList_Check(object) || PyTuple_Check(object)) return tensor_from_list(data, options);
  if (PyBytes_Check(object)) return from_bytes(data, options);
  if (PyRange_Check(object)) return tensor_from_list(nb::steal(PySequence_List(object)), options);
  if (is_array(data)) return tensor_from_array(data, options, false);
  if (nb::hasattr(data, "__fspath__")) {
    const nb::object bytes = nb::module_::import_("pathlib").attr("Path")(data).attr("read_bytes")();
    return from_bytes(bytes, options);
  }
  throw nb::type_error((std::string("Tensor: it is made of numbers, nested lists, bytes and arrays, not of ") +
                        nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))).attr("__name__")))
                           .c_str());
}

// ---- Bindings -----------------------------------------------------------------------------------------------------------------------

using Flag = std::optional<bool>;

void bind_creation(TensorClass& c) {
  c.def(
      "__init__",
      [](Tensor* self, nb::object data, nb::object device, DType dtype, Flag requires_grad) {
        new (self) Tensor(requiring(tensor_from(data, options_of(dtype, device)), requires_grad));
      },
      Guard(), "data"_a.none() = nb::none(), "device"_a = nb::none(), "dtype"_a = nb::none(), "requires_grad"_a = nb::none(),
      "A tensor of a number, nested lists, bytes, or an array of another library (whose values are copied).");

  c.def_static(
      "full",
      [](nb::object shape, nb::object value, DType dtype, nb::object device, Flag requires_grad) {
        const Scalar scalar = *number_or_nothing(value);
        const nb::tuple one = nb::make_tuple(shape);
        const Options options = scalar.kind == Scalar::Kind::floating ? float_options(dtype, device) : options_of(dtype, device);
        return requiring(Tensor::full(sizes_of(nb::borrow<nb::args>(one)), scalar, options), requires_grad);
      },
      Guard(), "shape"_a, "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "A tensor of this shape with one value everywhere.");
  const auto constant = [&c](const char* name, double value, const char* text) {
    c.def_static(
        name,
        [value](nb::args shape, DType dtype, nb::object device, Flag requires_grad) {
          return requiring(Tensor::full(sizes_of(shape), value, float_options(dtype, device)), requires_grad);
        },
        Guard(), "shape"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(), text);
  };
  constant("zeros", 0, "Zeros.");
  constant("ones", 1, "Ones.");
  c.def_static(
      "empty",
      [](nb::args shape, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(Tensor::empty(sizes_of(shape), float_options(dtype, device)), requires_grad);
      },
      Guard(), "shape"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Storage with unspecified values.");
  c.def_static(
      "arange",
      [](nb::object start, nb::object stop, nb::object step, DType dtype, nb::object device, Flag requires_grad) {
        const Scalar first = *number_or_nothing(start), by = *number_or_nothing(step);
        const std::optional<Scalar> last = number_or_nothing(stop);
        Options options = options_of(dtype, device);
        const auto floating = [](const Scalar& s) { return s.kind == Scalar::Kind::floating; };
        if (dtype == DType::none && (floating(first) || floating(by) || (last && floating(*last)))) options.dtype = default_float;
        return requiring(last ? Tensor::arange(first, *last, by, options) : Tensor::arange(Scalar(0), first, by, options), requires_grad);
      },
      Guard(), "start"_a, "stop"_a.none() = nb::none(), "step"_a = 1, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = nb::none(), "start, start + step, … before stop; with one number, from 0 to it.");
  c.def_static(
      "linspace",
      [](double start, double stop, int64_t steps, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(Tensor::linspace(start, stop, steps, float_options(dtype, device)), requires_grad);
      },
      Guard(), "start"_a, "stop"_a, "steps"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = nb::none(), "steps numbers at equal distances, both ends included.");
  c.def_static(
      "eye",
      [](int64_t n, std::optional<int64_t> m, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(Tensor::eye(n, m, float_options(dtype, device)), requires_grad);
      },
      Guard(), "n"_a, "m"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "The identity matrix, n rows and m columns.");
  c.def(
      "full_like",
      [](const Tensor& t, nb::object value, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(t.full_like(*number_or_nothing(value), options_of(dtype, device)), requires_grad);
      },
      Guard(), "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "One value in the shape and dtype of this.");
  c.def(
      "const_like", [](const Tensor& t, nb::object value) { return t.full_like(*number_or_nothing(value)); }, Guard(), "b"_a,
      "As full_like.");
  c.def(
      "zeros_like",
      [](const Tensor& t, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(t.zeros_like(options_of(dtype, device)), requires_grad);
      },
      Guard(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Zeros in the shape of this.");
  c.def(
      "ones_like",
      [](const Tensor& t, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(t.ones_like(options_of(dtype, device)), requires_grad);
      },
      Guard(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Ones in the shape of this.");
  c.def(
      "empty_like",
      [](const Tensor& t, DType dtype, nb::object device) {
        const Options options = options_of(dtype, device);
        return Tensor::empty(
            t.shape(), {options.dtype == DType::none ? t.dtype() : options.dtype, options.device.empty() ? t.device() : options.device});
      },
      Guard(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "Storage with unspecified values in the shape of this.");
}

void bind_random(TensorClass& c) {
  const auto draw = [&c](const char* name, auto make, const char* text) {
    c.def_static(
        name,
        [make](nb::args shape, DType dtype, nb::object device, Flag requires_grad, nb::kwargs) {
          return requiring(make(numbers_of(shape, "a size"), float_options(dtype, device)), requires_grad);
        },
        Guard(), "shape"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(), "kwargs"_a, text);
  };
  c.def_static(
      "manual_seed", [](uint64_t seed) { Tensor::manual_seed(seed); }, "seed"_a = 0, "Starts the sequence of all later draws anew.");
  draw(
      "rand", [](Sizes shape, Options o) { return Tensor::rand(std::move(shape), o); }, "Uniform in [0, 1).");
  draw(
      "randn", [](Sizes shape, Options o) { return Tensor::randn(std::move(shape), o); }, "Normal, mean 0, deviation 1.");
  draw(
      "glorot_uniform", [](Sizes shape, Options o) { return Tensor::glorot_uniform(std::move(shape), o); },
      "Uniform within √(6 / (fan-in + fan-out)).");
  draw(
      "scaled_uniform",
      [](Sizes shape, Options o) {
        double count = 1;
        for (const int64_t size : shape) count *= double(size);
        return Tensor::uniform(std::move(shape), -1, 1, o) * (1 / std::sqrt(count));
      },
      "Uniform in [-1, 1), divided by the root of the number of elements.");
  c.def_static(
      "randint",
      [](nb::args shape, int64_t low, int64_t high, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(Tensor::randint(low, high, numbers_of(shape, "a size"), options_of(dtype, device)), requires_grad);
      },
      Guard(), "shape"_a, "low"_a = 0, "high"_a = 10, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Integers in [low, high).");
  c.def_static(
      "uniform",
      [](nb::args shape, double low, double high, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(Tensor::uniform(numbers_of(shape, "a size"), low, high, float_options(dtype, device)), requires_grad);
      },
      Guard(), "shape"_a, "low"_a = 0.0, "high"_a = 1.0, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Uniform in [low, high).");
  c.def_static(
      "normal",
      [](nb::args shape, double mean, double std, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(Tensor::normal(numbers_of(shape, "a size"), mean, std, float_options(dtype, device)), requires_grad);
      },
      Guard(), "shape"_a, "mean"_a = 0.0, "std"_a = 1.0, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Normal with this mean and deviation.");
  c.def_static(
      "kaiming_uniform",
      [](nb::args shape, double a, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(Tensor::kaiming_uniform(numbers_of(shape, "a size"), a, float_options(dtype, device)), requires_grad);
      },
      Guard(), "shape"_a, "a"_a = 0.01, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Uniform within √(6 / ((1 + a²) fan-in)).");
  c.def_static(
      "kaiming_normal",
      [](nb::args shape, double a, DType dtype, nb::object device, Flag requires_grad) {
        const Sizes sizes = numbers_of(shape, "a size");
        const double deviation = std::sqrt(2 / ((1 + a * a) * double(fan_in(sizes))));
        return requiring(Tensor::normal(sizes, 0, deviation, float_options(dtype, device)), requires_grad);
      },
      Guard(), "shape"_a, "a"_a = 0.01, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Normal with deviation √(2 / ((1 + a²) fan-in)).");
  c.def(
      "rand_like",
      [](const Tensor& t, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(t.rand_like(options_of(dtype, device)), requires_grad);
      },
      Guard(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Uniform in [0, 1), in the shape of this.");
  c.def(
      "randn_like",
      [](const Tensor& t, DType dtype, nb::object device, Flag requires_grad) {
        return requiring(t.randn_like(options_of(dtype, device)), requires_grad);
      },
      Guard(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = nb::none(),
      "Normal, in the shape of this.");
}

}  // namespace whit::python
