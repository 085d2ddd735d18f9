// Operations composed of others, each a few lines: add a composed operation here. The most used are members of Tensor too.
#pragma once

#include <numbers>
#include <whit/tensor.h>

namespace whit {

// ---- The members of Tensor as free functions, for those who write formulas that way ----
inline Tensor where(const Tensor& condition, const Operand& yes, const Operand& no) { return condition.where(yes, no); }
inline Tensor maximum(const Tensor& a, const Operand& b) { return a.maximum(b); }
inline Tensor minimum(const Tensor& a, const Operand& b) { return a.minimum(b); }
inline Tensor pow(const Tensor& base, const Operand& exponent) { return base.pow(exponent); }
inline Tensor matmul(const Tensor& a, const Tensor& b, Site at = {}) { return a.matmul(b, at); }
inline Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0, Site at = {}) { return Tensor::cat(tensors, axis, at); }
inline Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0, Site at = {}) { return Tensor::stack(tensors, axis, at); }
inline Tensor abs(const Tensor& x, Site at = {}) { return x.abs(at); }
inline Tensor sqrt(const Tensor& x, Site at = {}) { return x.sqrt(at); }
inline Tensor exp(const Tensor& x, Site at = {}) { return x.exp(at); }
inline Tensor log(const Tensor& x, Site at = {}) { return x.log(at); }
inline Tensor sin(const Tensor& x, Site at = {}) { return x.sin(at); }
inline Tensor cos(const Tensor& x, Site at = {}) { return x.cos(at); }
inline Tensor tanh(const Tensor& x, Site at = {}) { return x.tanh(at); }
inline Tensor erf(const Tensor& x, Site at = {}) { return x.erf(at); }

/// 16- and 8-bit floats as float32, integers too; other floats as they are: what a composed operation computes in.
inline Tensor widened(const Tensor& x, Site at = {}) {
  return is_float(x.dtype()) && !is_narrow_float(x.dtype()) ? x : x.cast(DType::float32, at);
}
/// The type of a float result for `x`.
inline DType float_type(const Tensor& x) { return is_float(x.dtype()) ? x.dtype() : DType::float32; }

// ---- More elementwise functions ----

/// |x| with the sign of `sign`, that of a zero included.
Tensor copysign(const Tensor& x, const Tensor& sign, Site at = {});

inline Tensor lerp(const Tensor& from, const Tensor& to, const Operand& weight) {
  const Call call(weight.site);
  return from + (to - from) * weight;
}

/// True where |a - b| <= atol + rtol |b|.
inline Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false, Site at = {}) {
  const Call call(at, __func__);
  const Tensor close = (a == b) | (a.isfinite() & b.isfinite() & ((a - b).abs() <= atol + rtol * b.abs()));
  return equal_nan ? close | (a.isnan() & b.isnan()) : close;
}

// ---- Activations ----

/// max(x, 0), with gradient 0 at 0 as in PyTorch. Not `x > 0 ? x : 0`: NaN stays NaN.
inline Tensor relu(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return (x <= 0).where(0, x);
}

inline Tensor leaky_relu(const Tensor& x, double slope = 0.01, Site at = {}) {
  const Call call(at, __func__);
  return (x < 0).where(slope * x, x);
}

inline Tensor relu6(const Tensor& x, Site at = {}) { return x.clip(0, 6, at); }
inline Tensor hardtanh(const Tensor& x, double low = -1, double high = 1, Site at = {}) { return x.clip(low, high, at); }

inline Tensor hardsigmoid(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return (x / 6 + 0.5).clip(0, 1);
}

inline Tensor hardswish(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return x * (x + 3).clip(0, 6) / 6;
}

/// -|x|, with slope -1 at 0, so that what is built on it has the right gradient there.
inline Tensor minus_abs(const Tensor& x) { return (x < 0).where(x, -x); }

/// 1 / (1 + e^-x), by e^-|x|, which never overflows: neither the value nor any gradient.
inline Tensor sigmoid(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  const Tensor wide = widened(x), e = minus_abs(wide).exp();
  return ((wide < 0).where(e, 1) / (1 + e)).cast(float_type(x));
}

