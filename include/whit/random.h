// Training mode, and operations composed of random draws. Draws are counter-based: each reserves its numbers when it is made, so values
// don't depend on the order in which things are computed, on the device or on the number of threads.
#pragma once

#include <cmath>
#include <whit/tensor.h>

namespace whit {

/// While one stands, this thread trains: dropout drops and batch norm uses its batch. `Train(false)` switches it off inside.
class Train {
 public:
  explicit Train(bool on = true) : before_(state()) { state() = on; }
  ~Train() { state() = before_; }
  Train(const Train&) = delete;
  Train& operator=(const Train&) = delete;
  static bool on() { return state(); }

 private:
  static bool& state();
  bool before_;
};

inline Tensor Tensor::uniform(Sizes shape, double low, double high, Options options, Site at) {
  const Call call(at);
  return low + (high - low) * rand(std::move(shape), options);
}

inline Tensor Tensor::normal(Sizes shape, double mean, double deviation, Options options, Site at) {
  const Call call(at);
  return mean + deviation * randn(std::move(shape), options);
}

/// The number of inputs of one output of a weight (out, in, kernel …).
inline int64_t fan_in(const Sizes& shape) {
  int64_t product = 1;
  for (size_t i = 1; i < shape.size(); ++i) product *= shape[i];
  return product;
}

inline Tensor Tensor::kaiming_uniform(Sizes shape, double a, Options options, Site at) {
  const double bound = std::sqrt(6 / ((1 + a * a) * double(fan_in(shape))));
  return uniform(std::move(shape), -bound, bound, options, at);
}

inline Tensor Tensor::glorot_uniform(Sizes shape, Options options, Site at) {
  const double bound = std::sqrt(6 / double((shape.empty() ? 1 : shape[0]) + fan_in(shape)));
  return uniform(std::move(shape), -bound, bound, options, at);
}

inline Tensor Tensor::rand_like(Options options, Site at) const {
  return rand(
      shape(),
      {.dtype = options.dtype == DType::none ? dtype() : options.dtype, .device = options.device.empty() ? device() : options.device}, at);
}

inline Tensor Tensor::randn_like(Options options, Site at) const {
  return randn(
      shape(),
      {.dtype = options.dtype == DType::none ? dtype() : options.dtype, .device = options.device.empty() ? device() : options.device}, at);
}

}  // namespace whit
