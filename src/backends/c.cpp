// CPU by way of the system's C compiler: slower to compile with than LLVM, but always at hand where programs are built.
#include <mutex>
#include <unordered_map>

#include "backends/support/c_compiler.h"
#include "backends/support/cpu_device.h"
#include "codegen/cstyle.h"

namespace whit::backends {

namespace {

struct CProgram final : Program {
  std::shared_ptr<DynamicLibrary> library;  // holds the code
  KernelEntry entry = nullptr;
  LaunchCost cost;
};

/// Libraries that are in use, by the text they were made from.
class Libraries {
 public:
  std::shared_ptr<DynamicLibrary> get(const std::string& source) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = known_.find(source); found != known_.end())
        if (auto library = found->second.lock()) return library;
    }
    std::shared_ptr<DynamicLibrary> library = CCompiler::shared().compile_shared(source);
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    known_[source] = library;
    return library;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<DynamicLibrary>> known_;
};

class CDevice final : public CpuDevice {
 public:
  CDevice() {
    target_ = host_target("CPU:C");
    target_.claims = target_.claims | OpSet::of(Op::Max, Op::Min);
  }

  std::vector<std::shared_ptr<Program>> compile(std::span<const LinearKernel* const> kernels) override {
    if (kernels.empty()) return {};
    const std::shared_ptr<DynamicLibrary> library = libraries_.get(write_c(kernels, kCDialect));
    std::vector<std::shared_ptr<Program>> programs;
    for (const LinearKernel* kernel : kernels) {
      auto program = std::make_shared<CProgram>();
      program->source = write_c({&kernel, 1}, kCDialect);
      program->library = library;
      program->entry = reinterpret_cast<KernelEntry>(library->symbol(kernel->name));
      program->cost = LaunchCost(*kernel, target_);
      programs.push_back(std::move(program));
    }
    return programs;
  }

  void launch(Program& program, std::span<void* const> buffers, std::span<const size_t> offsets, std::span<const int64_t> variables,
              int64_t count) override {
    const CProgram& compiled = static_cast<CProgram&>(program);
    launch_entry(compiled.entry, compiled.cost, buffers, offsets, variables, count);
  }

 private:
  Libraries libraries_;
};

}  // namespace

Backend* c() {
  static Backend backend{.device = "CPU",
                         .compiler = "C",
                         .rank = 1,
                         .description = "the system's C compiler",
                         .unavailable = [] { return CCompiler::unavailable_reason(); },
                         .open = [](int) -> std::unique_ptr<OpenDevice> { return std::make_unique<CDevice>(); }};
  return &backend;
}

}  // namespace whit::backends
