// Random tensor graphs: whatever scheduling makes of them, the values are the reference's.
#include "device_under_test.h"

namespace whit {
namespace {

class RandomTensors {
 public:
  explicit RandomTensors(uint64_t seed, bool large) : trial(seed), large_(large) {}

  NodeRef draw(int steps) {
    for (int i = 0; i < 2; ++i) add_input();
    for (int i = 0; i < steps; ++i) step();
    return nodes_.back();
  }

  Trial trial;

 private:
  static std::vector<int64_t> sizes(const NodeRef& node) {
    std::vector<int64_t> shape;
    for (const Dim& dim : node->shape()) shape.push_back(dim.size);
    return shape;
  }
  size_t pick(size_t count) { return trial.pick(count); }
  NodeRef any() { return nodes_[nodes_.size() - 1 - pick(std::min<size_t>(nodes_.size(), 6))]; }

  void add_input() {
    std::vector<int64_t> shape;
    for (size_t i = 0, rank = 1 + pick(3); i < rank; ++i) shape.push_back(int64_t(1 + pick(7)));
    if (pick(8) == 0) shape.back() = int64_t(16 + pick(40));
    if (large_) shape[pick(shape.size())] = int64_t(60 + pick(700));
    const DType type = pick(3) == 0 ? DType::int32 : DType::float32;
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    std::vector<Bits> values;
    std::uniform_real_distribution<double> real(-2, 2);
    for (int64_t i = 0; i < count; ++i)
      values.push_back(is_float(type) ? bits_of_float(type, real(trial.random)) : bits_of_integer(type, int64_t(pick(9)) - 4));
    nodes_.push_back(trial.store(type, shape, values));
  }

  void keep(const NodeRef& node) {
    if (element_count(node->shape()) > (large_ ? 100000 : 20000) || node->rank > 6) return;
    nodes_.push_back(node);
  }

  void step() {
    switch (pick(16)) {
      case 0: return add_input();
      case 1: return keep(unary());
      case 2:
      case 3:
      case 4: return keep(binary());
      case 5: return reshape();
      case 6: return permute();
      case 7: return pad_or_shrink();
      case 8: return flip();
      case 9: return expand();
      case 10:
      case 11: return reduce();
      case 12: return window();
      case 13: return scan();
      case 14: return scatter();
      default: return store();
    }
  }

  NodeRef unary() {
    const NodeRef x = any();
    if (!is_float(x->dtype)) return trial.make(Op::Neg, {x});
    constexpr Op kOps[] = {Op::Neg, Op::Exp2, Op::Sin, Op::Trunc};
    const Op op = kOps[pick(large_ ? 3 : 4)];  // where many elements are near a whole number, Trunc shows their rounding
    // Bounded, so that errors do not grow without bound either.
    return op == Op::Exp2 ? trial.make(op, {trial.make(Op::Sin, {x})}) : trial.make(op, {x});
  }

  NodeRef binary() {
    const NodeRef x = any();
    NodeRef y;
    for (const NodeRef& other : nodes_)
      if (other->dtype == x->dtype && sizes(other) == sizes(x) && pick(2) == 0) y = other;
    if (!y) y = TensorGraph::shared().constant(x->dtype, double(pick(5)) - 2);
    switch (pick(6)) {
      case 0: return trial.make(Op::Mul, {x, y});
      case 1: return trial.make(Op::Max, {x, y});
      case 2: return trial.make(Op::Min, {x, y});
      case 3: return trial.make(Op::Where, {trial.make(Op::Less, {x, y}), x, y});
      case 4: return is_float(x->dtype) ? trial.make(Op::Add, {x, trial.make(Op::Neg, {y})}) : trial.make(Op::Remainder, {x, y});
      default: return trial.make(Op::Add, {x, y});
    }
  }

  void reshape() {
    const NodeRef x = any();
    std::vector<int64_t> shape = sizes(x);
    if (shape.size() > 1 && pick(2)) {
      const size_t at = pick(shape.size() - 1);
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + std::ptrdiff_t(at) + 1);
    } else if (!shape.empty()) {
      const size_t at = pick(shape.size());
      for (const int64_t factor : {2, 3, 5})
        if (shape[at] % factor == 0) {
          shape[at] /= factor;
          shape.insert(shape.begin() + std::ptrdiff_t(at) + 1, factor);
          break;
        }
    }
    keep(trial.make(Op::Reshape, {x}, shape));
  }

