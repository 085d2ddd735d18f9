// Every row of ops.def that has a gradient, against finite differences of the reference evaluator, and the points where it matters
// which of several answers is given (PyTorch's are).
#include "rules/gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <numeric>

#include "ir/interpret_tensor.h"
#include "rewrite/random.h"
#include "rules/gradient_functions.h"

namespace whit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr bool kHasGradient[] = {
#define GRADIENT(...) true
#define BY(f) true
#define NO_GRADIENT false
#define OP(id, arity, traits, meaning, spelling, gradient) gradient,
#include "ir/ops.def"
#undef OP
#undef NO_GRADIENT
#undef BY
#undef GRADIENT
};

/// A graph under test with its leaves and their values.
class Lab {
 public:
  Graph graph;
  TensorInputs inputs;
  std::vector<const Node*> leaves;  ///< shaped; differentiable

  const Node* leaf(const std::vector<int64_t>& shape, const std::vector<double>& values, DType type = DType::float64) {
    TensorValue value{{int64_t(values.size())}, {}};
    for (const double number : values) value.values.push_back(bits_of_number(type, number));
    const Node* buffer = graph.make(Op::Buffer, {}, {int64_t(inputs.size()) + 1, int64_t(values.size()), 0}, type);
    inputs[buffer] = value;
    const Node* node = graph.make(Op::Reshape, Sources(&buffer, 1), shape);
    if (is_float(type)) leaves.push_back(node);
    return node;
  }
  const Node* random_leaf(Random& random, const std::vector<int64_t>& shape, double low = 0.2, double high = 2.2) {
    std::vector<double> values;
    for (int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()); count > 0; --count)
      values.push_back(low + (high - low) * real(random));
    return leaf(shape, values);
  }
  static double real(Random& random) { return double(random.next() >> 11) * 0x1p-53; }

  const Node* sum(const Node* node) {
    std::vector<int64_t> args{int64_t(Op::Add)};
    for (int64_t i = 0; i < node->rank; ++i) args.push_back(i);
    return node->rank ? graph.make(Op::Reshape, {graph.make(Op::Reduce, Sources(&node, 1), args)}) : node;
  }
  const Node* ones(const Node* like) { return gradients::filled(graph, graph.constant(like->dtype, 1), like->shape()); }
  std::vector<const Node*> differentiate(const Node* output, std::vector<const Node*> targets) {
    return gradient(graph, output, ones(output), targets);
  }
  std::vector<double> numbers(const Node* node) {
    std::vector<double> result;
    for (const Bits bits : evaluate_tensor(node, inputs).values) result.push_back(float_of_bits(node->dtype, bits));
    return result;
  }
  std::vector<double> slope(const Node* output, const Node* target) {
    const Node* found = differentiate(output, {target})[0];
    return found ? numbers(found) : std::vector<double>{};
  }

  /// Compares the gradients of a scalar with differences; returns a scalar made of them, for the next derivative.
  const Node* check(const Node* scalar, Random& random, double tolerance) {
    const std::vector<const Node*> found = differentiate(scalar, leaves);
    const Node* next = graph.constant(DType::float64, 0);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!found[i]) continue;
      EXPECT_EQ(found[i]->dtype, leaves[i]->dtype);
      EXPECT_TRUE(std::ranges::equal(found[i]->shape(), leaves[i]->shape()));
      compare(scalar, leaves[i], numbers(found[i]), tolerance);
      const Node* weights = graph.mul(ones(found[i]), graph.constant(DType::float64, 0.5 + real(random)));
      next = graph.add(next, sum(graph.mul(found[i], graph.cast(weights, found[i]->dtype))));
    }
    return next;
  }

 private:
  void compare(const Node* scalar, const Node* leaf, const std::vector<double>& found, double tolerance) {
    constexpr double step = 1e-5;
    std::vector<Bits>& values = inputs[leaf->source(0)].values;
    const auto difference = [&](size_t i, double h) {
      const Bits before = values[i];
      const double x = float_of_bits(DType::float64, before);
      values[i] = bits_of_float(DType::float64, x + h);
      const double above = numbers(scalar)[0];
      values[i] = bits_of_float(DType::float64, x - h);
      const double below = numbers(scalar)[0];
      values[i] = before;
      return (above - below) / (2 * h);
    };
    for (size_t i = 0; i < values.size(); ++i) {
      // What a difference leaves out grows with the square of the step: 2h gives three times the error of h more.
      const double expected = difference(i, step), coarse = difference(i, 2 * step);
      EXPECT_NEAR(found[i], expected, tolerance * std::max(1.0, std::abs(expected)) + std::abs(coarse - expected))
          << "element " << i << " of " << to_string(leaf->shape());
    }
  }
};

