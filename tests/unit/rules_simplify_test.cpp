// What simplification has to reach, named: address arithmetic of reshapes, and reductions that need no loop.
#include <gtest/gtest.h>

#include "ir/print.h"
#include "rewrite/driver.h"
#include "rules/simplify.h"
#include "rules/tables.h"

namespace whit {
namespace {

class Simplify : public testing::Test {
 protected:
  const Node* i(int64_t value) { return graph.index(value); }
  const Node* range(int64_t number, int64_t size, AxisKind kind = AxisKind::loop) { return graph.range(number, size, kind); }
  const Node* times(const Node* a, int64_t b) { return graph.mul(a, i(b)); }
  const Node* quotient(const Node* a, int64_t b) { return graph.make(Op::Quotient, {a, i(b)}); }
  const Node* remainder(const Node* a, int64_t b) { return graph.make(Op::Remainder, {a, i(b)}); }
  const Node* sum(std::initializer_list<const Node*> terms) {
    const Node* result = nullptr;
    for (const Node* term : terms) result = result ? graph.add(result, term) : term;
    return result;
  }
  const Node* variable(const char* name, int64_t low, int64_t high) {
    return graph.make(Op::Variable, {}, {name_id(name), low, high}, DType::index);
  }
  void becomes(const Node* from, const Node* to) {
    const Node* result = simplify(graph, from);
    EXPECT_EQ(result, to) << print_expression(from) << "\n  becomes " << print_expression(result) << "\n  not     " << print_expression(to);
  }

  const Node* param(int64_t slot, int64_t size, DType type = DType::float32) {
    return graph.make(Op::Param, {}, {slot, size, kNoDevice}, type);
  }
  const Node* load(const Node* storage, const Node* index) { return graph.make(Op::Load, {storage, index}); }
  const Node* equal(const Node* a, const Node* b) { return graph.make(Op::Xor, {graph.make(Op::NotEqual, {a, b}), graph.boolean(true)}); }
  const Node* add_up(const Node* value, std::initializer_list<const Node*> ranges) {
    std::vector<const Node*> sources{value};
    sources.insert(sources.end(), ranges.begin(), ranges.end());
    const int64_t op = int64_t(Op::Add);
    return graph.make(Op::Accumulate, sources, Args(&op, 1));
  }
  bool has_loop(const Node* node) { return node->below.contains(Op::Accumulate); }

