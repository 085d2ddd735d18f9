// Shapes: views, padding, joining and taking apart.
#include "binding.h"

namespace whit::python {

namespace {

using Padding = std::vector<std::pair<int64_t, int64_t>>;

// tinygrad's two forms: flat, the last axis first ((left, right, top, bottom)), or a pair (or None) for each axis.
Padding padding_of(const Tensor& t, nb::handle given) {
  const int64_t axes = t.ndim();
  Padding padding(size_t(axes), {0, 0});
  if (PyLong_Check(given.ptr())) {
    const int64_t all = nb::cast<int64_t>(given);
    for (auto& pair : padding) pair = {all, all};
    return padding;
  }
  const nb::tuple items(nb::borrow(given));
  const bool flat = items.size() > 0 && PyLong_Check(nb::handle(items[0]).ptr());
  const auto wrong = [&] {
    throw UserError(ErrorKind::Shape,
                    std::string("pad: ") + nb::repr(given).c_str() + " doesn't fit a tensor with " + std::to_string(axes) + " axes");
  };
  if (flat) {
    if (items.size() % 2 || int64_t(items.size()) > 2 * axes) wrong();
    for (size_t i = 0; i < items.size() / 2; ++i)
      padding[size_t(axes) - 1 - i] = {nb::cast<int64_t>(items[2 * i]), nb::cast<int64_t>(items[2 * i + 1])};
    return padding;
  }
  if (int64_t(items.size()) != axes) wrong();
  for (size_t i = 0; i < items.size(); ++i)
    if (!nb::handle(items[i]).is_none()) padding[i] = nb::cast<std::pair<int64_t, int64_t>>(items[i]);
  return padding;
}

RangeList ranges_of(const Tensor& t, nb::handle given) {
  std::vector<RangeList::Range> ranges;
  int64_t axis = 0;
  for (nb::handle item : nb::borrow(given)) {
    if (item.is_none())
      ranges.emplace_back(Size(0), axis < t.ndim() ? t.size(axis) : Size(0));
    else
      ranges.emplace_back(size_of(item[0]), size_of(item[1]));
    ++axis;
  }
  return ranges;
}

nb::tuple tuple_of(const std::vector<Tensor>& tensors) {
  nb::list list;
  for (const Tensor& tensor : tensors) list.append(tensor);
  return nb::tuple(list);
}

// A shape as reshape takes it: None keeps the size.
SizeList kept_sizes(const Tensor& t, const nb::args& args) {
  std::vector<Size> sizes;
  int64_t axis = 0;
  for (nb::handle item : unpacked(args)) {
    sizes.push_back(item.is_none() ? t.size(axis) : size_of(item));
    ++axis;
  }
  return sizes;
}

Tensor rolled(Tensor t, nb::handle shifts, nb::handle dims) {
  const std::vector<int64_t> by = numbers_of(shifts, "a shift");
  if (dims.is_none()) {
    const Sizes shape = t.shape();
    return t.flatten().roll(by.at(0), 0).reshape(shape);
  }
  const std::vector<int64_t> axes = numbers_of(dims, "an axis");
  if (axes.size() != by.size()) throw UserError(ErrorKind::Value, "roll: as many shifts as dims are needed");
  for (size_t i = 0; i < axes.size(); ++i) t = t.roll(by[i], axes[i]);
  return t;
}

std::vector<Tensor> joined(const Tensor& first, const nb::args& others) {
  std::vector<Tensor> all{first};
  for (const Tensor& tensor : tensors_of(others)) all.push_back(tensor);
  return all;
}

}  // namespace

void bind_movement(TensorClass& c) {
  for (const char* name : {"reshape", "view"})
    c.def(
        name, [](const Tensor& t, nb::args shape) { return t.reshape(kept_sizes(t, shape)); }, Guard(), "shape"_a,
        "Another shape of as many elements; one size may be -1, None keeps one.");
  c.def(
      "expand",
      [](const Tensor& t, nb::args shape) {
        const int64_t added = int64_t(nb::len(unpacked(shape))) - t.ndim();
        std::vector<Size> sizes;
        int64_t axis = 0;
        for (nb::handle item : unpacked(shape)) {
          sizes.push_back(item.is_none() && axis >= added ? t.size(axis - added) : size_of(item));
          ++axis;
        }
        return t.expand(std::move(sizes));
      },
      Guard(), "shape"_a, "Stretches axes of size 1 and adds axes in front; -1 or None keeps a size.");
  c.def(
      "permute", [](const Tensor& t, nb::args order) { return t.permute(numbers_of(order, "an axis")); }, Guard(), "order"_a,
      "The axes in another order.");
  c.def(
      "transpose", [](const Tensor& t, int64_t a, int64_t b) { return t.transpose(a, b); }, Guard(), "dim0"_a = 1, "dim1"_a = 0,
      "Two axes exchanged.");
  c.def_prop_ro(
      "T", [](const Tensor& t) { return t.T(); }, Guard(), "The axes reversed.");
  c.def(
      "flip", [](const Tensor& t, nb::args axes) { return t.flip(numbers_of(axes, "an axis")); }, Guard(), "axis"_a,
      "Reversed along these axes.");
  c.def(
      "shrink", [](const Tensor& t, nb::args ranges) { return t.shrink(ranges_of(t, unpacked(ranges))); }, Guard(), "arg"_a,
      "The part [first, last) of each axis; None keeps an axis.");
  c.def(
      "pad",
      [](const Tensor& t, nb::object padding, std::string mode, nb::object value) {
        if (mode != "constant") throw UserError(ErrorKind::Value, "pad: the mode \"" + mode + "\" isn't there yet; \"constant\" is");
        return t.pad(padding_of(t, padding), *number_or_nothing(value));
      },
      Guard(), "padding"_a, "mode"_a = "constant", "value"_a = 0.0,
      "Adds (or, negative, takes off) elements at the borders; flat from the last axis, or a pair for each axis.");
  c.def(
      "squeeze", [](const Tensor& t, AxesArg dim) { return dim.nothing ? t : t.squeeze(dim.axes); }, Guard(), "dim"_a = nb::none(),
      "Drops axes of size 1.");
  c.def(
      "unsqueeze", [](const Tensor& t, int64_t dim) { return t.unsqueeze(dim); }, Guard(), "dim"_a, "A new axis of size 1.");
  c.def(
      "flatten", [](const Tensor& t, int64_t first, int64_t last) { return t.flatten(first, last); }, Guard(), "start_dim"_a = 0,
      "end_dim"_a = -1, "Merges axes.");
  c.def(
      "unflatten", [](const Tensor& t, int64_t dim, std::vector<int64_t> sizes) { return t.unflatten(dim, std::move(sizes)); }, Guard(),
      "dim"_a, "sizes"_a, "Takes an axis apart.");
  c.def(
      "repeat", [](const Tensor& t, nb::args counts) { return t.repeat(numbers_of(counts, "a count")); }, Guard(), "repeats"_a,
      "So many times along each axis.");
  c.def("roll", rolled, Guard(), "shifts"_a, "dims"_a = nb::none(), "Moved along axes; what leaves at one end comes in at the other.");
  c.def(
      "split",
      [](const Tensor& t, nb::object sizes, int64_t dim) {
        return tuple_of(PyLong_Check(sizes.ptr()) ? t.split(nb::cast<int64_t>(sizes), dim) : t.split(numbers_of(sizes, "a size"), dim));
      },
      Guard(), "sizes"_a, "dim"_a = 0, nb::sig("def split(self, sizes: int | list[int], dim: int = 0) -> tuple[Tensor, ...]"),
      "Pieces of this size, or of these sizes.");
  c.def(
      "chunk",
      [](const Tensor& t, int64_t chunks, int64_t dim) {
        nb::list list;
        for (const Tensor& piece : t.chunk(chunks, dim)) list.append(piece);
        return list;
      },
      Guard(), "chunks"_a, "dim"_a = 0, nb::sig("def chunk(self, chunks: int, dim: int = 0) -> list[Tensor]"),
      "At most so many equal pieces.");
  c.def(
      "cat", [](const Tensor& t, nb::args others, int64_t dim) { return Tensor::cat(joined(t, others), dim); }, Guard(), "args"_a,
      "dim"_a = 0, "Joined along an axis.");
  c.def(
      "stack", [](const Tensor& t, nb::args others, int64_t dim) { return Tensor::stack(joined(t, others), dim); }, Guard(), "args"_a,
      "dim"_a = 0, "Joined along a new axis.");
  c.def(
      "triu", [](const Tensor& t, int64_t diagonal) { return t.triu(diagonal); }, Guard(), "diagonal"_a = 0, "Zeros below the diagonal.");
  c.def(
      "tril", [](const Tensor& t, int64_t diagonal) { return t.tril(diagonal); }, Guard(), "diagonal"_a = 0, "Zeros above the diagonal.");
}

}  // namespace whit::python
