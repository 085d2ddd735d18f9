// The longer compositions that composed.h declares.
#include <cmath>
#include <limits>

#include <whit/composed.h>

#include "tensor/build.h"

namespace whit {

Tensor diagonal(const Tensor& x, int64_t offset, int64_t first, int64_t second, Site at) {
  const Call call(at, __func__);
  const int64_t rank = x.ndim();
  const int64_t a = axis_of(first, rank, "diagonal"), b = axis_of(second, rank, "diagonal");
  if (a == b) refuse(ErrorKind::Index, "diagonal", "axis ", first, " and axis ", second, " of ", text(x.shape()), " are the same");
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != a && i != b) order.push_back(i);
  order.insert(order.end(), {a, b});
  const Tensor matrix = x.permute(order);
  const Sizes sizes = matrix.shape();
  const int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  const int64_t row = std::max<int64_t>(-offset, 0), column = std::max<int64_t>(offset, 0);
  const int64_t count = std::max<int64_t>(std::min(rows - row, columns - column), 0);
  std::vector<std::pair<int64_t, int64_t>> kept;
  for (const int64_t size : sizes) kept.emplace_back(0, size);
  kept[kept.size() - 2] = count == 0 ? std::pair<int64_t, int64_t>(0, 0) : std::pair<int64_t, int64_t>(row, row + count);
  Sizes line(sizes.size(), 1), wide = sizes;
  line[line.size() - 2] = wide[wide.size() - 2] = count;
  wide.back() = 1;
  const Tensor place = Tensor::arange(count, {.dtype = DType::int32, .device = x.device()}) + column;
  return matrix.shrink(kept).gather(-1, place.reshape(line).expand(wide)).squeeze(-1);
}

Tensor repeat_interleave(const Tensor& x, int64_t count, int64_t axis, Site at) {
  const Call call(at, __func__);
  Sizes sizes = x.shape();
  const int64_t place = axis_of(axis, int64_t(sizes.size()), "repeat_interleave");
  if (count < 0) refuse(ErrorKind::Value, "repeat_interleave", "can't repeat ", count, " times");
  sizes.insert(sizes.begin() + place + 1, count);
  return x.unsqueeze(place + 1).expand(sizes).flatten(place, place + 1);
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& classes, const Tensor& weight, int64_t ignore_index, Reduction reduction,
                Site at) {
  const Call call(at, __func__);
  const Sizes sizes = log_probabilities.shape();
  const int64_t axis = sizes.size() == 1 ? 0 : 1;
  Sizes rows = sizes;
  if (!sizes.empty()) rows.erase(rows.begin() + axis);
  if (sizes.empty() || classes.shape() != rows)
    refuse(ErrorKind::Shape, "nll_loss", "log-probabilities ", text(sizes), " need classes ", text(rows), ", not ", text(classes.shape()));
  const Tensor counted = classes != ignore_index, safe = counted.where(classes, 0);
  const Tensor given = weight.defined() ? weight.index({safe})
                                        : Tensor::full({}, 1.0, {.dtype = log_probabilities.dtype(), .device = log_probabilities.device()});
  const Tensor weights = counted.where(given, 0);
  const Tensor losses = -log_probabilities.gather(axis, safe.unsqueeze(axis)).squeeze(axis) * weights;
  return reduction == Reduction::none ? losses : reduction == Reduction::sum ? losses.sum() : losses.sum() / weights.sum();
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options, Site at) {
  const Call call(at, __func__);
  if (query.ndim() < 2 || key.ndim() < 2 || value.ndim() < 2)
    refuse(ErrorKind::Shape, "scaled_dot_product_attention", text(query.shape()), ", ", text(key.shape()), " and ", text(value.shape()),
           " need an axis of places and one of features");
  Tensor keys = key, values = value;
  if (options.grouped) {
    const int64_t heads = query.ndim() < 3 ? 1 : query.shape(-3), shared = key.ndim() < 3 ? 1 : key.shape(-3);
    if (shared == 0 || heads % shared != 0)
      refuse(ErrorKind::Shape, "scaled_dot_product_attention", heads, " heads of queries can't share ", shared, " of keys");
    if (heads != shared) {
      keys = repeat_interleave(key, heads / shared, -3);
      values = repeat_interleave(value, heads / shared, -3);
    }
  }
  Tensor scores = query.matmul(keys.transpose(-1, -2)) / std::sqrt(double(query.shape(-1)));
  const double never = -std::numeric_limits<double>::infinity();
  if (options.causal) {
    if (options.mask.defined()) refuse(ErrorKind::Value, "scaled_dot_product_attention", "takes a mask or causal, not both");
    const Sizes square{scores.shape(-2), scores.shape(-1)};
    const Tensor seen = Tensor::ones(square, {.dtype = DType::boolean, .device = query.device()}).tril();
    scores = seen.where(scores, never);
  }
  if (options.mask.defined()) scores = options.mask.dtype() == DType::boolean ? options.mask.where(scores, never) : scores + options.mask;
  return scores.softmax(-1).cast(query.dtype()).dropout(options.dropout).matmul(values);
}

}  // namespace whit