  Graph graph;
  const Node* a = range(0, 8);
  const Node* b = range(1, 4);
  const Node* c = range(2, 12);
  /// The flat index of (8, 4, 12).
  const Node* flat = sum({times(a, 48), times(b, 12), c});
};

TEST_F(Simplify, ReshapesCancel) {
  becomes(quotient(flat, 48), a);
  becomes(remainder(quotient(flat, 12), 4), b);
  becomes(remainder(flat, 12), c);
  becomes(remainder(quotient(flat, 3), 4), quotient(c, 3));
  becomes(quotient(remainder(flat, 48), 6), sum({times(b, 2), quotient(c, 6)}));
  becomes(sum({times(quotient(flat, 5), 5), remainder(flat, 5)}), flat);
  becomes(sum({times(quotient(flat, 48), 48), times(remainder(quotient(flat, 12), 4), 12), remainder(flat, 12)}), flat);
  becomes(remainder(sum({times(a, 12), c}), 24), sum({times(remainder(a, 2), 12), c}));
}

TEST_F(Simplify, SymbolicReshapesCancel) {
  const Node *n = variable("n", 1, 100), *r = graph.range(3, n, AxisKind::loop);
  const Node* linear = graph.add(graph.mul(a, n), r);
  becomes(graph.make(Op::Quotient, {linear, n}), a);
  becomes(graph.make(Op::Remainder, {linear, n}), r);
  becomes(graph.less(r, n), graph.boolean(true));
  becomes(graph.less(n, r), graph.boolean(false));
}

TEST_F(Simplify, SumsHaveOneForm) {
  const Node* forward = simplify(graph, sum({times(a, 3), b, i(2), times(a, 2), i(-1)}));
  const Node* backward = simplify(graph, sum({i(1), b, times(a, 5)}));
  EXPECT_EQ(forward, backward);
  becomes(graph.sub(sum({a, b}), sum({b, c})), graph.sub(a, c));
  becomes(graph.sub(flat, flat), i(0));
}

TEST_F(Simplify, ComparisonsAreDecidedOrReduced) {
  becomes(graph.less(flat, i(384)), graph.boolean(true));
  becomes(graph.less(flat, i(96)), graph.less(a, i(2)));
  becomes(graph.less(sum({c, i(3)}), i(2)), graph.boolean(false));
  becomes(graph.less(times(a, 4), i(10)), graph.less(a, i(3)));
  becomes(graph.less(i(7), sum({times(a, 4), b})), graph.less(i(1), a));
  becomes(graph.make(Op::NotEqual, {times(a, 4), i(6)}), graph.boolean(true));
  becomes(graph.make(Op::Max, {a, i(-1)}), a);
  becomes(graph.make(Op::Min, {sum({a, b}), sum({a, i(7)})}), sum({a, b}));
}

TEST_F(Simplify, IntegersMadeFromIndicesAreComputedAsIndices) {
  const auto as_int = [&](const Node* index) { return graph.cast(index, DType::int32); };
  const Node* computed = graph.add(graph.mul(as_int(a), graph.constant(DType::int32, 4)), as_int(b));
  becomes(computed, as_int(sum({times(a, 4), b})));
  becomes(graph.less(computed, graph.constant(DType::int32, 8)), graph.less(a, i(2)));
}

TEST_F(Simplify, EmbeddingIsOneLoad) {
  const Node *token = range(4, 128), *column = range(5, 64), *row = range(6, 50000, AxisKind::reduce);
  const Node *tokens = param(0, 128, DType::int32), *table = param(1, 50000 * 64);
  const Node* wanted = load(tokens, token);
  const Node* picked = graph.where(equal(graph.cast(row, DType::int32), wanted), load(table, sum({times(row, 64), column})),
                                   graph.constant(DType::float32, 0));
  const Node* result = simplify_kernel(graph, add_up(picked, {row}));
  ASSERT_FALSE(has_loop(result)) << print_expression(result);
  // + 0.0, because a sum is never -0.0.
  ASSERT_EQ(result->op, Op::Add);
  const Node* element = result->source(0);
  ASSERT_EQ(element->op, Op::Load);
  ASSERT_EQ(element->source_count, 3u) << "gated: a token may be out of range";
  EXPECT_EQ(element->source(1), simplify(graph, sum({times(graph.cast(wanted, DType::index), 64), column})));
}

TEST_F(Simplify, GatherOverTwoAxesIsOneLoad) {
  const Node *where = range(4, 10), *x = range(5, 30, AxisKind::reduce), *y = range(6, 40, AxisKind::reduce);
  const Node *wanted_x = load(param(0, 10, DType::int64), where), *wanted_y = load(param(1, 10, DType::int32), where);
  const Node* both = graph.make(Op::And, {equal(graph.cast(x, DType::int64), wanted_x), equal(wanted_y, graph.cast(y, DType::int32))});
  const Node* picked = graph.where(both, load(param(2, 1200), sum({times(x, 40), y})), graph.constant(DType::float32, 0));
  EXPECT_FALSE(has_loop(simplify_kernel(graph, add_up(picked, {x, y}))));
}

TEST_F(Simplify, CountsNeedNoLoop) {
  const Node* r = range(6, 100, AxisKind::reduce);
  const Node* up_to = graph.less(r, graph.add(c, i(1)));
  EXPECT_EQ(simplify_kernel(graph, add_up(graph.cast(up_to, DType::int32), {r})), graph.cast(graph.add(c, i(1)), DType::int32));
  EXPECT_EQ(simplify_kernel(graph, add_up(graph.cast(up_to, DType::float32), {r})), graph.cast(graph.add(c, i(1)), DType::float32));
  EXPECT_FALSE(has_loop(simplify_kernel(graph, add_up(graph.cast(r, DType::int32), {r}))));
  EXPECT_EQ(simplify_kernel(graph, add_up(graph.constant(DType::float32, 0.5), {r}))->op, Op::Accumulate) << "0.5 is no whole number";
  EXPECT_TRUE(simplify_kernel(graph, add_up(graph.constant(DType::float32, 3), {r}))->is_constant(300));
}

TEST_F(Simplify, WhatMustBeSummedIsSummed) {
  const Node *r = range(6, 100, AxisKind::reduce), *zero = graph.constant(DType::float32, 0);
  // A scatter: the condition speaks of loaded numbers, not of the range.
  const Node* scattered =
      graph.where(equal(graph.cast(c, DType::int32), load(param(0, 100, DType::int32), r)), load(param(1, 100), r), zero);
  EXPECT_TRUE(has_loop(simplify_kernel(graph, add_up(scattered, {r}))));
  // A product with 0 would hide an infinity, so this is for relaxed rules only.
  const Node* one_hot = graph.cast(equal(graph.cast(r, DType::int32), load(param(0, 12, DType::int32), c)), DType::float32);
  const Node* product = add_up(graph.mul(one_hot, load(param(1, 100), r)), {r});
  EXPECT_TRUE(has_loop(simplify_kernel(graph, product)));
  EXPECT_FALSE(has_loop(rewrite(graph, product, kernel_rules(), {.relaxed = true})));
}

TEST_F(Simplify, TensorsLoseMovementsThatCancel) {
  const auto move = [&](Op op, const Node* source, std::initializer_list<int64_t> args) { return graph.make(op, {source}, args); };
  const Node* x = graph.make(Op::Contiguous, {move(Op::Reshape, param(0, 24), {2, 3, 4})});
  const auto simple = [&](const Node* node) { return simplify_tensor(graph, Sources(&node, 1))[0]; };
  EXPECT_EQ(simple(move(Op::Permute, move(Op::Permute, x, {2, 0, 1}), {1, 2, 0})), x);
  EXPECT_EQ(simple(move(Op::Reshape, move(Op::Reshape, x, {6, 4}), {2, 3, 4})), x);
  EXPECT_EQ(simple(move(Op::Shrink, move(Op::Pad, x, {1, 1, 0, 0, 2, 0}), {1, 2, 0, 3, 2, 4})), x);
  EXPECT_EQ(simple(move(Op::Flip, move(Op::Flip, x, {0, 2}), {2, 0})), x);
  // One number, however it is moved: but ones padded with zeros are two.
  const Node* ones = stretch(graph, graph.constant(DType::float32, 1), x->shape());
  EXPECT_EQ(simple(move(Op::Permute, graph.add(ones, ones), {2, 0, 1}))->source(0)->source(0), graph.constant(DType::float32, 2));
  const Node* padded = move(Op::Pad, ones, {1, 1, 0, 0, 0, 0});
  EXPECT_EQ(simple(padded), padded);
  EXPECT_EQ(simple(graph.mul(x, ones)), x);
}

}  // namespace
}  // namespace whit
