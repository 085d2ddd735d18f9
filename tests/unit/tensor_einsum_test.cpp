// Einstein summation, diagonals, attention and the other compositions of composed.h.
#include <gtest/gtest.h>
#include <whit/composed.h>

#include <cmath>

#include "tensor_values.h"

namespace whit {
namespace {

Tensor counted(Sizes shape, double start = 0) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return Tensor::arange(start, start + double(count), 1, {.dtype = DType::float32}).reshape(shape).contiguous();
}

void expect_same(const Tensor& a, const Tensor& b) { expect_close(a, b.shape(), b.to_vector<double>(), 1e-5); }

TEST(Einsum, AgreesWithTheOperationItSpells) {
  const Tensor a = counted({2, 3}), b = counted({3, 4}, 1), c = counted({5, 2, 3}), d = counted({5, 3, 4}, 2), square = counted({3, 3});
  expect_same(einsum("ij,jk->ik", {a, b}), a.matmul(b));
  expect_same(einsum("ij,jk", {a, b}), a.matmul(b));
  expect_same(einsum("bij,bjk->bik", {c, d}), c.matmul(d));
  expect_same(einsum("...ij,...jk->...ik", {c, b}), c.matmul(b));
  expect_same(einsum("...ij->...ji", {c}), c.transpose(1, 2));
  expect_same(einsum("...ij->...", {c}), c.sum({1, 2}));
  expect_same(einsum("i...->...", {c}), c.sum(0));
  expect_same(einsum("ii->i", {square}), diagonal(square));
  expect_same(einsum("ii", {square}), trace(square));
  expect_same(einsum("iij->j", {counted({2, 2, 3})}), Tensor(std::vector<float>{9, 11, 13}));
  expect_same(einsum("ba", {a}), a.T());
  expect_same(einsum(" i j -> j i ", {a}), a.T());
  expect_same(einsum("i,j->ij", {counted({2}), counted({3})}), outer(counted({2}), counted({3})));
  expect_same(einsum("ij,jk,k->i", {a, b, counted({4})}), a.matmul(b).matmul(counted({4})));
  expect_same(einsum("ij,ij->", {a, a}), a.square().sum());
}

TEST(Einsum, ErrorsNameTheFormula) {
  const Tensor a = counted({2, 3});
  const auto message = [&](const std::string& formula, const std::vector<Tensor>& operands) {
    try {
      einsum(formula, operands);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message("ij,jk->ik", {a}).find("takes 2 operands"), std::string::npos);
  EXPECT_NE(message("ij,jk->ik", {a, a}).find("axis 'j' has the sizes"), std::string::npos);
  EXPECT_NE(message("ijk->k", {a}).find("doesn't fit"), std::string::npos);
  EXPECT_NE(message("ij->k", {a}).find("no operand has the axis 'k'"), std::string::npos);
  EXPECT_NE(message("i1->i", {a}).find("is no letter"), std::string::npos);
  EXPECT_NE(message("ij->ii", {a}).find("twice"), std::string::npos);
}

TEST(Composed, Diagonals) {
  const Tensor x = counted({3, 4});
  expect_values(diagonal(x), {3}, {0, 5, 10});
  expect_values(diagonal(x, 1), {3}, {1, 6, 11});
  expect_values(diagonal(x, -2), {1}, {8});
  EXPECT_EQ(diagonal(x, 9).shape(), (Sizes{0}));
  expect_values(diagonal(counted({2, 2, 2}), 0, 0, 2), {2, 2}, {0, 5, 2, 7});
  expect_values(diag(Tensor(std::vector<float>{1, 2})), {2, 2}, {1, 0, 0, 2});
  EXPECT_THROW(diagonal(x, 0, 1, 1), UserError);
}

TEST(Composed, ShapesAndStatistics) {
  const std::vector<Tensor> grids = meshgrid({counted({2}), counted({3})});
  expect_values(grids[0], {2, 3}, {0, 0, 0, 1, 1, 1});
  expect_values(grids[1], {2, 3}, {0, 1, 2, 0, 1, 2});
  expect_values(repeat_interleave(counted({2, 2}), 2, 1), {2, 4}, {0, 0, 1, 1, 2, 2, 3, 3});
  expect_close(normalize(Tensor({{3.0, 4.0}})), {1, 2}, {0.6, 0.8});
  EXPECT_TRUE(allclose(counted({3}), counted({3}) + 1e-9));
  EXPECT_FALSE(allclose(counted({3}), counted({3}, 1)));
  expect_close(celu(Tensor(std::vector<float>{-1, 2}), 2.0), {2}, {2 * std::expm1(-0.5), 2});
  const Tensor order = randperm(500);
  expect_same(order.sort().first, counted({500}));
}

TEST(Composed, NegativeLogLikelihood) {
  const Tensor logs = Tensor({{-1.0, -2.0, -3.0}, {-4.0, -5.0, -6.0}}), classes = Tensor(std::vector<int>{2, 0});
  expect_close(nll_loss(logs, classes), {}, {3.5});
  expect_close(nll_loss(logs, classes, Tensor(std::vector<float>{1, 1, 3})), {}, {(3 * 3 + 4) / 4.0});
  expect_close(nll_loss(logs, Tensor(std::vector<int>{2, -100})), {}, {3});
  EXPECT_THROW(nll_loss(logs, Tensor(std::vector<int>{2})), UserError);
}

TEST(Composed, Attention) {
  const Tensor q = counted({1, 2, 3, 4}) / 20, k = counted({1, 2, 3, 4}, 1) / 20, v = counted({1, 2, 3, 4}, 2) / 20;
  const Tensor plain = (q.matmul(k.transpose(-1, -2)) / 2.0).softmax(-1).matmul(v);
  expect_same(scaled_dot_product_attention(q, k, v), plain);
  const Tensor causal = scaled_dot_product_attention(q, k, v, {.causal = true});
  expect_same(causal.index({Slice{}, Slice{}, 0}), v.index({Slice{}, Slice{}, 0}));
  const Tensor seen = Tensor::ones({3, 3}, {.dtype = DType::boolean}).tril();
  ASSERT_EQ(seen.dtype(), DType::boolean);
  expect_same(scaled_dot_product_attention(q, k, v, {.mask = seen}), causal);
  const Tensor one = k.shrink({{0, 1}, {0, 1}, {0, 3}, {0, 4}});
  expect_same(scaled_dot_product_attention(q, one, one, {.grouped = true}),
              scaled_dot_product_attention(q, one.expand({1, 2, 3, 4}), one.expand({1, 2, 3, 4})));
  EXPECT_THROW(scaled_dot_product_attention(q, k, v, {.mask = seen, .causal = true}), UserError);
}

}  // namespace
}  // namespace whit
