#include "schedule/order.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace whit {

namespace {

constexpr int64_t kAlignment = 64;

struct Waiting {
  std::vector<int> missing;               // how many needs are left, by step
  std::vector<std::vector<int>> unlocks;  // the steps that wait for a step
};

Waiting count_needs(const std::vector<StepNeeds>& steps) {
  Waiting waiting{std::vector<int>(steps.size()), std::vector<std::vector<int>>(steps.size())};
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::set<int> needs(steps[i].after.begin(), steps[i].after.end());
    waiting.missing[i] = int(needs.size());
    for (const int need : needs) waiting.unlocks[size_t(need)].push_back(int(i));
  }
  return waiting;
}

// Bytes of temporaries that running a step brings to life less those it is the last to use.
int64_t growth(const StepNeeds& step, const std::vector<PlanBuffer>& buffers, const std::vector<int>& users_left,
               const std::vector<bool>& alive) {
  int64_t bytes = 0;
  for (const int b : step.buffers) {
    if (buffers[size_t(b)].kind == PlanBuffer::Kind::input) continue;
    if (!alive[size_t(b)]) bytes += buffers[size_t(b)].bytes();
    if (users_left[size_t(b)] == 1) bytes -= buffers[size_t(b)].bytes();
  }
  return bytes;
}

}  // namespace

std::vector<int> order_steps(const std::vector<StepNeeds>& steps, const std::vector<PlanBuffer>& buffers, std::vector<int>& cycle) {
  Waiting waiting = count_needs(steps);
  std::vector<int> users_left(buffers.size()), order;
  std::vector<bool> alive(buffers.size()), done(steps.size());
  for (const StepNeeds& step : steps)
    for (const int b : step.buffers) ++users_left[size_t(b)];
  std::set<int> ready;
  for (size_t i = 0; i < steps.size(); ++i)
    if (waiting.missing[i] == 0) ready.insert(int(i));
  while (!ready.empty()) {
    // Looking at the first few keeps this linear for plans of many independent steps.
    int best = *ready.begin(), looked = 0;
    int64_t least = growth(steps[size_t(best)], buffers, users_left, alive);
    for (auto it = std::next(ready.begin()); it != ready.end() && looked < 32; ++it, ++looked)
      if (const int64_t bytes = growth(steps[size_t(*it)], buffers, users_left, alive); bytes < least) {
        least = bytes;
        best = *it;
      }
    ready.erase(best);
    order.push_back(best);
    done[size_t(best)] = true;
    for (const int b : steps[size_t(best)].buffers) {
      alive[size_t(b)] = true;
      --users_left[size_t(b)];
    }
    for (const int next : waiting.unlocks[size_t(best)])
      if (--waiting.missing[size_t(next)] == 0) ready.insert(next);
  }
  cycle.clear();
  for (size_t i = 0; i < steps.size(); ++i)
    if (!done[i]) cycle.push_back(int(i));
  return order;
}

namespace {

// A temporary, from the first step that names it to the last.
struct Life {
  int buffer, first, last;
};

// Memory that grows where no free piece is large enough; neighbouring free pieces are one.
class Heap {
 public:
  int64_t take(int64_t size) {
    const auto fits = by_size_.lower_bound({size, 0});
    if (fits == by_size_.end()) {
      const int64_t offset = end_;
      end_ += size;
      return offset;
    }
    const auto [whole, offset] = *fits;
    remove(offset, whole);
    if (whole > size) insert(offset + size, whole - size);
    return offset;
  }

  void give_back(int64_t offset, int64_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + size) {
      const int64_t more = next->second;
      remove(offset + size, more);
      size += more;
      next = by_offset_.lower_bound(offset);
    }
    if (next != by_offset_.begin()) {
      const auto [before, length] = *std::prev(next);
      if (before + length == offset) {
        remove(before, length);
        offset = before;
        size += length;
      }
    }
    insert(offset, size);
  }

