#include "ir/interpret.h"

#include "base/error.h"
#include "ir/evaluate.h"

namespace whit {

namespace {

// The values found so far while a set of ranges has certain values; what does not depend on its own ranges is kept in the outer scope.
class Scope {
 public:
  Scope(const Environment& environment, Scope* outer, Sources ranges, std::span<const Bits> counters)
      : environment_(environment), outer_(outer) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      own_ |= ranges[i]->open;
      values_[ranges[i]] = counters[i];
    }
  }

  Bits evaluate(const Node* root) {
    std::vector<const Node*> stack{root};
    while (!stack.empty()) {
      const Node* node = stack.back();
      if (find(node)) {
        stack.pop_back();
        continue;
      }
      bool ready = true;
      if (node->op != Op::Accumulate && node->op != Op::Running)  // a reduction visits its sources itself, once for each iteration
        for (size_t i = node->op == Op::Load ? 1 : 0; i < node->source_count; ++i)
          if (!find(node->source(i))) {
            stack.push_back(node->source(i));
            ready = false;
          }
      if (!ready) continue;
      stack.pop_back();
      keep(node, value_of(node));
    }
    return *find(root);
  }

 private:
  const Bits* find(const Node* node) const {
    for (const Scope* scope = this; scope; scope = scope->outer_)
      if (const Bits* value = scope->values_.find(node)) return value;
    return environment_.values.find(node);
  }
  void keep(const Node* node, Bits value) {
    Scope* scope = this;
    while (scope->outer_ && !(node->open & scope->own_)) scope = scope->outer_;
    scope->values_[node] = value;
  }

  Bits value_of(const Node* node) {
    if (node->op == Op::Const || node->op == Op::Bind) return node->arg(0);
    if (node->op == Op::Accumulate) return accumulated(node);
    if (node->op == Op::Running) return running(node);
    if (node->op == Op::Load) return loaded(node);
    WHIT_ASSERT(has(node->op, alu), name(node->op), " has no value in the environment");
    Bits operands[3];
    for (size_t i = 0; i < node->source_count; ++i) operands[i] = *find(node->source(i));
    const DType from = node->source(node->op == Op::Where ? 1 : 0)->dtype;
    if (node->op == Op::Cast) return convert(from, node->dtype, operands[0]);
    if (node->op == Op::Bitcast) return reinterpret(from, node->dtype, operands[0]);
    return whit::evaluate(node->op, from, std::span(operands, node->source_count));
  }

  Bits loaded(const Node* node) {
    if (node->source_count > 2 && !*find(node->source(2))) return 0;
    const std::vector<Bits>* array = environment_.arrays.find(node->source(0));
    WHIT_ASSERT(array, "a Load from storage that has no array in the environment");
    const Bits index = *find(node->source(1));
    WHIT_ASSERT(index >= 0 && size_t(index) < array->size(), "a Load of element ", index, " of ", array->size());
    return (*array)[size_t(index)];
  }

  Bits accumulated(const Node* node) {
    const DType type = is_narrow_float(node->dtype) ? DType::float32 : node->dtype;
    const auto ranges = node->sources().subspan(1);
    std::vector<Bits> counters(ranges.size()), sizes;
    bool empty = false;
    for (const Node* range : ranges) {
      sizes.push_back(evaluate(range->source(0)));
      empty |= sizes.back() <= 0;
    }
    Bits sum = identity_of(node->reduce_op(), type);
    while (!empty) {
      Scope iteration(environment_, this, ranges, counters);
      const Bits operands[2] = {sum, iteration.evaluate(node->source(0))};
      sum = whit::evaluate(node->reduce_op(), type, operands);
      size_t axis = ranges.size();
      while (axis > 0 && ++counters[axis - 1] == sizes[axis - 1]) counters[--axis] = 0;
      if (axis == 0) break;
    }
    return convert(type, node->dtype, sum);
  }

  // The iterations up to this one, anew each time.
  Bits running(const Node* node) {
    const Node* range = node->sources().back();
    const Bits last = evaluate(range);
    ScanState state(node->reduce_op(), node->dtype);
    Bits result = 0;
    for (Bits i = 0; i <= last; ++i) {
      Scope iteration(environment_, this, Sources(&range, 1), Args(&i, 1));
      result = state.next(iteration.evaluate(node->source(0)), iteration.evaluate(node->source(node->source_count - 2)));
    }
    return result;
  }

  const Environment& environment_;
  Scope* outer_;
  uint64_t own_ = 0;
  NodeMap<Bits> values_;
};

}  // namespace

Bits evaluate_expression(const Node* root, const Environment& environment) { return Scope(environment, nullptr, {}, {}).evaluate(root); }

}  // namespace whit
