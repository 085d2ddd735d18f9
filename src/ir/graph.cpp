#include "ir/graph.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"

namespace whit {

namespace {

uint64_t hash_of(const Draft& d) {
  uint64_t h = mix(uint64_t(d.op) << 8 | uint64_t(d.dtype), d.sources.size());
  for (const Node* source : d.sources) h = mix(h, source->hash);
  for (const int64_t arg : d.args) h = mix(h, uint64_t(arg));
  return mix(h, 0x2545F4914F6CDD1Dull);
}

bool same(const Node* node, const Draft& d) {
  return node->op == d.op && node->dtype == d.dtype && std::ranges::equal(node->sources(), d.sources) &&
         std::ranges::equal(node->args(), d.args);
}

size_t bytes_of(const Draft& d) {
  return sizeof(Node) + d.sources.size() * sizeof(Node*) + d.args.size() * sizeof(int64_t) + d.shape.size() * sizeof(Dim);
}

uint64_t open_ranges(const Draft& d) {
  uint64_t open = 0;
  for (const Node* source : d.sources) open |= source->open;
  if (d.op == Op::Range) open |= uint64_t(1) << d.args[0];
  if (d.op == Op::Accumulate || d.op == Op::Stage || d.op == Op::Across)
    for (const Node* range : d.sources.subspan(1)) open &= ~range->open;
  return open;
}

const Node* construct(void* memory, const Draft& d, uint64_t hash, uint32_t id) {
  static_assert(sizeof(Node) % alignof(Dim) == 0 && alignof(Dim) <= alignof(Node*), "sources, args and shape follow the node without gaps");
  OpSet below(d.op);
  for (const Node* source : d.sources) below = below | source->below;
  Node* node = new (memory) Node{.hash = hash,
                                 .below = below,
                                 .minimum = d.minimum,
                                 .maximum = d.maximum,
                                 .open = open_ranges(d),
                                 .attachment = nullptr,
                                 .references = 0,
                                 .id = id,
                                 .source_count = uint32_t(d.sources.size()),
                                 .arg_count = uint16_t(d.args.size()),
                                 .rank = uint16_t(d.shape.size()),
                                 .op = d.op,
                                 .dtype = d.dtype,
                                 .device = d.device};
  std::uninitialized_copy(d.sources.begin(), d.sources.end(), const_cast<const Node**>(node->sources().data()));
  std::uninitialized_copy(d.args.begin(), d.args.end(), const_cast<int64_t*>(node->args().data()));
  std::uninitialized_copy(d.shape.begin(), d.shape.end(), const_cast<Dim*>(node->shape().data()));
  return node;
}

// Names and their numbers; the keys of the map point into the deque, whose elements stay where they are.
struct NameTable {
  std::mutex mutex;
  std::deque<std::string> names;
  std::unordered_map<std::string_view, int64_t> ids;
};
NameTable& names() {
  static NameTable* table = new NameTable;  // never destroyed, like the TensorGraph
  return *table;
}

}  // namespace

int64_t name_id(std::string_view text) {
  NameTable& all = names();
  const std::lock_guard lock(all.mutex);
  if (const auto known = all.ids.find(text); known != all.ids.end()) return known->second;
  all.names.emplace_back(text);
  const int64_t id = int64_t(all.names.size()) - 1;
  all.ids.emplace(all.names.back(), id);
  return id;
}

const std::string& name_of(int64_t id) {
  NameTable& all = names();
  const std::lock_guard lock(all.mutex);
  WHIT_ASSERT(id >= 0 && size_t(id) < all.names.size(), "name ", id);
  return all.names[size_t(id)];
}

int64_t element_count(ShapeView shape) {
  int64_t count = 1;
  for (const Dim& dim : shape) count *= dim.size;
  return count;
}

bool is_symbolic(ShapeView shape) {
  return std::ranges::any_of(shape, [](const Dim& dim) { return dim.symbol != nullptr; });
}

// ---- Graph --------------------------------------------------------------------------------------------------------------------------

void* Graph::allocate(size_t bytes) {
  bytes = (bytes + 15) & ~size_t(15);
  if (bytes > kBlockBytes) {  // a node with very many sources has a block of its own, below the one in use
    blocks_.insert(blocks_.begin(), std::make_unique_for_overwrite<std::byte[]>(bytes));
    bytes_ += bytes;
    return blocks_.front().get();
  }
  if (used_ + bytes > kBlockBytes) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlockBytes));
    bytes_ += kBlockBytes;
    used_ = 0;
  }
  void* memory = blocks_.back().get() + used_;
  used_ += bytes;
  return memory;
}

const Node* Graph::make(Op op, Sources sources, Args args, DType dtype) {
  Draft draft{.op = op, .dtype = dtype, .sources = sources, .args = args, .shape = {}};
  infer(draft);
  const uint64_t hash = hash_of(draft);
  size_t slot;
  if (const Node* node = table_.find(hash, slot, [&](const Node* other) { return same(other, draft); })) return node;
  const Node* node = construct(allocate(bytes_of(draft)), draft, hash, uint32_t(count_++));
  table_.insert(slot, hash, node);
  return node;
}