int64_t some_axis(Random& random, const Node* node) { return random.between(0, node->rank - 1); }

std::vector<int64_t> random_shape(Random& random, int64_t least_rank) {
  std::vector<int64_t> shape;
  for (int64_t rank = random.between(least_rank, 3); rank > 0; --rank) shape.push_back(random.between(1, 3));
  return shape;
}

// A random node of one op over a source of rank 2 or more; null if the op is not of this kind.
const Node* random_movement(Op op, Random& random, Graph& graph, const Node* x) {
  std::vector<int64_t> args;
  for (int64_t i = 0; i < x->rank; ++i) {
    const int64_t size = x->shape()[size_t(i)].size;
    if (op == Op::Reshape && i == 0) args.push_back(1);
    if (op == Op::Reshape || op == Op::Expand) args.push_back(op == Op::Expand && size == 1 ? random.between(1, 3) : size);
    if (op == Op::Permute) args.insert(args.begin() + random.between(0, i), i);
    if (op == Op::Flip && random.coin()) args.push_back(i);
    if (op == Op::Pad) args.insert(args.end(), {random.between(0, 2), random.between(0, 2)});
    if (op == Op::Shrink) {
      const int64_t offset = random.between(0, size - 1);
      args.insert(args.end(), {offset, random.between(1, size - offset)});
    }
  }
  if (op == Op::Window || op == Op::Spread) {
    const int64_t window = some_axis(random, x), axis = (window + 1) % x->rank, stride = random.between(1, 2);
    const int64_t length = x->shape()[size_t(axis)].size, taps = x->shape()[size_t(window)].size;
    const int64_t dilation = op == Op::Spread ? random.between(0, 2) : taps == 1 ? 1 : random.between(0, (length - 1) / (taps - 1));
    const int64_t reach = (taps - 1) * dilation;
    args = {axis, window, op == Op::Window ? (length - 1 - reach) / stride + 1 : (length - 1) * stride + reach + 1 + random.between(0, 1),
            stride, dilation};
  }
  return graph.make(op, Sources(&x, 1), args);
}

const Node* random_reduce(Random& random, Graph& graph, const Node* x) {
  constexpr Op kFolded[] = {Op::Add, Op::Mul, Op::Max, Op::Min};
  std::vector<int64_t> args{int64_t(random.pick(kFolded))};
  for (int64_t i = 0; i < x->rank; ++i)
    if (random.coin()) args.push_back(i);
  return graph.make(Op::Reduce, Sources(&x, 1), args);
}

const Node* random_alu(Op op, Random& random, Lab& lab) {
  const std::vector<int64_t> shape = random_shape(random, 1);
  std::vector<const Node*> sources;
  const size_t whole = size_t(random.between(0, info(op).arity - 1));  // this one has the shape, others may be scalars
  for (size_t k = 0; k < size_t(info(op).arity); ++k)
    sources.push_back(lab.random_leaf(random, k == whole || random.coin() ? shape : std::vector<int64_t>{}));
  if (op == Op::Where)
    sources[0] =
        lab.graph.less(lab.random_leaf(random, whole == 0 ? shape : std::vector<int64_t>{}), lab.graph.constant(DType::float64, 1.2));
  return lab.graph.make(op, sources, {}, op == Op::Cast ? DType::float64 : DType::none);
}

