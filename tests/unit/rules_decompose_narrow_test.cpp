// Narrow floats by way of float32 and words: conversions against ir/number.h, and whole kernels against the reference evaluator.
#include <gtest/gtest.h>

#include <bit>

#include "decompose_batch.h"
#include "ir/interpret.h"
#include "rewrite/random.h"
#include "rules/decompose.h"

namespace whit {
namespace {

constexpr DType kNarrow[] = {DType::float8_e4m3, DType::float8_e5m2, DType::float16, DType::bfloat16};

bool is_nan(Bits bits) { return std::isnan(std::bit_cast<float>(uint32_t(bits))); }

class NarrowFloat : public testing::TestWithParam<DType> {
 protected:
  DType type() const { return GetParam(); }
  uint32_t words() const { return 1u << bit_width(type()); }
};

TEST_P(NarrowFloat, DecodesEveryWord) {
  Graph graph;
  std::vector<Bits> inputs;
  for (uint32_t word = 0; word < words(); ++word) inputs.push_back(word);
  const std::vector<Bits> results = evaluate_batch(decode(graph, input(graph, word_of(type())), type()), {inputs});
  for (uint32_t word = 0; word < words(); ++word) {
    const Bits expected = bits_of_float(DType::float32, decode_narrow(type(), uint16_t(word)));
    ASSERT_TRUE(results[word] == expected || (is_nan(results[word]) && is_nan(expected))) << word;
  }
}

TEST_P(NarrowFloat, EncodesAndRoundsAnything) {
  std::vector<Bits> inputs;
  Random random(5);
  for (int i = 0; i < 60000; ++i) inputs.push_back(Bits(uint32_t(random.next())));
  // Every value, every tie between neighbours, and the float32 on either side of them.
  for (uint32_t word = 0; word < words(); word += word % 256 < 4 || words() == 256 ? 1 : 37) {
    const float value = decode_narrow(type(), uint16_t(word)), next = decode_narrow(type(), uint16_t(word + 1));
    for (const float x : {value, value / 2 + next / 2})
      for (int64_t delta = -1; delta <= 1; ++delta) inputs.push_back(Bits(uint32_t(std::bit_cast<uint32_t>(x) + uint32_t(delta))));
  }
  for (const uint32_t special : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fffffffu, 0xffffffffu, 0x7f7fffffu, 0u,
                                 0x80000000u, 1u, 0x80000001u, 0x79000000u, 0xf9000000u})
    inputs.push_back(special);
  Graph graph;
  const Node* x = input(graph, DType::float32);
  const std::vector<Bits> encoded = evaluate_batch(encode(graph, x, type()), {inputs}),
                          rounded = evaluate_batch(round_to_narrow(graph, x, type()), {inputs});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const float value = std::bit_cast<float>(uint32_t(inputs[i]));
    // The sign of a NaN is nobody's business: the evaluator has one NaN.
    const uint16_t sign = uint16_t(1u << (bit_width(type()) - 1)), expected = encode_narrow(type(), value);
    ASSERT_TRUE(encoded[i] == expected || (std::isnan(value) && (encoded[i] | sign) == (expected | sign)))
        << std::hexfloat << value << " " << encoded[i] << " " << expected;
    const Bits exact = bits_of_float(DType::float32, round_to(type(), value));
    ASSERT_TRUE(rounded[i] == exact || (is_nan(rounded[i]) && is_nan(exact))) << std::hexfloat << value;
  }
}

// ---- Kernels ------------------------------------------------------------------------------------------------------------------------

/// out[i] = value(a[i], b[i]) over 64 elements.
template <class Build>
void compare_kernels(DType in, DType out, Build build) {
  constexpr int64_t kCount = 64;
  Graph graph;
  const Node* i = graph.range(0, kCount, AxisKind::loop);
  const auto param = [&](int64_t slot, DType type) { return graph.make(Op::Param, {}, {slot, kCount, kNoDevice}, type); };
  const Node *a = param(1, in), *b = param(2, in);
  const Node* store = graph.make(Op::Store, {param(0, out), i, build(graph, graph.make(Op::Load, {a, i}), graph.make(Op::Load, {b, i}))});
  const Node* sink = graph.make(Op::Sink, {store});
  const Node* lowered = lower_types(graph, sink, {});
  for (const Node* node : topological_order(Sources(&lowered, 1))) ASSERT_FALSE(is_narrow_float(node->dtype)) << name(node->op);

  Environment meant, given;
  Random random(6);
  const Node* replaced = lowered->source(0);
  for (const Node* array : {a, b}) {
    std::vector<Bits>& values = meant.arrays[array];
    for (int64_t k = 0; k < kCount; ++k) {
      const uint16_t word = uint16_t(random.next());
      values.push_back(is_float(in) ? bits_of_float(in, decode_narrow(in, uint16_t(item_size(in) == 1 ? word & 255 : word)))
                                    : bits_of_integer(in, word));
    }
  }
  for (const Node* node : topological_order(Sources(&lowered, 1)))
    if (node->op == Op::Param && node->arg(0) > 0)
      for (const Bits value : meant.arrays[node->arg(0) == 1 ? a : b])
        given.arrays[node].push_back(is_float(in) ? reinterpret(in, word_of(in), value) : value);
  for (int64_t k = 0; k < kCount; ++k) {
    meant.values[i] = given.values[i] = k;
    const Bits expected = evaluate_expression(store->source(2), meant), result = evaluate_expression(replaced->source(2), given);
    const Bits stored = is_float(out) && is_narrow_float(out) ? reinterpret(word_of(out), out, result) : result;
    ASSERT_EQ(expected, stored) << "element " << k;
  }
}

