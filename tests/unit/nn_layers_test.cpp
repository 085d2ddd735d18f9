// Layers against numbers that NumPy computed from the same inputs and the definitions.
#include "unit/nn_values.h"

namespace whit {
namespace {

std::vector<double> gradient_of(const Tensor& out, const Tensor& of) { return out.gradient({of})[0].to_vector<double>(); }

TEST(Layers, Linear) {
  nn::Linear layer(3, 4);
  EXPECT_EQ(layer.weight.shape(), (Sizes{4, 3}));
  layer.weight = lcg({4, 3}, 2);
  layer.bias = lcg({4}, 3);
  expect_near(layer(lcg({2, 3}, 1)), {-0.2324723, -0.273622, 1.072347, 0.2370481, -0.5069004, 0.1092335, 0.5427787, 0.5569733});
  EXPECT_FALSE(nn::Linear(3, 4, false).bias.defined());
  EXPECT_THROW(layer(lcg({2, 4}, 1)), UserError);
  EXPECT_THROW(nn::Linear(-1, 4), UserError);
}

TEST(Layers, Conv2d) {
  nn::Conv2d layer(4, 2, 3, {.stride = 2, .padding = 1, .groups = 2});
  EXPECT_EQ(layer.weight.shape(), (Sizes{2, 2, 3, 3}));
  layer.weight = lcg({2, 2, 3, 3}, 5);
  layer.bias = lcg({2}, 6);
  const Tensor out = layer(lcg({1, 4, 5, 5}, 4));
  EXPECT_EQ(out.shape(), (Sizes{1, 2, 3, 3}));
  expect_near(out, {-0.3662307, -0.3814066, -0.3479945, 0.5816746, 0.1169025, 0.1724266, -0.8455036, -0.2886397, -1.281067, 0.4144762,
                    -0.678613, -0.4204962, 0.6229266, -1.607782, -0.02710866, 0.9974538, -0.8308073, -0.990079});
  EXPECT_EQ(nn::Conv2d(1, 8, {3, 5}, {}, false).weight.shape(), (Sizes{8, 1, 3, 5}));
  EXPECT_THROW(nn::Conv2d(3, 4, 3, {.groups = 2}), UserError);
  EXPECT_THROW(nn::Conv2d(3, 4, 0), UserError);
}

TEST(Layers, ConvTranspose2d) {
  nn::ConvTranspose2d layer(2, 2, 2, {.stride = 2, .padding = 1, .output_padding = 1});
  layer.weight = lcg({2, 2, 2, 2}, 8);
  layer.bias = lcg({2}, 9);
  const Tensor out = layer(lcg({1, 2, 2, 3}, 7));
  EXPECT_EQ(out.shape(), (Sizes{1, 2, 3, 5}));
  expect_near(out,
              {-0.8478228, -0.7249821, 0.7541103,  -0.4854168, 0.1776481,  -2.255445,  0.09586412, -0.4944772, -0.882399,  -1.283811,
               -0.2780451, -0.2942603, -1.894295,  -0.8186838, 0.1039498,  -1.157894,  -0.9231123, 0.4244342,  -1.253803,  -0.1566415,
               -0.6341017, -1.334029,  -0.9974098, -0.511986,  -0.6629549, -0.5052335, -0.7061458, -2.141176,  -0.3529404, -0.1744413});
}

TEST(Layers, Embedding) {
  nn::Embedding layer(5, 2);
  EXPECT_EQ(layer.weight.shape(), (Sizes{5, 2}));
  layer.weight = Tensor(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {5, 2});
  const Tensor numbers{{4, 0}, {1, 4}};
  const Tensor rows = layer(numbers);
  EXPECT_EQ(rows.shape(), (Sizes{2, 2, 2}));
  expect_near(rows, {8, 9, 0, 1, 2, 3, 8, 9});
  EXPECT_EQ(gradient_of(rows.sum(), layer.weight), (std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0, 2, 2}));
}

TEST(Layers, InitialWeightsFillTheirBounds) {
  Tensor::manual_seed(5);
  const auto check = [](const Tensor& tensor, double bound) {
    double greatest = 0, sum = 0;
    const std::vector<double> values = tensor.to_vector<double>();
    for (const double value : values) {
      greatest = std::max(greatest, std::abs(value));
      sum += value;
    }
    EXPECT_LE(greatest, bound);
    EXPECT_GT(greatest, 0.9 * bound);
    EXPECT_LT(std::abs(sum / double(values.size())), 0.2 * bound);
  };
  const nn::Linear linear(100, 50);
  check(linear.weight, 0.1);
  check(linear.bias, 0.1);
  check(nn::Conv2d(8, 16, 5, {.groups = 2}).weight, 0.1);
  check(nn::ConvTranspose2d(16, 8, 5, {.groups = 2}).weight, 0.1);
}

}  // namespace
}  // namespace whit
