// A map that is bounded: what was used longest ago goes first.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace whit {

/// Values by key, each with a weight. Not thread-safe: its owner locks. Values that go are handed back, so that they can be let go of
/// outside the lock.
template <class Key, class Value>
class LruCache {
 public:
  /// The value, which is then the one used last.
  std::optional<Value> find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  /// Adds a value, in place of one of that key. What then goes over `limit`, least recently used first, is moved to `gone`; the new one
  /// always stays.
  void insert(const Key& key, Value value, int64_t weight, int64_t limit, std::vector<Value>& gone) {
    if (const auto found = places_.find(key); found != places_.end()) remove(found->second, gone);
    entries_.push_front({key, std::move(value), weight});
    places_.emplace(key, entries_.begin());
    weight_ += weight;
    while (weight_ > limit && entries_.size() > 1) remove(std::prev(entries_.end()), gone);
  }

  void clear(std::vector<Value>& gone) {
    while (!entries_.empty()) remove(entries_.begin(), gone);
  }

  size_t size() const { return entries_.size(); }
  int64_t weight() const { return weight_; }

 private:
  struct Entry {
    Key key;
    Value value;
    int64_t weight;
  };
  using Entries = std::list<Entry>;

  void remove(typename Entries::iterator entry, std::vector<Value>& gone) {
    weight_ -= entry->weight;
    gone.push_back(std::move(entry->value));
    places_.erase(entry->key);
    entries_.erase(entry);
  }

  Entries entries_;  // the one used last in front
  std::map<Key, typename Entries::iterator> places_;
  int64_t weight_ = 0;
};

}  // namespace whit
