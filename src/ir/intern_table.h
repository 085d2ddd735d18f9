// The table behind hash-consing: open addressing with linear probing. Hashes lie beside the pointers, so that a search touches no node
// but the one it finds. Which nodes are equal is the caller's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace whit {

struct Node;

class InternTable {
 public:
  /// The node with this hash for which `same(node)` holds, or null; then `insert` with the returned slot puts one there.
  template <class Same>
  const Node* find(uint64_t hash, size_t& slot, Same same) const {
    const size_t mask = entries_.size() - 1;
    for (slot = hash & mask; entries_[slot].node; slot = (slot + 1) & mask)
      if (entries_[slot].hash == hash && same(entries_[slot].node)) return entries_[slot].node;
    return nullptr;
  }

  void insert(size_t slot, uint64_t hash, const Node* node) {
    entries_[slot] = {hash, node};
    if (++count_ * 3 > entries_.size() * 2) grow();
  }

  /// Removes a node and moves later ones of its probe chain up, so that no search stops too early.
  void erase(uint64_t hash, const Node* node) {
    const size_t mask = entries_.size() - 1;
    size_t hole = hash & mask;
    while (entries_[hole].node != node) hole = (hole + 1) & mask;
    for (size_t i = (hole + 1) & mask; entries_[i].node; i = (i + 1) & mask) {
      if (((i - entries_[i].hash) & mask) < ((i - hole) & mask)) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = {};
    --count_;
    if (count_ * 16 < entries_.size() && entries_.size() > kLeast) resize(entries_.size() / 4);
  }

 private:
  static constexpr size_t kLeast = 64;
  struct Entry {
    uint64_t hash = 0;
    const Node* node = nullptr;
  };

  void grow() { resize(entries_.size() * 2); }

  void resize(size_t size) {
    std::vector<Entry> old(size);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (!entry.node) continue;
      size_t slot = entry.hash & (size - 1);
      while (entries_[slot].node) slot = (slot + 1) & (size - 1);
      entries_[slot] = entry;
    }
  }

  std::vector<Entry> entries_ = std::vector<Entry>(kLeast);
  size_t count_ = 0;
};

}  // namespace whit
