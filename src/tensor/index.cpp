// Indexing. Integers, slices, None and Ellipsis give views. Tensors of integers gather: the sum, over the places along the indexed axes, of
// the elements whose place is the one asked for, which reduce removal turns into one load an element.
#include <algorithm>
#include <limits>

#include "tensor/build.h"

namespace whit {

namespace {

// The part of an axis that a slice takes: elements start, start + step, …
struct Run {
  int64_t start = 0, count = 0, step = 1;
};

Run resolve(const Slice& slice, int64_t size) {
  if (slice.step == 0) refuse(ErrorKind::Value, "index", "the step of a slice is 0");
  const bool forward = slice.step > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
  const auto end = [&](std::optional<int64_t> given, int64_t otherwise) {
    return !given ? otherwise : std::clamp(*given < 0 ? *given + size : *given, low, high);
  };
  const int64_t start = end(slice.start, forward ? low : high), stop = end(slice.stop, forward ? high : low);
  const int64_t distance = forward ? stop - start : start - stop;
  const int64_t by = forward ? slice.step : -std::max(slice.step, -std::numeric_limits<int64_t>::max());
  const int64_t count = distance <= 0 ? 0 : (distance - 1) / by + 1;
  return {count == 0 ? 0 : start, count, count <= 1 ? 1 : slice.step};
}

// The elements of `x` that the runs name, as movement ops.
NodeRef take(NodeRef node, const std::vector<Run>& runs) {
  const Sizes sizes = sizes_of(node.get());
  Sizes bounds;
  std::vector<int64_t> reversed;
  bool whole = true;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& [start, count, step] = runs[i];
    const int64_t last = start + (count - 1) * step, extent = count == 0 ? 0 : std::abs(last - start) + 1;
    bounds.insert(bounds.end(), {std::min(start, std::max<int64_t>(last, 0)), extent});
    whole = whole && extent == sizes[i];
    if (step < 0) reversed.push_back(int64_t(i));
  }
  if (!whole) node = make(Op::Shrink, {node.get()}, bounds);
  if (!reversed.empty()) node = make(Op::Flip, {node.get()}, reversed);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::abs(runs[i].step) == 1) continue;
    Sizes shape = sizes_of(node.get());
    shape.push_back(1);
    const int64_t args[] = {int64_t(i), int64_t(runs.size()), runs[i].count, std::abs(runs[i].step), 1};
    node = make(Op::Window, {reshape(std::move(node), shape).get()}, args);
    shape = sizes_of(node.get());
    shape.pop_back();
    node = reshape(std::move(node), shape);
  }
  return node;
}

// Indices after the views are taken: what is left to gather.
struct Selection {
  Tensor view;
  std::vector<std::pair<int64_t, Tensor>> tensors;  // axis of `view`, index
};

// How many axes of the tensor the indices name, Ellipsis aside.
int64_t named_axes(std::span<const Index> indices, const Sizes& sizes) {
  int64_t named = 0, ellipses = 0;
  for (const Index& index : indices) {
    named += index.kind() == Index::Kind::integer || index.kind() == Index::Kind::slice || index.kind() == Index::Kind::tensor;
    ellipses += index.kind() == Index::Kind::ellipsis;
  }
  if (named > int64_t(sizes.size()))
    refuse(ErrorKind::Index, "index", named, " indices are given, but ", text(sizes), " has ", sizes.size(),
           sizes.size() == 1 ? " axis" : " axes");
  if (ellipses > 1) refuse(ErrorKind::Index, "index", "there can be only one Ellipsis");
  return named;
}

void check_index_tensor(const Tensor& tensor) {
  const DType type = node_of(tensor, "index")->dtype;
  if (type == DType::boolean)
    refuse(ErrorKind::Type, "index",
           "a bool tensor would select a number of elements that is known only after computing; use where or masked_fill");
  if (!is_integer(type)) refuse(ErrorKind::Type, "index", "index tensors hold integers, not ", name(type), "; cast to int32");
}

int64_t resolve(int64_t index, int64_t size, size_t axis, const Sizes& sizes) {
  if (index < -size || index >= size)
    refuse(ErrorKind::Index, "index", "index ", index, " is out of range: axis ", axis, " of ", text(sizes), " has size ", size);
  return index < 0 ? index + size : index;
}

