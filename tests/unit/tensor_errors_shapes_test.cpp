// Misuse of shapes and sizes: each a UserError that names the operation and the shapes, or the right value.
#include <limits>

#include "unit/tensor_values.h"

namespace whit {
namespace {

constexpr int64_t kHuge = int64_t(1) << 40, kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

Tensor ones(Sizes shape) { return Tensor::ones(std::move(shape)); }

TEST(TensorErrors, ShapesThatDoNotFit) {
  const Tensor x = ones({2, 3});
  expect_refused([&] { (x > 0).where(ones({4}), 1); }, ErrorKind::Shape, {"where", "(2, 3)", "(4,)"});
  expect_refused([&] { x.matmul(x); }, ErrorKind::Shape, {"matmul", "(2, 3)"});
  expect_refused([&] { x.maximum(ones({2, 2})); }, ErrorKind::Shape, {"(2, 3)", "(2, 2)"});
  expect_refused([&] { x.reshape({4}); }, ErrorKind::Shape, {"reshape", "(2, 3)", "(4,)"});
  expect_refused([&] { x.reshape({-1, 4}); }, ErrorKind::Shape, {"reshape", "(-1, 4)"});
  expect_refused([&] { x.reshape({-2, 3}); }, ErrorKind::Shape, {"reshape", "-2"});
  expect_refused([&] { x.reshape({-1, 0}); }, ErrorKind::Shape, {"reshape", "(-1, 0)"});
  expect_refused([] { Tensor::stack({ones({2}), ones({3})}); }, ErrorKind::Shape, {"stack", "(2,)", "(3,)"});
  expect_refused([] { Tensor::stack({ones({2})}, 5); }, ErrorKind::Index, {"stack", "5"});
  expect_refused([] { Tensor::stack({}); }, ErrorKind::Value, {"stack"});
  expect_refused([] { Tensor::stack({Tensor()}); }, ErrorKind::Value, {"stack", "holds nothing"});
}

TEST(TensorErrors, SizesThatOverflow) {
  expect_refused([] { Tensor::zeros({kHuge, kHuge}); }, ErrorKind::Shape, {"full", "2^59"});
  expect_refused([] { Tensor::zeros({kMost}); }, ErrorKind::Shape, {"full"});
  expect_refused([] { Tensor::zeros({0, kHuge, kHuge}); }, ErrorKind::Shape, {"full"});
  const Tensor row = Tensor::zeros({kHuge});
  EXPECT_EQ(row.numel(), kHuge);
  expect_refused([&] { row.unsqueeze(1) + row; }, ErrorKind::Shape, {"add", "1099511627776"});
  expect_refused([&] { row.unsqueeze(1).matmul(row.unsqueeze(0)); }, ErrorKind::Shape, {"matmul"});
  expect_refused([&] { row.expand({kHuge, kHuge}); }, ErrorKind::Shape, {"expand"});
  expect_refused([&] { row.repeat({kHuge}); }, ErrorKind::Shape, {"repeat"});
  expect_refused([&] { row.repeat({kMost}); }, ErrorKind::Shape, {"repeat"});
  expect_refused([] { ones({3}).pad({{kMost, 1}}); }, ErrorKind::Shape, {"pad"});
  expect_refused([] { ones({3}).pad({{kLeast, 1}}); }, ErrorKind::Shape, {"pad"});
  expect_refused([] { ones({3}).pad({{kMost / 16, kMost / 16}}); }, ErrorKind::Shape, {"pad"});
  expect_refused([] { ones({1}).reshape({kHuge, kHuge, 0}); }, ErrorKind::Shape, {"reshape"});
  const Tensor most = Tensor::zeros({kMost / 16});
  expect_refused([&] { Tensor::cat({most, most}); }, ErrorKind::Shape, {"cat"});
  expect_refused([&] { Tensor::stack({most, most}); }, ErrorKind::Shape, {"cat"});
  expect_refused([&] { most.bitcast(DType::int8); }, ErrorKind::Shape, {"bitcast"});
  expect_refused([] { Tensor::arange(kLeast, kMost); }, ErrorKind::Shape, {"arange"});
  expect_refused([] { Tensor::linspace(0, 1, kMost); }, ErrorKind::Shape, {"linspace"});
  expect_refused([] { Tensor::rand({kMost}); }, ErrorKind::Shape, {"rand"});
}

TEST(TensorErrors, ExtremeArguments) {
  const Tensor x({0, 1, 2, 3, 4, 5, 6, 7});
  expect_values(x[Slice{7, std::nullopt, kLeast}], {1}, {7});
  expect_values(x[Slice{kLeast, kMost, kMost}], {1}, {0});
  expect_values(x[Slice{1, kMost, 5}], {2}, {1, 6});
  expect_refused([&] { x[kLeast]; }, ErrorKind::Index, {"index", "(8,)"});
  expect_values(Tensor({1, 2, 3}).roll(kLeast, 0), {3}, {3, 1, 2});  // -2^63 is 1 modulo 3
  EXPECT_EQ(x.chunk(kMost).size(), 8u);
  EXPECT_EQ(x.split(kMost).size(), 1u);
  expect_values(Tensor({{1, 2}, {3, 4}}).triu(kLeast), {2, 2}, {1, 2, 3, 4});
  expect_values(Tensor({{1, 2}, {3, 4}}).triu(kMost), {2, 2}, {0, 0, 0, 0});
}

TEST(TensorErrors, WindowsThatAreTooLarge) {
  const Tensor x = ones({1, 1, 4, 4}), w = ones({1, 1, 3, 3});
  expect_refused([&] { x.conv2d(w, {}, {.stride = kMost}); }, ErrorKind::Value, {"conv2d", "stride"});
  expect_refused([&] { x.conv2d(w, {}, {.dilation = kHuge}); }, ErrorKind::Shape, {"conv2d", "larger"});
  expect_refused([&] { x.conv2d(w, {}, {.padding = kMost}); }, ErrorKind::Value, {"conv2d", "padding"});
  expect_refused([&] { x.max_pool2d(kHuge); }, ErrorKind::Shape, {"max_pool2d", "larger"});
  expect_refused([&] { x.max_pool2d({kHuge, kHuge}, {.dilation = kHuge}); }, ErrorKind::Shape, {"max_pool2d", "larger"});
}

TEST(TensorErrors, MoreThanThereIsMemory) {
  expect_refused([] { Tensor::zeros({int64_t(1) << 50}).clone().realize(); }, ErrorKind::OutOfMemory, {"out of memory"});
}

TEST(TensorErrors, ATypeThatDoesNotAddUp) {
  expect_refused([] { Tensor({1, 2}).sum({}, false, DType::boolean); }, ErrorKind::Type, {"sum", "bool"});
  expect_refused([] { Tensor({1, 2}).sum({}, false, DType::index); }, ErrorKind::Type, {"sum", "index"});
}

TEST(TensorErrors, EmptyTensorsHaveTheRightValues) {
  const Tensor none = Tensor::empty({0}), rows = Tensor::empty({0, 3}), columns = Tensor::empty({3, 0});
  expect_values(none.exp() + 1, {0}, {});
  expect_values(none.sum(), {}, {0});
  expect_values(none.prod(), {}, {1});
  expect_values(none.any(), {}, {0});
  expect_values(none.all(), {}, {1});
  expect_values(rows.max(1), {0}, {});
  expect_values(columns.sum(1), {3}, {0, 0, 0});
  expect_values(columns.matmul(rows), {3, 3}, std::vector<double>(9, 0));
  expect_values(rows.softmax(1), {0, 3}, {});
  expect_values(Tensor::cat({none, ones({2})}), {2}, {1, 1});
  expect_values(rows.pad({{1, 0}, {0, 0}}), {1, 3}, {0, 0, 0});
  expect_refused([&] { none.max(); }, ErrorKind::Value, {"max", "(0,)"});
  expect_refused([&] { rows.argmax(0); }, ErrorKind::Value, {"argmax", "(0, 3)"});
}

}  // namespace
}  // namespace whit
