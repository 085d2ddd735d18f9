// Single operators on large tensors.
#include <cmath>
#include <utility>

#include "workloads.h"

namespace whit::tool {

namespace {

using Inputs = std::vector<Tensor>;
using Operator = Tensor (*)(const Inputs&);

Tensor matmul(const Inputs& x) { return x[0].matmul(x[1]); }
Tensor chain(const Inputs& x) { return ((x[0] * 2 + 1).relu() * 0.5 - x[0]).tanh().abs() + 1; }
Tensor sum(const Inputs& x) { return x[0].sum(); }
Tensor softmax(const Inputs& x) { return x[0].softmax(-1); }
Tensor layernorm(const Inputs& x) { return x[0].layernorm(-1); }
Tensor transpose(const Inputs& x) { return x[0].transpose().contiguous(); }
Tensor conv(const Inputs& x) { return x[0].conv2d(x[1], {}, {.padding = 1}); }
Tensor depthwise_conv(const Inputs& x) { return x[0].conv2d(x[1], {}, {.padding = 1, .groups = x[1].shape(0)}); }
Tensor attention(const Inputs& x) {
  const double scale = 1 / std::sqrt(double(x[0].shape(-1)));
  return (x[0].matmul(x[1].transpose(-1, -2)) * scale).softmax(-1).matmul(x[2]);
}

Workload workload(std::string name, std::string description, Operator apply, std::vector<Sizes> shapes, Rate rate, double work) {
  const auto prepare = [apply, shapes = std::move(shapes), work]() -> std::function<Sample()> {
    Inputs inputs;
    for (const Sizes& shape : shapes) inputs.push_back(random_input(shape));
    return [apply, inputs = std::move(inputs), work] { return timed([&] { finish(apply(inputs)); }, work); };
  };
  return {.name = std::move(name), .description = std::move(description), .rate = rate, .prepare = prepare};
}

constexpr double gemm_flops(double n) { return 2 * n * n * n; }
constexpr double kSquare = 4.0 * 4096 * 4096;  // bytes of a matrix of 4096 rows and columns

}  // namespace

std::vector<Workload> operator_workloads() {
  const Sizes square{4096, 4096}, head{1, 8, 1024, 64};
  const int64_t mega = 1024 * 1024;
  return {
      workload("gemm1024", "1024x1024 matrices multiplied", matmul, {{1024, 1024}, {1024, 1024}}, kGflops, gemm_flops(1024)),
      workload("gemm2048", "2048x2048 matrices multiplied", matmul, {{2048, 2048}, {2048, 2048}}, kGflops, gemm_flops(2048)),
      workload("gemv4096", "4096x4096 matrix times a vector", matmul, {square, {4096, 1}}, kGigabytes, kSquare),
      workload("chain16m", "seven elementwise operations on 16M floats", chain, {{16 * mega}}, kGigabytes, 2 * 4.0 * 16 * double(mega)),
      workload("sum64m", "sum of 64M floats", sum, {{64 * mega}}, kGigabytes, 4.0 * 64 * double(mega)),
      workload("softmax4k", "softmax of the rows of a 4096x4096 matrix", softmax, {square}, kGigabytes, 2 * kSquare),
      workload("layernorm4k", "layer norm of the rows of a 4096x4096 matrix", layernorm, {square}, kGigabytes, 2 * kSquare),
      workload("transpose4k", "4096x4096 matrix transposed", transpose, {square}, kGigabytes, 2 * kSquare),
      workload("conv3x3", "3x3 convolution, 8x64x56x56, 64 outputs", conv, {{8, 64, 56, 56}, {64, 64, 3, 3}}, kGflops,
               2.0 * 8 * 64 * 56 * 56 * 64 * 9),
      workload("dwconv", "3x3 depthwise convolution, 8x96x56x56", depthwise_conv, {{8, 96, 56, 56}, {96, 1, 3, 3}}, kGflops,
               2.0 * 8 * 96 * 56 * 56 * 9),
      workload("attention", "attention of 8 heads, 1024 tokens of 64", attention, {head, head, head}, kGflops, 4.0 * 8 * 1024 * 1024 * 64),
  };
}

}  // namespace whit::tool
