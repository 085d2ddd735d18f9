// Types a target doesn't compute in: float8, float16 and bfloat16 as words in memory and float32 in between.
#include <algorithm>

#include "ir/node_map.h"
#include "rules/decompose_value.h"

namespace whit {

namespace {

/// The float32 that stands for a narrow value; `rounded` says that it is one of the narrow type's values already.
struct Lowered {
  const Node* value = nullptr;
  bool rounded = true;
};

// These give one of their operands, or what is a narrow number whenever they are.
constexpr OpSet kExact = OpSet::of(Op::Neg, Op::Trunc, Op::Max, Op::Min, Op::Where);

class TypeLowering {
 public:
  TypeLowering(Graph& graph, const Lowering& lowering) : graph_(graph), lowering_(lowering) {}

  const Node* operator()(const Node* root) {
    const std::vector<const Node*> order = topological_order(Sources(&root, 1));
    if (std::ranges::none_of(order, [this](const Node* node) { return lacks(node); })) return root;
    for (const Node* node : order) {
      const Lowered result = lower(node);
      done_[node] = result;
    }
    return of(root);
  }

 private:
  bool lacks(const Node* node) const { return is_narrow_float(node->dtype) && !lowering_.types.contains(node->dtype); }

  /// The replacement of a source, rounded.
  const Node* of(const Node* node) {
    Lowered& lowered = done_[node];
    if (!lowered.rounded) lowered = {round_to_narrow(graph_, lowered.value, node->dtype), true};
    return lowered.value;
  }

  Lowered lower(const Node* node) {
    switch (node->op) {
      // The Bits of a narrow number are those of the equal float32.
      case Op::Const:
      case Op::Variable: return {lacks(node) ? graph_.make(node->op, {}, node->args(), DType::float32) : node};
      case Op::Param:
      case Op::Buffer: return {lacks(node) ? graph_.make(node->op, node->sources(), node->args(), word_of(node->dtype)) : node};
      case Op::Load:
      case Op::VectorLoad: return load(node);
      case Op::Store:
      case Op::VectorStore: return store(node);
      case Op::Cast: return cast(node);
      case Op::Bitcast: return bitcast(node);
      default: return arithmetic(node);
    }
  }

  Lowered load(const Node* node) {
    // What a Stage keeps are float32 values already.
    const Node* loaded = rebuild(node, DType::none);
    return {lacks(node) && has(node->source(0)->op, storage) ? decode(graph_, loaded, node->dtype) : loaded};
  }

  Lowered store(const Node* node) {
    const Node* value = node->source(2);
    if (!lacks(value)) return {rebuild(node, node->dtype)};
    // Encoding rounds, so a value that isn't rounded yet needs no step of its own.
    std::vector<const Node*> sources = replaced(node);
    sources[2] = encode(graph_, done_[value].value, value->dtype);
    return {graph_.make(node->op, sources, node->args(), node->dtype)};
  }

  Lowered cast(const Node* node) {
    const Node* source = node->source(0);
    const Node* value = of(source);
    if (!lacks(node)) return {graph_.cast(value, node->dtype)};
    return {graph_.cast(value, DType::float32), source->dtype == DType::boolean || is_subset(source->dtype, node->dtype)};
  }

  /// Whether every value of one type is one of the other.
  static bool is_subset(DType from, DType to) {
    return from == to || (is_narrow_float(from) && item_size(from) == 1 && to == DType::float16) ||
           (from == DType::float8_e4m3 && to == DType::bfloat16) || (from == DType::float8_e5m2 && to == DType::bfloat16);
  }

  Lowered bitcast(const Node* node) {
    const Node* source = node->source(0);
    const Node* value = lacks(source) ? encode(graph_, done_[source].value, source->dtype) : of(source);
    const DType type = lacks(node) ? word_of(node->dtype) : node->dtype;
    if (value->dtype != type) value = graph_.make(Op::Bitcast, {value}, {}, type);
    return {lacks(node) ? decode(graph_, value, node->dtype) : value};
  }

  Lowered arithmetic(const Node* node) {
    if (!lacks(node)) return {rebuild(node, node->dtype)};
    const bool exact = kExact.contains(node->op) || has(node->op, memory | linear) ||
                       ((node->op == Op::Accumulate || node->op == Op::Across) && kExact.contains(node->reduce_op()));
    return {rebuild(node, DType::float32), exact};
  }

  std::vector<const Node*> replaced(const Node* node) {
    std::vector<const Node*> sources;
    for (const Node* source : node->sources()) sources.push_back(of(source));
    return sources;
  }

  const Node* rebuild(const Node* node, DType type) { return graph_.make(node->op, replaced(node), node->args(), type); }

  Graph& graph_;
  const Lowering& lowering_;
  NodeMap<Lowered> done_;
};

}  // namespace

const Node* lower_types(Graph& graph, const Node* root, const Lowering& lowering) { return TypeLowering(graph, lowering)(root); }

}  // namespace whit
