// Operations that rearrange elements. Those of one movement op are views; cat, pad with a value and the like are not.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/device_id.h"
#include "ir/size_args.h"
#include "tensor/build.h"

namespace whit {

namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Sizes flat(const Pairs& pairs) {
  Sizes args;
  for (const auto& [first, second] : pairs) args.insert(args.end(), {first, second});
  return args;
}

bool all_zero(const Sizes& values) {
  return std::ranges::all_of(values, [](int64_t value) { return value == 0; });
}

// The numbers of `shape` multiplied, where a size of -1 is left out: `open` is then its axis.
int64_t known_product(const std::vector<Size>& shape, std::optional<size_t>& open, std::string_view operation) {
  int64_t known = 1;
  const auto whole = [&] { return text(std::span<const Size>(shape)); };
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].is_number()) continue;
    const int64_t size = shape[i].number();
    if (size == -1) {
      if (open) refuse(ErrorKind::Shape, operation, "only one size may be -1, not several as in ", whole());
      open = i;
    } else if (size < 0) {
      refuse(ErrorKind::Shape, operation, "size ", size, " in ", whole(), " is negative");
    } else if (__builtin_mul_overflow(known, size, &known)) {
      refuse(ErrorKind::Shape, operation, whole(), " has more than 2^63 elements");
    }
  }
  return known;
}

// Replaces the -1 in `shape` so that it has as many elements as `from`.
Shape resolve_shape(std::vector<Size> shape, ShapeView from, std::string_view operation) {
  std::optional<size_t> open;
  const int64_t known = known_product(shape, open, operation);
  int64_t count = 1;
  for (const Dim& dim : from) count *= dim.symbol ? 1 : dim.size;
  const auto whole = [&] { return text(std::span<const Size>(shape)); };
  if (open && known == 0) refuse(ErrorKind::Shape, operation, "-1 in ", whole(), " could be any size, since another size is 0");
  if (open ? count % known != 0 : known != count && !is_symbolic(from))
    refuse(ErrorKind::Shape, operation, text(from), " has ", count, " elements and doesn't fit ", whole(),
           open ? concat(", a multiple of ", known) : concat(" with ", known));
  if (open) shape[*open] = count / known;
  Shape result;
  for (const Size& size : shape) result.push_back(dim_of(size));
  return result;
}

// The symbols of a shape in their order, and the numbers between them multiplied.
std::vector<Dim> symbols_and_gaps(ShapeView shape) {
  std::vector<Dim> parts{Dim(1)};
  for (const Dim& dim : shape) {
    if (!dim.symbol) {
      parts.back().size *= dim.size;
      continue;
    }
    parts.push_back(dim);
    parts.emplace_back(1);
  }
  return parts;
}

}  // namespace

Tensor Tensor::reshape(SizeList shape, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "reshape"));
  const Shape wanted = resolve_shape(shape.list(), node->shape(), "reshape");
  // What lies between Variables, or outside them, is regrouped; nothing moves across one.
  if (symbols_and_gaps(wanted) != symbols_and_gaps(node->shape()))
    refuse(ErrorKind::Shape, "reshape", text(node->shape()), " can't become ", text(ShapeView(wanted)),
           ": the same Variables have to be there in the same order, with as many elements between them; shrink and expand bring "
           "Variables in");
  return view_of(*this, whit::reshape(node, wanted));
}

Tensor Tensor::permute(std::vector<int64_t> axes, Site at) const {
  const Call call(at);
  const Node* node = node_of(*this, "permute");
  if (axes.size() != node->rank)
    refuse(ErrorKind::Shape, "permute", axes.size(), " axes are given, but ", text(sizes_of(node)), " has ", node->rank,
           "; list each axis once");
  for (int64_t& axis : axes) axis = axis_of(axis, node->rank, "permute");
  std::vector<bool> seen(axes.size());
  for (const int64_t axis : axes) {
    if (seen[size_t(axis)]) refuse(ErrorKind::Value, "permute", "axis ", axis, " is given twice; list each axis once");
    seen[size_t(axis)] = true;
  }
  return view_of(*this, std::ranges::is_sorted(axes) ? NodeRef(node) : make(Op::Permute, {node}, axes));
}

