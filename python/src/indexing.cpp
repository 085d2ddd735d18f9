// t[…]: reading and writing.
#include "binding.h"

namespace whit::python {

namespace {

bool is_symbol(nb::handle object) {
  return (nb::isinstance<Size>(object) && !nb::inst_ptr<Size>(object)->is_number()) || nb::isinstance<Variable>(object);
}

bool is_symbolic(nb::handle index) {
  if (!PySlice_Check(index.ptr())) return is_symbol(index);
  return is_symbol(index.attr("start")) || is_symbol(index.attr("stop"));
}

std::vector<nb::object> items_of(nb::handle key) {
  std::vector<nb::object> items;
  if (PyTuple_Check(key.ptr()))
    for (nb::handle item : nb::borrow<nb::tuple>(key)) items.push_back(nb::borrow(item));
  else
    items.push_back(nb::borrow(key));
  return items;
}

int64_t integer(nb::handle object) {
  if (const Tensor* tensor = tensor_in(object)) {
    compute_released(*tensor);
    return tensor->item<int64_t>();
  }
  PyObject* number = PyNumber_Index(object.ptr());
  if (!number) throw nb::python_error();
  const int64_t value = PyLong_AsLongLong(number);
  Py_DECREF(number);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

std::optional<int64_t> end_of(nb::handle object) { return object.is_none() ? std::nullopt : std::optional(integer(object)); }

Index index_of(nb::handle item) {
  PyObject* object = item.ptr();
  if (PyBool_Check(object)) throw nb::type_error("index: a bool is no index; use where or masked_fill");
  if (PyLong_Check(object)) return Index(integer(item));
  if (item.is_none()) return Index(std::nullopt);
  if (object == Py_Ellipsis) return Index(Ellipsis);
  if (PySlice_Check(object)) {
    const std::optional<int64_t> step = end_of(item.attr("step"));
    return Index(Slice{end_of(item.attr("start")), end_of(item.attr("stop")), step.value_or(1)});
  }
  if (const Tensor* tensor = tensor_in(item)) return Index(*tensor);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    const Tensor list = tensor_from_list(item, {});
    return Index(list.numel() == 0 ? list.cast(DType::int32) : list);
  }
  if (is_array(item)) return Index(tensor_from_array(item, {}, false));
  if (PyIndex_Check(object)) return Index(integer(item));
  throw nb::type_error(
      (std::string("index: ") + nb::repr(item).c_str() + " is no index; ints, slices, None, ..., integer tensors and lists are").c_str());
}

std::vector<Index> indices_of(nb::handle key) {
  std::vector<Index> indices;
  for (const nb::object& item : items_of(key)) indices.push_back(index_of(item));
  return indices;
}

// Ranges whose ends are Variables. The other items may be whole or plain ranges and places.
Tensor symbolic_part(const Tensor& t, const std::vector<nb::object>& items) {
  std::vector<RangeList::Range> ranges;
  std::vector<int64_t> dropped;
  for (const nb::object& item : items) {
    const int64_t axis = int64_t(ranges.size());
    if (item.ptr() == Py_Ellipsis || item.is_none() || axis >= t.ndim())
      throw UserError(ErrorKind::Index, "index: beside a Variable there can only be ints and slices, one for each axis from the first");
    const Size whole = t.size(axis);
    if (PySlice_Check(item.ptr())) {
      if (!item.attr("step").is_none() && integer(item.attr("step")) != 1)
        throw UserError(ErrorKind::Index, "index: beside a Variable slices need the step 1");
      const auto end = [&](nb::handle given, const Size& otherwise) {
        if (given.is_none()) return otherwise;
        const Size size = size_of(given);
        return size.is_number() && size.number() < 0 ? whole + size : size;
      };
      ranges.emplace_back(end(item.attr("start"), Size(0)), end(item.attr("stop"), whole));
    } else {
      const Size place = size_of(item);
      ranges.emplace_back(place, place + Size(1));
      dropped.push_back(axis);
    }
  }
  while (int64_t(ranges.size()) < t.ndim()) ranges.emplace_back(Size(0), t.size(int64_t(ranges.size())));
  const Tensor part = t.shrink(ranges);
  return dropped.empty() ? part : part.squeeze(dropped);
}

bool any_symbolic(const std::vector<nb::object>& items) {
  for (const nb::object& item : items)
    if (is_symbolic(item)) return true;
  return false;
}

Tensor get(const Tensor& t, nb::handle key) {
  if (PyLong_Check(key.ptr()) && !PyBool_Check(key.ptr())) return t.index({Index(integer(key))});
  const std::vector<nb::object> items = items_of(key);
  return any_symbolic(items) ? symbolic_part(t, items) : t.index(indices_of(key));
}

void set(Tensor& t, nb::handle key, const AnyValue& value) {
  const std::vector<nb::object> items = items_of(key);
  if (any_symbolic(items)) {
    symbolic_part(t, items).assign(value);
    return;
  }
  t.set(indices_of(key), value);
}

}  // namespace

void bind_indexing(TensorClass& c) {
  c.def("__getitem__", get, Guard(), "indices"_a,
        "Ints, slices, None and ... give views that can be written to; integer tensors and lists give copies.");
  c.def("__setitem__", set, Guard(), "indices"_a, "value"_a);
  c.def("__delitem__", [](const Tensor&, nb::handle) { throw nb::type_error("Tensor: elements can't be deleted"); });
  c.def(
      "gather", [](const Tensor& t, int64_t dim, const Tensor& index) { return t.gather(dim, index); }, Guard(), "dim"_a, "index"_a,
      "out[i, j] = this[index[i, j], j] for dim 0.");
}

}  // namespace whit::python
