#include "ir/interpret_tensor.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace whit {
namespace {

using Numbers = std::vector<double>;

class InterpretTensor : public testing::Test {
 protected:
  Graph graph;
  TensorInputs inputs;

  const Node* tensor(std::vector<int64_t> shape, const Numbers& numbers, DType type = DType::float32) {
    TensorValue value{{int64_t(numbers.size())}, {}};
    for (const double number : numbers) value.values.push_back(bits_of_number(type, number));
    const Node* buffer = graph.make(Op::Buffer, {}, {int64_t(inputs.size()) + 1, int64_t(numbers.size()), 0}, type);
    inputs[buffer] = value;
    return graph.make(Op::Reshape, Sources(&buffer, 1), shape);
  }
  Numbers run(const Node* node, const std::vector<int64_t>& shape) {
    const TensorValue value = evaluate_tensor(node, inputs);
    EXPECT_EQ(value.shape, shape);
    Numbers result;
    for (const Bits bits : value.values) result.push_back(float_of_bits(node->dtype, bits));
    return result;
  }
};

TEST_F(InterpretTensor, Movement) {
  const Node* x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run(graph.make(Op::Permute, {x}, {1, 0}), {3, 2}), (Numbers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run(graph.make(Op::Flip, {x}, {1}), {2, 3}), (Numbers{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(run(graph.make(Op::Pad, {x}, {1, 0, 0, 1}), {3, 4}), (Numbers{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_EQ(run(graph.make(Op::Shrink, {x}, {1, 1, 1, 2}), {1, 2}), (Numbers{5, 6}));
  EXPECT_EQ(run(graph.make(Op::Expand, {graph.make(Op::Shrink, {x}, {0, 1, 0, 3})}, {2, 3}), {2, 3}), (Numbers{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(run(graph.make(Op::Expand, {graph.make(Op::Shrink, {x}, {0, 2, 0, 1})}, {2, 0}), {2, 0}), Numbers{});
}

TEST_F(InterpretTensor, WindowAndSpread) {
  // out[o, k] = in[o * 2 + k * 3, k]
  const Node* x = tensor({6, 2}, {0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15});
  EXPECT_EQ(run(graph.make(Op::Window, {x}, {0, 1, 2, 2, 3}), {2, 2}), (Numbers{0, 13, 2, 15}));
  const Node* y = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run(graph.make(Op::Spread, {y}, {0, 1, 7, 2, 3}), {7, 2}), (Numbers{1, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 4, 0, 0}));
}

TEST_F(InterpretTensor, ReductionsOfNarrowFloatsRoundOnce) {
  const Node* x = tensor({2, 2049}, Numbers(4098, 1), DType::float16);
  EXPECT_EQ(run(graph.make(Op::Reduce, {x}, {int64_t(Op::Add), 0, 1}), {1, 1}), (Numbers{4098 - 2}));  // float16 has 4096 and 4100
  const Node* bytes = tensor({3}, {100, 100, 100}, DType::int8);
  EXPECT_EQ(run(graph.make(Op::Reduce, {bytes}, {int64_t(Op::Add), 0}), {1}), (Numbers{44}));
  EXPECT_EQ(run(graph.make(Op::Reduce, {tensor({0}, {})}, {int64_t(Op::Max), 0}), {1}),
            (Numbers{-std::numeric_limits<double>::infinity()}));
}

TEST_F(InterpretTensor, AssignWritesThroughAView) {
  const Node* old = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const Node* view = graph.make(Op::Permute, {graph.make(Op::Shrink, {old}, {0, 2, 1, 2})}, {1, 0});
  const Node* next = graph.make(Op::Assign, {old, tensor({2, 2}, {10, 20, 30, 40}), view}, {1});
  EXPECT_EQ(run(next, {2, 3}), (Numbers{1, 10, 30, 4, 20, 40}));
  const Node* last = graph.make(Op::Assign, {next, graph.add(next, next)}, {2});
  EXPECT_EQ(run(last, {2, 3}), (Numbers{2, 20, 60, 8, 40, 80}));
}

TEST_F(InterpretTensor, SymbolicSizes) {
  const Node* n = graph.make(Op::Variable, {}, {name_id("n"), 1, 3}, DType::int32);
  const Node* bound = graph.make(Op::Bind, {n}, {2});
  const Node* buffer = tensor({6}, {1, 2, 3, 4, 5, 6})->source(0);
  // Two rows of three places, of which two are in use.
  const Node* x = graph.make(Op::Reshape, {buffer, bound}, {2, kSymbolArg + 1});
  EXPECT_EQ(run(x, {2, 2}), (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(run(graph.make(Op::Reduce, {x}, {int64_t(Op::Add), 1}), {2, 1}), (Numbers{3, 9}));
  EXPECT_EQ(run(graph.make(Op::Iota, {bound}, {kSymbolArg}), {2}), (Numbers{0, 1}));
  const Node* free = graph.make(Op::Reshape, {buffer, n}, {2, kSymbolArg + 1});
  inputs[n] = {{}, {1}};
  EXPECT_EQ(run(free, {2, 1}), (Numbers{1, 4}));
}

TEST_F(InterpretTensor, CastsAndTheRest) {
  const Node* x = tensor({3}, {-1.5, 300, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(run(graph.cast(x, DType::uint8), {3}), (Numbers{0, 255, 0}));
  EXPECT_EQ(run(graph.make(Op::Bitcast, {tensor({1}, {1})}, {}, DType::int32), {1}), (Numbers{0x3F800000}));
  EXPECT_EQ(run(graph.make(Op::Copy, {graph.make(Op::Contiguous, {graph.make(Op::Detach, {tensor({1}, {4})})})}, {1}), {1}), (Numbers{4}));
  const Node* given = graph.make(Op::Buffer, {}, {99, 2, 0}, DType::float32);
  EXPECT_THROW(evaluate_tensor(given, inputs), InternalError);
  const Node* sum = graph.add(given, given);
  inputs[sum] = {{2}, {bits_of_float(DType::float32, 1), bits_of_float(DType::float32, 2)}};
  EXPECT_EQ(run(graph.make(Op::Neg, {sum}), {2}), (Numbers{-1, -2}));  // what is given needs nothing below it
}

}  // namespace
}  // namespace whit
