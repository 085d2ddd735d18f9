// Layers that multiply by weights.
#include <cmath>
#include <whit/nn.h>

#include "tensor/build.h"

namespace whit::nn {

namespace {

// kaiming_uniform with a = √5, as PyTorch's layers start.
Tensor drawn(const Sizes& shape, int64_t inputs) {
  const double bound = inputs > 0 ? 1 / std::sqrt(double(inputs)) : 0;
  return Tensor::uniform(shape, -bound, bound);
}

void check_counts(std::string_view layer, int64_t inputs, int64_t outputs, int64_t groups = 1) {
  if (inputs < 0 || outputs < 0) refuse(ErrorKind::Value, layer, inputs, " inputs and ", outputs, " outputs");
  if (groups < 1 || inputs % groups || outputs % groups)
    refuse(ErrorKind::Value, layer, groups, " groups don't divide ", inputs, " inputs and ", outputs, " outputs");
}

// One number for the kernel stands for the two axes of an image.
Sizes kernel_sizes(const PerAxis& kernel, std::string_view layer) {
  Sizes sizes = kernel.list();
  if (sizes.size() == 1) sizes.push_back(sizes[0]);
  for (const int64_t size : sizes)
    if (size < 1) refuse(ErrorKind::Value, layer, "a kernel of size ", size);
  if (sizes.empty()) refuse(ErrorKind::Value, layer, "the kernel has no size");
  return sizes;
}

// A weight (first, second, kernel …) and its bias.
std::pair<Tensor, Tensor> draw_conv(std::string_view layer, int64_t first, int64_t second, int64_t outputs, const PerAxis& kernel,
                                    bool with_bias) {
  Sizes shape = kernel_sizes(kernel, layer);
  const int64_t inputs = second * product(shape);
  shape.insert(shape.begin(), {first, second});
  return {drawn(shape, inputs), with_bias ? drawn({outputs}, inputs) : Tensor()};
}

}  // namespace

Linear::Linear(int64_t inputs, int64_t outputs, bool with_bias, Site at) {
  const Call call(at);
  check_counts("Linear", inputs, outputs);
  weight = drawn({outputs, inputs}, inputs);
  if (with_bias) bias = drawn({outputs}, inputs);
}

Tensor Linear::operator()(const Tensor& x, Site at) const {
  const Call call(at);
  return x.linear(weight.transpose(), bias);
}

Conv2d::Conv2d(int64_t inputs, int64_t outputs, PerAxis kernel, ConvOptions conv, bool with_bias, Site at) : options(std::move(conv)) {
  const Call call(at);
  check_counts("Conv2d", inputs, outputs, options.groups);
  std::tie(weight, bias) = draw_conv("Conv2d", outputs, inputs / options.groups, outputs, kernel, with_bias);
}

Tensor Conv2d::operator()(const Tensor& x, Site at) const {
  const Call call(at);
  return x.conv2d(weight, bias, options);
}

ConvTranspose2d::ConvTranspose2d(int64_t inputs, int64_t outputs, PerAxis kernel, ConvOptions conv, bool with_bias, Site at)
    : options(std::move(conv)) {
  const Call call(at);
  check_counts("ConvTranspose2d", inputs, outputs, options.groups);
  std::tie(weight, bias) = draw_conv("ConvTranspose2d", inputs, outputs / options.groups, outputs, kernel, with_bias);
}

Tensor ConvTranspose2d::operator()(const Tensor& x, Site at) const {
  const Call call(at);
  return x.conv_transpose2d(weight, bias, options);
}

Embedding::Embedding(int64_t count, int64_t size, Site at) {
  const Call call(at);
  check_counts("Embedding", count, size);
  weight = Tensor::randn({count, size});
}

Tensor Embedding::operator()(const Tensor& numbers, Site at) const {
  const Call call(at);
  return weight.index({numbers});
}

}  // namespace whit::nn