const Node* Graph::both(const Node* a, const Node* b) { return !a ? b : !b || a == b ? a : make(Op::And, {a, b}); }

const Node* Graph::import(const Node* root, NodeMap<const Node*>& seen) {
  std::vector<const Node*> stack{root}, sources;
  while (!stack.empty()) {
    const Node* node = stack.back();
    if (seen.contains(node)) {
      stack.pop_back();
      continue;
    }
    const size_t waiting = stack.size();
    for (const Node* source : node->sources())
      if (!seen.contains(source)) stack.push_back(source);
    if (stack.size() > waiting) continue;
    stack.pop_back();
    sources.clear();
    for (const Node* source : node->sources()) sources.push_back(*seen.find(source));
    seen.emplace(node, make(node->op, sources, node->args(), node->dtype));
  }
  return *seen.find(root);
}

// ---- TensorGraph --------------------------------------------------------------------------------------------------------------------

TensorGraph& TensorGraph::shared() {
  static TensorGraph* graph = new TensorGraph;  // never destroyed: static Tensors may outlive any order of destruction
  return *graph;
}

NodeRef TensorGraph::make(Op op, Sources sources, Args args, DType dtype) {
  Draft draft{.op = op, .dtype = dtype, .sources = sources, .args = args, .shape = {}};
  infer(draft);
  const uint64_t hash = hash_of(draft);
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  size_t slot;
  // A node found is referred to under the lock, so that one whose count has just reached zero is revived before its releaser removes it.
  if (const Node* node = shard.table.find(hash, slot, [&](const Node* other) { return same(other, draft); })) return NodeRef(node);
  const Node* node = construct(::operator new(bytes_of(draft)), draft, hash, next_id_.fetch_add(1, std::memory_order_relaxed));
  for (const Node* source : node->sources()) source->references.fetch_add(1, std::memory_order_relaxed);
  shard.table.insert(slot, hash, node);
  count_.fetch_add(1, std::memory_order_relaxed);
  return NodeRef(node);
}

std::vector<NodeRef> TensorGraph::import(Sources roots) {
  NodeMap<NodeRef> seen;
  std::vector<const Node*> sources;
  for (const Node* node : topological_order(roots)) {
    sources.clear();
    for (const Node* source : node->sources()) sources.push_back(seen.find(source)->get());
    seen.emplace(node, make(node->op, sources, node->args(), node->dtype));
  }
  std::vector<NodeRef> result;
  for (const Node* root : roots) result.push_back(*seen.find(root));
  return result;
}

namespace {

// Gives a reference back unless it is the last one: that needs a lock.
bool drop_unless_last(const Node* node) {
  uint32_t count = node->references.load(std::memory_order_relaxed);
  while (count > 1)
    if (node->references.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return true;
  return false;
}

}  // namespace

void TensorGraph::release(const Node* node) {
  std::vector<const Node*> waiting;
  while (node) {
    const Node* next = nullptr;
    Shard& shard = shard_of(node->hash);
    bool dies;
    {
      const std::lock_guard lock(shard.mutex);
      dies = node->references.fetch_sub(1, std::memory_order_acq_rel) == 1;
      if (dies) shard.table.erase(node->hash, node);
    }
    if (dies) {
      count_.fetch_sub(1, std::memory_order_relaxed);
      for (const Node* source : node->sources()) {
        if (drop_unless_last(source)) continue;
        if (next) waiting.push_back(next);
        next = source;
      }
      if (Attachment* attachment = node->attachment.load(std::memory_order_acquire)) attachment->release();
      node->~Node();
      ::operator delete(const_cast<Node*>(node));
    }
    if (!next && !waiting.empty()) {
      next = waiting.back();
      waiting.pop_back();
    }
    node = next;
  }
}

NodeRef::NodeRef(const Node* node) : node_(node) {
  if (node) node->references.fetch_add(1, std::memory_order_relaxed);
}

NodeRef::~NodeRef() {
  if (node_ && !drop_unless_last(node_)) TensorGraph::shared().release(node_);
}

// ---- Traversal ----------------------------------------------------------------------------------------------------------------------

std::vector<const Node*> topological_order(Sources roots) {
  return topological_order(roots, [](const Node* node) { return node->sources(); });
}

std::vector<const Node*> topological_order(Sources roots, Sources (*below)(const Node*)) {
  std::vector<const Node*> order;
  NodeSet seen;
  struct Frame {
    const Node* node;
    const Node* const* next;  // the sources still to visit
    const Node* const* end;
  };
  std::vector<Frame> stack;
  const auto visit = [&](const Node* node) {
    if (!seen.insert(node)) return;
    const Sources sources = below(node);
    stack.push_back({node, sources.data(), sources.data() + sources.size()});
  };
  for (const Node* root : roots) {
    visit(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next != top.end) {
        visit(*top.next++);
      } else {
        order.push_back(top.node);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace whit
