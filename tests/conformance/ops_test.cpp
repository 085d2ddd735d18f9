// Every elementwise op in every dtype it takes, on edge values and random ones: the row in ops.def is the test.
#include "device_under_test.h"

namespace whit {
namespace {

constexpr DType kTypes[] = {DType::boolean,  DType::int8,        DType::uint8,       DType::int16,   DType::uint16,
                            DType::int32,    DType::uint32,      DType::int64,       DType::uint64,  DType::float16,
                            DType::bfloat16, DType::float8_e4m3, DType::float8_e5m2, DType::float32, DType::float64};

bool takes(Op op, DType type) {
  if (!has(op, alu) || has(op, typed)) return false;
  if (op == Op::Threefry) return type == DType::uint64;
  if (has(op, floating)) return is_float(type);
  if (has(op, integral)) return !is_float(type);
  return type != DType::boolean || op == Op::Where || has(op, compares) || op == Op::Max || op == Op::Min;
}

// The values at which things go wrong, then random ones of the full range.
std::vector<Bits> operands(DType type, size_t count, std::mt19937_64& random) {
  std::vector<Bits> values;
  if (is_float(type))
    for (const double v : {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 1e-30, 1e-42, 1e30, 88.5, -104.0, 0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0})
      values.push_back(bits_of_float(type, v));
  else
    for (const int64_t v : {int64_t(0), int64_t(1), int64_t(-1), int64_t(2), int64_t(7), int64_t(31), int64_t(64),
                            std::numeric_limits<int64_t>::min() >> (type == DType::boolean ? 0 : 64 - bit_width(type)),
                            std::numeric_limits<int64_t>::max() >> (type == DType::boolean ? 0 : 64 - bit_width(type))})
      values.push_back(bits_of_integer(type, v));
  std::uniform_real_distribution<double> near(-20, 20);
  while (values.size() < count)
    values.push_back(is_float(type) ? bits_of_float(type, near(random)) : bits_of_integer(type, int64_t(random())));
  std::ranges::shuffle(values, random);
  values.resize(count);
  return values;
}

// How far from the reference a result may lie: nothing for what IEEE 754 rounds exactly; 4 units in the last place of what the elementary
// functions are computed in (they promise 2 and so does the reference's library); PoCL and other OpenCL devices round Divide and Sqrt
// within 3 units unless they promise more.
double tolerance(Op op, DType type) {
  const bool elementary = OpSet::of(Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Pow).contains(op);
  const bool loose = elementary || (device_under_test() == "CL" && OpSet::of(Op::Divide, Op::Reciprocal, Op::Sqrt).contains(op));
  if (!loose) return 0;
  const int mantissa = type == DType::float64       ? 52
                       : type == DType::float16     ? 10
                       : type == DType::bfloat16    ? 7
                       : type == DType::float8_e4m3 ? 3
                       : type == DType::float8_e5m2 ? 2
                                                    : 23;
  return std::ldexp(4.0, -mantissa - 1);
}

struct Case {
  Op op;
  DType type;
  NodeRef result;
};

NodeRef apply(Trial& trial, Op op, DType type) {
  constexpr int64_t kCount = 203;
  std::vector<NodeRef> sources;
  std::vector<const Node*> nodes;
  for (int i = 0; i < info(op).arity; ++i) {
    const DType source = op == Op::Where && i == 0 ? DType::boolean : type;
    sources.push_back(trial.store(source, {kCount}, operands(source, kCount, trial.random)));
    nodes.push_back(sources.back().get());
  }
  return TensorGraph::shared().make(op, nodes);
}

TEST(Conformance, EveryOpInEveryType) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  size_t checked = 0;
  for (const DType type : kTypes) {
    Trial trial{uint64_t(type)};
    std::vector<Case> cases;
    std::vector<NodeRef> results;
    for (size_t o = 0; o < kOpCount; ++o)
      if (takes(Op(o), type) && Op(o) != Op::MulAdd) {  // MulAdd is placed by the scheduler where the target has it
        cases.push_back({Op(o), type, apply(trial, Op(o), type)});
        results.push_back(cases.back().result);
      }
    const auto computed = trial.computed(results);
    for (size_t c = 0; c < cases.size(); ++c) {
      const auto& [op, of, result] = cases[c];
      const std::vector<Bits> wanted = trial.reference(result).values;
      // The least value that a type rounds to: results that underflow may differ by one of it.
      const double least = tolerance(op, of) > 0 ? (of == DType::float64 ? 5e-324 : of == DType::float16 ? 6e-8 : 1.5e-45) : 0;
      ASSERT_EQ(wanted.size(), computed[c].size());
      for (size_t i = 0; i < wanted.size(); ++i, ++checked)
        ASSERT_TRUE(agrees(result->dtype, wanted[i], computed[c][i], tolerance(op, of), least))
            << name(op) << " of " << name(of) << " at " << i << ": " << float_of_bits(result->dtype, computed[c][i]) << " where "
            << float_of_bits(result->dtype, wanted[i]) << " is meant";
    }
  }
  EXPECT_GT(checked, 10000u);
}

TEST(Conformance, EveryCast) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  for (const DType from : kTypes) {
    constexpr int64_t kCount = 97;
    Trial trial{uint64_t(from) + 100};
    const NodeRef source = trial.store(from, {kCount}, operands(from, kCount, trial.random));
    std::vector<NodeRef> results;
    for (const DType to : kTypes)
      for (const Op op : {Op::Cast, Op::Bitcast})
        if (from != to && (op == Op::Cast || (item_size(from) == item_size(to) && from != DType::boolean && to != DType::boolean)))
          results.push_back(trial.make(op, {source}, {}, to));
    const auto computed = trial.computed(results);
    for (size_t c = 0; c < results.size(); ++c) {
      const DType to = results[c]->dtype;
      const std::vector<Bits> wanted = trial.reference(results[c]).values;
      for (size_t i = 0; i < wanted.size(); ++i)
        ASSERT_TRUE(agrees(to, wanted[i], computed[c][i], 0, 0))
            << name(results[c]->op) << " from " << name(from) << " to " << name(to) << " at " << i << ": "
            << float_of_bits(to, computed[c][i]) << " where " << float_of_bits(to, wanted[i]) << " is meant";
    }
  }
}

}  // namespace
}  // namespace whit
