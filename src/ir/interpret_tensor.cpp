#include "ir/interpret_tensor.h"

#include <algorithm>

#include "base/error.h"
#include "ir/evaluate.h"
#include "ir/interpret_movement.h"

namespace whit {

namespace {

class Evaluation {
 public:
  explicit Evaluation(const TensorInputs& inputs) : inputs_(inputs) {}

  void run(Sources roots) {
    for (const Node* node : topological_order(roots)) {
      if (const TensorValue* given = inputs_.find(node))
        values_.emplace(node, *given);
      else if (can_evaluate(node))
        values_.emplace(node, evaluate_node(node));
    }
  }
  const TensorValue& operator[](const Node* node) const {
    const TensorValue* value = values_.find(node);
    WHIT_ASSERT(value, name(node->op), " has no value: give it, or the Buffers, Params and Variables below it, as inputs");
    return *value;
  }

 private:
  // What lies below a node that was given, or below a Bind, need not have a value.
  bool can_evaluate(const Node* node) const {
    if (node->op == Op::Bind) return true;
    if (node->op == Op::Buffer || node->op == Op::Param || node->op == Op::Variable) return false;
    return std::ranges::all_of(node->sources(), [&](const Node* source) { return values_.contains(source); });
  }

  TensorValue evaluate_node(const Node* node) const {
    if (has(node->op, movement)) return moved(node, value_of(node, 0), sizes_of(node));
    if (has(node->op, alu)) return elementwise(node);
    switch (node->op) {
      case Op::Const:
      case Op::Bind: return {{}, {node->arg(0)}};
      case Op::Iota: return counted(sizes_of(node)[0], 0);
      case Op::Reduce: return reduced(node);
      case Op::Scan: return scanned(node);
      case Op::Scatter: return scattered(node);
      case Op::Order: return ordered(node);
      case Op::Contiguous:
      case Op::Detach:
      case Op::Copy: return value_of(node, 0);
      case Op::Assign: return assigned(node);
      case Op::Sink: return {};
      default: WHIT_ASSERT(false, name(node->op), " is no tensor");
    }
    return {};
  }

  const TensorValue& value_of(const Node* node, size_t source) const { return (*this)[node->source(source)]; }

  /// A size or offset in the args of a node.
  int64_t size_of(const Node* node, int64_t arg) const {
    return is_symbol_arg(arg) ? value_of(node, size_t(arg - kSymbolArg)).values[0] : arg;
  }
  std::vector<int64_t> sizes_of(const Node* node) const {
    std::vector<int64_t> sizes;
    for (const int64_t arg : node->args()) sizes.push_back(size_of(node, arg));
    return sizes;
  }

  TensorValue elementwise(const Node* node) const {
    TensorValue result;
    for (size_t i = 0; i < node->source_count; ++i)
      if (value_of(node, i).shape.size() >= result.shape.size()) result.shape = value_of(node, i).shape;
    const DType from = node->source(node->op == Op::Where ? 1 : 0)->dtype;
    result.values.resize(size_t(count_of(result.shape)));
    for (size_t i = 0; i < result.values.size(); ++i) {
      Bits operands[3];
      for (size_t k = 0; k < node->source_count; ++k) {
        const TensorValue& source = value_of(node, k);
        operands[k] = source.values[source.shape.empty() ? 0 : i];
      }
      result.values[i] = node->op == Op::Cast      ? convert(from, node->dtype, operands[0])
                         : node->op == Op::Bitcast ? reinterpret(from, node->dtype, operands[0])
                                                   : evaluate(node->op, from, std::span(operands, node->source_count));
    }
    return result;
  }

  TensorValue reduced(const Node* node) const {
    const TensorValue& source = value_of(node, 0);
    const DType type = is_narrow_float(node->dtype) ? DType::float32 : node->dtype;
    TensorValue result{source.shape, {}};
    for (const int64_t axis : node->args().subspan(1)) result.shape[size_t(axis)] = 1;
    result.values.assign(size_t(count_of(result.shape)), identity_of(node->reduce_op(), type));
    std::vector<int64_t> index(source.shape.size());
    for (const Bits value : source.values) {
      Bits& sum = result.values[size_t(offset_of(result.shape, index))];
      const Bits operands[2] = {sum, value};
      sum = evaluate(node->reduce_op(), type, operands);
      advance(index, source.shape);
    }
    for (Bits& value : result.values) value = convert(type, node->dtype, value);
    return result;
  }

