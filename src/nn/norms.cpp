// Layers that normalise. Statistics of 8- and 16-bit floats are computed in float32.
#include <algorithm>
#include <whit/nn.h>

#include "tensor/build.h"

namespace whit::nn {

namespace {

// Tensors that lie in storage from the start, so that a first training step is like any other and shares its plan.
Tensor stored(const Sizes& shape, float value) { return Tensor(std::vector<float>(size_t(product(shape)), value), shape); }

void check_size(std::string_view layer, int64_t size) {
  if (size < 0) refuse(ErrorKind::Value, layer, "a size of ", size);
}

void check_channels(std::string_view layer, const Tensor& x, int64_t channels) {
  const Sizes shape = x.shape();
  if (shape.size() < 2 || shape[1] != channels)
    refuse(ErrorKind::Shape, layer, "of ", channels, " channels on axis 1, applied to ", text(shape));
}

// y scaled and moved along an axis; both tensors may be undefined.
Tensor affine(Tensor y, const Tensor& weight, const Tensor& bias, const Sizes& shape) {
  if (weight.defined()) y = y * weight.reshape(shape);
  if (bias.defined()) y = y + bias.reshape(shape);
  return y;
}

}  // namespace

BatchNorm::BatchNorm(int64_t channels, BatchNormOptions norm, Site at) : options(norm) {
  const Call call(at);
  check_size("BatchNorm", channels);
  if (options.affine) {
    weight = stored({channels}, 1);
    bias = stored({channels}, 0);
  }
  if (!options.track_running_stats) return;
  running_mean = stored({channels}, 0);
  running_var = stored({channels}, 1);
  num_batches_tracked = Tensor(int64_t(0), {.dtype = DType::int64});
  for (Tensor* statistic : {&running_mean, &running_var, &num_batches_tracked}) statistic->requires_grad_(false);
}

namespace {

// New values of running statistics. The tensors are shared handles, so that a layer that is const can keep them up to date.
void track(const BatchNorm& norm, const Tensor& mean, const Tensor& variance, int64_t count) {
  const auto mix = [&](Tensor running, const Tensor& now) {
    const double share = norm.options.momentum;
    running.assign((1 - share) * running + (share * now.detach().reshape(running.shape())).cast(running.dtype()));
  };
  mix(norm.running_mean, mean);
  mix(norm.running_var, variance * (double(count) / double(count - 1)));
  Tensor batches = norm.num_batches_tracked;
  if (batches.defined()) batches.assign(batches + 1);
}

}  // namespace

Tensor BatchNorm::operator()(const Tensor& x, Site at) const {
  const Call call(at);
  const Tensor& known = weight.defined() ? weight : running_mean;
  const int64_t channels = known.defined() ? known.numel() : x.ndim() < 2 ? 0 : x.shape(1);
  check_channels("BatchNorm", x, channels);
  if (!Train::on() && running_mean.defined())
    return x.batchnorm(weight, bias, running_mean, (running_var + options.eps).rsqrt()).cast(float_type(x));
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < x.ndim(); ++axis)
    if (axis != 1) axes.push_back(axis);
  const int64_t count = x.numel() / std::max<int64_t>(channels, 1);
  if (Train::on() && count < 2)
    refuse(ErrorKind::Value, "BatchNorm", "training needs more than one value per channel, but the input is ", text(x.shape()));
  // For any constant c, mean((x - c)²) - (mean(x) - c)² is the variance. With the mean itself as c no precision is lost, and the gradient
  // with respect to the mean is zero without a sum over the batch that would have to wait for other sums.
  const Tensor wide = widened(x), mean = wide.mean(axes, true), constant = mean.detach();
  const Tensor variance = (wide - constant).square().mean(axes, true) - (mean - constant).square();
  if (Train::on() && running_mean.defined()) track(*this, mean, variance, count);
  return wide.batchnorm(weight, bias, mean, (variance + options.eps).rsqrt()).cast(float_type(x));
}

LayerNorm::LayerNorm(Sizes sizes, double epsilon, bool with_affine, Site at) : shape(std::move(sizes)), eps(epsilon) {
  const Call call(at);
  if (shape.empty()) refuse(ErrorKind::Value, "LayerNorm", "needs the sizes of the axes it normalises over");
  for (const int64_t size : shape) check_size("LayerNorm", size);
  if (!with_affine) return;
  weight = stored(shape, 1);
  bias = stored(shape, 0);
}

Tensor LayerNorm::operator()(const Tensor& x, Site at) const {
  const Call call(at);
  const Sizes sizes = x.shape();
  if (sizes.size() < shape.size() || !std::equal(shape.rbegin(), shape.rend(), sizes.rbegin()))
    refuse(ErrorKind::Shape, "LayerNorm", "over the last axes ", text(shape), ", applied to ", text(sizes));
  std::vector<int64_t> axes;
  for (size_t i = shape.size(); i > 0; --i) axes.push_back(-int64_t(i));
  return affine(x.layernorm(axes, eps), weight, bias, shape);
}

GroupNorm::GroupNorm(int64_t group_count, int64_t channel_count, double epsilon, bool with_affine, Site at)
    : groups(group_count), channels(channel_count), eps(epsilon) {
  const Call call(at);
  check_size("GroupNorm", channels);
  if (groups < 1 || channels % groups) refuse(ErrorKind::Value, "GroupNorm", groups, " groups don't divide ", channels, " channels");
  if (!with_affine) return;
  weight = stored({channels}, 1);
  bias = stored({channels}, 0);
}

Tensor GroupNorm::operator()(const Tensor& x, Site at) const {
  const Call call(at);
  check_channels("GroupNorm", x, channels);
  const Sizes sizes = x.shape();
  Sizes along(sizes.size(), 1);
  along[1] = channels;
  const Tensor rows = x.reshape({sizes[0], groups, product(sizes) / std::max<int64_t>(sizes[0] * groups, 1)});
  return affine(rows.layernorm(-1, eps).reshape(sizes), weight, bias, along);
}

RMSNorm::RMSNorm(int64_t width, double epsilon, bool with_affine, Site at) : size(width), eps(epsilon) {
  const Call call(at);
  check_size("RMSNorm", size);
  if (with_affine) weight = stored({size}, 1);
}

Tensor RMSNorm::operator()(const Tensor& x, Site at) const {
  const Call call(at);
  if (x.ndim() < 1 || x.shape(-1) != size)
    refuse(ErrorKind::Shape, "RMSNorm", "over a last axis of ", size, ", applied to ", text(x.shape()));
  const Tensor wide = widened(x);
  return affine((wide * (wide.square().mean(-1, true) + eps).rsqrt()).cast(float_type(x)), weight, {}, {size});
}

}  // namespace whit::nn