inline Tensor silu(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return x * sigmoid(x);
}

/// log(1 + e^x)
inline Tensor softplus(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return (x < 0).where(0, x) + minus_abs(x).exp().log1p();
}

/// log(e^a + e^b)
inline Tensor logaddexp(const Tensor& a, const Tensor& b, Site at = {}) {
  const Call call(at, __func__);
  const Tensor difference = (a == b).where(0, a - b);  // of equal infinities, too
  return (difference < 0).where(b, a) + minus_abs(difference).exp().log1p();
}

/// log(sigmoid(x))
inline Tensor logsigmoid(const Tensor& x, Site at = {}) { return -softplus(-x, at); }

inline Tensor mish(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return x * softplus(x).tanh();
}

inline Tensor softsign(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return x / (1 + x.abs());
}

inline Tensor elu(const Tensor& x, double alpha = 1, Site at = {}) {
  const Call call(at, __func__);
  return (x > 0).where(x, alpha * x.minimum(0).expm1());
}

inline Tensor selu(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return 1.0507009873554805 * elu(x, 1.6732632423543772);
}

/// x Φ(x), exact, or by tanh as in GPT-2.
inline Tensor gelu(const Tensor& x, bool approximate = false, Site at = {}) {
  const Call call(at, __func__);
  const Tensor wide = widened(x);
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2/π)
  const Tensor twice =
      approximate ? 1 + (scale * (wide + 0.044715 * wide * wide * wide)).tanh() : 1 + (wide * (1 / std::numbers::sqrt2)).erf();
  return (0.5 * wide * twice).cast(float_type(x));
}

inline Tensor quick_gelu(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return x * sigmoid(1.702 * x);
}

// ---- Normalising ----

/// The maximum without its gradient, which cancels wherever it is used; of nothing, 0.
inline Tensor greatest(const Tensor& x, const Axes& axes) { return (x.numel() == 0 ? x.sum(axes, true) : x.max(axes, true)).detach(); }

/// Row-wise e^x / Σ e^x, shifted by the maximum so that nothing overflows. A row of -inf gives NaN.
inline Tensor softmax(const Tensor& x, int64_t axis = -1, Site at = {}) {
  const Call call(at, __func__);
  const Tensor wide = widened(x), e = (wide - greatest(wide, axis)).exp();
  return (e / e.sum(axis, true)).cast(float_type(x));
}

inline Tensor log_softmax(const Tensor& x, int64_t axis = -1, Site at = {}) {
  const Call call(at, __func__);
  const Tensor wide = widened(x), shifted = wide - greatest(wide, axis);
  return (shifted - shifted.exp().sum(axis, true).log()).cast(float_type(x));
}

/// log Σ e^x. A maximum that is infinite isn't subtracted: inf - inf would be NaN where the answer is ±inf.
inline Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdim = false, Site at = {}) {
  const Call call(at, __func__);
  const Tensor wide = widened(x), top = greatest(wide, axes), shift = top.isinf().where(0, top);
  const Tensor result = (wide - shift).exp().sum(axes, true).log() + shift;
  return (keepdim ? result : result.squeeze(axes)).cast(float_type(x));
}

inline Tensor layernorm(const Tensor& x, const Axes& axes = -1, double eps = 1e-5, Site at = {}) {
  const Call call(at, __func__);
  const Tensor wide = widened(x), centred = wide - wide.mean(axes, true);
  return (centred * ((centred * centred).mean(axes, true) + eps).rsqrt()).cast(float_type(x));
}

/// (x - mean) * invstd * weight + bias, the four along `axis`; weight and bias may be undefined.
Tensor batchnorm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& invstd, const Axes& axis = 1,
                 Site at = {});

// ---- Losses ----

/// The type in which classes are compared with 0, 1, …: one that holds every count of classes.
inline DType class_type(const Tensor& x) { return item_size(x.dtype()) < 4 ? DType::int32 : x.dtype(); }

/// 1 where the last, new axis equals the class, else 0 (int32); nowhere for a class outside [0, classes).
Tensor one_hot(const Tensor& x, int64_t classes, Site at = {});

