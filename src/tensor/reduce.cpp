// Reductions and scans.
#include <algorithm>
#include <limits>

#include "tensor/build.h"

namespace whit {

namespace {

// The shape without the reduced axes, which have size 1.
NodeRef drop(NodeRef node, const std::vector<int64_t>& axes) {
  Shape kept;
  for (size_t i = 0; i < node->rank; ++i)
    if (!std::ranges::binary_search(axes, int64_t(i))) kept.push_back(node->shape()[i]);
  return reshape(std::move(node), kept);
}

// A reduction of `node` over checked axes; narrow floats are folded in float32 and rounded once.
Tensor fold(NodeRef node, Op op, const std::vector<int64_t>& axes, bool keepdim) {
  const DType type = node->dtype;
  if ((op == Op::Add || op == Op::Mul) && is_narrow_float(type)) node = cast(node, DType::float32);
  node = cast(reduce(std::move(node), op, axes), type);
  return tensor_of(keepdim ? node : drop(node, axes));
}

// How many elements are folded into one.
Size folded_count(const Tensor& x, const Axes& axes, std::string_view operation) {
  const NodeRef node(node_of(x, operation));
  Size count = 1;
  for (const int64_t axis : axes_of(axes, node->rank, operation)) count = count * size_of(node->shape()[size_t(axis)]);
  return count;
}

// `x` divided by a count less a correction, but by nothing below 0.
Tensor divided(const Tensor& x, const Size& count, int64_t correction = 0) {
  if (count.is_number()) return x / double(std::max<int64_t>(count.number() - correction, 0));
  const Tensor divisor = tensor_of(cast(*count.symbol(), DType::int64)) - correction;
  return x / divisor.maximum(0).cast(x.dtype());
}

Tensor extreme(const Tensor& x, Op op, const Axes& axes, bool keepdim, std::string_view operation) {
  NodeRef node(node_of(x, operation));
  const ShapeView sizes = node->shape();
  const std::vector<int64_t> list = axes_of(axes, int64_t(sizes.size()), operation);
  for (const int64_t axis : list)
    if (sizes[size_t(axis)].is(0))
      refuse(ErrorKind::Value, operation, "axis ", axis, " of ", text(sizes), " is empty, and nothing has no ", operation);
  return fold(std::move(node), op, list, keepdim);
}

// The first index where `x` has its greatest (least) value: the least of all such indices. Nothing equals NaN, so NaN is looked for.
Tensor place_of_extreme(const Tensor& x, Op op, std::optional<int64_t> axis, bool keepdim, std::string_view operation) {
  NodeRef node(node_of(x, operation));
  const int64_t rank = node->rank;
  if (!axis || rank == 0) {
    if (axis) axis_of(*axis, rank, operation, true);
    const Sizes ones(size_t(rank), 1);
    const Tensor place = place_of_extreme(x.flatten(), op, 0, true, operation);
    return place.reshape(keepdim ? ones : Sizes{});
  }
  const int64_t place = axis_of(*axis, rank, operation), size = sizes_of(node.get())[size_t(place)];
  const Tensor best = extreme(x, op, place, true, operation);
  const Tensor found = is_float(x.dtype()) ? (x == best) | x.isnan() : x == best;
  const Tensor candidates = found.where(tensor_of(places(x.shape(), place, place_type(size))), size - 1);
  return fold(NodeRef(node_of(candidates, operation)), Op::Min, {place}, keepdim);
}

}  // namespace

Tensor Tensor::sum(Axes axes, bool keepdim, DType type, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "sum"));
  if (type == DType::boolean || type == DType::index) refuse(ErrorKind::Type, "sum", "can't add up in ", name(type), "; use any for bools");
  const std::vector<int64_t> list = axes_of(axes, node->rank, "sum");
  return fold(whit::cast(node, type == DType::none ? sum_type(node->dtype) : type), Op::Add, list, keepdim);
}

Tensor Tensor::prod(Axes axes, bool keepdim, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "prod"));
  return fold(whit::cast(node, sum_type(node->dtype)), Op::Mul, axes_of(axes, node->rank, "prod"), keepdim);
}

Tensor Tensor::max(Axes axes, bool keepdim, Site at) const {
  const Call call(at);
  return extreme(*this, Op::Max, axes, keepdim, "max");
}

Tensor Tensor::min(Axes axes, bool keepdim, Site at) const {
  const Call call(at);
  return extreme(*this, Op::Min, axes, keepdim, "min");
}

Tensor Tensor::mean(Axes axes, bool keepdim, Site at) const {
  const Call call(at);
  const Size count = folded_count(*this, axes, "mean");
  return divided(widened(*this).sum(axes, keepdim), count).cast(float_type(*this));
}

Tensor Tensor::var(Axes axes, bool keepdim, int64_t correction, Site at) const {
  const Call call(at);
  const Size count = folded_count(*this, axes, "var");
  const Tensor wide = widened(*this), off = wide - wide.mean(axes, true);
  return divided(off.square().sum(axes, keepdim), count, correction).cast(float_type(*this));
}

Tensor Tensor::std(Axes axes, bool keepdim, int64_t correction, Site at) const {
  const Call call(at);
  return widened(*this).var(axes, keepdim, correction).sqrt().cast(float_type(*this));
}

Tensor Tensor::any(Axes axes, bool keepdim, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "any"));
  return fold(whit::cast(node, DType::boolean), Op::Or, axes_of(axes, node->rank, "any"), keepdim);
}

Tensor Tensor::all(Axes axes, bool keepdim, Site at) const {
  const Call call(at);
  NodeRef node(node_of(*this, "all"));
  return fold(whit::cast(node, DType::boolean), Op::And, axes_of(axes, node->rank, "all"), keepdim);
}

Tensor Tensor::argmax(std::optional<int64_t> axis, bool keepdim, Site at) const {
  const Call call(at);
  return place_of_extreme(*this, Op::Max, axis, keepdim, "argmax");
}

Tensor Tensor::argmin(std::optional<int64_t> axis, bool keepdim, Site at) const {
  const Call call(at);
  return place_of_extreme(*this, Op::Min, axis, keepdim, "argmin");
}

}  // namespace whit