TEST_P(NarrowFloat, ComputesInFloat32AndRoundsEachOp) {
  compare_kernels(type(), type(), [](Graph& graph, const Node* a, const Node* b) { return graph.add(graph.mul(a, b), a); });
  compare_kernels(type(), type(), [](Graph& graph, const Node* a, const Node* b) {
    return graph.make(Op::Divide, {graph.make(Op::Sqrt, {a}), graph.sub(a, b)});
  });
  compare_kernels(type(), type(), [](Graph& graph, const Node* a, const Node* b) {
    return graph.where(graph.less(a, b), graph.make(Op::Trunc, {a}), graph.make(Op::Neg, {b}));
  });
  compare_kernels(type(), type(), [this](Graph& graph, const Node* a, const Node*) {
    return graph.mul(graph.make(Op::MulAdd, {a, a, a}), graph.constant(type(), 1.5));
  });
  compare_kernels(type(), DType::boolean, [](Graph& graph, const Node* a, const Node* b) {
    return graph.make(Op::NotEqual, {graph.mul(a, b), b});
  });
}

TEST_P(NarrowFloat, ConvertsToAndFromEveryType) {
  for (size_t t = 1; t < kDTypeCount; ++t) {
    const DType other = DType(t);
    if (other == DType::index) continue;
    compare_kernels(type(), other, [other](Graph& graph, const Node* a, const Node*) { return graph.cast(a, other); });
    compare_kernels(type(), type(), [&](Graph& graph, const Node* a, const Node*) { return graph.cast(graph.cast(a, other), type()); });
  }
  compare_kernels(DType::int16, type(), [this](Graph& graph, const Node* a, const Node* b) { return graph.cast(graph.mul(a, b), type()); });
  const DType with_sign = item_size(type()) == 1 ? DType::int8 : DType::int16;
  compare_kernels(type(), with_sign, [=](Graph& graph, const Node* a, const Node*) {
    return graph.make(Op::Bitcast, {graph.make(Op::Where, {graph.make(Op::NotEqual, {a, a}), graph.constant(a->dtype, 1), a})}, {},
                      with_sign);
  });
  compare_kernels(word_of(type()), type(), [this](Graph& graph, const Node* a, const Node* b) {
    return graph.make(Op::Bitcast, {graph.make(Op::Xor, {a, b})}, {}, type());
  });
}

TEST_P(NarrowFloat, AccumulatesInFloat32) {
  for (const Op op : {Op::Add, Op::Mul, Op::Max, Op::Min})
    compare_kernels(type(), type(), [op](Graph& graph, const Node* a, const Node*) {
      const Node* k = graph.range(1, 50, AxisKind::reduce);
      const Node* value = graph.make(Op::Load, {a->source(0), k});
      const Node* finite = graph.where(graph.less(graph.mul(value, value), graph.constant(a->dtype, 400)), value, a);
      return graph.make(Op::Accumulate, {finite, k}, {int64_t(op)});
    });
}

TEST_P(NarrowFloat, TakesVariablesByTheirBits) {
  Graph graph;
  const Node* variable = graph.make(Op::Variable, {}, {name_id("rate"), 0, 0}, type());
  const Node* lowered = lower_types(graph, graph.cast(variable, DType::float64), {});
  Environment environment;
  environment.values[lowered->source(0)] = bits_of_float(type(), 0.875);
  EXPECT_EQ(lowered->source(0)->dtype, DType::float32);
  EXPECT_EQ(evaluate_expression(lowered, environment), bits_of_float(DType::float64, 0.875));
}

TEST_P(NarrowFloat, StaysWhereTheTargetComputesInIt) {
  Lowering lowering;
  lowering.types = lowering.types | TypeSet(type());
  Graph graph;
  const Node* x = input(graph, type());
  const Node* sink = graph.make(
      Op::Sink, {graph.make(Op::Store, {graph.make(Op::Param, {}, {1, 1, kNoDevice}, type()), graph.index(0), graph.add(x, x)})});
  EXPECT_EQ(lower_types(graph, sink, lowering), sink);
}

INSTANTIATE_TEST_SUITE_P(Decompose, NarrowFloat, testing::ValuesIn(kNarrow),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace whit
