#include "unit/tensor_values.h"

namespace whit {
namespace {

TEST(TensorComposed, ReluAndItsKin) {
  const Tensor x({-kInf, -1.0, -0.0, 0.0, 2.0, kInf, kNaN});
  expect_values(x.relu(), {7}, {0, 0, 0, 0, 2, kInf, kNaN});
  expect_values(Tensor({-3, 0, 4}).relu(), {3}, {0, 0, 4});
  expect_values(relu6(Tensor({-1.0, 3.0, 9.0})), {3}, {0, 3, 6});
  expect_close(x.leaky_relu(0.1), {7}, {-kInf, -0.1, 0, 0, 2, kInf, kNaN});
  expect_close(elu(Tensor({-1.0, -1e-4, 2.0})), {3}, {-0.6321205588, -9.9995e-05, 2}, 1e-8);
  expect_close(hardswish(Tensor({-4.0, -1.0, 1.0, 4.0})), {4}, {0, -1.0 / 3, 2.0 / 3, 4}, 1e-6);
}

TEST(TensorComposed, SigmoidsOfAnySize) {
  const Tensor x({-100.0, -88.0, -2.0, 0.0, 2.0, 100.0, -kInf, kInf, kNaN});
  const std::vector<float> s = x.sigmoid().to_vector();
  EXPECT_NEAR(s[0] / 3.783506e-44, 1, 0.1);  // subnormal
  EXPECT_NEAR(s[1] / 6.054601895401186e-39, 1, 1e-5);
  expect_close(x.sigmoid(), {9}, {0, 0, 0.119202922, 0.5, 0.880797078, 1, 0, 1, kNaN}, 1e-7);
  expect_close(Tensor({-2.0, 0.0, 3.0}).silu(), {3}, {-0.238405844, 0, 2.85772238}, 1e-7);
  expect_close(Tensor({-200.0, -1.0, 0.0, 1.0, 200.0}).softplus(), {5}, {0, 0.313261688, 0.693147181, 1.313261688, 200}, 1e-7);
  expect_close(Tensor({-2.0, 3.0}).gelu(), {2}, {-0.0455002639, 2.99595031}, 1e-6);
  expect_close(Tensor({-2.0, 3.0}).gelu(true), {2}, {-0.0454022884, 2.99636261}, 1e-6);
  expect_close(logaddexp(Tensor({0.0, -kInf, 1000.0, kInf}), Tensor({0.0, -kInf, 0.0, kInf})), {4}, {0.693147181, -kInf, 1000, kInf}, 1e-7);
  EXPECT_EQ(Tensor({1.0}, {.dtype = DType::bfloat16}).sigmoid().dtype(), DType::bfloat16);
}

TEST(TensorComposed, SoftmaxAndLogarithms) {
  const Tensor z = sample({3, 4}, 15);
  expect_close(z.softmax(), {3, 4},
               {0.20347013, 0.450340278, 0.150215709, 0.195973883, 0.146016905, 0.363769682, 0.343828436, 0.146384977, 0.162774938,
                0.299587968, 0.411816819, 0.125820275},
               1e-6);
  expect_close(z.softmax(0), {3, 4},
               {0.319059766, 0.316140747, 0.124997903, 0.330292943, 0.421474112, 0.470070038, 0.526654199, 0.454144431, 0.259466121,
                0.213789215, 0.348347898, 0.215562627},
               1e-6);
  expect_close(z.log_softmax(), {3, 4},
               {-1.592236067, -0.797751809, -1.895682955, -1.62977388, -1.924032877, -1.011234353, -1.067612479, -1.921515296, -1.815386781,
                -1.205347189, -0.887176642, -2.072900781},
               1e-6);
  expect_close(z.logsumexp(1), {3}, {1.075998569, 1.686175297, 1.092396983}, 1e-6);
  expect_close(Tensor({{1000.0, 999.0}, {-1000.0, -1001.0}}).logsumexp(1, true), {2, 1}, {1000.3133, -999.68674}, 1e-6);
  expect_values(Tensor({{-kInf, -kInf}, {kInf, 1.0}}).logsumexp(1), {2}, {-kInf, kInf});
  expect_close(Tensor({{-kInf, -kInf}, {0.0, -kInf}, {1.0, 1.0}}).softmax(), {3, 2}, {kNaN, kNaN, 1, 0, 0.5, 0.5});
  const Tensor half = (sample({4, 50}, 3) * 5).half().softmax();
  EXPECT_EQ(half.dtype(), DType::float16);
  EXPECT_NEAR(half.cast(DType::float32).sum().item(), 4, 2e-3);
  EXPECT_EQ(Tensor(2.0).softmax(0).item(), 1);
  expect_refused([&] { z.softmax(2); }, ErrorKind::Index, {"axis 2"});
}

TEST(TensorComposed, Normalising) {
  const Tensor z = sample({3, 4}, 15);
  const std::vector<double> normal{-0.276335369, 1.66010843,   -1.015944544, -0.367828517, -1.001802691, 1.062712018,
                                   0.935199245,  -0.996108572, -0.678786741, 0.614491103,  1.289009487,  -1.224713849};
  expect_close(z.layernorm(), {3, 4}, normal, 2e-6);
  expect_close((z + 1000).layernorm(), {3, 4}, normal, 2e-4);
  const Tensor b = sample({2, 3, 2}, 20);
  expect_close(b.batchnorm(Tensor({2.0, 0.5, 1.0}), Tensor({0.0, 1.0, -1.0}), Tensor({0.1, 0.2, 0.3}), Tensor({1.5, 1.0, 2.0})), {2, 3, 2},
               {-1.83708601, -2.744146872, 0.913699174, 0.808194184, -0.746389961, -1.295900917, 2.486799431, 2.478568983, 1.082080746,
                1.130767369, -0.115046358, -1.864764071});
  expect_refused(
      [&] {
        b.batchnorm({}, {}, Tensor({0.0, 1.0}), Tensor({1.0, 1.0, 1.0}));
      },
      ErrorKind::Shape, {"batchnorm", "(2,)", "3 channels"});
}

TEST(TensorComposed, OneHot) {
  expect_values(Tensor({2, 0, -1, 7}).one_hot(3), {4, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(Tensor({1}).one_hot(2).dtype(), DType::int32);
  EXPECT_EQ(Tensor({1}, {.dtype = DType::int8}).one_hot(1000).sum().item<int>(), 1);
}

TEST(TensorComposed, CrossEntropies) {
  const Tensor z = sample({3, 4}, 15), classes({2, 0, 3});
  expect_close(z.sparse_categorical_crossentropy(classes), {}, {1.964205538});
  expect_close(z.sparse_categorical_crossentropy(classes, -1, 0, Reduction::none), {3}, {1.895682955, 1.924032877, 2.072900781});
  expect_close(z.sparse_categorical_crossentropy(classes, -1, 0.1), {}, {1.91629041});
  expect_close(z.sparse_categorical_crossentropy(classes, 0, 0.1), {}, {1.934565883});
  expect_close(z.cross_entropy(classes, Reduction::sum, 0.1, 0), {}, {2 * 1.934565883});
  expect_close(z.cross_entropy(classes), {}, {1.964205538});
  const Tensor probabilities = sample({3, 4}, 16).softmax();
  expect_close(z.cross_entropy(probabilities), {}, {1.490608609});
  expect_close(z.cross_entropy(probabilities, Reduction::mean, 0.1), {}, {1.490053174});
  expect_close(sample({2, 3, 2}, 17).cross_entropy(Tensor({{0, 2}, {1, 1}})), {}, {1.426624219});
  // A class whose logit is -inf, and another: no NaN by 0 times inf.
  expect_close(Tensor({{0.0, -kInf}}).sparse_categorical_crossentropy(Tensor({0})), {}, {0});
  expect_refused(
      [&] {
        z.sparse_categorical_crossentropy(Tensor({1, 2}));
      },
      ErrorKind::Shape, {"sparse_categorical_crossentropy", "(3, 4)", "(2,)"});
  expect_refused([&] { z.sparse_categorical_crossentropy(Tensor({1.0, 2.0, 0.0})); }, ErrorKind::Type, {"integers", "float32"});
  expect_refused([&] { z.cross_entropy(Tensor({1, 2})); }, ErrorKind::Shape, {"cross_entropy", "(3,)", "(3, 4)", "(2,)"});
  expect_refused([&] { z.cross_entropy(classes, Reduction::mean, 2); }, ErrorKind::Value, {"label_smoothing 2"});
}

TEST(TensorComposed, OtherLosses) {
  const Tensor q = sample({4}, 18), target({0.0, 1.0, 1.0, 0.25});
  expect_close(q.binary_crossentropy_logits(target), {}, {0.641948333});
  expect_close(((q + 1) / 2).binary_crossentropy(target), {}, {0.721612441}, 1e-5);
  expect_close(q.mse_loss(target), {}, {0.890744978});
  expect_close(Tensor({200.0, -200.0}).binary_crossentropy_logits(Tensor({1.0, 1.0}), Reduction::none), {2}, {0, 200});
  expect_values(Tensor({0.0, 1.0}).binary_crossentropy(Tensor({1.0, 1.0}), Reduction::none), {2}, {100, 0});
  expect_refused([&] { q.mse_loss(Tensor({1.0, 2.0})); }, ErrorKind::Shape, {"(4,)", "(2,)"});
}

}  // namespace
}  // namespace whit
