// A device that compiles and runs nothing: what remains when it is measured is the cost of whit itself.
#include <atomic>
#include <cstring>

#include "codegen/cstyle.h"
#include "runtime/backend.h"

namespace whit::backends {

namespace {

class NullDevice final : public OpenDevice {
 public:
  NullDevice() {
    // A common CPU, the same everywhere, so that kernels and their texts are too.
    target_.name = "NULL";
    target_.claims = OpSet::of(Op::MulAdd, Op::Max, Op::Min);
    target_.vector_bytes = 32;
    target_.fused_multiply_add = true;
  }

  // Handles are numbers that look like addresses and are never followed.
  void* alloc(size_t bytes) override {
    return reinterpret_cast<void*>(next_.fetch_add((bytes + 63) & ~size_t(63), std::memory_order_relaxed));
  }
  void free(void*, size_t) override {}
  void copy_in(void*, size_t, const void*, size_t) override {}
  void copy_out(void* host, const void*, size_t, size_t bytes) override { std::memset(host, 0, bytes); }

  std::vector<std::shared_ptr<Program>> compile(std::span<const LinearKernel* const> kernels) override {
    std::vector<std::shared_ptr<Program>> programs;
    for (const LinearKernel* kernel : kernels) {
      programs.push_back(std::make_shared<Program>());
      programs.back()->source = write_c({&kernel, 1}, kCDialect);
    }
    return programs;
  }

  void launch(Program&, std::span<void* const>, std::span<const size_t>, std::span<const int64_t>, int64_t) override {}

 private:
  std::atomic<size_t> next_{size_t(1) << 40};
};

}  // namespace

Backend* null() {
  static Backend backend{.device = "NULL",
                         .compiler = "",
                         .rank = 0,
                         .description = "compiles, runs nothing",
                         .unavailable = [] { return std::string(); },
                         .open = [](int) -> std::unique_ptr<OpenDevice> { return std::make_unique<NullDevice>(); }};
  return &backend;
}

}  // namespace whit::backends