  int64_t size() const { return end_; }

 private:
  void insert(int64_t offset, int64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void remove(int64_t offset, int64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

class MemoryPlan {
 public:
  explicit MemoryPlan(Plan& plan) : plan_(plan) {}

  void run() {
    std::vector<Life> lives = lives_of_temporaries();
    std::ranges::stable_sort(lives, [&](const Life& a, const Life& b) { return size_of(a) > size_of(b); });
    // Which place is best for each takes time by all placed before: it is worth it for the large ones, which make up the peak.
    const size_t few = std::min<size_t>(lives.size(), kPlacedOneByOne);
    for (size_t i = 0; i < few; ++i) place_low(lives[i]);
    std::vector<Life> rest(lives.begin() + std::ptrdiff_t(few), lives.end());
    place_in_time(std::move(rest));
  }

 private:
  static constexpr size_t kPlacedOneByOne = 1000;

  std::vector<Life> lives_of_temporaries() const {
    std::vector<Life> lives(plan_.buffers.size(), Life{-1, 0, 0});
    for (size_t step = 0; step < plan_.steps.size(); ++step)
      for (const int b : plan_.steps[step].buffers) {
        if (plan_.buffers[size_t(b)].kind != PlanBuffer::Kind::temporary) continue;
        Life& life = lives[size_t(b)];
        if (life.buffer < 0) life = {b, int(step), int(step)};
        life.last = int(step);
      }
    std::erase_if(lives, [](const Life& life) { return life.buffer < 0; });
    return lives;
  }

  PlanBuffer& buffer_of(const Life& life) const { return plan_.buffers[size_t(life.buffer)]; }
  int64_t size_of(const Life& life) const { return (buffer_of(life).bytes() + kAlignment - 1) / kAlignment * kAlignment; }

  int64_t& arena_of(DeviceId device) {
    auto arena = std::ranges::find(plan_.arenas, device, &std::pair<DeviceId, int64_t>::first);
    if (arena == plan_.arenas.end()) arena = plan_.arenas.insert(arena, {device, 0});
    return arena->second;
  }

  // The lowest place where no buffer alive at the same time lies.
  void place_low(const Life& life) {
    PlanBuffer& buffer = buffer_of(life);
    const int64_t size = size_of(life);
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (const Life& other : placed_) {
      const PlanBuffer& there = buffer_of(other);
      if (there.device == buffer.device && other.first <= life.last && life.first <= other.last)
        taken.emplace_back(there.offset, there.offset + size_of(other));
    }
    std::ranges::sort(taken);
    int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset + size <= begin) break;
      offset = std::max(offset, end);
    }
    buffer.offset = offset;
    placed_.push_back(life);
    int64_t& arena = arena_of(buffer.device);
    arena = std::max(arena, offset + size);
  }

  // Behind those, as a heap would: taken at the first step, given back after the last.
  void place_in_time(std::vector<Life> lives) {
    std::ranges::stable_sort(lives, {}, &Life::first);
    std::map<DeviceId, Heap> heaps;
    const auto sooner = [](const Life& a, const Life& b) { return a.last > b.last; };
    std::priority_queue<Life, std::vector<Life>, decltype(sooner)> alive(sooner);
    for (const Life& life : lives) {
      for (; !alive.empty() && alive.top().last < life.first; alive.pop())
        heaps[buffer_of(alive.top()).device].give_back(buffer_of(alive.top()).offset, size_of(alive.top()));
      buffer_of(life).offset = heaps[buffer_of(life).device].take(size_of(life));
      alive.push(life);
    }
    for (const Life& life : lives) buffer_of(life).offset += arena_of(buffer_of(life).device);
    for (const auto& [device, heap] : heaps) arena_of(device) += heap.size();
  }

  Plan& plan_;
  std::vector<Life> placed_;
};

}  // namespace

void plan_memory(Plan& plan) { MemoryPlan(plan).run(); }

}  // namespace whit
