// Maps and sets keyed by pointers, as one flat table with linear probing: no node per entry, nothing to free one by one. There is no
// erase; references to values hold until the next insertion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace whit {

template <class Key, class Value>
class FlatMap {
 public:
  struct Entry {
    const Key* key = nullptr;
    [[no_unique_address]] Value value = {};
  };

  /// The value at a key, and whether it is new there; a value there already stays as it is.
  std::pair<Value*, bool> emplace(const Key* key, Value value = {}) {
    if (size_ * 2 >= entries_.size()) grow();
    Entry& entry = entries_[slot_of(key)];
    if (entry.key) return {&entry.value, false};
    entry.key = key;
    entry.value = std::move(value);
    ++size_;
    return {&entry.value, true};
  }
  Value& operator[](const Key* key) { return *emplace(key).first; }

  /// The value at a key, or null.
  Value* find(const Key* key) {
    if (entries_.empty()) return nullptr;
    Entry& entry = entries_[slot_of(key)];
    return entry.key ? &entry.value : nullptr;
  }
  const Value* find(const Key* key) const { return const_cast<FlatMap*>(this)->find(key); }
  bool contains(const Key* key) const { return find(key) != nullptr; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() {
    entries_.clear();
    size_ = 0;
  }
  /// Room for `count` keys without growing.
  void reserve(size_t count) {
    while (entries_.size() <= count * 2) grow();
  }

  /// Calls visit(key, value) for every entry, in no useful order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_)
      if (entry.key) visit(entry.key, entry.value);
  }

 private:
  // Multiplying by an odd number spreads addresses that rise in equal steps evenly over the top bits.
  size_t slot_of(const Key* key) const {
    const size_t mask = entries_.size() - 1;
    size_t slot = size_t((uint64_t(reinterpret_cast<uintptr_t>(key)) * 0x9E3779B97F4A7C15ull) >> shift_);
    while (entries_[slot].key && entries_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    std::vector<Entry> old(entries_.empty() ? 16 : entries_.size() * 2);
    shift_ = entries_.empty() ? 60 : shift_ - 1;
    old.swap(entries_);
    for (Entry& entry : old)
      if (entry.key) entries_[slot_of(entry.key)] = std::move(entry);
  }

  std::vector<Entry> entries_;
  size_t size_ = 0;
  unsigned shift_ = 64;
};

/// A set of pointers: a map to nothing.
template <class Key>
class FlatSet {
 public:
  /// Whether the key was new.
  bool insert(const Key* key) { return map_.emplace(key).second; }
  bool contains(const Key* key) const { return map_.contains(key); }
  size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }
  void clear() { map_.clear(); }
  void reserve(size_t count) { map_.reserve(count); }

 private:
  struct Nothing {};
  FlatMap<Key, Nothing> map_;
};

}  // namespace whit
