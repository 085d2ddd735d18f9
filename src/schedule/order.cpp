#include "schedule/order.h"

#include <algorithm>
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

void plan_memory(Plan& plan) {
  struct Life {
    int buffer, first, last;
  };
  std::vector<Life> lives(plan.buffers.size(), Life{-1, 0, 0});
  for (size_t step = 0; step < plan.steps.size(); ++step)
    for (const int b : plan.steps[step].buffers) {
      if (plan.buffers[size_t(b)].kind != PlanBuffer::Kind::temporary) continue;
      Life& life = lives[size_t(b)];
      if (life.buffer < 0) life = {b, int(step), int(step)};
      life.last = int(step);
    }
  std::erase_if(lives, [](const Life& life) { return life.buffer < 0; });
  // The largest first, each at the lowest place where no buffer alive at the same time lies.
  std::ranges::stable_sort(
      lives, [&](const Life& a, const Life& b) { return plan.buffers[size_t(a.buffer)].bytes() > plan.buffers[size_t(b.buffer)].bytes(); });
  std::vector<Life> placed;
  for (const Life& life : lives) {
    PlanBuffer& buffer = plan.buffers[size_t(life.buffer)];
    const int64_t size = (buffer.bytes() + kAlignment - 1) / kAlignment * kAlignment;
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (const Life& other : placed) {
      const PlanBuffer& there = plan.buffers[size_t(other.buffer)];
      if (there.device == buffer.device && other.first <= life.last && life.first <= other.last)
        taken.emplace_back(there.offset, there.offset + (there.bytes() + kAlignment - 1) / kAlignment * kAlignment);
    }
    std::ranges::sort(taken);
    int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset + size <= begin) break;
      offset = std::max(offset, end);
    }
    buffer.offset = offset;
    placed.push_back(life);
    auto arena = std::ranges::find(plan.arenas, buffer.device, &std::pair<DeviceId, int64_t>::first);
    if (arena == plan.arenas.end()) arena = plan.arenas.insert(arena, {buffer.device, 0});
    arena->second = std::max(arena->second, offset + size);
  }
}

}  // namespace whit
