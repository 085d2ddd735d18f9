// Linear kernels drawn at random, with their data: every op that needs no lowering, nested loops, registers, lanes of several widths,
// gates, gathers, and nodes that are executed again. What they give is what the interpreter makes of them.
#pragma once

#include <algorithm>
#include <random>
#include <ranges>

#include "unit/linear_cases.h"

namespace whit {

class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed) : made_(start_case(concat("random_", seed))), b_(*made_.builder), random_(seed) {}

  LinearCase draw() {
    for (int k = 0; k < 6; ++k) {
      const DType type = any_type();
      buffers_.push_back(add_buffer(made_, type, some_of(type), k < 4));
    }
    size_ = b_.variable("size", DType::index, 0, 3);
    values_ = {size_, b_.variable("f", DType::float32, 0, 1), b_.variable("i", DType::int32, -100, 100)};
    made_.variables = {below(4), bits_of_float(DType::float32, 0.75), below(201) - 100};
    made_.count = 1;  // chunks may run at once, and these kernels read what they write
    const Node* outer = b_.loop(1, AxisKind::parallel);
    const Node* again = b_.loop(1 + below(4));
    counters_ = {outer, again};
    lanes_ = {b_.vector(below(2) ? 4 : 8)};
    if (below(3) == 0) lanes_.push_back(b_.vector(below(2) ? 16 : 2));
    values_.push_back(again);
    values_.insert(values_.end(), lanes_.begin(), lanes_.end());
    for (int k = 0; k < 5; ++k) {
      const DType type = any_type();
      registers_.push_back(b_.reg(k, type, below(2) ? one_of(lanes_) : nullptr));
      b_.set(registers_.back(), edge(type));
    }
    for (int k = 0; k < 60; ++k) step();
    b_.end(again);
    b_.end(outer);
    return std::move(made_);
  }

 private:
  static constexpr int64_t kElements = 64;
  static constexpr int64_t kReach = int64_t(1) << 40;  // indices stay below this, so that no sum of a few overflows

  int64_t below(int64_t limit) { return int64_t(random_() % uint64_t(limit)); }
  template <class Range>
  std::ranges::range_value_t<Range> one_of(const Range& range) {
    return range[size_t(below(int64_t(std::size(range))))];
  }
  DType any_type() {
    constexpr DType types[] = {DType::boolean, DType::int8,  DType::uint8,  DType::int16,   DType::uint16, DType::int32,
                               DType::uint32,  DType::int64, DType::uint64, DType::float32, DType::float64};
    return one_of(types);
  }
  std::vector<Bits> some_of(DType type) {
    std::vector<Bits> bits;
    for (int64_t i = 0; i < kElements; ++i) bits.push_back(below(2) ? one_of(edge_values(type)) : bits_of_number(type, double(below(7))));
    return bits;
  }
  const Node* edge(DType type) {
    return type == DType::index ? b_.index(below(20) - 4) : b_.graph.constant_bits(type, one_of(edge_values(type)));
  }
  const Node* lanes_of(const Node* node) { return b_.kernel.vector_range(node); }
  bool fits(const Node* node, DType type, const Node* lanes) { return node->dtype == type && (!lanes_of(node) || lanes_of(node) == lanes); }

  /// A value that may stand where lanes over this range are worked on; null: a scalar.
  const Node* value(DType type, const Node* lanes) {
    for (int tries = 0; tries < 8; ++tries)
      if (const Node* found = one_of(values_); fits(found, type, lanes)) return found;
    if (const Node* found = one_of(registers_); fits(found, type, lanes)) return found;
    return edge(type);
  }
  void add(const Node* node) {
    if (!node->is_constant()) values_.push_back(b_.push(node));
  }
  const Node* index_below(int64_t limit, const Node* lanes) {
    const Node* index = value(DType::index, lanes);
    if (index->minimum < 0) index = b_.add(index, b_.index(-index->minimum));
    return index->maximum < limit ? index : b_.make(Op::Remainder, {index, b_.index(limit)});
  }

  void step() {
    const Node* lanes = below(3) ? one_of(lanes_) : nullptr;
    switch (below(12)) {
      case 0: return cast(lanes);
      case 1: return load(lanes);
      case 2: return store(lanes);
      case 3: return set();
      case 4: return fold();
      case 5: return repeat();
      case 6: return loop();
      default: return compute(lanes);
    }
  }

  void compute(const Node* lanes) {
    constexpr Op ops[] = {Op::Neg,      Op::Reciprocal, Op::Sqrt,  Op::Trunc,    Op::Add, Op::Mul,  Op::Divide,
                          Op::Quotient, Op::Remainder,  Op::Less,  Op::NotEqual, Op::And, Op::Or,   Op::Xor,
                          Op::Shl,      Op::Shr,        Op::Where, Op::Add,      Op::Mul, Op::Where};
    const Op op = one_of(ops);
    DType type = below(4) == 0 ? DType::index : any_type();
    if (has(op, floating) && !is_float(type)) type = DType::float32;
    if (has(op, integral) && is_float(type)) type = DType::int32;
    std::vector<const Node*> sources;
    sources.reserve(3);
    for (int i = 0; i < info(op).arity; ++i) sources.push_back(value(op == Op::Where && i == 0 ? DType::boolean : type, lanes));
    if (type == DType::index && (op == Op::Shl || op == Op::Shr)) sources[1] = b_.index(below(5));
    const Node* node = b_.graph.make(op, Sources(sources));
    if (node->dtype != DType::index || (node->minimum > -kReach && node->maximum < kReach)) add(node);
  }

  void cast(const Node* lanes) {
    const DType from = below(4) == 0 ? DType::index : any_type(), to = any_type();
    if (from == to) return;
    add(b_.graph.make(Op::Cast, {value(from, lanes)}, {}, to));
    if (from != DType::index && item_size(from) == item_size(to)) add(b_.graph.make(Op::Bitcast, {value(from, lanes)}, {}, to));
  }

  void load(const Node* lanes) {
    const Node *buffer = one_of(buffers_), *gate = below(3) == 0 ? value(DType::boolean, lanes) : nullptr;
    if (lanes && below(2))
      values_.push_back(b_.load(buffer, index_below(kElements + 1 - lanes->source(0)->arg(0), nullptr), lanes, gate));
    else
      values_.push_back(b_.load(buffer, index_below(kElements, lanes), gate));
  }

  void store(const Node* lanes) {
    const Node *buffer = buffers_[size_t(below(4))], *gate = below(3) == 0 ? value(DType::boolean, lanes) : nullptr;
    const Node* stored = value(buffer->dtype, lanes);
    if (lanes && below(3)) return b_.store(buffer, index_below(kElements + 1 - lanes->source(0)->arg(0), nullptr), stored, lanes, gate);
    const Node* index = index_below(kElements, lanes);
    if (lanes_of(index) || (!lanes_of(stored) && !(gate && lanes_of(gate)))) b_.store(buffer, index, stored, gate);
  }

  void set() {
    const Node* reg = one_of(registers_);
    b_.set(reg, value(reg->dtype, lanes_of(reg)));
  }

  void fold() {
    constexpr Op ops[] = {Op::Add, Op::Mul, Op::And, Op::Or, Op::Xor};
    const Op op = one_of(ops);
    const Node *lanes = one_of(lanes_), *folded = value(has(op, integral) ? DType::int32 : any_type(), lanes);
    if (lanes_of(folded)) add(b_.graph.make(Op::Across, {folded, lanes}, {int64_t(op)}));
  }

  /// Executes again what was executed before, where all that it needs is still there.
  void repeat() {
    const Node* node = one_of(values_);
    if (!has(node->op, alu) && node->op != Op::Load) return;
    const bool ready = std::ranges::all_of(node->sources(), [&](const Node* source) {
      return source->is_constant() || source->op == Op::Param || source->op == Op::Register ||
             std::ranges::find(values_, source) != values_.end();
    });
    if (ready) b_.push(node);
  }

  void loop() {
    if (counters_.size() >= 5 || b_.kernel.code.size() > 150) return;
    const size_t kept = values_.size();
    const Node* counter = below(4) == 0 ? b_.loop(size_) : b_.loop(1 + below(3));
    counters_.push_back(counter);
    values_.push_back(counter);
    for (int64_t k = 3 + below(20); k > 0; --k) step();
    b_.end(counter);
    counters_.pop_back();
    values_.resize(kept);
  }

  LinearCase made_;
  LinearBuilder& b_;
  std::mt19937_64 random_;
  const Node* size_ = nullptr;
  std::vector<const Node*> buffers_, values_, registers_, lanes_, counters_;
};

}  // namespace whit
