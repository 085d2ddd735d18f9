// More operations composed of others: statistics, shapes, losses, sampling, attention, and einsum.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>
#include <whit/functional.h>
#include <whit/random.h>

namespace whit {

// ---- Statistics ----

inline std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false, int64_t correction = 1,
                                          Site at = {}) {
  const Call call(at, __func__);
  return {x.var(axes, keepdim, correction), x.mean(axes, keepdim)};
}

inline std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false, int64_t correction = 1,
                                          Site at = {}) {
  const Call call(at, __func__);
  return {x.std(axes, keepdim, correction), x.mean(axes, keepdim)};
}

/// x over its p-norm along the axis, which counts for `eps` at least.
inline Tensor normalize(const Tensor& x, double p = 2, int64_t axis = 1, double eps = 1e-12, Site at = {}) {
  const Call call(at, __func__);
  const Tensor norm = p == 2   ? x.square().sum(axis, true).sqrt()
                      : p == 1 ? x.abs().sum(axis, true)
                               : x.abs().pow(p).sum(axis, true).pow(1 / p);
  return x / norm.maximum(eps);
}

/// Whether isclose holds everywhere: computes.
inline bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false, Site at = {}) {
  const Call call(at, __func__);
  return isclose(a, b, rtol, atol, equal_nan).all().item<bool>();
}

// ---- Activations ----

inline Tensor softmin(const Tensor& x, int64_t axis = -1, Site at = {}) {
  const Call call(at, __func__);
  return (-x).softmax(axis);
}

/// x where positive, else alpha (exp(x / alpha) - 1).
inline Tensor celu(const Tensor& x, double alpha = 1, Site at = {}) {
  const Call call(at, __func__);
  return x.maximum(0) + (alpha * (x / alpha).expm1()).minimum(0);
}

// ---- Shapes ----

/// The tensors of one axis each, stretched over the axes of all: element [i, j, …] of result k is element i, j, … of tensor k. With
/// `first_is_rows` false the first two axes change places ("xy").
inline std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, bool first_is_rows = true, Site at = {}) {
  const Call call(at, __func__);
  Sizes whole;
  for (const Tensor& tensor : tensors) whole.push_back(tensor.numel());
  std::vector<Tensor> result;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Sizes line(tensors.size(), 1);
    line[i] = whole[i];
    const Tensor grid = tensors[i].reshape(line).expand(whole);
    result.push_back(first_is_rows || tensors.size() < 2 ? grid : grid.transpose(0, 1));
  }
  return result;
}

/// The elements [i, i + offset] of two axes, as the last axis.
Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t first = 0, int64_t second = 1, Site at = {});

/// A vector as the diagonal of a matrix; of a matrix, its diagonal.
inline Tensor diag(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  if (x.ndim() != 1) return diagonal(x);
  const int64_t size = x.shape(0);
  return Tensor::eye(size, {}, {.dtype = DType::boolean, .device = x.device()}).where(x.unsqueeze(1), 0);
}

inline Tensor trace(const Tensor& x, Site at = {}) {
  const Call call(at, __func__);
  return diagonal(x).sum(-1);
}

inline Tensor outer(const Tensor& a, const Tensor& b, Site at = {}) {
  const Call call(at, __func__);
  return a.flatten().unsqueeze(1) * b.flatten().unsqueeze(0);
}

/// Each element `count` times in a row along the axis.
Tensor repeat_interleave(const Tensor& x, int64_t count, int64_t axis = 0, Site at = {});

// ---- Losses ----

/// Of log-probabilities (N, C, …) and classes (N, …); `weight` has one number for each class.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& classes, const Tensor& weight = {}, int64_t ignore_index = -100,
                Reduction reduction = Reduction::mean, Site at = {});

// ---- Sampling ----

/// A random order of 0 … count-1 (int32).
inline Tensor randperm(int64_t count, Options options = {}, Site at = {}) {
  const Call call(at, __func__);
  const DType type = options.dtype == DType::none ? DType::int32 : options.dtype;
  return Tensor::rand({count}, {.device = options.device}).argsort(0).cast(type);
}

/// Normal with deviation √(2 / ((1 + a²) fan-in)) (He et al., arXiv:1502.01852).
inline Tensor kaiming_normal(Sizes shape, double a = 0.01, Options options = {}, Site at = {}) {
  const Call call(at, __func__);
  const double deviation = std::sqrt(2.0 / ((1 + a * a) * double(fan_in(shape))));
  return Tensor::normal(std::move(shape), 0, deviation, options);
}

/// Uniform in ±1 over the square root of the number of elements.
inline Tensor scaled_uniform(Sizes shape, Options options = {}, Site at = {}) {
  const Call call(at, __func__);
  double count = 1;
  for (const int64_t size : shape) count *= double(size);
  return Tensor::uniform(std::move(shape), -1, 1, options) / std::sqrt(count);
}

// ---- Attention ----

struct AttentionOptions {
  Tensor mask{};         ///< bool: true where attention is paid; or a float that is added to the scores
  double dropout = 0;    ///< while a Train stands
  bool causal = false;   ///< each query sees the keys up to its own place
  bool grouped = false;  ///< several heads of queries share one of keys and values
};

/// softmax(query keyᵀ / √d) value over (…, length, d). A row that is masked throughout gives NaN, as in PyTorch.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options = {},
                                    Site at = {});

// ---- Einstein summation ----

/// "ij,jk->ik": letters name axes, what is not in the result is summed over, "..." stands for axes that broadcast. Without "->" the result
/// has the letters that occur once, in alphabetical order.
Tensor einsum(const std::string& formula, const std::vector<Tensor>& operands, Site at = {});

}  // namespace whit
