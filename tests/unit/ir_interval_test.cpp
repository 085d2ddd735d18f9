// Intervals against exhaustive evaluation: whatever values the variables take, every node of an expression lies in its interval.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ir/evaluate.h"
#include "ir/graph.h"
#include "ir/interval.h"
#include "ir/print.h"

namespace whit {
namespace {

constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
constexpr DType kTypes[] = {DType::boolean, DType::int8,   DType::uint8, DType::int16,  DType::uint16,
                            DType::int32,   DType::uint32, DType::int64, DType::uint64, DType::index};
constexpr Op kOpsDrawn[] = {Op::Neg,      Op::Add, Op::Add, Op::Mul, Op::Quotient, Op::Remainder, Op::Max,   Op::Min,  Op::Less,
                            Op::NotEqual, Op::And, Op::Or,  Op::Xor, Op::Shl,      Op::Shr,       Op::Where, Op::Cast, Op::Bitcast};

// An expression over a few variables of few values, grown node by node.
class RandomExpression {
 public:
  explicit RandomExpression(uint64_t seed) : random_(seed) {}

  void grow(DType type, int count) {
    for (int i = 0; i < 3; ++i) variable(type, i);
    for (int i = 0; i < count; ++i) {
      const DType drawn = pick(10) < 8 ? type : kTypes[pick(std::size(kTypes))];
      const Op op = kOpsDrawn[pick(std::size(kOpsDrawn))];
      const Node* node = op == Op::Cast || op == Op::Bitcast ? cast(op, drawn) : op == Op::Where ? where(drawn) : alu(op, drawn);
      // An index that may overflow is never made: then its interval reaches the end of int64.
      if (node->dtype == DType::index && (node->minimum == kLow || node->maximum == kHigh)) continue;
      nodes_.push_back(node);
    }
  }

  // Every node under every assignment.
  void check() {
    const std::vector<const Node*> order = topological_order(nodes_);
    std::vector<Bits> values(variables_.size());
    check_assignments(order, values, 0);
  }

 private:
  size_t pick(size_t count) { return size_t(random_() % count); }

  void variable(DType type, int number) {
    const Interval all = interval_of(type);
    int64_t start;
    if (type == DType::index)
      start = int64_t(pick(12)) - 6;
    else if (pick(3))
      start = std::clamp<int64_t>(int64_t(pick(12)) - 6, all.minimum, all.maximum);
    else
      start = pick(2) ? all.minimum : all.maximum - int64_t(std::min<uint64_t>(3, uint64_t(all.maximum) - uint64_t(all.minimum)));
    const int64_t end = start + int64_t(std::min<uint64_t>(pick(4), uint64_t(all.maximum) - uint64_t(start)));
    const Node* node = graph_.make(Op::Variable, {}, {name_id("v" + std::to_string(number)), start, end}, type);
    if (std::ranges::find(variables_, node) != variables_.end()) return;
    variables_.push_back(node);
    nodes_.push_back(node);
  }

  const Node* constant(DType type) {
    const int64_t edges[] = {0, 1, 2, 3, 7, 8, -1, -2, kLow, kHigh, 31, 63, 255, 256};
    const int64_t value = type == DType::index ? int64_t(pick(9)) - 2 : edges[pick(std::size(edges))];
    return graph_.constant_bits(type, bits_of_integer(type, value));
  }

  const Node* operand(DType type) {
    for (int attempt = 0; attempt < 8; ++attempt)
      if (const Node* node = nodes_[pick(nodes_.size())]; node->dtype == type) return node;
    return constant(type);
  }
  const Node* where(DType type) { return graph_.make(Op::Where, {operand(DType::boolean), operand(type), operand(type)}); }
  const Node* alu(Op op, DType type) {
    const Node* a = operand(type);
    if (info(op).arity == 1) return graph_.make(op, {a});
    return graph_.make(op, {a, pick(3) ? operand(type) : constant(type)});
  }
  const Node* cast(Op op, DType type) {
    const Node* source = nodes_[pick(nodes_.size())];
    return op == Op::Cast || item_size(source->dtype) != item_size(type) ? graph_.cast(source, type)
                                                                         : graph_.make(Op::Bitcast, {source}, {}, type);
  }

  void check_assignments(const std::vector<const Node*>& order, std::vector<Bits>& values, size_t variable) {
    if (variable == variables_.size()) {
      check_values(order, values);
      return;
    }
    for (int64_t value = variables_[variable]->arg(1);; ++value) {
      values[variable] = value;
      check_assignments(order, values, variable + 1);
      if (value == variables_[variable]->arg(2)) return;
    }
  }

  void check_values(const std::vector<const Node*>& order, const std::vector<Bits>& assignment) {
    NodeMap<Bits> values;
    for (const Node* node : order) {
      Bits operands[3] = {};
      for (size_t i = 0; i < node->sources().size(); ++i) operands[i] = *values.find(node->source(i));
      Bits value;
      if (node->is_constant())
        value = node->arg(0);
      else if (node->op == Op::Variable)
        value = assignment[size_t(std::ranges::find(variables_, node) - variables_.begin())];
      else if (node->op == Op::Cast)
        value = convert(node->source(0)->dtype, node->dtype, operands[0]);
      else if (node->op == Op::Bitcast)
        value = reinterpret(node->source(0)->dtype, node->dtype, operands[0]);
      else
        value = evaluate(node->op, node->sources().back()->dtype, std::span(operands, node->sources().size()));
      values.emplace(node, value);
      ASSERT_TRUE(node->minimum <= value && value <= node->maximum)
          << value << " is not in [" << node->minimum << ", " << node->maximum << "]:\n"
          << print(Sources(&node, 1));
    }
  }

