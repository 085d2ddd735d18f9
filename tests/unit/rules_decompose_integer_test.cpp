// Lowerings and guards that are exact: Max, Min, Threefry, MulAdd, and division, shifts and conversions on machines where they are not
// total.
#include <gtest/gtest.h>

#include <bit>

#include "decompose_batch.h"
#include "ir/interval.h"
#include "rewrite/random.h"
#include "rules/decompose.h"

namespace whit {
namespace {

constexpr DType kIntegers[] = {DType::int8,   DType::uint8, DType::int16,  DType::uint16, DType::int32,
                               DType::uint32, DType::int64, DType::uint64, DType::index};
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

/// Every value of small types, else the edges and some random ones.
std::vector<Bits> values_of(DType type) {
  std::vector<Bits> values;
  if (is_float(type)) {
    for (const double x : {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           0.5,
                           127.5,
                           -129.0,
                           255.9,
                           32768.0,
                           -0.99,
                           2147483520.0,
                           2147483648.0,
                           -2147483648.0,
                           -2147483904.0,
                           4294967040.0,
                           4294967296.0,
                           9223371487098961920.0,
                           9223372036854775807.0,
                           -9223372036854775808.0,
                           18446742974197923840.0,
                           18446744073709551616.0,
                           1e30,
                           -1e30,
                           kInfinity,
                           -kInfinity,
                           kNaN,
                           1e-40})
      for (const double y : {x, std::nextafter(x, 0.0), std::nextafter(x, 2 * x)}) values.push_back(bits_of_float(type, y));
    return values;
  }
  if (bit_width(type) <= 8) {
    for (int i = 0; i < (type == DType::boolean ? 2 : 256); ++i) values.push_back(bits_of_integer(type, i));
    return values;
  }
  Random random(3);
  const int64_t top = int64_t(uint64_t(1) << (bit_width(type) - 1));
  for (const int64_t x : {int64_t(0), top, int64_t(3), int64_t(bit_width(type)), int64_t(100)})
    for (int64_t delta = -2; delta <= 2; ++delta) values.push_back(bits_of_integer(type, int64_t(uint64_t(x) + uint64_t(delta))));
  for (int i = 0; i < 12; ++i) values.push_back(bits_of_integer(type, int64_t(random.next() >> (random.next() % 64))));
  return values;
}

/// Evaluates both nodes for every pair of values; `check_node` sees each op of the second with its operands.
template <class Check>
void compare(const Node* meant, const Node* lowered, Check check_node) {
  for (const Node* node : topological_order(Sources(&lowered, 1))) check_node(node);
  const DType type = meant->source(0)->dtype;
  std::vector<std::vector<Bits>> inputs(2);
  for (const Bits a : values_of(type))
    for (const Bits b : meant->sources().size() > 1 ? values_of(type) : std::vector<Bits>{0}) {
      inputs[0].push_back(a);
      inputs[1].push_back(b);
    }
  const std::vector<Bits> expected = evaluate_batch(meant, inputs), results = evaluate_batch(lowered, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool equal_zeros = is_float(meant->dtype) && float_of_bits(meant->dtype, expected[i]) == float_of_bits(meant->dtype, results[i]);
    ASSERT_TRUE(expected[i] == results[i] || equal_zeros) << name(meant->op) << " of " << name(type) << " " << inputs[0][i] << " and "
                                                          << inputs[1][i] << ": " << results[i] << ", not " << expected[i];
  }
}

TEST(DecomposeInteger, MaxAndMinOfEveryType) {
  for (size_t t = 1; t < kDTypeCount; ++t)
    for (const Op op : {Op::Max, Op::Min}) {
      Graph graph;
      const DType type = DType(t);
      const Node *a = input(graph, type, 0), *b = input(graph, type, 1);
      const Node* node = graph.make(op, {a, b});
      compare(node, lower_op(graph, node, {}), [](const Node* part) { EXPECT_FALSE(has(part->op, lowered)) << name(part->op); });
      for (const double constant : {0.0, 1.0}) {
        const Node* with_constant = graph.make(op, {a, graph.constant(type, constant)});
        if (!is_float(type) || with_constant->is_constant()) continue;
        const Node* result = lower_op(graph, with_constant, {});
        EXPECT_EQ(result->op, Op::Where);  // a comparison and a choice: what relu needs
        EXPECT_EQ(result->source(0)->op, Op::Less);
        compare(with_constant, result, [](const Node*) {});
      }
    }
}

TEST(DecomposeInteger, ThreefryHasTheKnownAnswers) {
  // From the known-answer file of the Random123 distribution: counter, key, result; low words first.
  constexpr uint32_t kAnswers[][6] = {{0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
                                      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7},
                                      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xc4923a9c, 0x483df7a0}};
  const auto word = [](uint32_t low, uint32_t high) { return Bits(uint64_t(high) << 32 | low); };
  Graph graph;
  const Node* node = graph.make(Op::Threefry, {input(graph, DType::uint64, 0), input(graph, DType::uint64, 1)});
  const Node* lowered = lower_op(graph, node, {});
  for (const auto& [c0, c1, k0, k1, r0, r1] : kAnswers) {
    EXPECT_EQ(evaluate_batch(node, {{word(c0, c1)}, {word(k0, k1)}})[0], word(r0, r1));
    EXPECT_EQ(evaluate_batch(lowered, {{word(c0, c1)}, {word(k0, k1)}})[0], word(r0, r1));
  }
  compare(node, lowered, [](const Node* part) { EXPECT_NE(part->op, Op::Threefry); });
}

TEST(DecomposeInteger, MultiplyAddRoundsOnce) {
  Graph graph;
  const Node* node =
      graph.make(Op::MulAdd, {input(graph, DType::float32, 0), input(graph, DType::float32, 1), input(graph, DType::float32, 2)});
  const Node* lowered = lower_op(graph, node, {});
  EXPECT_FALSE(lowered->below.contains(Op::MulAdd));
  Random random(4);
  std::vector<std::vector<Bits>> inputs(3);
  const auto mantissa = [&] { return std::bit_cast<float>(uint32_t(0x3f800000 | (random.next() & 0x7fffff))); };
  for (int i = 0; i < 30000; ++i) {
    const int kind = i % 3;  // anything; sums close to a tie; subnormal results
    const float x = kind ? mantissa() : std::bit_cast<float>(uint32_t(random.next()));
    const float y = kind ? mantissa() : std::bit_cast<float>(uint32_t(random.next()));
    const float z = kind ? mantissa() : std::bit_cast<float>(uint32_t(random.next()));
    const int down = kind == 2 ? -70 - int(random.next() % 12) : 0;
    inputs[0].push_back(bits_of_float(DType::float32, std::ldexp(x, down)));
    inputs[1].push_back(bits_of_float(DType::float32, kind == 2 ? std::ldexp(y, -70) : y));
    inputs[2].push_back(bits_of_float(DType::float32, std::ldexp(random.coin() ? z : -z, kind == 2 ? -140
                                                                                         : kind    ? int(random.next() % 64) - 40
                                                                                                   : 0)));
  }
  // The product lies next to half a unit of z's last place, nearer than float64 can tell: rounding twice would go wrong.
  for (int i = 0; i < 4000; ++i) {
    const double near = std::ldexp(double(random.between(1, 900)), -23), scale = std::ldexp(1.0, int(random.between(-20, 20)));
    inputs[0].push_back(bits_of_float(DType::float32, random.coin() ? 1 + near : -1 - near));
    inputs[1].push_back(bits_of_float(DType::float32, (random.coin() ? 1 - near : 1 + near) * 0x1p-24 * scale));
    inputs[2].push_back(bits_of_float(DType::float32, (random.coin() ? mantissa() : -mantissa()) * scale));
  }
  const std::vector<Bits> expected = evaluate_batch(node, inputs), results = evaluate_batch(lowered, inputs);
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(expected[i], results[i]) << i;
}

}  // namespace
}  // namespace whit
