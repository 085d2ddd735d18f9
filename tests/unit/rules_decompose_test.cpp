// The elementary functions: how near they come over the whole range of their types, and their special values.
#include "rules/decompose.h"

#include <gtest/gtest.h>

#include <bit>

#include "decompose_batch.h"
#include "rewrite/random.h"

namespace whit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

Lowering lowering_with(bool fused, bool float64 = true) {
  Lowering lowering;
  lowering.fused_multiply_add = fused;
  if (!float64) lowering.types.bits &= ~(1u << unsigned(DType::float64));
  return lowering;
}

/// An op lowered, over leaves.
const Node* lowered_op(Graph& graph, Op op, DType type, const Lowering& lowering) {
  std::vector<const Node*> sources;
  for (int64_t i = 0; i < info(op).arity; ++i) sources.push_back(input(graph, type, i));
  return decompose(graph, graph.make(op, sources), lowering);
}

double number(DType type, Bits bits) { return float_of_bits(type, bits); }

// ---- Functions of one number --------------------------------------------------------------------------------------------------------

struct Function {
  Op op;
  long double (*truth)(long double);
  double bound32, bound64;  ///< what docs/numerics.md promises, in ulps
  int ops, fused_ops;       ///< of float32
};
const Function kFunctions[] = {
    {Op::Exp, std::exp, 1.25, 1.25, 29, 20},  {Op::Exp2, std::exp2, 1.25, 1.25, 25, 19}, {Op::Log, std::log, 1.25, 1.25, 37, 27},
    {Op::Log2, std::log2, 1.5, 1.25, 38, 28}, {Op::Sin, std::sin, 1.95, 2, 103, 86},     {Op::Cos, std::cos, 1.95, 2, 102, 85},
};

using Case = std::tuple<Function, DType, bool>;

class OneNumber : public testing::TestWithParam<Case> {
 protected:
  const Function& function() const { return std::get<0>(GetParam()); }
  DType type() const { return std::get<1>(GetParam()); }
  Lowering lowering() const { return lowering_with(std::get<2>(GetParam())); }

  /// The worst error over these arguments.
  void check(const std::vector<double>& arguments) const {
    Graph graph;
    std::vector<Bits> inputs;
    for (const double argument : arguments) inputs.push_back(bits_of_float(type(), argument));
    const std::vector<Bits> results = evaluate_batch(lowered_op(graph, function().op, type(), lowering()), {inputs});
    const double bound = type() == DType::float32 ? function().bound32 : function().bound64;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const double x = number(type(), inputs[i]), result = number(type(), results[i]);
      const long double truth = x < 0 && (function().op == Op::Log || function().op == Op::Log2) ? kNaN : function().truth(x);
      ASSERT_LE(error_in_ulps(type(), result, truth), bound)
          << std::hexfloat << name(function().op) << "(" << x << ") = " << result << ", not " << double(truth);
    }
  }
};

TEST_P(OneNumber, IsNearAllOverTheRange) {
  std::vector<double> arguments;
  Random random(7);
  // Every exponent of float32 and both signs, and as many random patterns of float64.
  for (uint64_t bits = random.next() % 65521; bits < uint64_t(1) << 32 && type() == DType::float32; bits += 217331)
    arguments.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (int i = 0; i < 20000 && type() == DType::float64; ++i) arguments.push_back(std::bit_cast<double>(random.next()));
  check(arguments);
}

TEST_P(OneNumber, IsNearWhereItMatters) {
  std::vector<double> arguments;
  Random random(8);
  const auto unit = [&] { return double(int64_t(random.next())) * 0x1p-63; };
  for (int i = 0; i < 4000; ++i) {
    arguments.push_back(unit() * 110);
    arguments.push_back(1 + unit() * 0.5);  // logarithms near 0
    arguments.push_back(std::ldexp(unit(), -int(random.next() % 60)));
    arguments.push_back(std::round(unit() * 1e5) * 1.57079632679489661923);                                // near the zeros of sin and cos
    arguments.push_back(type() == DType::float32 ? std::ldexp(unit(), -126) : std::ldexp(unit(), -1022));  // subnormals
    arguments.push_back(type() == DType::float32 ? -87 - 17 * std::fabs(unit()) : -700 - 46 * std::fabs(unit()));  // subnormal results
  }
  // Arguments that lie nearest to a multiple of π/2, and around the places where a lowering changes its way.
  for (const double x : {16367173.0 * 0x1p72,
                         6381956970095103.0 * 0x1p797,
                         88.72283935546875,
                         88.7228469848633,
                         709.782712893384,
                         709.7827128933841,
                         103.97,
                         104.0,
                         86.0,
                         87.3365,
                         745.13,
                         746.0,
                         706.0,
                         708.396,
                         124.0,
                         125.0,
                         126.0,
                         127.99999,
                         128.0,
                         149.0,
                         149.5,
                         150.0,
                         151.0,
                         1020.0,
                         1022.0,
                         1023.9999,
                         1024.0,
                         1074.0,
                         1074.9,
                         1075.0,
                         1076.0,
                         2.0 / 3,
                         4.0 / 3,
                         std::sqrt(0.5),
                         std::sqrt(2.0),
                         1.0,
                         0x1p-126,
                         0x1p-1022,
                         0x1p-149,
                         0x1p-1074,
                         0x1.fffffep127,
                         0x1.fffffffffffffp1023})
    for (const double y : {std::nextafter(x, 0.0), x, std::nextafter(x, kInfinity), double(std::nextafter(float(x), 0.0f)),
                           double(std::nextafter(float(x), 1e38f))}) {
      arguments.push_back(y);
      arguments.push_back(-y);
    }
  check(arguments);
}