  void permute() {
    const NodeRef x = any();
    std::vector<int64_t> axes(x->rank);
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = int64_t(i);
    std::ranges::shuffle(axes, trial.random);
    keep(trial.make(Op::Permute, {x}, axes));
  }

  void pad_or_shrink() {
    const NodeRef x = any();
    const std::vector<int64_t> shape = sizes(x);
    std::vector<int64_t> args;
    const bool pad = pick(2);
    for (const int64_t size : shape) {
      if (pad) {
        args.push_back(int64_t(pick(3)));
        args.push_back(int64_t(pick(3)));
      } else {
        const int64_t offset = int64_t(pick(size_t(size)));
        args.push_back(offset);
        args.push_back(int64_t(1 + pick(size_t(size - offset))));
      }
    }
    keep(trial.make(pad ? Op::Pad : Op::Shrink, {x}, args));
  }

  void flip() {
    const NodeRef x = any();
    if (x->rank) keep(trial.make(Op::Flip, {x}, {int64_t(pick(x->rank))}));
  }

  void expand() {
    const NodeRef x = any();
    std::vector<int64_t> shape = sizes(x), wide = shape;
    const size_t at = pick(shape.size() + 1);
    shape.insert(shape.begin() + std::ptrdiff_t(at), 1);
    wide.insert(wide.begin() + std::ptrdiff_t(at), int64_t(1 + pick(4)));
    keep(trial.make(Op::Expand, {trial.make(Op::Reshape, {x}, shape)}, wide));
  }

  void reduce() {
    const NodeRef x = any();
    if (!x->rank) return;
    const size_t axis = pick(x->rank);
    constexpr Op kOps[] = {Op::Add, Op::Max, Op::Min};
    const Op op = kOps[pick(3)];
    NodeRef folded = trial.make(Op::Reduce, {x}, {int64_t(op), int64_t(axis)});
    // Means of many stay as small as what they are of: a sine of large sums would show nothing but their rounding.
    if (large_ && op == Op::Add && is_float(x->dtype))
      folded = trial.make(Op::Mul, {folded, TensorGraph::shared().constant(x->dtype, 1 / double(sizes(x)[axis]))});
    if (pick(2)) {  // spread over the axis again, as a softmax does
      folded = trial.make(Op::Expand, {folded}, sizes(x));
      return keep(trial.make(Op::Add, {x, trial.make(Op::Neg, {folded})}));
    }
    keep(folded);
  }

  void window() {
    const NodeRef x = any();
    if (!x->rank) return;
    const size_t axis = pick(x->rank);
    std::vector<int64_t> shape = sizes(x), wide = shape;
    const int64_t size = shape[axis], kernel = int64_t(1 + pick(3)), stride = int64_t(1 + pick(2)), dilation = int64_t(1 + pick(2));
    const int64_t reach = (kernel - 1) * dilation + 1;
    if (reach > size) return;
    const int64_t positions = (size - reach) / stride + 1;
    shape.insert(shape.begin() + std::ptrdiff_t(axis) + 1, 1);
    wide.insert(wide.begin() + std::ptrdiff_t(axis) + 1, kernel);
    NodeRef windows = trial.make(Op::Expand, {trial.make(Op::Reshape, {x}, shape)}, wide);
    windows = trial.make(Op::Window, {windows}, {int64_t(axis), int64_t(axis) + 1, positions, stride, dilation});
    if (pick(2)) windows = trial.make(Op::Spread, {windows}, {int64_t(axis), int64_t(axis) + 1, size, stride, dilation});
    keep(pick(2) ? trial.make(Op::Reduce, {windows}, {int64_t(Op::Add), int64_t(axis) + 1}) : windows);
  }