const Node* random_assign(Random& random, Lab& lab) {
  const Node* old = lab.random_leaf(random, {3, 4});
  if (random.coin()) return lab.graph.make(Op::Assign, {old, lab.random_leaf(random, {3, 4})}, {1});
  const Node* view = random_movement(Op::Shrink, random, lab.graph, old);
  view = random_movement(random.coin() ? Op::Flip : Op::Permute, random, lab.graph, view);
  std::vector<int64_t> shape;
  for (const Dim& dim : view->shape()) shape.push_back(dim.size);
  return lab.graph.make(Op::Assign, {old, lab.random_leaf(random, shape), view}, {1});
}

const Node* random_scan(Random& random, Lab& lab) {
  constexpr Op kScanned[] = {Op::Add, Op::Mul, Op::MulAdd};
  const std::vector<int64_t> shape = random_shape(random, 1);
  const Op op = random.pick(kScanned);
  std::vector<const Node*> sources{lab.random_leaf(random, shape)};
  if (op == Op::MulAdd) sources.push_back(lab.random_leaf(random, shape));
  return lab.graph.make(Op::Scan, sources, std::array{int64_t(op), some_axis(random, sources[0])});
}

const Node* random_scatter(Random& random, Lab& lab) {
  std::vector<int64_t> shape = random_shape(random, 1);
  const Node* old = lab.random_leaf(random, shape);
  const int64_t axis = some_axis(random, old), size = shape[size_t(axis)];
  shape[size_t(axis)] = random.between(1, 4);
  // Places that meet only where the op allows it: written over, a value has no slope.
  const bool adds = random.coin();
  const Node* places = lab.graph.make(Op::Iota, Sources{}, Args(&shape[size_t(axis)], 1));
  if (adds) places = lab.graph.make(Op::Remainder, {places, lab.graph.index(std::max<int64_t>(size - 1, 1))});
  std::vector<int64_t> line(shape.size(), 1);
  line[size_t(axis)] = shape[size_t(axis)];
  places = lab.graph.make(Op::Reshape, Sources(&places, 1), line);
  places = lab.graph.make(Op::Expand, Sources(&places, 1), shape);
  const int64_t args[] = {int64_t(adds ? Op::Add : Op::Assign), axis};
  return lab.graph.make(Op::Scatter, {old, lab.random_leaf(random, shape), places}, {args[0], args[1]});
}

const Node* random_example(Op op, Random& random, Lab& lab) {
  if (has(op, alu)) return random_alu(op, random, lab);
  if (op == Op::Assign) return random_assign(random, lab);
  if (op == Op::Scan) return random_scan(random, lab);
  if (op == Op::Scatter) return random_scatter(random, lab);
  const Node* x = lab.random_leaf(random, random_shape(random, 2));
  if (has(op, movement)) return random_movement(op, random, lab.graph, x);
  if (op == Op::Reduce) return random_reduce(random, lab.graph, x);
  return op == Op::Copy ? lab.graph.make(op, {x}, {1}) : lab.graph.make(op, {x});
}

TEST(Gradient, EveryRowAgreesWithDifferences) {
  for (size_t i = 0; i < kOpCount; ++i) {
    if (!kHasGradient[i]) continue;
    SCOPED_TRACE(std::string(name(Op(i))));
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(seed);
      Lab lab;
      Random random(seed + std::hash<std::string_view>()(name(Op(i))));  // another row changes nothing for this one
      const Node* node = random_example(Op(i), random, lab);
      bool flows = false;
      for (size_t k = 0; k < node->source_count; ++k) flows = flows || passes_gradient(node, k);
      EXPECT_TRUE(flows);
      // A factor of its own for every element, and a curve, so that second derivatives are there.
      const Node* weights = lab.graph.make(Op::Sin, {lab.graph.mul(node, lab.graph.constant(DType::float64, 1.3))});
      const Node* first = lab.check(lab.sum(lab.graph.mul(node, weights)), random, 1e-6);
      const Node* second = lab.check(first, random, 2e-5);
      lab.check(second, random, 1e-3);
    }
  }
}

