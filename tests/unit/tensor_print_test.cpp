#include <sstream>

#include "unit/tensor_values.h"

namespace whit {
namespace {

// The values alone, without the facts that follow them.
std::string values(Tensor tensor) {
  const std::string text = tensor.realize().str();
  const std::string facts = text.substr(0, text.rfind("shape="));
  const std::string inside = facts.substr(7, facts.size() - 7);
  return inside.substr(0, inside.find_last_of(','));
}

TEST(TensorPrint, WhatIsNotComputedShowsItsFacts) {
  const Tensor sum = Tensor({{1.0, 2.0}, {3.0, 4.0}}) + 1;
  EXPECT_EQ(sum.str(), "Tensor(shape=(2, 2), dtype=float32, device=" + sum.device() + ", op=Add, not computed)");
  EXPECT_FALSE(sum.is_realized());
  std::ostringstream out;
  out << sum;
  EXPECT_EQ(out.str(), sum.str());
  EXPECT_EQ(Tensor().str(), "Tensor(undefined)");
}

TEST(TensorPrint, WhatIsComputedShowsValuesAndWhetherThereIsAGradient) {
  Tensor x({1.0, 2.5});
  EXPECT_EQ(x.str(), "Tensor([1. , 2.5], shape=(2,), dtype=float32, device=" + x.device() + ", grad=False)");
  x.sum().backward();
  EXPECT_NE(x.str().find("grad=True"), std::string::npos);
}

TEST(TensorPrint, NumbersLookAsInNumPy) {
  EXPECT_EQ(values(Tensor({1, -20, 3})), "[  1, -20,   3]");
  EXPECT_EQ(values(Tensor({1.0, 2.0})), "[1., 2.]");
  EXPECT_EQ(values(Tensor({0.1, -2.25, 100.0})), "[  0.1 ,  -2.25, 100.  ]");
  EXPECT_EQ(values(Tensor({1.0, kNaN, -kInf})), "[  1.,  nan, -inf]");
  EXPECT_EQ(values(Tensor({1e-5, 1.25})), "[1.00e-05, 1.25e+00]");
  EXPECT_EQ(values(Tensor({1e8, -1.0})), "[ 1.e+08, -1.e+00]");
  EXPECT_EQ(values(Tensor({true, false})), "[ True, False]");
  EXPECT_EQ(values(Tensor({3.14159265358979})), "[3.1415927]");
  EXPECT_EQ(values(Tensor({1.0 / 3}, {.dtype = DType::float64})), "[0.33333333]");
  EXPECT_EQ(values(Tensor({0.1}, {.dtype = DType::float16})), "[0.1]");
  EXPECT_EQ(values(Tensor({-0.0, 0.0})), "[-0.,  0.]");
  EXPECT_EQ(values(Tensor(7)), "7");
  EXPECT_EQ(values(Tensor(UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(values(Tensor::zeros({0, 3})), "[]");
}

TEST(TensorPrint, ColumnsAlignAndMatricesAreSetApart) {
  EXPECT_EQ(values(Tensor({{1, 20}, {300, 4}})), "[[  1,  20],\n        [300,   4]]");
  EXPECT_EQ(values(Tensor({{{1}}, {{2}}})), "[[[1]],\n\n        [[2]]]");
}

TEST(TensorPrint, LongAxesAreShortenedAndLongLinesBroken) {
  EXPECT_EQ(values(Tensor::arange(1001)), "[   0,    1,    2, ...,  998,  999, 1000]");
  const std::string square = values(Tensor::arange(40 * 40).reshape({40, 40}));
  EXPECT_EQ(square,
            "[[   0,    1,    2, ...,   37,   38,   39],\n        [  40,   41,   42, ...,   77,   78,   79],\n        [  80,   81,   82, "
            "...,  117,  118,  119],\n        ...,\n"
            "        [1480, 1481, 1482, ..., 1517, 1518, 1519],\n        [1520, 1521, 1522, ..., 1557, 1558, 1559],\n        [1560, 1561, "
            "1562, ..., 1597, 1598, 1599]]");
  const std::string line = values(Tensor::arange(40));
  EXPECT_EQ(line.substr(0, line.find('\n')), "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,");
}

}  // namespace
}  // namespace whit
