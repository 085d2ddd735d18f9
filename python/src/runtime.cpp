// Devices, counters, training mode, Variables and files.
#include "binding.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <whit/device.h>

#include <memory>

#include "engine/device.h"
#include "engine/handle.h"
#include "io/mnist.h"
#include "ir/graph.h"

namespace whit::python {

namespace {

void set_training(bool on) {
  static thread_local std::unique_ptr<Train> standing;
  standing.reset();
  if (on) standing = std::make_unique<Train>(true);
}

nb::dict counted() {
  const Counters c = counters();
  nb::dict result;
  result["kernels"] = c.kernels;
  result["plans_built"] = c.plans_built;
  result["plans_found"] = c.plans_found;
  result["kernels_compiled"] = c.kernels_compiled;
  result["bytes_in_use"] = c.bytes_in_use;
  result["bytes_peak"] = c.bytes_peak;
  result["flops"] = c.flops;
  result["bytes_moved"] = c.bytes_moved;
  result["nodes"] = TensorGraph::shared().size();
  return result;
}

nb::list devices() {
  nb::list list;
  for (const DeviceStatus& status : device_statuses())
    list.append(nb::make_tuple(status.name, status.description, status.reason, status.is_default));
  return list;
}

Tensor tensor_of_bytes(Bytes bytes, Sizes shape, const std::string& device) {
  return Tensor::from_blob(bytes.data(), std::move(shape), {.dtype = DType::uint8, .device = device});
}

nb::tuple mnist(const std::string& folder, const std::string& device) {
  std::optional<MnistData> data;
  {
    const nb::gil_scoped_release released;
    data = load_mnist(folder);
  }
  constexpr int64_t kSide = MnistData::kSide;
  return nb::make_tuple(
      tensor_of_bytes(data->train_images, {60000, 1, kSide, kSide}, device), tensor_of_bytes(data->train_labels, {60000}, device),
      tensor_of_bytes(data->test_images, {10000, 1, kSide, kSide}, device), tensor_of_bytes(data->test_labels, {10000}, device));
}

int64_t value_of(const Size& size) {
  if (size.is_number()) return size.number();
  return bound_size(Dim((*size.symbol())->maximum, size.symbol()->get()));
}

}  // namespace

void bind_runtime(nb::module_& m) {
  m.def("set_training", set_training, "on"_a);
  m.def("training", [] { return Train::on(); });
  m.def(
      "dropout", [](const Tensor& t, double p) { return t.dropout(p); }, Guard());
  m.def("counters", counted, "What has happened in this process so far.");
  m.def("devices", devices, "(name, description, why it isn't there or \"\", whether it is the default) of every backend.");
  m.def("default_device", [] { return Device::get_default(); });
  m.def(
      "set_default_device", [](const std::string& name) { Device::set_default(name); }, Guard());
  m.def(
      "canonical_device", [](const std::string& name) { return device_name(open_device(name)); }, Guard(), "name"_a,
      "The device's full name; an error if it isn't there.");
  m.def(
      "synchronize",
      [](const std::string& name) {
        const nb::gil_scoped_release released;
        device(open_device(name)).synchronize();
      },
      Guard());
  m.def("set_package_folder", set_package_folder);
}

void bind_variables(nb::module_& m) {
  const auto binary = [](auto& c, const char* name, auto operation) {
    c.def(
        name, [operation](const Size& a, nb::handle b) { return operation(a, size_of(b)); }, Guard(), nb::is_operator());
  };
  nb::class_<Size> size(m, "Size", "A size that depends on Variables.");
  binary(size, "__add__", [](const Size& a, const Size& b) { return a + b; });
  binary(size, "__radd__", [](const Size& a, const Size& b) { return b + a; });
  binary(size, "__sub__", [](const Size& a, const Size& b) { return a - b; });
  binary(size, "__rsub__", [](const Size& a, const Size& b) { return b - a; });
  binary(size, "__mul__", [](const Size& a, const Size& b) { return a * b; });
  binary(size, "__rmul__", [](const Size& a, const Size& b) { return b * a; });
  size.def("__repr__", [](const Size& s) { return s.str(); });
  size.def_prop_ro("val", value_of, Guard(), "The value, from those of its Variables.");
  size.def("__int__", value_of, Guard());
  size.def("__index__", value_of, Guard());
  size.def("__eq__", [](const Size& a, nb::handle b) {
    if (nb::isinstance<Size>(b)) return a.str() == nb::inst_ptr<Size>(b)->str();
    return PyLong_Check(b.ptr()) && value_of(a) == nb::cast<int64_t>(b);
  });
  size.def("__hash__", [](const Size& s) { return Py_ssize_t(std::hash<std::string>()(s.str())); });

  nb::class_<Variable> variable(m, "Variable", "A size by name, from min to max, both included.");
  variable.def(
      "__init__",
      [](Variable* self, std::string name, int64_t low, int64_t high, nb::object) { new (self) Variable(std::move(name), low, high); },
      Guard(), "name"_a, "min"_a, "max"_a, "dtype"_a = nb::none());
  variable.def(
      "bind", [](const Variable& v, int64_t value) { return v.bind(value); }, Guard(), "value"_a, "The variable with a value.");
  variable.def_prop_ro("expr", [](const Variable& v) { return v.name(); });
  variable.def_prop_ro("name", [](const Variable& v) { return v.name(); });
  variable.def_prop_ro("vmin", [](const Variable& v) { return v.minimum(); });
  variable.def_prop_ro("vmax", [](const Variable& v) { return v.maximum(); });
  variable.def("__repr__", [](const Variable& v) {
    return "Variable(\"" + v.name() + "\", " + std::to_string(v.minimum()) + ", " + std::to_string(v.maximum()) + ")";
  });
  variable.def("__eq__", [](const Variable& a, nb::handle b) {
    const Variable* other = nb::isinstance<Variable>(b) ? nb::inst_ptr<Variable>(b) : nullptr;
    return other && a.name() == other->name() && a.minimum() == other->minimum() && a.maximum() == other->maximum();
  });
  variable.def("__hash__", [](const Variable& v) { return Py_ssize_t(std::hash<std::string>()(v.name())); });
  const auto of = [](const Variable& v) { return static_cast<const Size&>(v); };
  variable.def(
      "__add__", [of](const Variable& v, nb::handle b) { return of(v) + size_of(b); }, nb::is_operator());
  variable.def(
      "__radd__", [of](const Variable& v, nb::handle b) { return size_of(b) + of(v); }, nb::is_operator());
  variable.def(
      "__sub__", [of](const Variable& v, nb::handle b) { return of(v) - size_of(b); }, nb::is_operator());
  variable.def(
      "__rsub__", [of](const Variable& v, nb::handle b) { return size_of(b) - of(v); }, nb::is_operator());
  variable.def(
      "__mul__", [of](const Variable& v, nb::handle b) { return of(v) * size_of(b); }, nb::is_operator());
  variable.def(
      "__rmul__", [of](const Variable& v, nb::handle b) { return size_of(b) * of(v); }, nb::is_operator());
}

void bind_files(nb::module_& m) {
  m.def(
      "safe_save",
      [](const std::map<std::string, Tensor>& tensors, const std::string& path, const std::map<std::string, std::string>& metadata) {
        const nb::gil_scoped_release released;
        nn::safe_save(tensors, path, metadata);
      },
      Guard(), "tensors"_a, "path"_a, "metadata"_a);
  m.def(
      "safe_load",
      [](const std::string& path, const std::string& device) {
        const nb::gil_scoped_release released;
        return nn::safe_load(path, device);
      },
      Guard(), "path"_a, "device"_a = "");
  m.def("mnist", mnist, Guard(), "folder"_a = "", "device"_a = "");
}

}  // namespace whit::python
