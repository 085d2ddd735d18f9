#include "ir/graph.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>

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

bool same(const Node* node, uint64_t hash, const Draft& d) {
  return node->hash == hash && node->op == d.op && node->dtype == d.dtype && std::ranges::equal(node->sources(), d.sources) && std::ranges::equal(node->args(), d.args);
}

size_t bytes_of(const Draft& d) { return sizeof(Node) + d.sources.size() * sizeof(Node*) + d.args.size() * sizeof(int64_t) + d.shape.size() * sizeof(Dim); }

uint64_t open_ranges(const Draft& d) {
  uint64_t open = 0;
  for (const Node* source : d.sources) open |= source->open;
  if (d.op == Op::Range) open |= uint64_t(1) << d.args[0];
  if (d.op == Op::Accumulate || d.op == Op::Stage || d.op == Op::Across)
    for (const Node* range : d.sources.subspan(1)) open &= ~range->open;
  return open;
}

const Node* construct(void* memory, const Draft& d, uint64_t hash, uint32_t id) {
  OpSet below(d.op);
  for (const Node* source : d.sources) below = below | source->below;
  Node* node = new (memory) Node{.hash = hash, .below = below, .minimum = d.minimum, .maximum = d.maximum, .open = open_ranges(d),
                                 .attachment = nullptr, .references = 0, .id = id, .source_count = uint32_t(d.sources.size()),
                                 .arg_count = uint16_t(d.args.size()), .rank = uint16_t(d.shape.size()), .op = d.op, .dtype = d.dtype, .device = d.device};
  std::uninitialized_copy(d.sources.begin(), d.sources.end(), const_cast<const Node**>(node->sources().data()));
  std::uninitialized_copy(d.args.begin(), d.args.end(), const_cast<int64_t*>(node->args().data()));
  std::uninitialized_copy(d.shape.begin(), d.shape.end(), const_cast<Dim*>(node->shape().data()));
  return node;
}

// Open addressing with linear probing; a table's size is a power of two.
template <class Table>
size_t probe(const Table& table, uint64_t hash, const Draft& d) {
  const size_t mask = table.size() - 1;
  size_t i = hash & mask;
  while (table[i] && !same(table[i], hash, d)) i = (i + 1) & mask;
  return i;
}

template <class Table>
void rehash(Table& table, size_t size) {
  Table bigger(size);
  for (const Node* node : table)
    if (node) {
      size_t i = node->hash & (size - 1);
      while (bigger[i]) i = (i + 1) & (size - 1);
      bigger[i] = node;
    }
  table.swap(bigger);
}

// Removes the entry at `hole` and moves later ones of its probe chain up, so that no search stops too early.
template <class Table>
void erase_at(Table& table, size_t hole) {
  const size_t mask = table.size() - 1;
  for (size_t i = (hole + 1) & mask; table[i]; i = (i + 1) & mask) {
    const size_t home = table[i]->hash & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    table[hole] = table[i];
    hole = i;
  }
  table[hole] = nullptr;
}

struct NameTable {
  std::mutex mutex;
  std::deque<std::string> names;
};
NameTable& names() {
  static NameTable table;
  return table;
}

}  // namespace

int64_t name_id(std::string_view text) {
  const std::lock_guard lock(names().mutex);
  auto& all = names().names;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] == text) return int64_t(i);
  all.emplace_back(text);
  return int64_t(all.size() - 1);
}

const std::string& name_of(int64_t id) {
  const std::lock_guard lock(names().mutex);
  return names().names.at(size_t(id));
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

Graph::Graph() : table_(1024) {}
Graph::~Graph() = default;

void* Graph::allocate(size_t bytes) {
  bytes = (bytes + 15) & ~size_t(15);
  if (bytes > kBlockBytes) {  // a node with very many sources has a block of its own, below the one in use
    blocks_.insert(blocks_.begin(), std::make_unique_for_overwrite<std::byte[]>(bytes));
    return blocks_.front().get();
  }
  if (used_ + bytes > kBlockBytes) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlockBytes));
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
  if (count_ * 2 >= table_.size()) rehash(table_, table_.size() * 2);
  const size_t slot = probe(table_, hash, draft);
  if (!table_[slot]) table_[slot] = construct(allocate(bytes_of(draft)), draft, hash, uint32_t(count_++));
  return table_[slot];
}

