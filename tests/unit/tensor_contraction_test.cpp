#include "unit/tensor_values.h"

namespace whit {
namespace {

// ---- Matrices -----------------------------------------------------------------------------------------------------------------------

TEST(TensorContraction, Matmul) {
  const Tensor a = sample({2, 3}, 9), b = sample({3, 4}, 10), v = sample({3}, 13);
  expect_close(a.matmul(b), {2, 4},
               {1.185130236, 0.314883598, -0.743296026, 0.157787285, 0.675058942, 1.020961527, -0.306311265, 0.729057027});
  expect_close(v.matmul(b), {4}, {0.429452183, 0.089927641, -0.345195383, 0.50305736});
  expect_close(a.dot(v), {2}, {0.763734793, 0.405268757});
  expect_close(v.dot(v), {}, {0.470162745});
  expect_values(Tensor({{1, 2}, {3, 4}}).matmul(Tensor({{5}, {6}})), {2, 1}, {17, 39});
  expect_close(a.linear(b, Tensor({1.0, 0.0, 0.0, -1.0})), {2, 4},
               {2.185130236, 0.314883598, -0.743296026, -0.842212715, 1.675058942, 1.020961527, -0.306311265, -0.270942973});
}

TEST(TensorContraction, BatchesBroadcast) {
  const Tensor a = sample({2, 1, 2, 3}, 11), b = sample({3, 3, 2}, 12), product = a.matmul(b);
  EXPECT_EQ(product.shape(), (Sizes{2, 3, 2, 2}));
  const std::vector<float> found = product.to_vector();
  const std::vector<double> first{0.754821249, 0.429141416, -0.122726599, 0.022909185, 0.036438513, -0.205081983,
                                  -0.28926924, 0.206762923, -0.077647286, 0.554905038, 0.554031763, -0.017557748};
  for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(found[i], first[i], 1e-6);
  EXPECT_EQ(Tensor::zeros({3}).matmul(Tensor::zeros({5, 3, 2})).shape(), (Sizes{5, 2}));
  EXPECT_EQ(Tensor::zeros({5, 2, 3}).matmul(Tensor::zeros({3})).shape(), (Sizes{5, 2}));
}

TEST(TensorContraction, EmptyAxesAndTypes) {
  expect_values(Tensor::ones({2, 0}).matmul(Tensor::ones({0, 3})), {2, 3}, {0, 0, 0, 0, 0, 0});
  expect_values(Tensor::ones({0, 4}).matmul(Tensor::ones({4, 2})), {0, 2}, {});
  const Tensor small = Tensor::full({128}, -128, {.dtype = DType::int8});
  EXPECT_EQ(small.dot(small).dtype(), DType::int32);
  EXPECT_EQ(small.dot(small).item<int>(), 128 * 128 * 128);
  // The products of narrow floats are exact and their sum is rounded once.
  const Tensor half = Tensor::full({2048}, 1.0009765625, {.dtype = DType::float16});
  EXPECT_EQ(half.dot(half).dtype(), DType::float16);
  EXPECT_EQ(half.dot(half).item(), 2052);
  EXPECT_EQ(Tensor::ones({1, 2}, {.dtype = DType::float16}).matmul(Tensor::ones({2, 1})).dtype(), DType::float32);
}

TEST(TensorContraction, MatricesThatDontFitAreNamed) {
  expect_refused(
      [] {
        Tensor::ones({2, 3}).matmul(Tensor::ones({4, 5}));
      },
      ErrorKind::Shape, {"matmul", "(2, 3)", "(4, 5)", "has 3", "second 4"});
  expect_refused([] { Tensor::ones({3}).dot(Tensor::ones({4})); }, ErrorKind::Shape, {"matmul", "(3,)", "(4,)"});
  expect_refused([] { Tensor(1).matmul(Tensor::ones({1})); }, ErrorKind::Shape, {"scalar"});
  expect_refused([] { Tensor::ones({2, 2, 3}).matmul(Tensor::ones({3, 3, 2})); }, ErrorKind::Shape, {"broadcast"});
}

// ---- Convolutions, against plain loops ------------------------------------------------------------------------------------------------

struct Case {
  Sizes x, weight;
  std::array<int64_t, 2> stride{1, 1}, dilation{1, 1};
  std::array<int64_t, 4> padding{};  // top, bottom, left, right
  int64_t groups = 1;
};

struct Array {
  Sizes shape;
  std::vector<double> values;
  double& at(int64_t a, int64_t b, int64_t c, int64_t d) { return values[size_t(((a * shape[1] + b) * shape[2] + c) * shape[3] + d)]; }
};

Array array(const Sizes& shape, uint32_t seed) {
  Array result{shape, {}};
  for (const float value : numbers(shape[0] * shape[1] * shape[2] * shape[3], seed)) result.values.push_back(value);
  return result;
}

Array convolve(const Case& c, Array x, Array w) {
  const auto size = [&](size_t axis) {
    return (x.shape[axis + 2] + c.padding[2 * axis] + c.padding[2 * axis + 1] - (w.shape[axis + 2] - 1) * c.dilation[axis] - 1) /
               c.stride[axis] +
           1;
  };
  Array out{{x.shape[0], w.shape[0], size(0), size(1)}, {}};
  out.values.resize(size_t(out.shape[0] * out.shape[1] * out.shape[2] * out.shape[3]));
  for (int64_t n = 0; n < out.shape[0]; ++n)
    for (int64_t o = 0; o < out.shape[1]; ++o)
      for (int64_t i = 0; i < out.shape[2]; ++i)
        for (int64_t j = 0; j < out.shape[3]; ++j)
          for (int64_t k = 0; k < w.shape[1] * w.shape[2] * w.shape[3]; ++k) {
            const int64_t q = k % w.shape[3], p = k / w.shape[3] % w.shape[2], channel = k / (w.shape[3] * w.shape[2]);
            const int64_t y = i * c.stride[0] + p * c.dilation[0] - c.padding[0], z = j * c.stride[1] + q * c.dilation[1] - c.padding[2];
            if (y < 0 || z < 0 || y >= x.shape[2] || z >= x.shape[3]) continue;
            out.at(n, o, i, j) += x.at(n, o / (w.shape[0] / c.groups) * w.shape[1] + channel, y, z) * w.at(o, channel, p, q);
          }
  return out;
}

TEST(TensorContraction, ConvolutionsAreWhatTheLoopsSay) {
  const std::vector<Case> cases{
      {.x = {2, 2, 5, 4}, .weight = {4, 2, 3, 2}},
      {.x = {1, 4, 4, 4}, .weight = {3, 4, 3, 3}, .padding = {1, 1, 1, 1}},
      {.x = {1, 2, 5, 8}, .weight = {2, 2, 3, 3}, .stride = {2, 1}, .dilation = {1, 2}, .padding = {1, 1, 2, 2}},
      {.x = {2, 2, 5, 4}, .weight = {4, 2, 3, 2}, .stride = {1, 2}, .padding = {2, 0, 0, 1}},
      {.x = {1, 1, 6, 6}, .weight = {1, 1, 3, 3}, .stride = {2, 2}},
      {.x = {1, 4, 4, 4}, .weight = {4, 2, 2, 2}, .groups = 2},
      {.x = {2, 4, 4, 4}, .weight = {8, 1, 3, 3}, .padding = {1, 1, 1, 1}, .groups = 4},
      {.x = {0, 2, 4, 4}, .weight = {3, 2, 3, 3}},
  };
  for (const Case& c : cases) {
    const Array expected = convolve(c, array(c.x, 1), array(c.weight, 2));
    const Tensor found = sample(c.x, 1).conv2d(sample(c.weight, 2), {},
                                               {.stride = {c.stride[0], c.stride[1]},
                                                .padding = {c.padding[2], c.padding[3], c.padding[0], c.padding[1]},
                                                .dilation = {c.dilation[0], c.dilation[1]},
                                                .groups = c.groups});
    expect_close(found, expected.shape, expected.values);
  }
}

TEST(TensorContraction, ConvolutionsInOneAndThreeDimensions) {
  expect_values(Tensor({{{1, 2, 3, 4}}}).conv2d(Tensor({{{1, 10}}})), {1, 1, 3}, {21, 32, 43});
  EXPECT_EQ(Tensor::zeros({1, 2, 4, 4, 4}).conv2d(Tensor::zeros({2, 2, 3, 3, 3}), {}, {.stride = 2, .padding = {0, 1, 0, 1, 0, 1}}).shape(),
            (Sizes{1, 2, 2, 2, 2}));
  for (const auto& [length, positions] : std::vector<std::pair<int64_t, int64_t>>{{39600, 6600}, {39601, 6600}, {39606, 6601}})
    EXPECT_EQ(Tensor::zeros({1, 1, length}).conv2d(Tensor::zeros({1, 1, 12}), {}, {.stride = 6, .padding = 3}).shape(2), positions);
  expect_values(Tensor({{{1, 2}, {3, 4}}}).conv2d(Tensor({{{1}, {1}}}), Tensor({100})), {1, 1, 2}, {104, 106});
}

// The adjoint: each input element adds the kernel, scaled, at its place.
Array transposed(Array x, Array w, std::array<int64_t, 2> stride, std::array<int64_t, 2> padding, std::array<int64_t, 2> extra,
                 std::array<int64_t, 2> dilation, int64_t groups) {
  const auto size = [&](size_t axis) {
    return (x.shape[axis + 2] - 1) * stride[axis] + (w.shape[axis + 2] - 1) * dilation[axis] + 1 + extra[axis] - 2 * padding[axis];
  };
  Array out{{x.shape[0], w.shape[1] * groups, size(0), size(1)}, {}};
  out.values.resize(size_t(out.shape[0] * out.shape[1] * out.shape[2] * out.shape[3]));
  for (int64_t n = 0; n < x.shape[0]; ++n)
    for (int64_t channel = 0; channel < x.shape[1]; ++channel)
      for (int64_t i = 0; i < x.shape[2]; ++i)
        for (int64_t j = 0; j < x.shape[3]; ++j)
          for (int64_t k = 0; k < w.shape[1] * w.shape[2] * w.shape[3]; ++k) {
            const int64_t q = k % w.shape[3], p = k / w.shape[3] % w.shape[2], o = k / (w.shape[3] * w.shape[2]);
            const int64_t y = i * stride[0] + p * dilation[0] - padding[0], z = j * stride[1] + q * dilation[1] - padding[1];
            if (y < 0 || z < 0 || y >= out.shape[2] || z >= out.shape[3]) continue;
            out.at(n, channel / (x.shape[1] / groups) * w.shape[1] + o, y, z) += x.at(n, channel, i, j) * w.at(channel, o, p, q);
          }
  return out;
}

TEST(TensorContraction, TransposedConvolutionsAreTheAdjoint) {
  const Sizes x{2, 4, 4, 3};
  struct {
    Sizes weight;
    std::array<int64_t, 2> stride{1, 1}, padding{0, 0}, extra{0, 0}, dilation{1, 1};
    int64_t groups = 1;
  } cases[] = {{{4, 2, 3, 2}},
               {{4, 2, 3, 2}, {2, 3}, {1, 0}, {1, 2}},
               {{4, 1, 2, 3}, {2, 1}, {0, 1}, {0, 0}, {1, 2}, 2},
               {{4, 2, 3, 3}, {1, 1}, {2, 2}},
               {{4, 3, 1, 1}, {2, 2}, {0, 0}, {1, 1}}};
  for (const auto& c : cases) {
    const Array expected = transposed(array(x, 3), array(c.weight, 4), c.stride, c.padding, c.extra, c.dilation, c.groups);
    const Tensor found = sample(x, 3).conv_transpose2d(sample(c.weight, 4), {},
                                                       {.stride = {c.stride[0], c.stride[1]},
                                                        .padding = {c.padding[0], c.padding[1]},
                                                        .dilation = {c.dilation[0], c.dilation[1]},
                                                        .groups = c.groups,
                                                        .output_padding = {c.extra[0], c.extra[1]}});
    expect_close(found, expected.shape, expected.values);
  }
}

TEST(TensorContraction, ConvolutionsThatDontFitAreNamed) {
  const Tensor x = Tensor::zeros({1, 3, 8, 8}), w = Tensor::zeros({4, 3, 3, 3});
  expect_refused(
      [&] {
        x.conv2d(Tensor::zeros({4, 2, 3, 3}));
      },
      ErrorKind::Shape, {"conv2d", "(1, 3, 8, 8)", "(4, 2, 3, 3)", "2 channels", "has 3"});
  expect_refused([&] { x.conv2d(Tensor::zeros({4, 3, 3})); }, ErrorKind::Shape, {"conv2d", "same number of axes"});
  expect_refused([&] { x.conv2d(Tensor::zeros({4, 3, 9, 9})); }, ErrorKind::Shape, {"conv2d", "(9, 9)", "larger"});
  expect_refused([&] { x.conv2d(w, Tensor::zeros({3})); }, ErrorKind::Shape, {"bias", "(3,)", "(4,)"});
  expect_refused([&] { x.conv2d(w, {}, {.stride = 0}); }, ErrorKind::Value, {"stride 0"});
  expect_refused([&] { x.conv2d(w, {}, {.stride = {1, 1, 1}}); }, ErrorKind::Value, {"3 values for stride", "2 spatial"});
  expect_refused([&] { x.conv2d(w, {}, {.padding = -1}); }, ErrorKind::Value, {"padding -1"});
  expect_refused([&] { x.conv2d(Tensor::zeros({4, 1, 3, 3}), {}, {.groups = 3}); }, ErrorKind::Value, {"3 groups"});
  expect_refused([&] { x.conv2d(w, {}, {.groups = 0}); }, ErrorKind::Value, {"0 groups"});
  expect_refused([&] { x.conv_transpose2d(w); }, ErrorKind::Shape, {"conv_transpose2d", "4 channels"});
}

// ---- Pooling ------------------------------------------------------------------------------------------------------------------------

TEST(TensorContraction, MaxPooling) {
  const Tensor p = sample({1, 1, 5, 5}, 14);
  expect_close(p.max_pool2d(2), {1, 1, 2, 2}, {0.09683919, 0.259579897, 0.703783631, 0.128394961});
  expect_close(p.max_pool2d({3, 3}, {.stride = 2, .padding = 1, .ceil_mode = true}), {1, 1, 3, 3},
               {0.09683919, 0.259579897, 0.429209948, 0.703783631, 0.703783631, 0.259579897, 0.703783631, 0.703783631, 0.31197083});
  expect_close(p.max_pool2d({2, 2}, {.stride = 1, .dilation = {2, 3}}), {1, 1, 3, 2},
               {-0.517012596, 0.429209948, 0.259579897, 0.703783631, -0.497793794, 0.31197083});
  const Tensor negative({{{{-5, -7, -8, -4}, {-6, -9, -9, -9}, {-1, -3, -8, -2}, {-7, -8, -7, -7}}}});
  const Tensor pooled = negative.max_pool2d(2, {.padding = 1});
  EXPECT_EQ(pooled.dtype(), DType::int32);
  expect_values(pooled, {1, 1, 3, 3}, {-5, -7, -4, -1, -3, -2, -7, -7, -7});
  expect_values(Tensor({{3, 1, 2, 5}}).max_pool2d({2}), {1, 2}, {3, 5});
  expect_refused([&] { p.max_pool2d(6); }, ErrorKind::Shape, {"max_pool2d", "(6, 6)", "larger"});
  expect_refused([&] { p.max_pool2d(2, {.padding = 2}); }, ErrorKind::Value, {"padding", "half"});
  expect_refused([&] { p.max_pool2d(0); }, ErrorKind::Value, {"kernel 0"});
  expect_refused([&] { Tensor({1, 2}).max_pool2d(2); }, ErrorKind::Shape, {"2 axes", "(2,)"});
}

TEST(TensorContraction, AveragePooling) {
  const Tensor p = sample({1, 1, 5, 5}, 14);
  expect_close(p.avg_pool2d(2), {1, 1, 2, 2}, {-0.371041387, -0.156243712, -0.317101926, -0.205437034});
  const PoolOptions options{.stride = 2, .padding = 1, .ceil_mode = true};
  expect_close(
      p.avg_pool2d(3, options), {1, 1, 3, 3},
      {-0.164907283, -0.085738553, -0.018540581, -0.259155538, -0.057741099, -0.210320486, -0.108142787, 0.088122447, -0.104245663});
  PoolOptions without = options;
  without.count_include_pad = false;
  expect_close(
      p.avg_pool2d(3, without), {1, 1, 3, 3},
      {-0.371041387, -0.128607829, -0.041716307, -0.388733308, -0.057741099, -0.315480729, -0.24332127, 0.132183671, -0.234552741});
  expect_close(p.avg_pool2d(2, {.ceil_mode = true}), {1, 1, 3, 3},
               {-0.371041387, -0.156243712, 0.100681424, -0.317101926, -0.205437034, -0.737068772, -0.378618181, 0.034673154, 0.31197083});
  expect_values(Tensor({{1, 2, 4, 5}}).avg_pool2d({2}), {1, 2}, {1.5, 4.5});
}

}  // namespace
}  // namespace whit
