// Layers that normalise, against numbers that NumPy computed from the same inputs and the definitions.
#include "unit/nn_values.h"

namespace whit {
namespace {

// A batch norm over 2 channels with weights that aren't 1.
nn::BatchNorm batch_norm() {
  nn::BatchNorm layer(2);
  layer.weight = lcg({2}, 11) + 1.5;
  layer.bias = lcg({2}, 12);
  return layer;
}

TEST(Norms, BatchNormTrainsOnItsBatch) {
  const Train train;
  const nn::BatchNorm layer = batch_norm();
  const Tensor x = (lcg({3, 2, 2}, 10) * 2 + 0.5).realize();
  const Tensor y = layer(x);
  expect_near(y, {-0.4127704, -0.7120627, 0.3671385, -2.229084, -1.465897, -1.189532, 0.3154269, 0.9245117, 1.54245, -0.8735653, -1.006728,
                  0.03288013});
  const std::vector<Tensor> gradients = y.gradient({x, layer.weight, layer.bias}, lcg({3, 2, 2}, 13));
  expect_near(gradients[0], {-0.03189589, 0.535309, 0.008501175, -0.3288538, -0.6665034, 0.1699857, 0.4929778, -0.5250754, -0.1708799,
                             0.1639846, 0.4018742, -0.04942404});
  expect_near(gradients[1], {-0.4186871, 1.98652});
  expect_near(gradients[2], {-2.922576, 1.40467});
}

TEST(Norms, BatchNormKeepsRunningStatistics) {
  const nn::BatchNorm layer = batch_norm();
  const Tensor x = (lcg({3, 2, 2}, 10) * 2 + 0.5).realize();
  {
    const Train train;
    layer(x);
    expect_near(layer.running_mean, {-0.06170561, 0.05533184});
    expect_near(layer.running_var, {0.9608643, 1.024705});
    layer(x * 0.5 - 1);
    expect_near(layer.running_mean, {-0.1863879, -0.02253543});
    expect_near(layer.running_var, {0.8799939, 0.9534104});
    EXPECT_EQ(layer.num_batches_tracked.item<int64_t>(), 2);
  }
  expect_near(layer(x), {-0.8884609, -1.115682, 1.015795, -1.694725, -1.687988, -1.478173, 0.9618064, 1.597706, 0.5959297, -1.238293,
                         -0.4185558, 0.6668207});
  expect_near(layer.running_mean, {-0.1863879, -0.02253543});
  EXPECT_EQ(layer.running_mean.requires_grad(), false);
}

// The form in which the variance is computed hides a term whose value and gradient are zero; the second derivative needs it.
TEST(Norms, BatchNormDifferentiatesTwice) {
  const Train train;
  const nn::BatchNorm layer = batch_norm();
  const Tensor weights = lcg({4, 2}, 31), direction = lcg({4, 2}, 32);
  const auto slope = [&](const Tensor& x) { return ((layer(x).sin() * weights).sum().gradient({x})[0] * direction).sum(); };
  const Tensor x = lcg({4, 2}, 30).cast(DType::float64).realize();
  const std::vector<double> found = slope(x).gradient({x})[0].to_vector<double>();
  for (size_t i = 0; i < found.size(); ++i) {
    const Tensor step = (Tensor::arange(8, {.dtype = DType::int32}).reshape({4, 2}) == int(i)).cast(DType::float64) * 1e-4;
    const double difference = (slope((x + step).realize()).item<double>() - slope((x - step).realize()).item<double>()) / 2e-4;
    EXPECT_NEAR(found[i], difference, 1e-5 * std::max(1.0, std::abs(difference)));
  }
}

TEST(Norms, BatchNormOptions) {
  const nn::BatchNorm bare(2, {.affine = false, .track_running_stats = false});
  EXPECT_TRUE(nn::parameters(bare).empty());
  const Tensor y = bare(Tensor{{1.0, 3.0}, {3.0, 7.0}});  // without running statistics the batch's own serve always
  expect_near(y, {-1, -1, 1, 1}, 1e-4);
  const Train train;
  EXPECT_THROW(bare(Tensor{{1.0, 3.0}}), UserError);      // one value has no variance
  EXPECT_THROW(batch_norm()(lcg({4, 3}, 1)), UserError);  // not its channels
  EXPECT_THROW(batch_norm()(lcg({2}, 1)), UserError);
  EXPECT_EQ(batch_norm()(lcg({4, 2, 3, 3}, 1).half()).dtype(), DType::float16);
}

TEST(Norms, LayerNorm) {
  nn::LayerNorm layer(Sizes{3, 4});
  layer.weight = lcg({3, 4}, 15) + 1;
  layer.bias = lcg({3, 4}, 16);
  expect_near(layer(lcg({2, 3, 4}, 14)), {-0.8699965, 1.650039,   0.5778776, -0.9407956, 0.4915563,  -2.435109,  -0.505468, -0.03190615,
                                          0.6746227,  0.04723077, -2.375762, 0.3836529,  -0.6616168, -0.3254671, 0.4338428, -1.053125,
                                          0.5500672,  1.210306,   0.738508,  -1.326854,  0.112863,   0.1926278,  1.08956,   0.3802554});
  EXPECT_THROW(layer(lcg({2, 4, 3}, 1)), UserError);
  EXPECT_TRUE(nn::parameters(nn::LayerNorm(4, 1e-5, false)).empty());
}

TEST(Norms, GroupNorm) {
  nn::GroupNorm layer(2, 4);
  layer.weight = lcg({4}, 18) + 1;
  layer.bias = lcg({4}, 19);
  expect_near(layer(lcg({2, 4, 3}, 17)), {-1.039871, 0.2545957,  -0.5539644, -2.513361, 0.9876357,  -2.213138, 1.059354,  0.3443751,
                                          0.2524814, 0.262485,   0.08714693, -0.386686, -0.8723706, -1.156479, 0.3560649, -0.8402338,
                                          -1.716196, 0.06811367, 0.6450129,  0.9619765, 0.4175112,  -1.276318, 0.6562434, -0.2699459});
  EXPECT_THROW(nn::GroupNorm(3, 4), UserError);
  EXPECT_THROW(layer(lcg({2, 3, 3}, 1)), UserError);
}

TEST(Norms, RMSNorm) {
  nn::RMSNorm layer(4);
  layer.weight = lcg({4}, 21) + 1;
  expect_near(layer(lcg({2, 4}, 20)), {-0.5106112, -0.6095839, 0.02218393, -0.3335967, 0.3004107, 0.08034984, 0.5312158, 1.188486});
  EXPECT_THROW(layer(lcg({2, 3}, 1)), UserError);
}

}  // namespace
}  // namespace whit