Tensor Tensor::transpose(int64_t a, int64_t b, Site at) const {
  const Call call(at);
  const int64_t rank = node_of(*this, "transpose")->rank;
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[size_t(axis_of(a, rank, "transpose"))], axes[size_t(axis_of(b, rank, "transpose"))]);
  return permute(axes);
}

Tensor Tensor::T(Site at) const {
  const Call call(at);
  std::vector<int64_t> axes(node_of(*this, "T")->rank);
  std::iota(axes.rbegin(), axes.rend(), 0);
  return permute(axes);
}

Tensor Tensor::expand(SizeList shape, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "expand"));
  const ShapeView from = node->shape();
  const auto fail = [&] {
    refuse(ErrorKind::Shape, "expand", text(from), " can't become ", text(std::span<const Size>(shape.list())),
           ": counted from the last axis, only sizes of 1 stretch; -1 keeps a size; new axes come in front");
  };
  if (shape.list().size() < from.size()) fail();
  const size_t lead = shape.list().size() - from.size();
  Shape sizes;
  for (const Size& size : shape.list()) {
    const size_t i = sizes.size();
    const bool keeps = size.is_number() && size.number() == -1 && i >= lead;
    sizes.push_back(keeps ? from[i - lead] : dim_of(size));
    if ((!sizes[i].symbol && sizes[i].size < 0) || (i >= lead && !from[i - lead].is(1) && from[i - lead] != sizes[i])) fail();
  }
  whit::check_sizes(ShapeView(sizes), "expand");
  return view_of(*this, whit::expand(std::move(node), sizes));
}

namespace {

// Whether a <= b whatever the values of Variables are.
bool at_most(const Size& a, const Size& b) {
  const Size rest = b - a;
  return (rest.is_number() ? rest.number() : (*rest.symbol())->minimum) >= 0;
}

}  // namespace

Tensor Tensor::shrink(const RangeList& ranges, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "shrink"));
  const ShapeView sizes = node->shape();
  if (ranges.list().size() != sizes.size())
    refuse(ErrorKind::Shape, "shrink", ranges.list().size(), " ranges are given, but ", text(sizes), " has ", sizes.size(),
           " axes; give [first, last) for each");
  bool whole = true;
  SizeArgs args(node.get());
  std::vector<Size> lengths;  // hold the nodes until the Shrink does
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& [first, last] = ranges.list()[i];
    const Size size = size_of(sizes[i]);
    if (!at_most(0, first) || !at_most(first, last) || !at_most(last, size))
      refuse(ErrorKind::Index, "shrink", "[", first.str(), ", ", last.str(), ") is not within axis ", i, " of ", text(sizes),
             first.is_number() && last.is_number() && size.is_number() ? "" : " whatever the values of the Variables are");
    lengths.push_back(last - first);
    const Dim length = dim_of(lengths.back());
    whole = whole && first.is_number() && first.number() == 0 && length == sizes[i];
    args.add(dim_of(first)).add(length);
  }
  return view_of(*this, whole ? node : args.make(Op::Shrink));
}

