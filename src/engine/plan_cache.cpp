#include "engine/plan_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/settings.h"
#include "codegen/pipeline.h"
#include "engine/checks.h"
#include "engine/counters.h"
#include "engine/lru_cache.h"
#include "ir/device_id.h"
#include "ir/print.h"
#include "rewrite/trace.h"
#include "runtime/thread_pool.h"

namespace whit {

namespace {

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

using PlanRef = std::shared_ptr<const CompiledPlan>;

struct Cache {
  std::mutex mutex;
  LruCache<std::pair<uint64_t, uint64_t>, PlanRef> plans;           // weighed in bytes
  LruCache<std::pair<uint64_t, DeviceId>, CompiledKernel> kernels;  // counted
};
Cache& cache() {
  static Cache* all = new Cache;
  return *all;
}

int64_t plan_limit() { return setting("PLAN_CACHE", 256) << 20; }
int64_t kernel_limit() { return setting("KERNEL_CACHE", 4096); }

const std::vector<DeviceId>& devices_of(const PlanRef& plan) { return plan->plan.kernel_devices; }
std::vector<DeviceId> devices_of(const CompiledKernel& kernel) { return {kernel.device}; }

// A launch may return before it is done: no device is at work when code is freed.
template <class Gone>
void let_go(const Gone& gone) {
  std::vector<DeviceId> devices;
  for (const auto& one : gone)
    for (const DeviceId id : devices_of(one))
      if (std::ranges::find(devices, id) == devices.end()) devices.push_back(id);
  for (const DeviceId id : devices) device(id).synchronize();
}

bool optimizing() { return setting("NOOPT", 0) == 0; }

// "r_128_32_25": whether it folds, and the sizes of its loops.
std::string kernel_name(const Node* sink, size_t number) {
  std::string sizes;
  bool folds = false;
  for (const Node* node : topological_order(Sources(&sink, 1))) {
    folds |= node->op == Op::Accumulate;
    if (node->op == Op::Range && sizes.size() < 40) sizes += concat("_", node->source(0)->maximum);
  }
  return concat(folds ? "r" : "e", sizes, "_n", number);
}

std::atomic<size_t> g_kernel_number{0};

void compile_kernels(CompiledPlan& compiled, const Checks& checks) {
  const Plan& plan = compiled.plan;
  compiled.kernels.resize(plan.kernels.size());
  std::vector<size_t> missing;
  const bool optimize = optimizing();
  const auto key_of = [&](size_t i) {
    return std::pair(plan.kernels[i]->hash ^ (optimize ? 0 : 0x5555) ^ (checks.key() << 32), plan.kernel_devices[i]);
  };
  {
    const std::lock_guard lock(cache().mutex);
    for (size_t i = 0; i < plan.kernels.size(); ++i) {
      if (auto found = cache().kernels.find(key_of(i)))
        compiled.kernels[i] = *found;
      else
        missing.push_back(i);
    }
  }
  if (missing.empty()) return;
  std::vector<LinearKernel> linear(missing.size());
  std::vector<BoundsGuard> guards(missing.size());
  std::vector<std::string> why(missing.size()), rewrites(missing.size());
  const size_t first_number = g_kernel_number.fetch_add(missing.size());
  ThreadPool::shared().run(int64_t(missing.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const size_t i = missing[size_t(k)];
      if (debug_level() >= 5) std::fprintf(stderr, "kernel\n%s\n", print(Sources(&plan.kernels[i], 1)).c_str());
      if (checks.kernels) check_level(Level::kernel, Sources(&plan.kernels[i], 1), "a kernel");
      LowerOptions options{optimize, debug_level() >= 3 ? &why[size_t(k)] : nullptr, debug_level() >= 6 ? &rewrites[size_t(k)] : nullptr};
      linear[size_t(k)] = lower_kernel(plan.kernels[i], device(plan.kernel_devices[i]).target(),
                                       kernel_name(plan.kernels[i], first_number + size_t(k)), options);
      if (checks.bounds) guards[size_t(k)] = guard_bounds(linear[size_t(k)], device(plan.kernel_devices[i]).target());
      if (checks.kernels) check_level(Level::linear, linear[size_t(k)].code, linear[size_t(k)].name);
    }
  });
  // One compile call per device.
  std::vector<DeviceId> ids;
  for (const size_t i : missing)
    if (std::ranges::find(ids, plan.kernel_devices[i]) == ids.end()) ids.push_back(plan.kernel_devices[i]);
  for (const DeviceId id : ids) {
    std::vector<const LinearKernel*> group;
    std::vector<size_t> members;
    for (size_t k = 0; k < missing.size(); ++k)
      if (plan.kernel_devices[missing[k]] == id) {
        group.push_back(&linear[k]);
        members.push_back(k);
      }
    if (debug_level() >= 3)
      for (const size_t k : members) std::fprintf(stderr, "schedule %s\n%s%s", linear[k].name.c_str(), why[k].c_str(), rewrites[k].c_str());
    if (debug_level() >= 5)
      for (const LinearKernel* kernel : group) std::fprintf(stderr, "%s\n", to_string(*kernel).c_str());
    const auto programs = device(id).compile(group);
    for (size_t k = 0; k < members.size(); ++k) {
      const LinearKernel& kernel = linear[members[k]];
      const int64_t count = kernel.parallel ? kernel.parallel->source(0)->arg(0) : 1;
      compiled.kernels[missing[members[k]]] = {programs[k], kernel.name, id, count, kernel.flops, kernel.bytes, guards[members[k]]};
      if (debug_level() >= 4) std::fprintf(stderr, "%s\n", programs[k]->source.c_str());
    }
  }
  count_compiled(int64_t(missing.size()));
  std::vector<CompiledKernel> gone;
  {
    const int64_t limit = kernel_limit();
    const std::lock_guard lock(cache().mutex);
    for (const size_t i : missing) cache().kernels.insert(key_of(i), compiled.kernels[i], 1, limit, gone);
  }
  let_go(gone);
}

// What a plan takes, but for its kernels' code: nearly all of it is the graph it was made in.
int64_t bytes_of(const Plan& plan) {
  return int64_t(sizeof(CompiledPlan) + plan.graph->bytes() + plan.steps.size() * sizeof(PlanStep) +
                 plan.buffers.size() * sizeof(PlanBuffer));
}

// Keeps a plan for the next capture of its key.
void remember(const std::pair<uint64_t, uint64_t>& key, const PlanRef& plan) {
  std::vector<PlanRef> gone;
  {
    const int64_t limit = plan_limit(), bytes = bytes_of(plan->plan);
    const std::lock_guard lock(cache().mutex);
    cache().plans.insert(key, plan, bytes, limit, gone);
  }
  let_go(gone);
}

}  // namespace

