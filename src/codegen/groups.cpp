#include "codegen/groups.h"

#include <algorithm>

#include "base/error.h"
#include "codegen/accesses.h"

namespace whit {

namespace {

// With this many launch indices every thread of a device has one of its own.
constexpr int64_t kManyIndices = 256;
// A shorter sum is done before threads have met.
constexpr int64_t kLongFold = 1024;

class Groups {
 public:
  Groups(Graph& graph, KernelAxes axes, const Target& target, std::string* why)
      : graph_(graph), axes_(std::move(axes)), threads_(target.work_group), why_(why) {}

  KernelAxes run() {
    if (threads_ < 2) return std::move(axes_);
    if (!share_long_folds()) split_launch();
    return std::move(axes_);
  }

 private:
  template <class... Parts>
  void note(const Parts&... parts) {
    if (why_) *why_ += concat("  ", parts..., "\n");
  }

  const Node* launch() const {
    return !axes_.order.empty() && axes_.order[0]->axis_kind() == AxisKind::parallel ? axes_.order[0] : nullptr;
  }

  // ---- A thread for each launch index ------------------------------------------------------------------------------------------------

  // Where nothing near a whole group divides the range, its indices stay threads of no group: the device rounds their number up.
  void split_launch() {
    const Node* range = launch();
    if (!range) return;
    for (int64_t size = threads_; size >= 2 && size >= threads_ / 4; --size) {
      if (fixed_size(range) % size != 0) continue;
      note("groups of ", size);
      axes_ = split(graph_, axes_, range, size, AxisKind::local).axes;
      return;
    }
  }

  // ---- A group for each launch index -------------------------------------------------------------------------------------------------

  // Loops outside the folds would run on one thread of each group: then a thread for each index serves as well.
  bool share_long_folds() {
    if (launch() && fixed_size(launch()) >= kManyIndices) return false;
    if (std::ranges::any_of(axes_.order, [](const Node* range) { return range->axis_kind() == AxisKind::loop; })) return false;
    bool shared = false;
    while (const Node* range = range_to_share()) {
      const int64_t size = fixed_size(range);
      if (size % threads_ != 0) {
        const Peel peeled = peel(graph_, axes_, range, size / threads_ * threads_);
        axes_ = peeled.axes;
        range = peeled.head;
      }
      note("an accumulation over ", size, " shared by a group of ", threads_);
      const Split parts = split(graph_, axes_, range, threads_, AxisKind::local);
      axes_ = share_folds(graph_, parts.axes, parts.inner);
      shared = true;
    }
    return shared;
  }

  // A range of a fold that stands in no other loop than the launch's, and is long.
  const Node* range_to_share() const {
    const uint64_t outside = launch() ? launch()->open : 0;
    for (const Node* fold : folds_of(axes_.sink)) {
      if (fold->open & ~outside) continue;
      int64_t terms = 1;
      for (const Node* range : fold->sources().subspan(1)) terms *= fixed_size(range);
      if (terms < kLongFold) continue;
      // The innermost range: neighbours in the group read neighbours in memory.
      for (size_t i = axes_.order.size(); i-- > 0;)
        if (is_closed_by(fold, axes_.order[i]) && pays(fixed_size(axes_.order[i]), terms)) return axes_.order[i];
    }
    return nullptr;
  }

  static bool is_closed_by(const Node* fold, const Node* range) {
    const auto ranges = fold->sources().subspan(1);
    return std::ranges::find(ranges, range) != ranges.end();
  }

  // What is left of the range past whole groups is done by every thread alike: it must take no longer than a thread's own part does.
  bool pays(int64_t size, int64_t terms) const { return size >= threads_ && size % threads_ * (terms / size) * threads_ <= 4 * terms; }

  Graph& graph_;
  KernelAxes axes_;
  const int64_t threads_;
  std::string* why_;
};

}  // namespace

KernelAxes run_in_groups(Graph& graph, KernelAxes axes, const Target& target, std::string* why) {
  return Groups(graph, std::move(axes), target, why).run();
}

}  // namespace whit