Tensor Tensor::pad(Pairs padding, Scalar value, Site at) const {
  const Call call(at);
  const Sizes sizes = sizes_of(node_of(*this, "pad"));
  if (padding.size() != sizes.size())
    refuse(ErrorKind::Shape, "pad", padding.size(), " pairs are given, but ", text(sizes), " has ", sizes.size(),
           " axes; give {before, after} for each, {0, 0} for none");
  Pairs kept;
  const auto beyond = [](int64_t size) { return size > kMostElements || size < -kMostElements; };
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto& [before, after] = padding[i];
    if (beyond(before) || beyond(after))
      refuse(ErrorKind::Shape, "pad", "{", before, ", ", after, "} for axis ", i, " of ", text(sizes), " is more than a tensor can have");
    kept.emplace_back(std::max<int64_t>(-before, 0), sizes[i] - std::max<int64_t>(-after, 0));
    if (kept[i].first > kept[i].second)
      refuse(ErrorKind::Shape, "pad", "{", before, ", ", after, "} cuts off more than axis ", i, " of ", text(sizes), " has");
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
  }
  const Tensor inner = shrink(kept);
  const Sizes args = flat(padding);
  if (all_zero(args)) return inner;
  Sizes result = inner.shape();
  for (size_t i = 0; i < result.size(); ++i) result[i] += padding[i].first + padding[i].second;
  check_sizes(result, "pad");
  const NodeRef padded = make(Op::Pad, {node_of(inner, "pad")}, args);
  const NodeRef fill = literal(value, dtype(), "pad");
  if (fill->is_constant(0.0)) return tensor_of(padded);
  const Tensor inside = tensor_of(make(Op::Pad, {node_of(inner.ones_like({.dtype = DType::boolean}), "pad")}, args));
  return inside.where(tensor_of(padded), tensor_of(fill));
}

Tensor Tensor::flip(Axes axes, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "flip"));
  const std::vector<int64_t> list = axes_of(axes, node->rank, "flip");
  return view_of(*this, list.empty() ? node : make(Op::Flip, {node.get()}, list));
}

Tensor Tensor::squeeze(Axes axes, Site at) const {
  const Call call(at);
  const NodeRef node(node_of(*this, "squeeze"));
  const ShapeView sizes = node->shape();
  const std::vector<int64_t> list = axes_of(axes, int64_t(sizes.size()), "squeeze");
  Shape kept;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!sizes[i].is(1) || !std::ranges::binary_search(list, int64_t(i))) kept.push_back(sizes[i]);
  return view_of(*this, whit::reshape(node, kept));
}

Tensor Tensor::unsqueeze(int64_t axis, Site at) const {
  const Call call(at);
  const NodeRef node(node_of(*this, "unsqueeze"));
  Shape sizes = shape_of(node.get());
  const int64_t place = axis_of(axis, int64_t(sizes.size()) + 1, "unsqueeze");
  sizes.insert(sizes.begin() + place, Dim(1));
  return view_of(*this, whit::reshape(node, sizes));
}

Tensor Tensor::flatten(int64_t first, int64_t last, Site at) const {
  const Call call(at);
  const NodeRef node(node_of(*this, "flatten"));
  const ShapeView sizes = node->shape();
  const int64_t rank = int64_t(sizes.size());
  if (rank == 0) return reshape({1});
  const int64_t from = axis_of(first, rank, "flatten"), to = axis_of(last, rank, "flatten");
  if (from > to) refuse(ErrorKind::Value, "flatten", "axis ", first, " comes after axis ", last, " in ", text(sizes));
  const ShapeView merged = sizes.subspan(size_t(from), size_t(to - from + 1));
  if (is_symbolic(merged) && merged.size() > 1)
    refuse(ErrorKind::Shape, "flatten", "the axes ", from, " to ", to, " of ", text(sizes), " hold a Variable and can't be merged");
  Shape result(sizes.begin(), sizes.begin() + from);
  result.push_back(merged.size() == 1 ? merged[0] : Dim(element_count(merged)));
  result.insert(result.end(), sizes.begin() + to + 1, sizes.end());
  return view_of(*this, whit::reshape(node, result));
}

Tensor Tensor::unflatten(int64_t axis, Sizes sizes, Site at) const {
  const Call call(at);
  Sizes shape = sizes_of(node_of(*this, "unflatten"));
  const int64_t place = axis_of(axis, int64_t(shape.size()), "unflatten");
  const Dim whole(shape[size_t(place)]);
  const Shape parts = resolve_shape({sizes.begin(), sizes.end()}, ShapeView(&whole, 1), "unflatten");
  for (size_t i = 0; i < parts.size(); ++i) sizes[i] = parts[i].size;
  shape.erase(shape.begin() + place);
  shape.insert(shape.begin() + place, sizes.begin(), sizes.end());
  return reshape(shape);
}

