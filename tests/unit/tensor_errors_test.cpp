// Misuse of composed operations, dtypes, NaN and indices: an error names the operation that was asked for, or the value is right.
#include "unit/tensor_values.h"

namespace whit {
namespace {

const float kNaN = std::nanf(""), kInfinity = INFINITY;

TEST(TensorErrors, ComposedOperationsAreNamed) {
  const Tensor x = Tensor::ones({2, 3});
  expect_refused([&] { x.softmax(5); }, ErrorKind::Index, {"softmax: max: axis 5"});
  expect_refused([&] { x.log_softmax(-9); }, ErrorKind::Index, {"log_softmax: ", "-9"});
  expect_refused([&] { x.layernorm(5); }, ErrorKind::Index, {"layernorm: mean: axis 5"});
  expect_refused([&] { x.mse_loss(Tensor::ones({4})); }, ErrorKind::Shape, {"mse_loss: ", "(2, 3)", "(4,)"});
  expect_refused([&] { x.binary_crossentropy(Tensor::ones({4})); }, ErrorKind::Shape, {"binary_crossentropy: ", "(4,)"});
  expect_refused([&] { x.linear(Tensor::ones({2, 3})); }, ErrorKind::Shape, {"linear: matmul: (2, 3)"});
  expect_refused([&] { x.masked_fill(Tensor::ones({4}) > 0, 1); }, ErrorKind::Shape, {"masked_fill: where: "});
  // The next call starts anew.
  expect_refused([&] { x.max(5); }, ErrorKind::Index, {": max: axis 5"});
}

TEST(TensorErrors, WritesThatNothingWouldSee) {
  Tensor x = Tensor::arange(3).clone(), y = x;
  expect_refused([&] { x[{Tensor({0, 1})}] = 9; }, ErrorKind::Value, {"assign: ", "copy", "t.set("});
  expect_refused([&] { (x + 1) = 9; }, ErrorKind::Value, {"assign: "});
  x.set({Tensor({0, 1})}, 9);
  x[2] = 7;
  std::move(y) = x + 1;  // another name for x
  expect_values(x, {3}, {10, 10, 8});
}

TEST(TensorErrors, GradientThatHoldsNothing) {
  Tensor x = Tensor::ones({2});
  try {
    x.set_grad(Tensor());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("set_grad: the tensor holds nothing")) << error.what();
  }
  EXPECT_FALSE(x.has_grad());
}

TEST(TensorErrors, SoftmaxOfNothingIsNothing) {
  const Tensor rows = Tensor::empty({0, 3}), columns = Tensor::empty({3, 0});
  expect_values(rows.softmax(0), {0, 3}, {});
  expect_values(columns.softmax(1), {3, 0}, {});
  expect_values(columns.log_softmax(1), {3, 0}, {});
  expect_values(columns.logsumexp(1), {3}, {-kInfinity, -kInfinity, -kInfinity});
  expect_values(rows.logsumexp(1), {0}, {});
}

TEST(TensorErrors, ClassesAreWholeNumbers) {
  expect_refused([] { Tensor({1.5}).one_hot(3); }, ErrorKind::Type, {"one_hot", "float32"});
  expect_refused([] { Tensor({1}).one_hot(-1); }, ErrorKind::Value, {"one_hot", "-1"});
  expect_values(Tensor({0, 1}).one_hot(0), {2, 0}, {});
  expect_values(Tensor({7, -1, 1}).one_hot(2), {3, 2}, {0, 0, 0, 0, 0, 1});
}

TEST(TensorErrors, IndexTensorsThatDoNotMeet) {
  const Tensor x = Tensor::ones({3, 3});
  expect_refused([&] { x[{Tensor({0, 1}), Tensor({0, 1, 2})}]; }, ErrorKind::Shape, {"index: ", "(2,)", "(3,)"});
  expect_refused([&] { x[{0, 0, 0}]; }, ErrorKind::Index, {"index: 3 indices", "(3, 3)"});
  expect_refused([] { Tensor(2.0)[0]; }, ErrorKind::Index, {"index", "()"});
}

TEST(TensorErrors, ScalarsOfNoAxis) {
  const Tensor x(2.0);
  expect_values(x.softmax(), {}, {1});
  expect_values(x.sum(-1), {}, {2});
  expect_values(x.argmax(0), {}, {0});
  expect_refused([&] { x.sum(1); }, ErrorKind::Index, {"sum", "ndim 0"});
  expect_refused([&] { x.transpose(); }, ErrorKind::Index, {"transpose"});
  expect_refused([&] { x.matmul(x); }, ErrorKind::Shape, {"matmul", "scalar"});
}

TEST(TensorErrors, NaNIsFoundFirst) {
  const Tensor x({1.0f, kNaN, 3.0f, kNaN});
  expect_values(x.max(), {}, {kNaN});
  expect_values(x.min(), {}, {kNaN});
  expect_values(x.argmax(), {}, {1});
  expect_values(x.argmin(), {}, {1});
  expect_values(x.maximum(2), {4}, {2, kNaN, 3, kNaN});
  expect_values(x.clip(0, 2), {4}, {1, kNaN, 2, kNaN});
  expect_values(Tensor({-kInfinity, -kInfinity}).argmax(), {}, {0});
}

TEST(TensorErrors, GradientsOfWhatHasNone) {
  Tensor x = Tensor::ones({2}).requires_grad_();
  expect_refused([&] { (x * 2).backward(); }, ErrorKind::Shape, {"backward", "(2,)"});
  expect_refused([&] { (x * 2).backward(Tensor::ones({3})); }, ErrorKind::Shape, {"backward", "(3,)", "(2,)"});
  expect_refused([&] { x.argmax().backward(); }, ErrorKind::Type, {"backward", "int32"});
  expect_refused([] { Tensor({1, 2}).requires_grad_(); }, ErrorKind::Type, {"requires_grad_", "int32"});
}

TEST(TensorErrors, AClassThatIsNotThereShows) {
  const Tensor logits = Tensor({{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}});
  EXPECT_TRUE(std::isnan(logits.cross_entropy(Tensor(std::vector<int>{0, 3})).item()));
  EXPECT_TRUE(std::isnan(logits.sparse_categorical_crossentropy(Tensor(std::vector<int>{-7, 1})).item()));
  EXPECT_FALSE(std::isnan(logits.cross_entropy(Tensor(std::vector<int>{0, -100})).item()));
}

}  // namespace
}  // namespace whit