Selection select(const Tensor& x, std::span<const Index> indices) {
  const Sizes sizes = sizes_of(node_of(x, "index"));
  const int64_t left_over = int64_t(sizes.size()) - named_axes(indices, sizes);
  std::vector<Run> runs;
  Sizes shape;
  Selection selection;
  const auto keep_whole = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      shape.push_back(sizes[runs.size()]);
      runs.push_back({0, shape.back(), 1});
    }
  };
  bool ellipsis = false;
  for (const Index& index : indices) {
    switch (index.kind()) {
      case Index::Kind::integer: runs.push_back({resolve(index.integer(), sizes[runs.size()], runs.size(), sizes), 1, 1}); break;
      case Index::Kind::slice:
        runs.push_back(resolve(index.slice(), sizes[runs.size()]));
        shape.push_back(runs.back().count);
        break;
      case Index::Kind::new_axis: shape.push_back(1); break;
      case Index::Kind::ellipsis:
        keep_whole(left_over);
        ellipsis = true;
        break;
      case Index::Kind::tensor:
        check_index_tensor(index.tensor());
        selection.tensors.emplace_back(int64_t(shape.size()), index.tensor());
        keep_whole(1);
        break;
    }
  }
  if (!ellipsis) keep_whole(left_over);
  selection.view = view_of(x, reshape(take(NodeRef(node_of(x, "index")), runs), shape));
  return selection;
}

// A selection by tensors in the form in which it is computed: the indexed axes are last and merged into one of `places`; `place` holds
// the one asked for.
struct Gathering {
  std::vector<int64_t> order;  // of the view's axes: before, after, indexed
  size_t before = 0, after = 0;
  Sizes places_shape;  // the sizes of the indexed axes
  int64_t places = 1;
  Tensor place;   // broadcast of the index tensors; `places` or beyond where one is out of range
  Tensor merged;  // the view as (before …, after …, places)
};

DType place_type_of(const std::vector<std::pair<int64_t, Tensor>>& tensors, int64_t places) {
  for (const auto& [axis, tensor] : tensors)
    if (promote(tensor.dtype(), DType::int32) != DType::int32) return DType::int64;
  return place_type(places);
}

Gathering arrange(const Selection& selection) {
  Gathering g;
  const Sizes sizes = selection.view.shape();
  std::vector<int64_t> indexed;
  for (const auto& [axis, tensor] : selection.tensors) indexed.push_back(axis);
  // Neighbouring index tensors put their axes where they stand, others in front (as NumPy).
  const bool neighbours = indexed.back() - indexed.front() + 1 == int64_t(indexed.size());
  for (int64_t axis = 0; axis < int64_t(sizes.size()); ++axis) {
    if (std::ranges::find(indexed, axis) != indexed.end()) continue;
    g.order.push_back(axis);
    ++(neighbours && axis < indexed.front() ? g.before : g.after);
  }
  for (const int64_t axis : indexed) g.places_shape.push_back(sizes[size_t(axis)]);
  g.places = product(g.places_shape);
  g.order.insert(g.order.end(), indexed.begin(), indexed.end());
  g.merged = selection.view.permute(g.order);
  if (indexed.size() > 1) g.merged = g.merged.flatten(-int64_t(indexed.size()));
  const DType type = place_type_of(selection.tensors, g.places);
  Tensor inside;
  for (size_t k = 0; k < indexed.size(); ++k) {
    const int64_t size = g.places_shape[k];
    const Tensor raw = selection.tensors[k].second.cast(type),
                 index = is_signed(selection.tensors[k].second.dtype()) ? (raw < 0).where(raw + size, raw) : raw;
    if (g.place.defined()) broadcast(g.place.shape(), index.shape(), "index");
    g.place = g.place.defined() ? g.place * size + index : index;
    if (indexed.size() > 1) {
      const Tensor here = (index >= 0) & (index < size);
      inside = inside.defined() ? inside & here : here;
    }
  }
  if (inside.defined()) g.place = inside.where(g.place, g.places);
  return g;
}

// The elements of the last axis of `x` at `place`, whose last axis has size 1; 0 where there is no such element. The comparison is made
// in the full shape, not stretched to it, so that it can disappear together with the sum.
Tensor pick(const Tensor& place, const Tensor& x) {
  const Sizes full = broadcast(place.shape(), x.shape(), "index");
  const Tensor chosen = place.expand(full) == tensor_of(places(full, int64_t(full.size()) - 1, place.dtype()));
  const Tensor masked = x.dtype() == DType::boolean ? chosen & x : chosen.where(x, 0);
  const NodeRef node(node_of(masked, "index"));
  const NodeRef folded = reduce(node, masked.dtype() == DType::boolean ? Op::Or : Op::Add, {node->rank - 1});
  Sizes left = sizes_of(folded.get());
  left.pop_back();
  return tensor_of(reshape(folded, left));  // not a view of something that nobody holds: what is written to it is lost
}

