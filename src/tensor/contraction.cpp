// Products that are summed up: matmul and convolutions; and pooling, which looks through the same windows.
#include <algorithm>
#include <array>
#include <limits>

#include "ir/interval.h"
#include "tensor/build.h"

namespace whit {

namespace {

// What a product is accumulated in.
DType accumulator(DType type) { return is_narrow_float(type) ? DType::float32 : sum_type(type); }

struct Factors {
  Tensor a, b;
  DType result;
};

// Both factors in the type they are multiplied and summed in, which holds every product exactly where they are narrow.
Factors factors(const Tensor& a, const Tensor& b, std::string_view operation) {
  const std::array<NodeRef, 2> nodes{NodeRef(node_of(a, operation)), NodeRef(node_of(b, operation))};
  check_devices(nodes, operation);
  const DType type = promote(a.dtype(), b.dtype()), wide = accumulator(type);
  return {a.cast(wide), b.cast(wide), is_float(type) ? type : wide};
}

// The sum of products over the last `count` axes, of factors that broadcast to each other.
Tensor contract(const Factors& f, int64_t count, std::string_view operation) {
  broadcast(f.a.shape(), f.b.shape(), operation);  // so that an error names the operation that was asked for
  const NodeRef terms(node_of(f.a * f.b, "mul"));
  Shape kept = shape_of(terms.get());
  std::vector<int64_t> axes;
  for (int64_t i = int64_t(kept.size()) - count; i < int64_t(kept.size()); ++i) axes.push_back(i);
  kept.resize(kept.size() - size_t(count));
  return tensor_of(cast(reshape(reduce(terms, Op::Add, axes), kept), f.result));
}

// One number an axis.
Sizes per_axis(const PerAxis& values, size_t axes, int64_t least, std::string_view operation, std::string_view what) {
  Sizes list = values.list();
  if (list.size() == 1) list.resize(axes, list[0]);
  if (list.size() != axes)
    refuse(ErrorKind::Value, operation, list.size(), " values for ", what, ", but there are ", axes,
           " spatial axes; give one, or one for each");
  for (const int64_t value : list)
    if (value < least || value > kMostElements)
      refuse(ErrorKind::Value, operation, what, " ", value,
             value < least ? " is too small; the least is " : " is too large; the greatest is ", value < least ? least : kMostElements);
  return list;
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// Padding before and after each spatial axis. A flat list of pairs names the last axis first.
Pairs padding_pairs(const PerAxis& padding, size_t axes, std::string_view operation) {
  const Sizes& list = padding.list();
  Pairs pairs;
  if (list.size() == 2 * axes && axes > 0)
    for (size_t i = axes; i-- > 0;) pairs.emplace_back(list[2 * i], list[2 * i + 1]);
  else
    for (const int64_t both : per_axis(padding, axes, 0, operation, "padding")) pairs.emplace_back(both, both);
  return pairs;
}

// Pads the last axes.
Tensor pad_last(const Tensor& x, const Pairs& padding, Scalar value = 0) {
  Pairs all(size_t(x.ndim()) - padding.size(), {0, 0});
  all.insert(all.end(), padding.begin(), padding.end());
  return x.pad(all, value);
}

struct Window {
  Sizes kernel, stride, dilation;
};

// How much of an axis a window looks at.
int64_t extent_of(const Window& window, size_t axis) {
  int64_t reach = 0;
  const bool beyond = __builtin_mul_overflow(window.dilation[axis], window.kernel[axis] - 1, &reach);
  return beyond || reach > kMostElements ? kMostElements + 1 : reach + 1;
}

// How many windows fit in an axis of this size.
int64_t positions(int64_t size, const Window& window, size_t axis) {
  const int64_t extent = extent_of(window, axis);
  return size < extent ? 0 : (size - extent) / window.stride[axis] + 1;
}

// (…, spatial) to (…, positions, kernel): element [o, k] is element o*stride + k*dilation.
NodeRef windows(const Tensor& x, const Window& window) {
  const size_t axes = window.kernel.size();
  NodeRef node(node_of(x, "windows"));
  Sizes shape = sizes_of(node.get());
  const size_t rank = shape.size();
  shape.insert(shape.end(), axes, 1);
  node = reshape(std::move(node), shape);
  std::ranges::copy(window.kernel, shape.begin() + int64_t(rank));
  node = expand(std::move(node), shape);
  for (size_t i = 0; i < axes; ++i) {
    const size_t axis = rank - axes + i;
    const int64_t args[] = {int64_t(axis), int64_t(rank + i), positions(shape[axis], window, i), window.stride[i], window.dilation[i]};
    node = make(Op::Window, {node.get()}, args);
  }
  return node;
}

// What the two convolutions check alike. `inputs` is the number of channels of x that the weight asks for.
void check_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t groups, int64_t inputs, int64_t outputs,
                       std::string_view operation) {
  const Sizes sizes = x.shape();
  const auto shapes = [&] { return concat("input ", text(sizes), " and weight ", text(weight.shape())); };
  if (inputs != sizes[1])
    refuse(ErrorKind::Shape, operation, "the ", shapes(), " don't fit: with ", groups, " groups the weight is for ", inputs,
           " channels, the input has ", sizes[1]);
  if (sizes[1] % groups != 0 || outputs % groups != 0)
    refuse(ErrorKind::Value, operation, groups, " groups don't divide the channels of ", shapes());
  if (bias.defined() && bias.shape() != Sizes{outputs})
    refuse(ErrorKind::Shape, operation, "the bias ", text(bias.shape()), " has to be ", text(Sizes{outputs}),
           ", one number for each output channel");
}

Sizes spatial_of(const Tensor& x, const Tensor& weight, std::string_view operation) {
  const Sizes sizes = sizes_of(node_of(x, operation)), kernel = sizes_of(node_of(weight, operation));
  if (sizes.size() < 3 || sizes.size() != kernel.size())
    refuse(ErrorKind::Shape, operation, "input ", text(sizes), " and weight ", text(kernel),
           " need the same number of axes, at least three: batch, channels, spatial axes");
  return Sizes(kernel.begin() + 2, kernel.end());
}

Tensor with_bias(const Tensor& x, const Tensor& bias) {
  if (!bias.defined()) return x;
  Sizes shape(size_t(x.ndim()) - 1, 1);
  shape[0] = bias.shape()[0];
  return x + bias.reshape(shape);
}

// The convolution itself; everything is checked, x is padded.
Tensor convolve(const Tensor& x, const Tensor& weight, const Window& window, int64_t groups, std::string_view operation) {
  const Sizes sizes = x.shape(), filters = weight.shape();
  const size_t axes = window.kernel.size();
  const int64_t outputs = filters[0] / groups, inputs = filters[1];
  for (size_t i = 0; i < axes; ++i)
    if (positions(sizes[i + 2], window, i) == 0 && sizes[i + 2] > 0)
      refuse(ErrorKind::Shape, operation, "the kernel ", text(window.kernel), " with dilation ", text(window.dilation),
             " is larger than the padded input ", text(sizes));
  const Factors f = factors(tensor_of(windows(x, window)), weight, operation);
  const Sizes seen = f.a.shape();  // (N, C, positions …, kernel …)
  // Both as (N, groups, outputs, positions …, inputs, kernel …).
  Sizes left{seen[0], groups, 1, inputs}, right{1, groups, outputs};
  left.insert(left.end(), seen.begin() + 2, seen.end());
  right.insert(right.end(), axes, 1);
  right.insert(right.end(), filters.begin() + 1, filters.end());
  std::vector<int64_t> order{0, 1, 2};
  for (size_t i = 0; i < axes; ++i) order.push_back(int64_t(4 + i));
  order.push_back(3);
  for (size_t i = 0; i < axes; ++i) order.push_back(int64_t(4 + axes + i));
  const Tensor out = contract({f.a.reshape(left).permute(order), f.b.reshape(right), f.result}, int64_t(1 + axes), operation);
  Sizes shape{seen[0], filters[0]};
  shape.insert(shape.end(), seen.begin() + 2, seen.begin() + 2 + int64_t(axes));
  return out.reshape(shape);
}

int64_t check_groups(int64_t groups, std::string_view operation) {
  if (groups < 1) refuse(ErrorKind::Value, operation, groups, " groups; there must be at least one");
  return groups;
}

}  // namespace

// ---- Matrices -----------------------------------------------------------------------------------------------------------------------

Tensor Tensor::matmul(const Tensor& b, Site at) const {
  const Call call(at);
  const Shape left = shape_of(node_of(*this, "matmul")), right = shape_of(node_of(b, "matmul"));
  const auto shapes = [&] { return concat(text(ShapeView(left)), " and ", text(ShapeView(right))); };
  if (left.empty() || right.empty()) refuse(ErrorKind::Shape, "matmul", shapes(), ": a scalar has no axis to sum over; use *");
  const Dim inner = right.size() == 1 ? right[0] : right[right.size() - 2];
  if (left.back() != inner)
    refuse(ErrorKind::Shape, "matmul", shapes(), " don't fit: the last axis of the first has ", size_of(left.back()).str(), ", the ",
           right.size() == 1 ? "only one" : "last but one", " of the second ", size_of(inner).str(), "; they must be equal");
  const Factors f = factors(*this, b, "matmul");
  if (right.size() == 1) return contract(f, 1, "matmul");
  const Tensor columns = f.b.transpose(-1, -2);  // (…, n, k)
  return contract({left.size() == 1 ? f.a : f.a.unsqueeze(-2), left.size() == 1 ? columns : columns.unsqueeze(-3), f.result}, 1, "matmul");
}

Tensor Tensor::linear(const Tensor& weight, const Tensor& bias, Site at) const {
  const Call call(at, __func__);
  const Tensor product = node_of(weight, "linear")->rank == 1 ? *this * weight : matmul(weight);
  return bias.defined() ? product + bias : product;
}

// ---- Convolutions -------------------------------------------------------------------------------------------------------------------

Tensor Tensor::conv2d(const Tensor& weight, const Tensor& bias, const ConvOptions& options, Site at) const {
  const Call call(at);
  const Sizes kernel = spatial_of(*this, weight, "conv2d"), filters = weight.shape();
  const int64_t groups = check_groups(options.groups, "conv2d");
  check_convolution(*this, weight, bias, groups, filters[1] * groups, filters[0], "conv2d");
  const Window window{kernel, per_axis(options.stride, kernel.size(), 1, "conv2d", "stride"),
                      per_axis(options.dilation, kernel.size(), 1, "conv2d", "dilation")};
  const Tensor padded = pad_last(*this, padding_pairs(options.padding, kernel.size(), "conv2d"));
  return with_bias(convolve(padded, weight, window, groups, "conv2d"), bias);
}

Tensor Tensor::conv_transpose2d(const Tensor& weight, const Tensor& bias, const ConvOptions& options, Site at) const {
  const Call call(at);
  const std::string_view operation = "conv_transpose2d";
  const Sizes kernel = spatial_of(*this, weight, operation), filters = weight.shape();
  const size_t axes = kernel.size();
  const int64_t groups = check_groups(options.groups, operation);
  check_convolution(*this, weight, bias, groups, filters[0], filters[1] * groups, operation);
  const Sizes stride = per_axis(options.stride, axes, 1, operation, "stride"),
              dilation = per_axis(options.dilation, axes, 1, operation, "dilation");
  const Sizes extra = per_axis(options.output_padding, axes, 0, operation, "output_padding");
  const Pairs padding = padding_pairs(options.padding, axes, operation);
  // A plain convolution of the input, its elements `stride` apart, with the reversed kernel.
  Tensor spread = *this;
  Pairs around;
  std::vector<int64_t> reversed, order{0, 2, 1};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t axis = int64_t(i) + 2, size = shape(axis), reach = extent_of({kernel, stride, dilation}, i) - 1;
    if (extra[i] >= std::max(stride[i], dilation[i]))
      refuse(ErrorKind::Value, operation, "output_padding ", extra[i], " must be less than the stride or the dilation");
    if (stride[i] > 1 && size > 0) {
      Pairs gaps(size_t(ndim()) + 1, {0, 0});
      gaps[size_t(axis) + 1] = {0, stride[i] - 1};
      Pairs ends(size_t(ndim()), {0, 0});
      ends[size_t(axis)] = {0, 1 - stride[i]};
      spread = spread.unsqueeze(axis + 1).pad(gaps).flatten(axis, axis + 1).pad(ends);
    }
    around.emplace_back(reach - padding[i].first, reach - padding[i].second + extra[i]);
    reversed.push_back(axis);
    order.push_back(axis + 1);  // with the groups apart
  }
  // (C, O/groups, …) as (O, C/groups, …), group by group.
  const Tensor flipped = weight.flip(reversed).unflatten(0, {groups, filters[0] / groups}).permute(order).flatten(0, 1);
  return with_bias(convolve(pad_last(spread, around), flipped, {kernel, Sizes(axes, 1), dilation}, groups, operation), bias);
}