const Node* Graph::both(const Node* a, const Node* b) { return !a ? b : !b || a == b ? a : make(Op::And, {a, b}); }

const Node* Graph::import(const Node* root, std::unordered_map<const Node*, const Node*>& seen) {
  std::vector<const Node*> stack{root}, sources;
  while (!stack.empty()) {
    const Node* node = stack.back();
    if (seen.contains(node)) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (const Node* source : node->sources())
      if (!seen.contains(source)) {
        stack.push_back(source);
        ready = false;
      }
    if (!ready) continue;
    stack.pop_back();
    sources.clear();
    for (const Node* source : node->sources()) sources.push_back(seen.at(source));
    seen.emplace(node, make(node->op, sources, node->args(), node->dtype));
  }
  return seen.at(root);
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
  if (shard.table.empty()) shard.table.resize(64);
  if (shard.count * 2 >= shard.table.size()) rehash(shard.table, shard.table.size() * 2);
  const size_t slot = probe(shard.table, hash, draft);
  if (!shard.table[slot]) {
    const Node* node = construct(::operator new(bytes_of(draft)), draft, hash, next_id_.fetch_add(1, std::memory_order_relaxed));
    for (const Node* source : node->sources()) source->references.fetch_add(1, std::memory_order_relaxed);
    shard.table[slot] = node;
    ++shard.count;
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  // Under the lock, so that a node whose count has just reached zero is revived before its releaser removes it.
  return NodeRef(shard.table[slot]);
}

std::vector<NodeRef> TensorGraph::import(Sources roots) {
  std::unordered_map<const Node*, NodeRef> seen;
  std::vector<const Node*> sources;
  for (const Node* node : topological_order(roots)) {
    sources.clear();
    for (const Node* source : node->sources()) sources.push_back(seen.at(source).get());
    seen.emplace(node, make(node->op, sources, node->args(), node->dtype));
  }
  std::vector<NodeRef> result;
  for (const Node* root : roots) result.push_back(seen.at(root));
  return result;
}

void TensorGraph::release(const Node* node) {
  std::vector<const Node*> dying{node};
  while (!dying.empty()) {
    const Node* next = dying.back();
    dying.pop_back();
    Shard& shard = shard_of(next->hash);
    {
      const std::lock_guard lock(shard.mutex);
      if (next->references.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      const size_t mask = shard.table.size() - 1;
      size_t slot = next->hash & mask;
      while (shard.table[slot] != next) slot = (slot + 1) & mask;
      erase_at(shard.table, slot);
      --shard.count;
    }
    count_.fetch_sub(1, std::memory_order_relaxed);
    for (const Node* source : next->sources()) dying.push_back(source);
    if (Attachment* attachment = next->attachment.load(std::memory_order_acquire)) attachment->release();
    next->~Node();
    ::operator delete(const_cast<Node*>(next));
  }
}

NodeRef::NodeRef(const Node* node) : node_(node) {
  if (node) node->references.fetch_add(1, std::memory_order_relaxed);
}

NodeRef::~NodeRef() {
  if (!node_) return;
  // The common case, not the last reference, needs no lock.
  uint32_t count = node_->references.load(std::memory_order_relaxed);
  while (count > 1)
    if (node_->references.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
  TensorGraph::shared().release(node_);
}

// ---- Traversal ----------------------------------------------------------------------------------------------------------------------

std::vector<const Node*> topological_order(Sources roots) {
  return topological_order(roots, [](const Node*) { return true; });
}

std::vector<const Node*> topological_order(Sources roots, bool (*enter)(const Node*)) {
  std::vector<const Node*> order;
  std::unordered_map<const Node*, bool> done;
  struct Frame {
    const Node* node;
    size_t next;
  };
  std::vector<Frame> stack;
  for (const Node* root : roots) {
    if (!done.emplace(root, false).second) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < (enter(node) ? node->sources().size() : 0)) {
        const Node* source = node->source(next++);
        if (done.emplace(source, false).second) stack.push_back({source, 0});
      } else {
        order.push_back(node);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace whit