  TensorValue scanned(const Node* node) const {
    const size_t axis = size_t(node->arg(1));
    TensorValue result = value_of(node, 0);
    int64_t inner = 1;
    for (size_t i = axis + 1; i < result.shape.size(); ++i) inner *= result.shape[i];
    ScanState state(node->reduce_op(), node->dtype);
    const int64_t row = result.shape[axis] * inner;
    for (int64_t start = 0; row > 0 && start < int64_t(result.values.size()); start += row)
      for (int64_t column = start; column < start + inner; ++column) {
        state.start();
        for (int64_t i = column; i < start + row; i += inner)
          result.values[size_t(i)] = state.next(result.values[size_t(i)], value_of(node, node->source_count - 1).values[size_t(i)]);
      }
    return result;
  }

  TensorValue scattered(const Node* node) const {
    const size_t axis = size_t(node->arg(1));
    TensorValue result = value_of(node, 0);
    const TensorValue &value = value_of(node, 1), &place = value_of(node, 2);
    std::vector<int64_t> index(value.shape.size());
    for (size_t i = 0; i < value.values.size(); ++i, advance(index, value.shape)) {
      std::vector<int64_t> target = index;
      target[axis] = place.values[i];
      if (target[axis] < 0 || target[axis] >= result.shape[axis]) continue;
      Bits& old = result.values[size_t(offset_of(result.shape, target))];
      const Bits operands[2] = {old, value.values[i]};
      old = node->reduce_op() == Op::Assign ? value.values[i] : evaluate(node->reduce_op(), node->dtype, operands);
    }
    return result;
  }

  TensorValue ordered(const Node* node) const {
    const TensorValue& keys = value_of(node, 0);
    TensorValue result{keys.shape, {}};
    const size_t size = size_t(keys.shape.back());
    for (size_t start = 0; start < keys.values.size(); start += size) {
      std::vector<Bits> places(size);
      for (size_t i = 0; i < size; ++i) places[i] = Bits(i);
      std::ranges::stable_sort(places, {}, [&](Bits place) { return uint64_t(keys.values[start + size_t(place)]); });
      result.values.insert(result.values.end(), places.begin(), places.end());
    }
    return result;
  }

  // Moving the numbers of the old version's elements as the view moves its elements tells where the written ones lie.
  TensorValue assigned(const Node* node) const {
    TensorValue result = value_of(node, 0);
    const TensorValue& value = value_of(node, 1);
    if (node->source_count == 2) {
      WHIT_ASSERT(value.values.size() == result.values.size(), "Assign of ", value.values.size(), " elements to ", result.values.size());
      result.values = value.values;
      return result;
    }
    std::vector<const Node*> chain;
    const Node* base = node->source(2);
    for (; base != node->source(0) && has(base->op, movement); base = base->source(0)) chain.push_back(base);
    TensorValue places = counted(int64_t(result.values.size()), 1);
    places.shape = (*this)[base].shape;
    for (; !chain.empty(); chain.pop_back()) places = moved(chain.back(), places, sizes_of(chain.back()));
    WHIT_ASSERT(value.values.size() == places.values.size(), "Assign of ", value.values.size(), " elements to a view of ",
                places.values.size());
    for (size_t i = 0; i < places.values.size(); ++i)
      if (places.values[i] != 0) result.values[size_t(places.values[i] - 1)] = value.values[i];
    return result;
  }

  const TensorInputs& inputs_;
  NodeMap<TensorValue> values_;
};

}  // namespace

std::vector<TensorValue> evaluate_tensors(Sources roots, const TensorInputs& inputs) {
  Evaluation evaluation(inputs);
  evaluation.run(roots);
  std::vector<TensorValue> results;
  for (const Node* root : roots) results.push_back(evaluation[root]);
  return results;
}

TensorValue evaluate_tensor(const Node* root, const TensorInputs& inputs) {
  return std::move(evaluate_tensors(Sources(&root, 1), inputs)[0]);
}

}  // namespace whit
