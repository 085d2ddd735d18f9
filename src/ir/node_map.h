// Facts beside nodes. NodeMap and NodeSet serve any nodes; NodeTable is for the nodes of one arena, where ids are dense.
#pragma once

#include <vector>

#include "base/flat_map.h"
#include "ir/node.h"

namespace whit {

template <class Value>
using NodeMap = FlatMap<Node, Value>;
using NodeSet = FlatSet<Node>;

/// A value per node of one arena graph, by id; nodes without an entry read as `Value{}`.
template <class Value>
class NodeTable {
 public:
  Value& operator[](const Node* node) {
    if (node->id >= values_.size()) values_.resize(size_t(node->id) + node->id / 2 + 16);
    return values_[node->id];
  }
  const Value& get(const Node* node) const {
    static const Value nothing{};
    return node->id < values_.size() ? values_[node->id] : nothing;
  }

 private:
  std::vector<Value> values_;
};

}  // namespace whit
