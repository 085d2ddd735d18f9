// A map from node id to node as a dense array that is reused: starting one costs nothing, however large the graph, and ending one costs
// only what was written.
#pragma once

#include <memory>
#include <vector>

#include "ir/node.h"

namespace whit {

class Memo {
 public:
  Memo();
  ~Memo();
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;

  const Node* find(uint32_t id) const { return id < storage_->table.size() ? storage_->table[id] : nullptr; }
  void set(uint32_t id, const Node* node) {
    if (id >= storage_->table.size()) storage_->table.resize(size_t(id) * 2 + 64);
    if (!storage_->table[id]) storage_->written.push_back(id);
    storage_->table[id] = node;
  }

 private:
  struct Storage {
    std::vector<const Node*> table;
    std::vector<uint32_t> written;
  };
  static std::vector<std::unique_ptr<Storage>>& idle();

  std::unique_ptr<Storage> storage_;
};

}  // namespace whit