// ---- Pooling ------------------------------------------------------------------------------------------------------------------------

namespace {

struct Pooling {
  Window window;
  Pairs padding;  // as asked for
  Pairs hanging;  // more behind, for windows that hang over the end
};

Pooling pooling(const Tensor& x, const PerAxis& kernel, const PoolOptions& options, std::string_view operation) {
  const Sizes sizes = sizes_of(node_of(x, operation));
  const size_t axes = kernel.one_for_all() ? 2 : kernel.list().size();
  if (axes == 0 || axes > sizes.size())
    refuse(ErrorKind::Shape, operation, "a kernel with ", axes, " axes doesn't fit an input ", text(sizes));
  Pooling p;
  p.window.kernel = per_axis(kernel, axes, 1, operation, "kernel");
  p.window.stride = options.stride.list().empty() ? p.window.kernel : per_axis(options.stride, axes, 1, operation, "stride");
  p.window.dilation = per_axis(options.dilation, axes, 1, operation, "dilation");
  p.padding = padding_pairs(options.padding, axes, operation);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t size = sizes[sizes.size() - axes + i], extent = extent_of(p.window, i), stride = p.window.stride[i];
    const auto [before, after] = p.padding[i];
    if (before < 0 || after < 0 || 2 * std::max(before, after) > extent)
      refuse(ErrorKind::Value, operation, "padding {", before, ", ", after, "} must lie between 0 and half the kernel's extent, ", extent);
    const int64_t padded = size + before + after;
    if (padded < extent)
      refuse(ErrorKind::Shape, operation, "the kernel ", text(p.window.kernel), " is larger than the padded input ", text(sizes));
    int64_t count = (padded - extent) / stride + 1;
    // One more window where it begins within the input or the padding before it.
    if (options.ceil_mode && (padded - extent) % stride != 0 && count * stride < size + before) ++count;
    p.hanging.emplace_back(0, std::max<int64_t>((count - 1) * stride + extent - padded, 0));
  }
  return p;
}