TEST_P(OneNumber, HasTheSpecialValues) { check({0.0, -0.0, kInfinity, -kInfinity, kNaN, 1, -1}); }

TEST_P(OneNumber, IsMadeOfPrimitives) {
  Graph graph;
  const Node* root = lowered_op(graph, function().op, type(), lowering());
  int ops = 0;
  for (const Node* node : topological_order(Sources(&root, 1))) {
    EXPECT_TRUE(!has(node->op, lowered) || (node->op == Op::MulAdd && lowering().fused_multiply_add)) << name(node->op);
    EXPECT_TRUE(type() == DType::float64 || node->dtype != DType::float64) << "float64 halves the lanes";
    // A Neg belongs to the subtraction above it, and a Bitcast is no instruction.
    ops += has(node->op, alu) && node->op != Op::Neg && node->op != Op::Bitcast;
  }
  EXPECT_TRUE(type() == DType::float64 || ops <= (lowering().fused_multiply_add ? function().fused_ops : function().ops)) << ops << " ops";
}

std::string case_name(const testing::TestParamInfo<Case>& test) {
  const auto& [function, type, fused] = test.param;
  return std::string(name(function.op)) + "_" + std::string(name(type)) + (fused ? "_fused" : "");
}
INSTANTIATE_TEST_SUITE_P(Decompose, OneNumber,
                         testing::Combine(testing::ValuesIn(kFunctions), testing::Values(DType::float32, DType::float64), testing::Bool()),
                         case_name);

TEST(Decompose, ExactPoints) {
  for (const DType type : {DType::float32, DType::float64})
    for (const bool fused : {false, true}) {
      const auto at = [&](Op op, double x) {
        Graph graph;
        return number(type, evaluate_batch(lowered_op(graph, op, type, lowering_with(fused)), {{bits_of_float(type, x)}})[0]);
      };
      EXPECT_EQ(at(Op::Exp, 0), 1);
      EXPECT_EQ(at(Op::Log, 1), 0);
      EXPECT_EQ(at(Op::Cos, 0), 1);
      EXPECT_TRUE(std::signbit(at(Op::Sin, -0.0)));
      EXPECT_EQ(at(Op::Sin, 0x1p-149), 0x1p-149);
      for (int n = type == DType::float32 ? -149 : -1074; n < (type == DType::float32 ? 128 : 1024); ++n) {
        EXPECT_EQ(at(Op::Exp2, n), std::ldexp(1.0, n));
        EXPECT_EQ(at(Op::Log2, std::ldexp(1.0, n)), n);
      }
    }
}

// ---- Pow ----------------------------------------------------------------------------------------------------------------------------

struct Way {
  DType type;
  bool fused, float64;
};

class Power : public testing::TestWithParam<Way> {
 protected:
  double bound() const { return GetParam().type == DType::float32 && GetParam().float64 ? 0.6 : 1.5; }
  void check(const std::vector<double>& x, const std::vector<double>& y) const {
    const DType type = GetParam().type;
    Graph graph;
    std::vector<std::vector<Bits>> inputs(2);
    for (size_t i = 0; i < x.size(); ++i) {
      inputs[0].push_back(bits_of_float(type, x[i]));
      inputs[1].push_back(bits_of_float(type, y[i]));
    }
    const std::vector<Bits> results =
        evaluate_batch(lowered_op(graph, Op::Pow, type, lowering_with(GetParam().fused, GetParam().float64)), inputs);
    for (size_t i = 0; i < x.size(); ++i) {
      const double a = number(type, inputs[0][i]), b = number(type, inputs[1][i]), result = number(type, results[i]);
      const long double truth = std::pow((long double)(a), (long double)(b));
      ASSERT_LE(error_in_ulps(type, result, truth), bound())
          << std::hexfloat << "pow(" << a << ", " << b << ") = " << result << ", not " << double(truth);
    }
  }
};

