// A stored tensor as a kernel: the tensor graph below it, down to other storage, becomes scalar expressions over ranges.
#pragma once

#include <unordered_map>
#include <vector>

#include "schedule/stores.h"

namespace whit {

/// The value of tensor nodes at places, as scalar expressions. `storage_of` gives the Param in which a node is stored, or null.
class TensorLowering {
 public:
  TensorLowering(Graph& graph, const std::unordered_map<const Node*, const Node*>& storage) : graph_(graph), storage_(storage) {}

  /// The scalar value of `node` at `place`, computed inside the loops of `nest`. `root` itself is computed even if it is stored.
  const Node* value(const Node* root, Place place, const Node* nest) { return find(root, root, place, nest); }

  /// The same, read from storage where `node` is stored.
  const Node* operand(const Node* node, Place place, const Node* nest) { return find(node, nullptr, place, nest); }

  /// From now on `node` read at `place` is this value, not its storage: both are computed in one kernel.
  void share(const Node* node, Place place, const Node* value) { shared_.push_back({node, place, value}); }

  /// The stored nodes and Params that have been read so far.
  const std::vector<const Node*>& reads() const { return reads_; }

 private:
  struct Key {
    const Node *node, *tuple, *gate, *nest;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Frame;

  const Node* find(const Node* node, const Node* root, Place place, const Node* nest);
  const Node* combine(const Key& key, Sources values, const Node* valid);
  const Node* read(const Node* param, const Node* node, Place place);
  const Node* load(const Node* param, ShapeView shape, Place place);
  bool expand(const Key& key, const Node* root, std::vector<Key>& sources, const Node*& valid);
  const Node* accumulate(const Key& key, const Node* value);
  const Node* running(const Key& key, Sources values);

  Graph& graph_;
  const std::unordered_map<const Node*, const Node*>& storage_;
  std::unordered_map<Key, const Node*, KeyHash> done_;
  std::vector<const Node*> reads_;
  struct Shared {
    const Node* node;
    Place place;
    const Node* value;
  };
  std::vector<Shared> shared_;
};

}  // namespace whit
