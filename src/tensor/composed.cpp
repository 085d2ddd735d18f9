// The longer compositions that functional.h declares.
#include <limits>

#include "tensor/build.h"

namespace whit {

Tensor batchnorm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& invstd, const Axes& axis,
                 Site at) {
  const Call call(at, __func__);
  const Sizes sizes = sizes_of(node_of(x, "batchnorm"));
  Sizes shape(sizes.size(), 1);
  for (const int64_t place : axes_of(axis, int64_t(sizes.size()), "batchnorm")) shape[size_t(place)] = sizes[size_t(place)];
  const auto along = [&](const Tensor& y) {
    if (y.numel() != product(shape))
      refuse(ErrorKind::Shape, "batchnorm", text(y.shape()), " has to hold one number for each of the ", product(shape), " channels of ",
             text(sizes));
    return y.reshape(shape);
  };
  Tensor result = x - along(mean);
  if (weight.defined()) result = result * along(weight);
  result = result * (invstd.ndim() == 1 ? along(invstd) : invstd);
  return bias.defined() ? result + along(bias) : result;
}

namespace {

void check_smoothing(double label_smoothing, std::string_view operation) {
  if (!(label_smoothing >= 0 && label_smoothing <= 1))
    refuse(ErrorKind::Value, operation, "label_smoothing ", label_smoothing, " is not between 0 and 1");
}

// -log of each row's probability of its class, mixed with the mean over all classes; rows that aren't counted are 0 and don't count in
// the mean. `logs` has the classes last.
Tensor class_losses(const Tensor& logs, const Tensor& classes, int64_t ignored, double smoothing, Reduction reduction) {
  const Sizes shape = logs.shape();
  const Tensor hit = classes.unsqueeze(-1).expand(shape) == tensor_of(places(shape, logs.ndim() - 1, class_type(classes)));
  Tensor losses = -hit.where(logs, 0).sum(-1);  // chosen, not multiplied: 0 times -inf would be NaN
  if (smoothing > 0) losses = (1 - smoothing) * losses - smoothing * logs.mean(-1);
  const Tensor wide = classes.cast(DType::int64), counted = wide != ignored;
  const Tensor known = (wide >= 0) & (wide < shape.back());
  losses = counted.where(known.where(losses, std::numeric_limits<double>::quiet_NaN()), 0);
  if (reduction != Reduction::mean) return reduced(losses, reduction);
  return losses.sum() / counted.sum().cast(losses.dtype());
}

void check_classes(const Tensor& classes, std::string_view operation) {
  if (!is_integer(node_of(classes, operation)->dtype))
    refuse(ErrorKind::Type, operation, "classes are integers, not ", name(classes.dtype()));
}

}  // namespace

Tensor one_hot(const Tensor& x, int64_t classes, Site at) {
  const Call call(at, __func__);
  if (is_float(node_of(x, "one_hot")->dtype)) refuse(ErrorKind::Type, "one_hot", "classes are integers, not ", name(x.dtype()));
  if (classes < 0) refuse(ErrorKind::Value, "one_hot", classes, " classes; there can't be fewer than none");
  return (x.unsqueeze(-1) == Tensor::arange(classes, {.dtype = class_type(x)})).where(1, 0);
}

Tensor sparse_categorical_crossentropy(const Tensor& x, const Tensor& classes, int64_t ignore_index, double label_smoothing,
                                       Reduction reduction, Site at) {
  const Call call(at, __func__);
  const std::string_view operation = "sparse_categorical_crossentropy";
  check_smoothing(label_smoothing, operation);
  check_classes(classes, operation);
  Sizes rows = sizes_of(node_of(x, operation));
  if (rows.empty()) refuse(ErrorKind::Shape, operation, "logits need an axis of classes, and a scalar has none");
  rows.pop_back();
  if (classes.shape() != rows)
    refuse(ErrorKind::Shape, operation, "logits ", text(x.shape()), " have rows ", text(rows), ", but the classes are ",
           text(classes.shape()), "; each row needs one class");
  return class_losses(x.log_softmax(-1), classes, ignore_index, label_smoothing, reduction);
}

Tensor cross_entropy(const Tensor& x, const Tensor& target, Reduction reduction, double label_smoothing, int64_t ignore_index, Site at) {
  const Call call(at, __func__);
  check_smoothing(label_smoothing, "cross_entropy");
  Sizes sizes = sizes_of(node_of(x, "cross_entropy"));
  if (sizes.empty()) refuse(ErrorKind::Shape, "cross_entropy", "logits need an axis of classes, and a scalar has none");
  const int64_t axis = sizes.size() == 1 ? 0 : 1, count = sizes[size_t(axis)];
  const Tensor logs = x.log_softmax(axis);
  Sizes rows = sizes;
  rows.erase(rows.begin() + axis);
  if (target.shape() == sizes && (is_float(target.dtype()) || target.shape() != rows)) {
    const Tensor smooth = label_smoothing > 0 ? (1 - label_smoothing) * target + label_smoothing / double(count) : target;
    const Tensor losses = -(smooth * logs).sum(axis);
    // The mean is over rows, whatever axes they have.
    return reduced(losses, reduction);
  }
  check_classes(target, "cross_entropy");
  if (target.shape() != rows)
    refuse(ErrorKind::Shape, "cross_entropy", "logits ", text(sizes), " with classes on axis ", axis, " need targets ", text(rows),
           " (classes) or ", text(sizes), " (probabilities), not ", text(target.shape()));
  return class_losses(axis == int64_t(sizes.size()) - 1 ? logs : logs.unsqueeze(-1).transpose(axis, -1).squeeze(axis), target, ignore_index,
                      label_smoothing, reduction);
}

}  // namespace whit