TEST_P(Power, AgreesWithCOnSpecialValues) {
  std::vector<double> x, y;
  std::vector<double> values = {0.0,
                                1,
                                2,
                                3,
                                0.5,
                                1.5,
                                7,
                                10,
                                149,
                                150,
                                151,
                                127,
                                128,
                                1074,
                                1e10,
                                8388607.5,
                                16777215,
                                16777216,
                                9007199254740991,
                                9007199254740992,
                                1e38,
                                0x1.fffffep127,
                                0x1.fffffffffffffp1023,
                                0x1p-149,
                                0x1p-1074,
                                0x1p-126,
                                0x1p-1022,
                                1e-40,
                                0.99999994,
                                1.0000001,
                                0x1.fffffffffffffp-1,
                                0x1.0000000000001p0,
                                kInfinity};
  for (size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
  values.push_back(kNaN);
  for (const double a : values)
    for (const double b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  check(x, y);
}

TEST_P(Power, IsNear) {
  std::vector<double> x, y;
  Random random(9);
  const bool single = GetParam().type == DType::float32;
  const auto unit = [&] { return double(int64_t(random.next())) * 0x1p-63; };
  const auto any = [&] { return single ? double(std::bit_cast<float>(uint32_t(random.next()))) : std::bit_cast<double>(random.next()); };
  for (int i = 0; i < 4000; ++i) {
    const auto add = [&](double a, double b) {
      x.push_back(a);
      y.push_back(b);
    };
    const double base = std::fabs(any()), near = 1 + unit() * std::ldexp(1.0, -int(random.next() % 20));
    add(any(), any());
    add(base, unit() * (single ? 152 : 1080) / std::log2(base));  // results of every size
    add(near, unit() * (single ? 152 : 1080) / std::log2(near));
    add(unit() * 30, double(random.between(-30, 30)));
  }
  check(x, y);
}

INSTANTIATE_TEST_SUITE_P(Decompose, Power,
                         testing::Values(Way{DType::float32, false, true}, Way{DType::float32, true, true},
                                         Way{DType::float32, false, false}, Way{DType::float32, true, false},
                                         Way{DType::float64, false, true}, Way{DType::float64, true, true}));

// ---- The pass -----------------------------------------------------------------------------------------------------------------------

TEST(Decompose, LeavesWhatTheTargetClaims) {
  Graph graph;
  Lowering lowering;
  lowering.claims = OpSet::of(Op::Exp, Op::Max);
  const Node* x = input(graph, DType::float32);
  const Node* root = graph.make(Op::Max, {graph.make(Op::Exp, {x}), graph.make(Op::Log, {x})});
  const Node* result = decompose(graph, root, lowering);
  EXPECT_EQ(result->op, Op::Max);
  EXPECT_TRUE(result->below.contains(Op::Exp));
  EXPECT_FALSE(result->below.contains(Op::Log));
  EXPECT_EQ(lower_op(graph, root, lowering), root);
}

TEST(Decompose, LowersEveryOpOfEveryType) {
  for (size_t i = 0; i < kOpCount; ++i)
    for (size_t t = 1; t < kDTypeCount; ++t) {
      const Op op = Op(i);
      const DType type = DType(t);
      if (!has(op, lowered) || (has(op, floating) && !is_float(type)) || (op == Op::Threefry && type != DType::uint64)) continue;
      if (op == Op::MulAdd && type == DType::float64) continue;  // a target has it or doesn't use it
      Graph graph;
      const Node* result = lowered_op(graph, op, type, {});
      EXPECT_FALSE(result->below.contains(op)) << name(op) << " of " << name(type);
      EXPECT_EQ(result->dtype, type);
    }
}

TEST(Decompose, TakesDeepGraphs) {
  Graph graph;
  const Node* node = input(graph, DType::float32);
  for (int i = 0; i < 2000; ++i) node = graph.make(Op::Exp2, {node});
  for (int i = 0; i < 200000; ++i) node = graph.add(graph.mul(node, node), node);
  EXPECT_FALSE(decompose(graph, node, {})->below.contains(Op::Exp2));
}

}  // namespace
}  // namespace whit