TEST(Gradient, RandomGraphsAgreeWithDifferences) {
  constexpr Op kMoves[] = {Op::Reshape, Op::Permute, Op::Expand, Op::Pad, Op::Shrink, Op::Flip, Op::Window, Op::Spread};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Lab lab;
    Random random(seed);
    const Node* x = lab.random_leaf(random, random_shape(random, 2), 0.4, 1.2);
    const Node* scale = lab.random_leaf(random, {});
    for (int i = 0; i < 5; ++i) {
      const Node* next =
          random.between(0, 3) == 0 ? random_reduce(random, lab.graph, x) : random_movement(random.pick(kMoves), random, lab.graph, x);
      if (next->rank > 4 || element_count(next->shape()) > 60) break;
      x = lab.graph.mul(lab.graph.make(Op::Sin, {next}), scale);
    }
    lab.check(lab.check(lab.sum(x), random, 1e-6), random, 1e-4);
  }
}

using Values = std::vector<double>;

TEST(Gradient, TiesAreSharedEqually) {
  for (const Op op : {Op::Max, Op::Min}) {
    Lab lab;
    const double sign = op == Op::Max ? 1 : -1;
    const Node* x = lab.leaf({4}, {1 * sign, 2 * sign, 3 * sign, kNaN});
    const Node* y = lab.leaf({4}, {1 * sign, 3 * sign, 2 * sign, 0});
    const Node* out = lab.graph.make(op, {x, y});
    EXPECT_EQ(lab.slope(out, x), (Values{0.5, 0, 1, 1}));
    EXPECT_EQ(lab.slope(out, y), (Values{0.5, 1, 0, 1}));
    const Node* z = lab.leaf({2, 3}, {1 * sign, 5 * sign, 5 * sign, 2 * sign, 0, -1});
    EXPECT_EQ(lab.slope(lab.graph.make(Op::Reduce, {z}, {int64_t(op), 1}), z), (Values{0, 0.5, 0.5, 1, 0, 0}));
  }
}

TEST(Gradient, PowAtZero) {
  Lab lab;
  const Node* x = lab.leaf({7}, {0, 0, 0, 0, 2, -1, kNaN});
  const Node* y = lab.leaf({7}, {0, 2, 1, -1, 0, 2, 0});
  const Node* out = lab.graph.make(Op::Pow, {x, y});
  const Values dx = lab.slope(out, x), dy = lab.slope(out, y);
  EXPECT_EQ(Values(dx.begin(), dx.begin() + 6), (Values{0, 0, 1, -kInfinity, 0, -2}));
  EXPECT_EQ(Values(dy.begin(), dy.begin() + 3), (Values{0, 0, 0}));
  EXPECT_EQ(dy[3], -kInfinity);
  EXPECT_DOUBLE_EQ(dy[4], std::log(2.0));
  EXPECT_TRUE(std::isnan(dy[5]));  // a negative base is no curve over its exponent
  EXPECT_EQ(dx[6], 0);
}

TEST(Gradient, RunningProductsWithZeros) {
  Lab lab;
  const Node* x = lab.leaf({5}, {2, 0, 3, 0, 5});
  const Node* products = lab.graph.make(Op::Scan, {x}, {int64_t(Op::Mul), 0});
  EXPECT_EQ(lab.slope(products, x), (Values{1, 2 + 2 * 3, 0, 0, 0}));
}