std::shared_ptr<const CompiledPlan> plan_for(Capture& capture) {
  settle_key(capture);
  const Checks checks = checks_wanted();
  const std::pair key(capture.key.low ^ uint64_t(optimizing()) ^ checks.key(), capture.key.high);
  {
    const std::lock_guard lock(cache().mutex);
    if (auto found = cache().plans.find(key)) {
      count_plan(true);
      return *found;
    }
  }
  const Clock::time_point start = Clock::now();
  if (debug_level() >= 5) std::fprintf(stderr, "tensor graph\n%s\n", print(capture.request.outputs).c_str());
  if (checks.kernels) check_level(Level::tensor, capture.request.outputs, "the tensor graph");
  auto compiled = std::make_shared<CompiledPlan>();
  Trace trace(*capture.request.graph);
  {
    std::optional<Recording> recording;
    if (debug_level() >= 6) recording.emplace(trace);
    trace.start_pass("schedule");
    compiled->plan = make_plan(capture.request);
  }
  if (debug_level() >= 6) std::fprintf(stderr, "rewrites\n%s", to_string(trace).c_str());
  const double scheduled = milliseconds_since(start);
  compile_kernels(*compiled, checks);
  count_plan(false);
  if (debug_level() >= 1) {
    int64_t arena = 0;
    for (const auto& [device, bytes] : compiled->plan.arenas) arena += bytes;
    std::fprintf(stderr, "plan: %zu steps, %zu kernels, scheduled in %.1f ms, compiled in %.1f ms, temporaries %.1f MB\n",
                 compiled->plan.steps.size(), compiled->kernels.size(), scheduled, milliseconds_since(start) - scheduled,
                 double(arena) / 1e6);
  }
  remember(key, compiled);
  return compiled;
}

CacheUse cache_use() {
  const std::lock_guard lock(cache().mutex);
  return {cache().plans.size(), cache().kernels.size(), cache().plans.weight()};
}

void forget_plans() {
  std::vector<PlanRef> plans;
  std::vector<CompiledKernel> kernels;
  {
    const std::lock_guard lock(cache().mutex);
    cache().plans.clear(plans);
    cache().kernels.clear(kernels);
  }
  let_go(plans);
  let_go(kernels);
}