  std::mt19937_64 random_;
  Graph graph_;
  std::vector<const Node*> variables_, nodes_;
};

TEST(Interval, HoldsEveryValue) {
  for (const DType type : kTypes)
    for (uint64_t seed = 0; seed < 3000; ++seed) {
      RandomExpression expression(seed * 31 + uint64_t(type));
      expression.grow(type, 14);
      ASSERT_NO_FATAL_FAILURE(expression.check()) << name(type) << ", seed " << seed;
    }
}

class Exactly : public ::testing::Test {
 protected:
  const Node* variable(const char* name, int64_t least, int64_t greatest, DType type = DType::index) {
    return graph.make(Op::Variable, {}, {name_id(name), least, greatest}, type);
  }
  void expect(const Node* node, int64_t least, int64_t greatest) {
    EXPECT_TRUE(node->minimum == least && node->maximum == greatest)
        << print_expression(node) << " in [" << node->minimum << ", " << node->maximum << ']';
  }
  Graph graph;
};

// Index arithmetic is tight where the simplifier leans on it.
TEST_F(Exactly, IndexArithmetic) {
  const Node* i = variable("i", 0, 11);
  const Node* j = variable("j", -3, 5);
  expect(graph.add(graph.mul(i, graph.index(4)), graph.index(3)), 3, 47);
  expect(graph.sub(i, j), -5, 14);
  expect(graph.mul(j, j), -15, 25);  // the two are not known to be one value
  expect(graph.make(Op::Quotient, {i, graph.index(4)}), 0, 2);
  expect(graph.make(Op::Remainder, {i, graph.index(4)}), 0, 3);
  expect(graph.make(Op::Remainder, {i, graph.index(12)}), 0, 11);
  expect(graph.make(Op::Remainder, {j, graph.index(4)}), -3, 3);
  expect(graph.less(i, graph.index(12)), 1, 1);
  expect(graph.less(i, graph.index(0)), 0, 0);
  expect(graph.make(Op::NotEqual, {i, graph.index(20)}), 1, 1);
  expect(graph.make(Op::Max, {i, graph.index(5)}), 5, 11);
  expect(graph.make(Op::And, {i, graph.index(3)}), 0, 3);
  expect(graph.make(Op::Shr, {i, graph.index(2)}), 0, 2);
  expect(graph.where(graph.less(i, graph.index(3)), i, j), -3, 11);
}

TEST_F(Exactly, TypesThatWrap) {
  const Node* small = variable("s", 0, 100, DType::uint8);
  expect(graph.add(small, small), 0, 200);
  expect(graph.mul(small, small), 0, 255);
  expect(graph.make(Op::Neg, {small}), 0, 255);
  expect(graph.cast(small, DType::int8), 0, 100);
  expect(graph.cast(graph.add(small, small), DType::int8), -128, 127);
  expect(graph.cast(small, DType::boolean), 0, 1);
  const Node* least = variable("m", -128, -120, DType::int8);
  expect(graph.make(Op::Neg, {least}), -128, 127);
  expect(graph.make(Op::Quotient, {least, graph.constant(DType::int8, -1)}), -128, 127);
}

TEST_F(Exactly, RangesAndReductions) {
  const Node* n = variable("n", 0, 16);
  expect(graph.range(0, 7, AxisKind::loop), 0, 6);
  expect(graph.range(1, n, AxisKind::reduce), 0, 15);
  const Node* value = variable("v", 3, 9, DType::int32);
  const auto accumulate = [&](Op op, const Node* range) { return graph.make(Op::Accumulate, {value, range}, {int64_t(op)}); };
  expect(accumulate(Op::Max, graph.range(2, 5, AxisKind::reduce)), 3, 9);
  // A maximum over nothing is the least value of the type.
  expect(accumulate(Op::Max, graph.range(3, n, AxisKind::reduce)), -2147483648, 2147483647);
  expect(accumulate(Op::Add, graph.range(2, 5, AxisKind::reduce)), -2147483648, 2147483647);
  const Node* tensor = graph.make(Op::Expand, {graph.make(Op::Reshape, {value}, {1})}, {0});
  expect(graph.make(Op::Reduce, {tensor}, {int64_t(Op::Min), 0}), -2147483648, 2147483647);
}

TEST_F(Exactly, PaddingAddsZero) {
  const Node* value = graph.make(Op::Reshape, {variable("v", 3, 9, DType::int32)}, {1});
  expect(graph.make(Op::Pad, {value}, {1, 0}), 0, 9);
  expect(graph.make(Op::Flip, {value}, {0}), 3, 9);
}

}  // namespace
}  // namespace whit
