// Layers: plain structs whose fields are tensors named as in PyTorch's state dicts, called like functions. A model is a struct of them:
//
//   struct Net {
//     nn::Linear hidden{784, 128}, out{128, 10};
//     static constexpr std::array field_names{"hidden", "out"};
//     Tensor operator()(const Tensor& x) const { return out(hidden(x).relu()); }
//   };
//
// Tensors that a layer does without (no bias) are undefined.
#pragma once

#include <array>
#include <tuple>
#include <whit/optim.h>
#include <whit/state.h>
#include <whit/tensor.h>

namespace whit::nn {

/// x · weightᵀ + bias over the last axis. Drawn uniformly within 1/√inputs.
struct Linear {
  Tensor weight;  ///< (outputs, inputs)
  Tensor bias;    ///< (outputs)

  Linear(int64_t inputs, int64_t outputs, bool with_bias = true, Site at = {});
  Tensor operator()(const Tensor& x, Site at = {}) const;

  static constexpr std::array field_names{"weight", "bias"};
  auto fields() const { return std::tie(weight, bias); }
};

/// A convolution over the last two axes (as many as `kernel` has numbers, if it has several). Drawn uniformly within 1/√fan-in.
struct Conv2d {
  Tensor weight;  ///< (outputs, inputs / groups, kernel …)
  Tensor bias;    ///< (outputs)
  ConvOptions options;

  Conv2d(int64_t inputs, int64_t outputs, PerAxis kernel, ConvOptions options = {}, bool with_bias = true, Site at = {});
  Tensor operator()(const Tensor& x, Site at = {}) const;

  static constexpr std::array field_names{"weight", "bias"};
  auto fields() const { return std::tie(weight, bias); }
};

/// The adjoint of a Conv2d.
struct ConvTranspose2d {
  Tensor weight;  ///< (inputs, outputs / groups, kernel …)
  Tensor bias;    ///< (outputs)
  ConvOptions options;

  ConvTranspose2d(int64_t inputs, int64_t outputs, PerAxis kernel, ConvOptions options = {}, bool with_bias = true, Site at = {});
  Tensor operator()(const Tensor& x, Site at = {}) const;

  static constexpr std::array field_names{"weight", "bias"};
  auto fields() const { return std::tie(weight, bias); }
};

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;            ///< the share of the batch in the running statistics
  bool affine = true;               ///< with weight and bias
  bool track_running_stats = true;  ///< else the batch's own statistics are used outside training too
};

/// Normalises each channel (axis 1): while a Train stands by the mean and variance of the batch, and keeps running ones; else by those.
struct BatchNorm {
  Tensor weight, bias;
  Tensor running_mean, running_var;  ///< the latter unbiased
  Tensor num_batches_tracked;
  BatchNormOptions options;

  explicit BatchNorm(int64_t channels, BatchNormOptions options = {}, Site at = {});
  Tensor operator()(const Tensor& x, Site at = {}) const;

  static constexpr std::array field_names{"weight", "bias", "running_mean", "running_var", "num_batches_tracked"};
  auto fields() const { return std::tie(weight, bias, running_mean, running_var, num_batches_tracked); }
};
using BatchNorm1d = BatchNorm;
using BatchNorm2d = BatchNorm;
using BatchNorm3d = BatchNorm;

/// Normalises over the last axes, which have the shape given.
struct LayerNorm {
  Tensor weight, bias;
  Sizes shape;
  double eps;

  explicit LayerNorm(Sizes shape, double eps = 1e-5, bool affine = true, Site at = {});
  explicit LayerNorm(int64_t size, double eps = 1e-5, bool affine = true, Site at = {}) : LayerNorm(Sizes{size}, eps, affine, at) {}
  Tensor operator()(const Tensor& x, Site at = {}) const;

  static constexpr std::array field_names{"weight", "bias"};
  auto fields() const { return std::tie(weight, bias); }
};

/// Normalises each group of channels (axis 1) of each sample.
struct GroupNorm {
  Tensor weight, bias;
  int64_t groups, channels;
  double eps;

  GroupNorm(int64_t groups, int64_t channels, double eps = 1e-5, bool affine = true, Site at = {});
  Tensor operator()(const Tensor& x, Site at = {}) const;

  static constexpr std::array field_names{"weight", "bias"};
  auto fields() const { return std::tie(weight, bias); }
};

/// Divides by the root of the mean square over the last axis.
struct RMSNorm {
  Tensor weight;
  int64_t size;
  double eps;

  explicit RMSNorm(int64_t size, double eps = 1e-6, bool affine = true, Site at = {});
  Tensor operator()(const Tensor& x, Site at = {}) const;

  static constexpr std::array field_names{"weight"};
  auto fields() const { return std::tie(weight); }
};

/// Rows of a table by number; a number outside it gives zeros. Drawn from the normal distribution.
struct Embedding {
  Tensor weight;  ///< (count, size)

  Embedding(int64_t count, int64_t size, Site at = {});
  Tensor operator()(const Tensor& numbers, Site at = {}) const;

  static constexpr std::array field_names{"weight"};
  auto fields() const { return std::tie(weight); }
};

}  // namespace whit::nn
