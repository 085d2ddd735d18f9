// Hash-consing: the two homes of nodes. `Graph` is an arena for one compilation, dropped whole; `TensorGraph` is the one counted graph
// behind all Tensors, where a node lives exactly as long as a handle or another node refers to it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "ir/intern_table.h"
#include "ir/node.h"
#include "ir/node_map.h"

namespace whit {

using Sources = std::span<const Node* const>;
using Args = std::span<const int64_t>;

/// A node before it is interned: what identifies it, and the facts derived from that (ir/infer.cpp).
struct Draft {
  Op op;
  DType dtype;
  Sources sources;
  Args args;
  // Derived by infer().
  Shape shape;
  int64_t minimum = 0, maximum = 0;
  DeviceId device = kNoDevice;
  int64_t folded_bits = 0;  ///< storage for args when the draft folds to a constant
  const Node* swapped[2] = {nullptr, nullptr};
};

/// Brings a draft to its canonical form (constants fold, and stand on the right of a commutative op) and fills in its facts. Throws
/// InternalError when the form is wrong: what users can get wrong is checked before, where the message can name their call.
void infer(Draft& draft);

/// Where text for args lives (names of Variables): a number per distinct string.
int64_t name_id(std::string_view text);
const std::string& name_of(int64_t id);

/// An arena graph. Not thread-safe: one per compilation.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// The node with these parts. `dtype` may be none where it follows from the sources.
  const Node* make(Op op, Sources sources, Args args = {}, DType dtype = DType::none);
  const Node* make(Op op, std::initializer_list<const Node*> sources, std::initializer_list<int64_t> args = {}, DType dtype = DType::none) {
    return make(op, Sources(sources.begin(), sources.size()), Args(args.begin(), args.size()), dtype);
  }

  const Node* constant(DType type, double number) { return constant_bits(type, bits_of_number(type, number)); }
  const Node* constant_bits(DType type, Bits bits) { return make(Op::Const, Sources{}, Args(&bits, 1), type); }
  const Node* index(int64_t value) { return constant_bits(DType::index, value); }
  const Node* boolean(bool value) { return constant_bits(DType::boolean, value); }
  const Node* add(const Node* a, const Node* b) { return make(Op::Add, {a, b}); }
  const Node* sub(const Node* a, const Node* b) { return make(Op::Add, {a, make(Op::Neg, {b})}); }
  const Node* mul(const Node* a, const Node* b) { return make(Op::Mul, {a, b}); }
  const Node* less(const Node* a, const Node* b) { return make(Op::Less, {a, b}); }
  const Node* both(const Node* a, const Node* b);  ///< And of two bools; a null one stands for true
  const Node* where(const Node* condition, const Node* a, const Node* b) { return make(Op::Where, {condition, a, b}); }
  const Node* cast(const Node* a, DType type) { return a->dtype == type ? a : make(Op::Cast, {a}, {}, type); }
  const Node* range(int64_t number, const Node* size, AxisKind kind) { return make(Op::Range, {size}, {number, int64_t(kind)}); }
  const Node* range(int64_t number, int64_t size, AxisKind kind) { return range(number, index(size), kind); }
  /// The same node with other sources.
  const Node* with_sources(const Node* node, Sources sources) { return make(node->op, sources, node->args(), node->dtype); }

  /// Copies a node and all below it, from any graph; `seen` maps what was copied already, so that several roots share.
  const Node* import(const Node* root, NodeMap<const Node*>& seen);

  size_t size() const { return count_; }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kBlockBytes = 1 << 16;
  void* allocate(size_t bytes);

  InternTable table_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t used_ = kBlockBytes, bytes_ = 0, count_ = 0;
};

/// A counted reference to a node of the TensorGraph.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(const Node* node);  ///< takes a reference of its own
  NodeRef(const NodeRef& other) : NodeRef(other.node_) {}
  NodeRef(NodeRef&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef();
  const Node* get() const { return node_; }
  const Node* operator->() const { return node_; }
  const Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const NodeRef& a, const NodeRef& b) { return a.node_ == b.node_; }

 private:
  friend class TensorGraph;
  const Node* node_ = nullptr;
};

/// The graph of all Tensors of the process: sharded and locked, counts are atomic, and a dying node is revived only under its shard's
/// lock. Freeing a node of any depth uses no recursion.
class TensorGraph {
 public:
  static TensorGraph& shared();

  NodeRef make(Op op, Sources sources, Args args = {}, DType dtype = DType::none);
  NodeRef make(Op op, std::initializer_list<const Node*> sources, std::initializer_list<int64_t> args = {}, DType dtype = DType::none) {
    return make(op, Sources(sources.begin(), sources.size()), Args(args.begin(), args.size()), dtype);
  }
  NodeRef constant(DType type, double number) {
    const Bits bits = bits_of_number(type, number);
    return make(Op::Const, Sources{}, Args(&bits, 1), type);
  }
  /// Copies an arena graph in; nodes that exist already are found, with their attachments.
  std::vector<NodeRef> import(Sources roots);

  /// A number no other storage, draw or write has had.
  int64_t next_serial() { return serial_.fetch_add(1, std::memory_order_relaxed); }

  size_t size() const { return count_.load(std::memory_order_relaxed); }

 private:
  friend class NodeRef;
  TensorGraph() = default;
  void release(const Node* node);

  struct Shard {
    std::mutex mutex;
    InternTable table;
  };
  static constexpr size_t kShards = 64;
  Shard& shard_of(uint64_t hash) { return shards_[hash >> 58]; }

  Shard shards_[kShards];
  std::atomic<size_t> count_{0};
  std::atomic<int64_t> serial_{1};
  std::atomic<uint32_t> next_id_{0};
};

/// The nodes below the roots, each once, sources before users; no recursion.
std::vector<const Node*> topological_order(Sources roots);
/// The same, descending only into what `below` gives of a node's sources.
std::vector<const Node*> topological_order(Sources roots, Sources (*below)(const Node*));

/// A 128-bit hash of the graph's structure: equal for equal graphs in any process.
struct StructuralHash {
  uint64_t low = 0, high = 0;
  friend bool operator==(const StructuralHash&, const StructuralHash&) = default;
};

}  // namespace whit
