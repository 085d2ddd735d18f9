// Long reductions to few results are cut by shape alone, whatever their length.
#include "schedule/prepare.h"

#include <gtest/gtest.h>

#include "ir/interpret_tensor.h"
#include "rewrite/random.h"

namespace whit {
namespace {

struct Reduction {
  Graph graph;
  const Node* input;
  const Node* whole;
  const Node* cut;

  Reduction(Op op, DType type, const std::vector<int64_t>& shape, const std::vector<int64_t>& axes) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    input = graph.make(Op::Param, {}, {0, count, kNoDevice}, type);
    const Node* shaped = shape.size() == 1 ? input : graph.make(Op::Reshape, Sources(&input, 1), shape);
    std::vector<int64_t> args{int64_t(op)};
    args.insert(args.end(), axes.begin(), axes.end());
    whole = graph.make(Op::Reduce, Sources(&shaped, 1), args);
    cut = prepare_tensors(graph, {whole})[0];
  }

  /// How many pieces are stored, 0 if it stays whole.
  int64_t pieces() const {
    for (const Node* node : topological_order(Sources(&cut, 1)))
      if (node->op == Op::Contiguous) return element_count(node->shape());
    return 0;
  }

  void expect_same(uint64_t seed) const {
    Random random(seed);
    TensorInputs inputs;
    TensorValue value{{input->arg(1)}, {}};
    // Small whole numbers: sums are exact in any order.
    for (int64_t i = 0; i < input->arg(1); ++i) value.values.push_back(bits_of_number(input->dtype, double(random.between(1, 9) - 12)));
    inputs[input] = value;
    EXPECT_EQ(evaluate_tensor(whole, inputs).values, evaluate_tensor(cut, inputs).values);
  }
};

TEST(Prepare, ALengthWithDivisorsIsCutAtOne) {
  const Reduction sum(Op::Add, DType::float32, {1 << 17}, {0});
  EXPECT_EQ(sum.pieces(), 256);
  sum.expect_same(1);
}

TEST(Prepare, APrimeLengthIsFilledUp) {
  for (const Op op : {Op::Add, Op::Max, Op::Min})
    for (const DType type : {DType::float32, DType::int32, DType::int64}) {
      const Reduction fold(op, type, {65537}, {0});
      EXPECT_GE(fold.pieces(), 128) << name(op) << ' ' << name(type);
      fold.expect_same(2);
    }
  const Reduction product(Op::Mul, DType::int32, {65537}, {0});
  EXPECT_GE(product.pieces(), 128);
  product.expect_same(3);
  EXPECT_GE(Reduction(Op::Add, DType::float32, {1'000'003}, {0}).pieces(), 128);
}

TEST(Prepare, TheLongestOfSeveralAxesIsFilledUp) {
  const Reduction sum(Op::Add, DType::float32, {3, 257, 509}, {1, 2});
  EXPECT_EQ(sum.pieces(), 3 * 255);
  sum.expect_same(4);
}

TEST(Prepare, ShortOnesAndThoseOfManyResultsStayWhole) {
  EXPECT_EQ(Reduction(Op::Add, DType::float32, {65521}, {0}).pieces(), 0);
  EXPECT_EQ(Reduction(Op::Add, DType::float32, {1024, 1009}, {1}).pieces(), 0);
}

}  // namespace
}  // namespace whit