Tensor gather_places(const Selection& selection) {
  const Gathering g = arrange(selection);
  // (before …, index …, after …, places)
  const Sizes merged = g.merged.shape(), picked = g.place.shape();
  Sizes source(merged.begin(), merged.begin() + int64_t(g.before)), wanted(g.before, 1);
  source.insert(source.end(), picked.size(), 1);
  source.insert(source.end(), merged.begin() + int64_t(g.before), merged.end());
  wanted.insert(wanted.end(), picked.begin(), picked.end());
  wanted.insert(wanted.end(), g.after + 1, 1);
  return pick(g.place.reshape(wanted), g.merged.reshape(source));
}

// The view with `value` at the places asked for; of several values for one place, the last.
Tensor scatter_places(const Selection& selection, const Tensor& value) {
  const Gathering g = arrange(selection);
  const Sizes merged = g.merged.shape(), picked = g.place.shape();
  Sizes target(merged.begin(), merged.begin() + int64_t(g.before));
  target.insert(target.end(), picked.begin(), picked.end());
  target.insert(target.end(), merged.begin() + int64_t(g.before), merged.end() - 1);
  std::vector<int64_t> order;  // the index axes of the value come last
  for (size_t i = 0; i < target.size(); ++i)
    if (i < g.before || i >= g.before + picked.size()) order.push_back(int64_t(i));
  for (size_t i = 0; i < picked.size(); ++i) order.push_back(int64_t(g.before + i));
  Sizes flat(merged.begin(), merged.end() - 1);
  const int64_t count = product(picked);
  flat.push_back(count);
  const Tensor values = value.expand(target).permute(order).reshape(flat);
  Sizes line(flat.size(), 1);
  line.back() = count;
  const Tensor index = g.place.reshape(line).expand(flat);
  const int64_t args[] = {int64_t(Op::Assign), int64_t(flat.size()) - 1};
  const DType type = promote(g.merged.dtype(), values.dtype());
  const Tensor old = g.merged.cast(type), typed = values.cast(type);
  const Tensor written = tensor_of(make(Op::Scatter, {node_of(old, "index"), node_of(typed, "index"), node_of(index, "index")}, args));
  Sizes apart(merged.begin(), merged.end() - 1);
  apart.insert(apart.end(), g.places_shape.begin(), g.places_shape.end());
  std::vector<int64_t> back(g.order.size());
  for (size_t i = 0; i < back.size(); ++i) back[size_t(g.order[i])] = int64_t(i);
  return written.reshape(apart).permute(back);
}

}  // namespace

Tensor Tensor::index(const std::vector<Index>& indices, Site at) const {
  const Call call(at);
  const Selection selection = select(*this, indices);
  return selection.tensors.empty() ? selection.view : gather_places(selection);
}

Tensor Tensor::operator[](const Index& one) const { return index({one}, one.site()); }

Tensor Tensor::operator[](std::initializer_list<Index> indices) const {
  return index(std::vector<Index>(indices), indices.size() > 0 ? indices.begin()->site() : Site());
}

Tensor& Tensor::set(std::initializer_list<Index> indices, const Operand& value) { return set(std::vector<Index>(indices), value); }

Tensor& Tensor::set(const std::vector<Index>& indices, const Operand& value) {
  const Call call(value.site);
  const Selection selection = select(*this, indices);
  Tensor view = selection.view;
  if (selection.tensors.empty())
    view.assign(value);
  else
    view.assign(scatter_places(selection, value.tensor ? *value.tensor : full({}, value.scalar, {.dtype = common_type({&value}, "set")})));
  return *this;
}

Tensor Tensor::gather(int64_t axis, const Tensor& index, Site at) const {
  const Call call(at);
  const Sizes sizes = sizes_of(node_of(*this, "gather")), wanted = sizes_of(node_of(index, "gather"));
  check_index_tensor(index);
  const int64_t place = axis_of(axis, int64_t(sizes.size()), "gather");
  if (wanted.size() != sizes.size())
    refuse(ErrorKind::Shape, "gather", "the index ", text(wanted), " and the tensor ", text(sizes), " need the same number of axes");
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ranges.emplace_back(0, int64_t(i) == place ? sizes[i] : wanted[i]);
    if (ranges.back().second > sizes[i])
      refuse(ErrorKind::Shape, "gather", "the index ", text(wanted), " is larger than the tensor ", text(sizes), " along axis ", i);
  }
  const int64_t size = sizes[size_t(place)];
  const DType type = place_type_of({{place, index}}, size);
  const Tensor raw = index.cast(type), wrapped = is_signed(index.dtype()) ? (raw < 0).where(raw + size, raw) : raw;
  return pick(wrapped.unsqueeze(-1), shrink(ranges).unsqueeze(-1).transpose(place, -1));
}

}  // namespace whit