TEST(Gradient, ProductsWithZeros) {
  Lab lab;
  const Node* x = lab.leaf({4, 3}, {2, 3, 4, 2, 0, 4, 0, 3, 0, 0, 0, 0});
  const Node* product = lab.graph.make(Op::Reduce, {x}, {int64_t(Op::Mul), 1});
  EXPECT_EQ(lab.slope(product, x), (Values{12, 8, 6, 0, 8, 0, 0, 0, 0, 0, 0, 0}));
  // The derivative of the sum of the gradients: for each element, the sum of the products that leave out it and one other.
  const Node* first = lab.differentiate(product, {x})[0];
  EXPECT_EQ(lab.slope(first, x), (Values{7, 6, 5, 4, 6, 2, 3, 0, 3, 0, 0, 0}));
}

TEST(Gradient, TheBranchNotChosenGetsZero) {
  Lab lab;
  const Node* x = lab.leaf({3}, {-1, 0, 4});
  const Node* logarithm = lab.graph.make(Op::Log, {x});  // NaN, -inf, log 4
  const Node* positive = lab.graph.less(lab.graph.constant(DType::float64, 0), x);
  const Node* out = lab.graph.where(positive, logarithm, lab.graph.constant(DType::float64, 7));
  EXPECT_EQ(lab.slope(lab.graph.mul(out, out), logarithm), (Values{0, 0, 2 * std::log(4.0)}));
}

TEST(Gradient, Kinks) {
  Lab lab;
  const Node* x = lab.leaf({3}, {-2, 0, 1.5});
  EXPECT_EQ(lab.slope(lab.graph.make(Op::Max, {x, lab.graph.make(Op::Neg, {x})}), x), (Values{-1, 0, 1}));  // |x|
  EXPECT_EQ(lab.slope(lab.graph.make(Op::Trunc, {x}), x), (Values{0, 0, 0}));
  EXPECT_EQ(lab.slope(lab.graph.make(Op::Sqrt, {x}), x)[1], kInfinity);
}

TEST(Gradient, OnlyFloatsOnThePathHaveOne) {
  Lab lab;
  const Node* x = lab.leaf({2}, {1, 2});
  const Node* number = lab.leaf({2}, {3, 4}, DType::int32);
  const Node* flag = lab.graph.less(x, lab.graph.constant(DType::float64, 1.5));
  const Node* other = lab.leaf({2}, {1, 2});
  const Node* cut = lab.graph.make(Op::Detach, {x});
  const Node* out = lab.graph.add(lab.graph.where(flag, cut, other), lab.graph.cast(number, DType::float64));
  const std::vector<const Node*> found = lab.differentiate(out, {x, number, flag, other, cut, out});
  EXPECT_EQ(found[0], nullptr);
  EXPECT_EQ(found[1], nullptr);
  EXPECT_EQ(found[2], nullptr);
  EXPECT_EQ(lab.numbers(found[3]), (Values{0, 1}));
  EXPECT_EQ(lab.numbers(found[4]), (Values{1, 0}));
  EXPECT_EQ(found[5], lab.ones(out));
  // Rounding to integers and back lets nothing through.
  const Node* rounded = lab.graph.cast(lab.graph.cast(x, DType::int32), DType::float64);
  EXPECT_EQ(lab.differentiate(rounded, {x})[0], nullptr);
}

TEST(Gradient, KeepsTheTypeOfEachNode) {
  Lab lab;
  const Node* x = lab.leaf({4096}, Values(4096, 1), DType::float16);
  const Node* scale = lab.leaf({}, {1}, DType::float16);
  const Node* wide = lab.graph.cast(lab.graph.mul(x, scale), DType::float32);
  const std::vector<const Node*> found = lab.differentiate(wide, {x, scale});
  EXPECT_EQ(found[0]->dtype, DType::float16);
  // In float16 itself the sum of 4096 ones would stop at 2048.
  EXPECT_EQ(found[1]->dtype, DType::float16);
  EXPECT_EQ(lab.numbers(found[1]), (Values{4096}));
  for (const Node* node : topological_order(Sources(&found[1], 1))) EXPECT_TRUE(node->op != Op::Reduce || node->dtype == DType::float32);
  const Node* peak = lab.graph.make(Op::Reduce, {x}, {int64_t(Op::Max), 0});
  EXPECT_EQ(lab.slope(peak, x)[0], 1.0 / 4096);
}