// ---- Running ------------------------------------------------------------------------------------------------------------------------

namespace {

// Where each plan buffer lies in this run.
struct Placement {
  void* memory = nullptr;
  size_t offset = 0;
};

// The greater share of the device's peaks, as its target estimates them, that a kernel came to.
double share_of_peak(const CompiledKernel& kernel, const Target& target, double seconds) {
  const double workers = target.work_group ? 1 : target.threads / target.nominal_threads;  // a grid's speeds are those of all its units
  return std::max(kernel.flops / target.flops_per_second, kernel.bytes / target.bytes_per_second) / workers / seconds;
}

void report_launch(const CompiledKernel& kernel, DeviceId id, double seconds) {
  static std::atomic<int64_t> number{0};
  std::fprintf(stderr, "%-5s %5lld %-40s %9.3f ms  %8.2f GFLOPS  %7.2f GB/s  %4.0f %% of peak\n", device_name(id).c_str(),
               static_cast<long long>(number.fetch_add(1)), kernel.name.c_str(), seconds * 1e3, kernel.flops / seconds / 1e9,
               kernel.bytes / seconds / 1e9, share_of_peak(kernel, device(id).target(), seconds) * 100);
}

void copy_between(DeviceId from, const Placement& source, DeviceId to, const Placement& target, size_t bytes) {
  std::vector<char> host(bytes);
  device(from).synchronize();
  device(from).copy_out(host.data(), source.memory, source.offset, bytes);
  device(to).copy_in(target.memory, target.offset, host.data(), bytes);
}

}  // namespace

void run_plan(const CompiledPlan& compiled, const std::vector<StorageRef>& inputs, const std::vector<StorageRef>& outputs,
              const std::vector<int64_t>& variables) {
  const Plan& plan = compiled.plan;
  std::vector<StorageRef> arenas;
  std::vector<Placement> places(plan.buffers.size());
  for (const auto& [id, bytes] : plan.arenas) {
    arenas.emplace_back(new Storage(id, bytes));
    arenas.back()->memory();
  }
  for (size_t b = 0; b < places.size(); ++b) {
    const PlanBuffer& buffer = plan.buffers[b];
    if (buffer.elements == 0) continue;
    if (buffer.kind == PlanBuffer::Kind::input)
      places[b].memory = inputs[b]->memory();
    else if (buffer.kind == PlanBuffer::Kind::output)
      places[b].memory = outputs[b]->memory();
    else
      for (size_t a = 0; a < arenas.size(); ++a)
        if (plan.arenas[a].first == buffer.device) places[b] = {arenas[a]->memory(), size_t(buffer.offset)};
  }
  std::vector<void*> memory;
  std::vector<size_t> offsets;
  std::vector<int64_t> values;
  const Checks checks = checks_wanted();
  for (const PlanStep& step : plan.steps) {
    if (step.kernel < 0) {
      const size_t from = size_t(step.buffers[0]), to = size_t(step.buffers[1]);
      if (plan.buffers[to].elements > 0)
        copy_between(plan.buffers[from].device, places[from], plan.buffers[to].device, places[to], size_t(plan.buffers[to].bytes()));
      continue;
    }
    const CompiledKernel& kernel = compiled.kernels[size_t(step.kernel)];
    memory.clear();
    offsets.clear();
    values.clear();
    for (const int b : step.buffers) {
      memory.push_back(places[size_t(b)].memory);
      offsets.push_back(places[size_t(b)].offset);
    }
    for (const int v : step.variables) values.push_back(variables[size_t(v)]);
    OpenDevice& on = device(step.device);
    std::optional<WatchedLaunch> watched;
    if (checks.any() || !kernel.guard.accesses.empty())
      watched.emplace(checks, kernel.name, plan.kernels[size_t(step.kernel)], step.device, kernel.guard).start(memory, offsets);
    const Clock::time_point start = Clock::now();
    on.launch(*kernel.program, memory, offsets, values, kernel.launch_count);
    count_launch(kernel.flops, kernel.bytes);
    if (debug_level() >= 2) {
      on.synchronize();
      report_launch(kernel, step.device, milliseconds_since(start) / 1e3);
    }
    if (watched) watched->finish();
  }
  // Temporaries may be given back only when nothing on the device uses them any more.
  for (const auto& [id, bytes] : plan.arenas) device(id).synchronize();
}

}  // namespace whit