Tensor Tensor::repeat(Sizes counts, Site at) const {
  const Call call(at);
  Sizes sizes = sizes_of(node_of(*this, "repeat"));
  check_sizes(counts, "repeat");
  if (counts.size() < sizes.size())
    refuse(ErrorKind::Shape, "repeat", counts.size(), " counts are given, but ", text(sizes), " has ", sizes.size(),
           " axes; give one for each, 1 to keep it");
  sizes.insert(sizes.begin(), counts.size() - sizes.size(), 1);
  Sizes split, spread, merged;
  for (size_t i = 0; i < counts.size(); ++i) {
    split.insert(split.end(), {1, sizes[i]});
    spread.insert(spread.end(), {counts[i], sizes[i]});
    if (__builtin_mul_overflow(counts[i], sizes[i], &merged.emplace_back())) merged.back() = std::numeric_limits<int64_t>::max();
  }
  check_sizes(merged, "repeat");
  return reshape(split).expand(spread).reshape(merged);
}

Tensor Tensor::roll(int64_t shift, int64_t axis, Site at) const {
  const Call call(at);
  const Sizes sizes = sizes_of(node_of(*this, "roll"));
  const int64_t place = axis_of(axis, int64_t(sizes.size()), "roll"), size = sizes[size_t(place)];
  if (size == 0) return *this;
  const int64_t first = (size - shift % size) % size;  // the element that comes to the front
  return cat({first == 0 ? *this : split({first, size - first}, place)[1], split({first, size - first}, place)[0]}, place);
}

// ---- Taking apart and putting together ----------------------------------------------------------------------------------------------

std::vector<Tensor> Tensor::split(std::vector<int64_t> sizes, int64_t axis, Site at) const {
  const Call call(at);
  const Sizes shape = sizes_of(node_of(*this, "split"));
  const size_t place = size_t(axis_of(axis, int64_t(shape.size()), "split"));
  check_sizes(sizes, "split");
  const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
  if (total != shape[place])
    refuse(ErrorKind::Shape, "split", "the pieces ", text(sizes), " are ", total, " together, but axis ", axis, " of ", text(shape),
           " has ", shape[place]);
  std::vector<Tensor> pieces;
  int64_t first = 0;
  for (const int64_t size : sizes) {
    Pairs ranges;
    for (const int64_t whole : shape) ranges.emplace_back(0, whole);
    ranges[place] = {first, first + size};
    pieces.push_back(shrink(ranges));
    first += size;
  }
  return pieces;
}

std::vector<Tensor> Tensor::split(int64_t size, int64_t axis, Site at) const {
  const Call call(at);
  const Sizes shape = sizes_of(node_of(*this, "split"));
  const int64_t total = shape[size_t(axis_of(axis, int64_t(shape.size()), "split"))];
  if (size <= 0) refuse(ErrorKind::Value, "split", "pieces of size ", size, "; the size must be positive");
  std::vector<int64_t> sizes;
  for (int64_t first = 0; first < total || first == 0; first += size) sizes.push_back(std::min(size, total - first));
  return split(sizes, axis);
}

std::vector<Tensor> Tensor::chunk(int64_t count, int64_t axis, Site at) const {
  const Call call(at);
  const Sizes shape = sizes_of(node_of(*this, "chunk"));
  const int64_t total = shape[size_t(axis_of(axis, int64_t(shape.size()), "chunk"))];
  if (count <= 0) refuse(ErrorKind::Value, "chunk", count, " chunks; there must be at least one");
  return split(std::max<int64_t>(total / count + (total % count != 0), 1), axis);
}

