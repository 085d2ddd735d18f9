#include "schedule/groups.h"

#include <algorithm>
#include <unordered_set>

namespace whit {

namespace {

// More stores than this gain little: what they share is read a few times at most.
constexpr size_t kMaxStores = 6;
// A search for a way between kernels that goes on past this counts as having found one.
constexpr size_t kMaxSearch = 2000;

class Grouping {
 public:
  Grouping(const std::vector<StoredTensor>& stores, size_t max_buffers)
      : stores_(stores), max_buffers_(max_buffers), reads_(stores.size()), inputs_(stores.size()), group_of_(stores.size()) {
    for (size_t i = 0; i < stores.size(); ++i)
      for (const auto& [reader, place] : stores[i].readers) reads_[reader].push_back(i);
    for (size_t i = 0; i < stores.size(); ++i) find_inputs(i);
  }

  std::vector<std::vector<size_t>> run() {
    for (size_t i = 0; i < stores_.size(); ++i) {
      const size_t best = find_group(i);
      if (best < groups_.size())
        groups_[best].push_back(i);
      else
        groups_.push_back({i});
      group_of_[i] = best;
    }
    return std::move(groups_);
  }

 private:
  // The storage a tensor is computed from, down to other stored tensors.
  void find_inputs(size_t i) {
    std::unordered_set<const Node*> stops;
    for (const size_t read : reads_[i]) stops.insert(stores_[read].node);
    std::vector<const Node*> stack(stores_[i].node->sources().begin(), stores_[i].node->sources().end());
    std::unordered_set<const Node*> seen;
    while (!stack.empty() && seen.size() < 500) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!seen.insert(node).second) continue;
      if (node->op == Op::Param || stops.contains(node))
        inputs_[i].push_back(node);
      else
        stack.insert(stack.end(), node->sources().begin(), node->sources().end());
    }
  }

  static bool is_plain(const StoredTensor& store) {
    return store.node->op != Op::Copy && store.node->op != Op::Order && !is_partial_write(store.node);
  }

  // True if computing store `from` needs the kernel of `group` first, directly or through others.
  bool needs(size_t from, size_t group) const {
    std::vector<size_t> stack{group_of_[from]};
    std::unordered_set<size_t> seen(stack.begin(), stack.end());
    while (!stack.empty()) {
      const size_t next = stack.back();
      stack.pop_back();
      if (next == group || seen.size() > kMaxSearch) return true;
      for (const size_t member : groups_[next])
        for (const size_t read : reads_[member])
          if (seen.insert(group_of_[read]).second) stack.push_back(group_of_[read]);
    }
    return false;
  }

  size_t find_group(size_t i) {
    if (!is_plain(stores_[i])) return groups_.size();
    // Latest first: what was just computed is most likely shared.
    for (size_t g = groups_.size(), looked = 0; g-- > 0 && looked < 24; ++looked)
      if (fits(i, g)) return g;
    return groups_.size();
  }

  bool fits(size_t i, size_t g) const {
    const StoredTensor& store = stores_[i];
    const std::vector<size_t>& group = groups_[g];
    if (group.size() >= kMaxStores || stores_[group[0]].nest != store.nest || stores_[group[0]].place != store.place) return false;
    if (stores_[group[0]].node->device != store.node->device) return false;
    bool related = false;
    double operations = store.operations;
    std::vector<const Node*> buffers = inputs_[i];
    for (const size_t member : group) {
      if (!is_plain(stores_[member])) return false;
      operations += stores_[member].operations;
      for (const auto& [reader, place] : stores_[member].readers) {
        if (reader != i) continue;
        if (place != stores_[member].place) return false;
        related = true;
      }
      for (const Node* input : inputs_[member]) {
        related |= std::ranges::find(inputs_[i], input) != inputs_[i].end();
        if (std::ranges::find(buffers, input) == buffers.end()) buffers.push_back(input);
      }
    }
    if (!related || operations > kMaxOperations || buffers.size() + group.size() + 1 > max_buffers_) return false;
    // A need that itself needs the group would have to run both before and after it.
    return std::ranges::none_of(reads_[i], [&](size_t read) { return group_of_[read] != g && needs(read, g); });
  }

  const std::vector<StoredTensor>& stores_;
  size_t max_buffers_;
  std::vector<std::vector<size_t>> reads_;
  std::vector<std::vector<const Node*>> inputs_;
  std::vector<size_t> group_of_;
  std::vector<std::vector<size_t>> groups_;
};

}  // namespace

std::vector<std::vector<size_t>> group_stores(const std::vector<StoredTensor>& stores, size_t max_buffers) {
  return Grouping(stores, max_buffers).run();
}

}  // namespace whit
