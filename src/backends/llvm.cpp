// CPU by way of LLVM in this process: kernels as LLVM IR, objects in memory, launches dealt to the thread pool.
#include <algorithm>
#include <numeric>

#include "backends/support/cpu_device.h"
#include "backends/support/llvm_compiler.h"
#include "backends/support/object_image.h"
#include "base/settings.h"
#include "codegen/llvm_writer.h"
#include "runtime/thread_pool.h"

namespace whit {

namespace {

constexpr size_t kKeptSource = 1 << 14;  // longer texts are kept only for who asked to see them
constexpr size_t kModuleNodes = 100;     // below this a module costs more to set up than a thread of its own saves

struct LlvmProgram : Program {
  std::shared_ptr<ObjectImage> image;  ///< shared by the kernels of one module
  KernelEntry entry;
  LaunchCost cost;
};

/// Deals kernels to modules of about equal size, the largest first, so that the modules are compiled in about equal time.
std::vector<std::vector<size_t>> deal(std::span<const LinearKernel* const> kernels, size_t threads) {
  const auto size = [&](size_t i) { return kernels[i]->code.size(); };
  size_t total = 0;
  for (size_t i = 0; i < kernels.size(); ++i) total += size(i);
  const size_t count = std::clamp<size_t>(total / kModuleNodes, 1, std::min(threads, kernels.size()));
  std::vector<size_t> order(kernels.size()), filled(count);
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::stable_sort(order, std::greater{}, size);
  std::vector<std::vector<size_t>> modules(count);
  for (const size_t i : order) {
    const size_t least = size_t(std::ranges::min_element(filled) - filled.begin());
    modules[least].push_back(i);
    filled[least] += size(i);
  }
  return modules;
}

class LlvmDevice : public CpuDevice {
 public:
  LlvmDevice() {
    target_ = host_target("CPU:LLVM");
    target_.claims = target_.claims | OpSet::of(Op::Max, Op::Min);
  }

  std::vector<std::shared_ptr<Program>> compile(std::span<const LinearKernel* const> kernels) override {
    std::vector<std::shared_ptr<Program>> programs(kernels.size());
    if (kernels.empty()) return programs;
    const std::vector<std::vector<size_t>> modules = deal(kernels, target_.threads);
    ThreadPool::shared().run(int64_t(modules.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) compile_module(kernels, modules[size_t(i)], programs);
    });
    return programs;
  }

  void launch(Program& program, std::span<void* const> buffers, std::span<const size_t> offsets, std::span<const int64_t> variables,
              int64_t count) override {
    const auto& compiled = static_cast<LlvmProgram&>(program);
    launch_entry(compiled.entry, compiled.cost, buffers, offsets, variables, count);
  }

 private:
  void compile_module(std::span<const LinearKernel* const> kernels, std::span<const size_t> members,
                      std::vector<std::shared_ptr<Program>>& programs) const {
    std::vector<const LinearKernel*> chosen;
    for (const size_t i : members) chosen.push_back(kernels[i]);
    const LlvmModule module = write_llvm(chosen, target_);
    const auto image = std::make_shared<ObjectImage>(LlvmCompiler::shared().compile(module.text));
    for (size_t i = 0; i < members.size(); ++i) {
      auto program = std::make_shared<LlvmProgram>();
      program->image = image;
      program->entry = reinterpret_cast<KernelEntry>(image->symbol(chosen[i]->name));
      program->cost = LaunchCost(*chosen[i], target_);
      const std::string_view source = module.function(i);
      if (source.size() <= kKeptSource || debug_level() >= 4) program->source = source;
      programs[members[i]] = std::move(program);
    }
  }
};

}  // namespace

namespace backends {

Backend* llvm() {
  static Backend backend{.device = "CPU",
                         .compiler = "LLVM",
                         .rank = 0,
                         .description = "this processor, by LLVM in process",
                         .unavailable = LlvmCompiler::unavailable_reason,
                         .open = [](int) -> std::unique_ptr<OpenDevice> { return std::make_unique<LlvmDevice>(); }};
  return &backend;
}

}  // namespace backends
}  // namespace whit