TEST(Gradient, SymbolicSizes) {
  Lab lab;
  const auto variable = [&](const char* name, int64_t least, int64_t greatest, int64_t value) {
    const Node* node = lab.graph.make(Op::Variable, {}, {name_id(name), least, greatest}, DType::int32);
    return lab.graph.make(Op::Bind, {node}, {value});
  };
  const Node* size = variable("size", 1, 4, 2);
  const Node* start = variable("start", 0, 2, 1);
  const Node* x = lab.leaf({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Node* part = lab.graph.make(Op::Shrink, {x, start, size}, {kSymbolArg + 1, kSymbolArg + 2, 0, 2});
  EXPECT_EQ(lab.numbers(part), (Values{3, 4, 5, 6}));
  EXPECT_EQ(lab.slope(lab.sum(lab.graph.mul(part, part)), x), (Values{0, 0, 6, 8, 10, 12, 0, 0, 0, 0, 0, 0}));
  // Through a symbolic reshape, a permutation and a mean of symbolic length.
  const Node* flat = lab.graph.make(Op::Reshape, {part, lab.graph.mul(size, lab.graph.constant(DType::int32, 2))}, {kSymbolArg + 1});
  const Node* mean = lab.graph.make(Op::Divide, {lab.sum(flat), lab.graph.cast(flat->shape()[0].symbol, DType::float64)});
  EXPECT_EQ(lab.slope(mean, x), (Values{0, 0, 0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0, 0, 0}));
  // A symbolic axis left whole, and a part of one.
  const Node* column = lab.graph.make(Op::Shrink, {part, size}, {0, kSymbolArg + 1, 1, 1});
  EXPECT_EQ(lab.slope(column, x), (Values{0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(lab.slope(lab.graph.make(Op::Shrink, {part}, {0, 1, 0, 2}), x), (Values{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Gradient, CopiesComeBack) {
  Lab lab;
  const Node* x = lab.leaf({2}, {1, 2});
  const Node* there = lab.graph.make(Op::Copy, {lab.graph.mul(x, x)}, {1});
  const Node* found = lab.differentiate(lab.graph.mul(there, there), {x})[0];
  EXPECT_EQ(found->device, 0);
  EXPECT_EQ(lab.numbers(found), (Values{4, 32}));
}

TEST(Gradient, EqualGraphsHaveEqualGradients) {
  Lab lab;
  const Node* x = lab.leaf({2}, {1, 2});
  const Node* y = x;
  for (int i = 0; i < 20; ++i) y = lab.graph.add(lab.graph.mul(y, y), lab.graph.make(Op::Sin, {y}));
  const Node* first = lab.differentiate(y, {x})[0];
  const size_t size = lab.graph.size();
  EXPECT_EQ(lab.differentiate(y, {x})[0], first);
  EXPECT_EQ(lab.graph.size(), size);
}

TEST(Gradient, AMillionOpsDeep) {
  Lab lab;
  const Node* x = lab.leaf({2}, {1, 2});
  const Node* y = x;
  for (int i = 0; i < 1'000'000; ++i) y = lab.graph.add(y, x);
  const std::clock_t start = std::clock();  // of the processor: a busy machine and a sanitizer stretch the other one
  const Node* found = lab.differentiate(y, {x})[0];
  EXPECT_LT(double(std::clock() - start) / CLOCKS_PER_SEC, 20);
  EXPECT_EQ(lab.numbers(found), (Values{1'000'001, 1'000'001}));
}

}  // namespace
}  // namespace whit
