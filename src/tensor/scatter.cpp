// Values brought to places along an axis.
#include "ir/evaluate.h"
#include "tensor/build.h"

namespace whit {

namespace {

struct Places {
  int64_t axis;
  Tensor index, source;  // of one shape, that of the target but for the axis; what is not to be written has the index -1
};

// An index may be smaller than the target along the other axes, and the source larger than the index: the index tells what is written.
Places arrange(const Tensor& target, int64_t axis, const Tensor& index, const Tensor& source, const char* operation) {
  const Sizes sizes = sizes_of(node_of(target, operation)), wanted = sizes_of(node_of(index, operation)),
              given = sizes_of(node_of(source, operation));
  if (!is_integer(index.dtype()) || index.dtype() == DType::boolean)
    refuse(ErrorKind::Type, operation, "the index holds ", name(index.dtype()), "; it must hold integers");
  const int64_t place = axis_of(axis, int64_t(sizes.size()), operation, true);
  const auto misfit = [&](const auto&... why) {
    refuse(ErrorKind::Shape, operation, "the index ", text(wanted), " and the source ", text(given), " don't fit the tensor ", text(sizes),
           ": ", why...);
  };
  if (wanted.size() != sizes.size() || given.size() != sizes.size()) misfit("all need the same number of axes");
  std::vector<std::pair<int64_t, int64_t>> fill, cut;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (wanted[i] > given[i]) misfit("along axis ", i, " the index is larger than the source");
    if (int64_t(i) != place && wanted[i] > sizes[i]) misfit("along axis ", i, " the index is larger than the tensor");
    const int64_t missing = int64_t(i) == place ? 0 : sizes[i] - wanted[i];
    fill.emplace_back(0, missing);
    cut.emplace_back(0, wanted[i] - given[i] + missing);
  }
  const Tensor raw = is_signed(index.dtype()) ? index : index.cast(DType::int64);
  const int64_t size = sizes.empty() ? 1 : sizes[size_t(place)];
  return {place, (raw < 0).where(raw + size, raw).pad(fill, -1), source.pad(cut)};
}

Tensor scattered(const Tensor& target, const Places& to, Op op, const char* operation) {
  const int64_t args[] = {int64_t(op), to.axis};
  return tensor_of(make(Op::Scatter, {node_of(target, operation), node_of(to.source, operation), node_of(to.index, operation)}, args));
}

Tensor scatter(const Tensor& target, int64_t axis, const Tensor& index, const Operand& source, Op op, const char* operation) {
  const Sizes wanted = sizes_of(node_of(index, operation));
  const Tensor given =
      source.tensor ? *source.tensor : Tensor::full(wanted, source.scalar, {.dtype = target.dtype(), .device = target.device()});
  if (target.ndim() == 0) {
    const Tensor line = scatter(target.reshape({1}), 0, index.reshape({index.numel()}), given.reshape({given.numel()}), op, operation);
    return line.reshape(Sizes{});
  }
  const DType type = promote(target.dtype(), given.dtype());
  if (type != target.dtype())
    refuse(ErrorKind::Type, operation, name(given.dtype()), " values don't fit a tensor of ", name(target.dtype()), "; cast them");
  Places to = arrange(target, axis, index, given.cast(type), operation);
  if (index.numel() == 0) return target;
  if (op == Op::Assign || !is_narrow_float(type)) return scattered(target, to, op, operation);
  to.source = widened(to.source);
  return scattered(widened(target), to, op, operation).cast(type);
}

}  // namespace

Tensor Tensor::scatter(int64_t axis, const Tensor& index, const Operand& source) const {
  const Call call(source.site);
  return whit::scatter(*this, axis, index, source, Op::Assign, "scatter");
}

Tensor Tensor::scatter_add(int64_t axis, const Tensor& index, const Operand& source) const {
  const Call call(source.site);
  return whit::scatter(*this, axis, index, source, Op::Add, "scatter_add");
}

Tensor Tensor::scatter_reduce(int64_t axis, const Tensor& index, const Tensor& source, const std::string& reduce, bool include_self,
                              Site at) const {
  const Call call(at);
  const bool mean = reduce == "mean";
  const Op op = reduce == "sum" || mean ? Op::Add : reduce == "prod" ? Op::Mul : reduce == "amax" ? Op::Max : Op::Min;
  if (op == Op::Min && reduce != "amin")
    refuse(ErrorKind::Value, "scatter_reduce", "there is no reduction \"", reduce, "\"; there are sum, prod, mean, amax and amin");
  if (is_float(dtype()) ? false : mean && dtype() == DType::boolean)
    refuse(ErrorKind::Type, "scatter_reduce", "the mean of bools; cast them");
  Tensor start = *this;
  if (!include_self) {
    const Bits neutral = identity_of(op, dtype());
    const Tensor scalar = tensor_of(TensorGraph::shared().make(Op::Const, Sources{}, Args(&neutral, 1), dtype()));
    start = whit::scatter(start, axis, index, scalar.expand(source.shape()), Op::Assign, "scatter_reduce");
  }
  const Tensor folded = whit::scatter(start, axis, index, source, op, "scatter_reduce");
  if (!mean) return folded;
  const Tensor ones = source.full_like(1, {.dtype = DType::int32}), own = full_like(include_self ? 1 : 0, {.dtype = DType::int32});
  const Tensor count = whit::scatter(own, axis, index, ones, Op::Add, "scatter_reduce").maximum(1).cast(dtype());
  return is_float(dtype()) ? folded / count : folded.floor_div(count);
}

Tensor Tensor::index_add(int64_t axis, const Tensor& index, const Tensor& source, Site at) const {
  const Call call(at);
  const Sizes sizes = sizes_of(node_of(source, "index_add"));
  const int64_t place = axis_of(axis, int64_t(sizes.size()), "index_add");
  if (index.ndim() != 1 || index.shape(0) != sizes[size_t(place)])
    refuse(ErrorKind::Shape, "index_add", "the index ", text(index.shape()), " needs one entry for each slice of the source ", text(sizes),
           " along axis ", place);
  Sizes line(sizes.size(), 1);
  line[size_t(place)] = sizes[size_t(place)];
  return whit::scatter(*this, place, index.reshape(line).expand(sizes), source, Op::Add, "index_add");
}

}  // namespace whit