  void scan() {
    const NodeRef x = any();
    if (!x->rank) return;
    const size_t axis = pick(x->rank);
    constexpr Op kOps[] = {Op::Add, Op::Max, Op::Min};
    const Op op = kOps[pick(3)];
    NodeRef scanned = trial.make(Op::Scan, {x}, {int64_t(op), int64_t(axis)});
    if (op == Op::Add && is_float(x->dtype))  // as small as what it is of
      scanned = trial.make(Op::Mul, {scanned, TensorGraph::shared().constant(x->dtype, 1 / double(sizes(x)[axis]))});
    keep(scanned);
  }

  void scatter() {
    const NodeRef old = any();
    if (!old->rank) return;
    const size_t axis = pick(old->rank);
    std::vector<int64_t> shape = sizes(old), line(shape.size(), 1);
    shape[axis] = line[axis] = int64_t(1 + pick(9));
    // Places that meet, places outside, the same for all rows or not.
    std::vector<Bits> places;
    for (int64_t i = 0; i < line[axis]; ++i) places.push_back(int64_t(pick(size_t(sizes(old)[axis]) + 2)) - 1);
    NodeRef index = trial.make(Op::Expand, {trial.store(DType::int32, line, places)}, shape);
    NodeRef value =
        trial.store(old->dtype, line, std::vector<Bits>(size_t(line[axis]), is_float(old->dtype) ? bits_of_float(old->dtype, 0.75) : 3));
    value = trial.make(Op::Expand, {value}, shape);
    if (shape == sizes(old) && pick(2)) value = old;
    constexpr Op kOps[] = {Op::Add, Op::Max, Op::Assign};
    keep(trial.make(Op::Scatter, {old, value, index}, {int64_t(kOps[pick(3)]), int64_t(axis)}));
  }

  void store() { keep(trial.make(Op::Contiguous, {any()})); }

  const bool large_;
  std::vector<NodeRef> nodes_;
};

void compare(uint64_t seed, int steps, bool large) {
  RandomTensors graph(seed, large);
  const NodeRef root = graph.draw(steps);
  const TensorValue wanted = graph.trial.reference(root);
  const std::vector<Bits> got = graph.trial.computed(root);
  ASSERT_EQ(wanted.values.size(), got.size());
  double largest = 1;
  if (is_float(root->dtype))
    for (const Bits bits : wanted.values)
      if (const double v = std::fabs(float_of_bits(root->dtype, bits)); std::isfinite(v)) largest = std::max(largest, v);
  for (size_t i = 0; i < got.size(); ++i) {
    // Sums are taken in another order, and functions are within 2 units in the last place: errors grow with the values met on the way.
    ASSERT_TRUE(agrees(root->dtype, wanted.values[i], got[i], 1e-4, (large ? 1e-4 : 1e-5) * largest))
        << "seed " << seed << " at " << i << ": " << float_of_bits(root->dtype, got[i]) << " where "
        << float_of_bits(root->dtype, wanted.values[i]) << " is meant\n"
        << print(std::vector<const Node*>{root.get()});
  }
}

// Trunc and Where choose by comparing: where two values lie within rounding of each other, either choice is right. The graphs are small
// enough that no seed in use meets one.
void compare_many(bool large) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const char *graphs = std::getenv("WHIT_FUZZ_GRAPHS"), *first = std::getenv("WHIT_FUZZ_SEED");
  // A compiler of its own process takes 50 ms or more for each graph.
  const bool slow = device_under_test() == "CL" || device_under_test() == "CPU:C";
  const int count = graphs ? std::atoi(graphs) : slow ? 20 : large ? 60 : 300;
  const uint64_t start = first ? std::strtoull(first, nullptr, 10) : 1;
  for (int i = 0; i < count; ++i) {
    compare(start + uint64_t(i), 4 + i % 20, large);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(RandomGraphs, AgreeWithTheReference) { compare_many(false); }

// Loops long enough to be cut into blocks, peeled and dealt to threads.
TEST(RandomGraphs, LargeOnesAgreeWithTheReference) { compare_many(true); }

TEST(RandomGraphs, AgreeWithTheReferenceUnoptimized) {
  setenv("WHIT_NOOPT", "1", 1);
  compare_many(false);
  unsetenv("WHIT_NOOPT");
}

}  // namespace
}  // namespace whit
