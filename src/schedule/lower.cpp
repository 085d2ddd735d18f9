#include "schedule/lower.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "ir/evaluate.h"
#include "rules/simplify.h"

namespace whit {

size_t TensorLowering::KeyHash::operator()(const Key& key) const {
  return mix(mix(mix(key.node->hash, key.tuple->hash), key.gate ? key.gate->hash : 0), key.nest->hash);
}

const Node* TensorLowering::find(const Node* node, const Node* root, Place place, const Node* nest) {
  const Key first{node, place.tuple, place.gate, nest};
  std::vector<Key> stack{first}, sources;
  std::vector<const Node*> values;
  while (!stack.empty()) {
    const Key key = stack.back();
    if (done_.contains(key)) {
      stack.pop_back();
      continue;
    }
    const Node* valid = nullptr;
    sources.clear();
    if (!expand(key, root, sources, valid)) {
      stack.pop_back();
      continue;
    }
    values.clear();
    for (const Key& source : sources) {
      const auto found = done_.find(source);
      if (found == done_.end())
        stack.push_back(source);
      else
        values.push_back(found->second);
    }
    if (values.size() < sources.size()) continue;
    stack.pop_back();
    done_.emplace(key, combine(key, values, valid));
  }
  const Node* result = done_.at(first);
  if (root) done_.erase(first);  // elsewhere the root is read from its storage
  return result;
}

// Settles leaves and storage at once (false), or lists what the value is computed from.
bool TensorLowering::expand(const Key& key, const Node* root, std::vector<Key>& sources, const Node*& valid) {
  const Node* node = key.node;
  const Place place{key.tuple, key.gate};
  for (const Shared& shared : shared_)
    if (shared.node == node && shared.place == place && node != root) return done_.emplace(key, shared.value), false;
  if (node != root)
    if (const auto found = storage_.find(node); found != storage_.end()) return done_.emplace(key, read(found->second, node, place)), false;
  // A reshape keeps the row-major order, so what is stored below it is read by the reshaped index directly: nothing to divide.
  const Node* below = node;
  while (below->op == Op::Reshape && below->sources().size() == 1) below = below->source(0);
  const bool in_kernel = std::ranges::any_of(shared_, [&](const Shared& shared) { return shared.node == below; });
  if (below != node && below != root && !in_kernel) {
    const auto found = storage_.find(below);
    if (found != storage_.end() || below->op == Op::Param) {
      if (std::ranges::find(reads_, below) == reads_.end()) reads_.push_back(below);
      return done_.emplace(key, load(found == storage_.end() ? below : found->second, node->shape(), place)), false;
    }
  }
  if (node->op == Op::Param) return done_.emplace(key, read(node, node, place)), false;
  if (node->op == Op::Iota) return done_.emplace(key, key.tuple->source(0)), false;
  if (node->op == Op::Bind) return done_.emplace(key, node->source(0)), false;
  if (has(node->op, leaf)) return done_.emplace(key, node), false;
  const auto [first, last] = sources_read(node);
  for (size_t i = first; i < last; ++i) {
    const SourceUse use = source_use(graph_, node, i, place, key.nest);
    valid = use.valid;
    sources.push_back({node->source(i), use.place.tuple, use.place.gate, use.nest});
  }
  return true;
}

const Node* TensorLowering::read(const Node* param, const Node* node, Place place) {
  if (std::ranges::find(reads_, node) == reads_.end()) reads_.push_back(node);
  return load(param, node->shape(), place);
}

const Node* TensorLowering::load(const Node* param, ShapeView shape, Place place) {
  const Node* index = flat_index(graph_, shape, place.tuple);
  // A gate keeps the load inside the storage; where intervals show that it is, what stands around it needs only a Where.
  if (place.gate && (index->minimum < 0 || index->maximum >= param->arg(1))) return graph_.make(Op::Load, {param, index, place.gate});
  return graph_.make(Op::Load, {param, index});
}

const Node* TensorLowering::combine(const Key& key, Sources values, const Node* valid) {
  const Node* node = key.node;
  if (has(node->op, alu)) return graph_.with_sources(node, values);
  if (node->op == Op::Reduce) return accumulate(key, values[0]);
  if (node->op == Op::Scan) return running(key, values);
  const Node* value = values[0];
  if (!valid) return value;
  // A gated load is 0 where its gate, which includes `valid`, is false.
  if (value->op == Op::Load && value->sources().size() == 3) return value;
  return graph_.where(valid, value, graph_.constant(value->dtype, 0));
}

// Where(p, sum, 0), possibly under more such Wheres, as the sum of padded terms.
static const Node* pad_inside(Graph& graph, const Node* value) {
  const Node *gate = nullptr, *inner = value;
  while (inner->op == Op::Where && inner->source(2)->is_constant(0)) {
    gate = graph.both(gate, inner->source(0));
    inner = inner->source(1);
  }
  if (!gate || inner->op != Op::Accumulate || inner->reduce_op() != Op::Add) return value;
  std::vector<const Node*> sources(inner->sources().begin(), inner->sources().end());
  sources[0] = graph.where(gate, sources[0], graph.constant(value->dtype, 0));
  return graph.with_sources(inner, sources);
}

// A padded product as a product of padded factors: the same value (0 * 0 is 0, whatever the factors), and a multiply-add may follow.
static const Node* gate_factors(Graph& graph, const Node* value) {
  if (value->op != Op::Where || value->source(1)->op != Op::Mul || !value->source(2)->is_constant(0)) return value;
  const auto padded = [&](const Node* factor) {
    const bool gated = factor->op == Op::Load && factor->sources().size() == 3 && factor->source(2) == value->source(0);
    return gated ? factor : graph.where(value->source(0), factor, value->source(2));
  };
  return graph.mul(padded(value->source(1)->source(0)), padded(value->source(1)->source(1)));
}

const Node* TensorLowering::accumulate(const Key& key, const Node* value) {
  const Node* node = key.node;
  const SourceUse use = source_use(graph_, node, 0, {key.tuple, key.gate}, key.nest);
  std::vector<const Node*> sources{value};
  for (const Node* range : use.nest->sources().subspan(depth_of({key.tuple, key.gate}, key.nest))) {
    if (range->source(0)->is_constant(0)) return graph_.constant_bits(value->dtype, identity_of(node->reduce_op(), value->dtype));
    sources.push_back(range);
  }
  if (sources.size() == 1) return value;
  // Sum of a padded sum: the padding moves inside, and the two become one loop nest with one accumulator.
  if (node->reduce_op() == Op::Add) value = pad_inside(graph_, value);
  if (value->op == Op::Accumulate && value->reduce_op() == node->reduce_op()) {
    sources[0] = value->source(0);
    sources.insert(sources.end(), value->sources().begin() + 1, value->sources().end());
  }
  if (node->reduce_op() == Op::Add) sources[0] = gate_factors(graph_, sources[0]);
  return graph_.make(Op::Accumulate, sources, Args(&node->args()[0], 1));
}

const Node* TensorLowering::running(const Key& key, Sources values) {
  const Node* node = key.node;
  const Node* range = key.tuple->source(size_t(node->arg(1)));
  if (range->op != Op::Range) return values.back();  // of one element
  const bool narrow = is_narrow_float(node->dtype);
  std::vector<const Node*> sources;
  for (const Node* value : values) sources.push_back(narrow ? graph_.cast(value, DType::float32) : value);
  sources.push_back(range);
  return graph_.cast(graph_.make(Op::Running, sources, node->args().first(1)), node->dtype);
}

}  // namespace whit