Pairs sum_of(Pairs a, const Pairs& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    a[i].first += b[i].first;
    a[i].second += b[i].second;
  }
  return a;
}

// Folds the windows of x, padded already.
Tensor fold_windows(const Tensor& x, const Window& window, Op op) {
  NodeRef node = windows(x, window);
  Sizes kept = sizes_of(node.get());
  std::vector<int64_t> axes;
  for (size_t i = kept.size() - window.kernel.size(); i < kept.size(); ++i) axes.push_back(int64_t(i));
  kept.resize(kept.size() - axes.size());
  return tensor_of(reshape(reduce(std::move(node), op, axes), kept));
}

Scalar least_value(DType type) {
  if (is_float(type)) return type == DType::float8_e4m3 ? -448.0 : -std::numeric_limits<double>::infinity();
  return is_signed(type) ? interval_of(type).minimum : 0;
}

}  // namespace

Tensor Tensor::max_pool2d(PerAxis kernel, const PoolOptions& options, Site at) const {
  const Call call(at);
  const Pooling p = pooling(*this, kernel, options, "max_pool2d");
  return fold_windows(pad_last(*this, sum_of(p.padding, p.hanging), least_value(dtype())), p.window, Op::Max);
}

Tensor Tensor::avg_pool2d(PerAxis kernel, const PoolOptions& options, Site at) const {
  const Call call(at);
  const Pooling p = pooling(*this, kernel, options, "avg_pool2d");
  const Pairs all = sum_of(p.padding, p.hanging), none(all.size(), {0, 0});
  const Tensor wide = widened(*this), sums = fold_windows(pad_last(wide, all), p.window, Op::Add);
  // Windows that reach over the border of what counts are divided by less.
  const bool uneven = options.count_include_pad ? p.hanging != none : all != none;
  if (!uneven) return (sums / double(product(p.window.kernel))).cast(float_type(*this));
  Sizes sizes = shape();
  sizes.erase(sizes.begin(), sizes.end() - int64_t(all.size()));
  Tensor counted = full(sizes, 1.0, {.dtype = wide.dtype()});
  counted = options.count_include_pad ? pad_last(pad_last(counted, p.padding, 1.0), p.hanging) : pad_last(counted, all);
  return (sums / fold_windows(counted, p.window, Op::Add)).cast(float_type(*this));
}

}  // namespace whit