inline Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::none ? losses : reduction == Reduction::sum ? losses.sum() : losses.mean();
}

/// The mean squared difference.
inline Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean, Site at = {}) {
  const Call call(at, __func__);
  return reduced((x - target).square(), reduction);
}

/// Of probabilities. The logarithms are cut off at -100, so that certainty stays finite (as PyTorch).
inline Tensor binary_crossentropy(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean, Site at = {}) {
  const Call call(at, __func__);
  return reduced(-(target * x.log().maximum(-100) + (1 - target) * (1 - x).log().maximum(-100)), reduction);
}

/// Of logits.
inline Tensor binary_crossentropy_logits(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean, Site at = {}) {
  const Call call(at, __func__);
  return reduced((x < 0).where(0, x) - x * target + minus_abs(x).exp().log1p(), reduction);
}

/// `x` holds logits (…, classes), `classes` their classes (…). Rows of class `ignore_index` count nowhere; a class that is not there
/// makes the loss NaN.
Tensor sparse_categorical_crossentropy(const Tensor& x, const Tensor& classes, int64_t ignore_index = -1, double label_smoothing = 0,
                                       Reduction reduction = Reduction::mean, Site at = {});

/// `x` holds logits with the classes on axis 1 (on axis 0 if it is a vector); `target` holds classes, or probabilities in the shape of
/// `x`. Rows of class `ignore_index` count nowhere; a class that is not there makes the loss NaN.
Tensor cross_entropy(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean, double label_smoothing = 0,
                     int64_t ignore_index = -100, Site at = {});

// ---- The composed members ----
inline Tensor Tensor::relu(Site at) const { return whit::relu(*this, at); }
inline Tensor Tensor::gelu(bool approximate, Site at) const { return whit::gelu(*this, approximate, at); }
inline Tensor Tensor::silu(Site at) const { return whit::silu(*this, at); }
inline Tensor Tensor::sigmoid(Site at) const { return whit::sigmoid(*this, at); }
inline Tensor Tensor::softplus(Site at) const { return whit::softplus(*this, at); }
inline Tensor Tensor::leaky_relu(double slope, Site at) const { return whit::leaky_relu(*this, slope, at); }
inline Tensor Tensor::softmax(int64_t axis, Site at) const { return whit::softmax(*this, axis, at); }
inline Tensor Tensor::log_softmax(int64_t axis, Site at) const { return whit::log_softmax(*this, axis, at); }
inline Tensor Tensor::logsumexp(Axes axes, bool keepdim, Site at) const { return whit::logsumexp(*this, axes, keepdim, at); }
inline Tensor Tensor::layernorm(Axes axes, double eps, Site at) const { return whit::layernorm(*this, axes, eps, at); }
inline Tensor Tensor::batchnorm(const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& invstd, Axes axis,
                                Site at) const {
  return whit::batchnorm(*this, weight, bias, mean, invstd, axis, at);
}
inline Tensor Tensor::one_hot(int64_t classes, Site at) const { return whit::one_hot(*this, classes, at); }
inline Tensor Tensor::sparse_categorical_crossentropy(const Tensor& classes, int64_t ignore_index, double label_smoothing,
                                                      Reduction reduction, Site at) const {
  return whit::sparse_categorical_crossentropy(*this, classes, ignore_index, label_smoothing, reduction, at);
}
inline Tensor Tensor::cross_entropy(const Tensor& target, Reduction reduction, double label_smoothing, int64_t ignore_index,
                                    Site at) const {
  return whit::cross_entropy(*this, target, reduction, label_smoothing, ignore_index, at);
}
inline Tensor Tensor::binary_crossentropy(const Tensor& target, Reduction reduction, Site at) const {
  return whit::binary_crossentropy(*this, target, reduction, at);
}
inline Tensor Tensor::binary_crossentropy_logits(const Tensor& target, Reduction reduction, Site at) const {
  return whit::binary_crossentropy_logits(*this, target, reduction, at);
}
inline Tensor Tensor::mse_loss(const Tensor& target, Reduction reduction, Site at) const {
  return whit::mse_loss(*this, target, reduction, at);
}

}  // namespace whit