namespace {

// Each piece stands in zeros of the full size; a tree of choices between neighbours, by the position, takes each where it is.
NodeRef joined(std::vector<NodeRef> pieces, size_t axis, int64_t total, DType type) {
  std::vector<int64_t> starts;
  int64_t before = 0;
  for (NodeRef& node : pieces) {
    const int64_t size = node->shape()[axis].size;
    Sizes padding(2 * size_t(node->rank), 0);
    padding[2 * axis] = before;
    padding[2 * axis + 1] = total - before - size;
    starts.push_back(before);
    before += size;
    node = cast(std::move(node), type);
    if (!all_zero(padding)) node = make(Op::Pad, {node.get()}, padding);
  }
  const Sizes shape = sizes_of(pieces[0].get());
  const NodeRef position = places(shape, int64_t(axis), place_type(total));
  for (size_t step = 1; step < pieces.size(); step *= 2)
    for (size_t i = 0; i + step < pieces.size(); i += 2 * step) {
      const NodeRef start = literal(starts[i + step], position->dtype, "cat"), left = make(Op::Less, {position.get(), start.get()});
      pieces[i] = make(Op::Where, {left.get(), pieces[i].get(), pieces[i + step].get()});
    }
  return pieces[0];
}

}  // namespace

Tensor Tensor::cat(const std::vector<Tensor>& tensors, int64_t axis, Site at) {
  const Call call(at);
  if (tensors.empty()) refuse(ErrorKind::Value, "cat", "there are no tensors");
  const Sizes first = sizes_of(node_of(tensors[0], "cat"));
  const size_t place = size_t(axis_of(axis, int64_t(first.size()), "cat"));
  DType type = DType::none;
  int64_t total = 0;
  std::vector<NodeRef> nodes;
  for (const Tensor& tensor : tensors) {
    nodes.emplace_back(node_of(tensor, "cat"));
    Sizes sizes = sizes_of(nodes.back().get()), like = first;
    if (sizes.size() == first.size()) like[place] = sizes[place];
    if (sizes != like)
      refuse(ErrorKind::Shape, "cat", text(first), " and ", text(sizes), " differ in more than axis ", axis,
             "; the other sizes must be equal");
    if (__builtin_add_overflow(total, sizes[place], &total))
      refuse(ErrorKind::Shape, "cat", "the sizes of axis ", axis, " are more than 2^63 together");
    sizes[place] = total;
    check_sizes(sizes, "cat");
    type = promote(type, tensor.dtype());
  }
  check_devices(nodes, "cat");
  return tensor_of(joined(std::move(nodes), place, total, type));
}

Tensor Tensor::stack(const std::vector<Tensor>& tensors, int64_t axis, Site at) {
  const Call call(at);
  if (tensors.empty()) refuse(ErrorKind::Value, "stack", "there are no tensors");
  const int64_t place = axis_of(axis, int64_t(node_of(tensors[0], "stack")->rank) + 1, "stack");
  std::vector<Tensor> layers;
  for (const Tensor& tensor : tensors) {
    node_of(tensor, "stack");
    if (tensor.shape() != tensors[0].shape())
      refuse(ErrorKind::Shape, "stack", "the shapes ", text(tensors[0].shape()), " and ", text(tensor.shape()),
             " differ; they must be equal");
    layers.push_back(tensor.unsqueeze(place));
  }
  return cat(layers, place);
}

namespace {

// Keeps what lies on the wanted side of a diagonal of the last two axes.
Tensor triangle(const Tensor& x, int64_t diagonal, bool upper, std::string_view operation) {
  const Shape sizes = shape_of(node_of(x, operation));
  if (sizes.size() < 2) refuse(ErrorKind::Shape, operation, "needs a matrix, not ", text(ShapeView(sizes)));
  const int64_t rank = int64_t(sizes.size());
  const Tensor row = tensor_of(places(sizes, rank - 2, DType::int64)), column = tensor_of(places(sizes, rank - 1, DType::int64));
  const Tensor kept = upper ? column - row >= diagonal : column - row <= diagonal;
  return x.dtype() == DType::boolean ? kept & x : kept.where(x, 0);  // the literal would make int32 of bools
}

}  // namespace

Tensor Tensor::triu(int64_t diagonal, Site at) const {
  const Call call(at);
  return triangle(*this, diagonal, true, "triu");
}

Tensor Tensor::tril(int64_t diagonal, Site at) const {
  const Call call(at);
  return triangle(*this, diagonal, false, "tril");
}

}  // namespace whit
