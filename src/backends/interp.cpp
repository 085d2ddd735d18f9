// CPU without a compiler: evaluates linear code as ops.def states it. The reference that every other backend is compared with, and the
// model to copy for a new one.
#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/interp/translate.h"
#include "backends/support/cpu_device.h"
#include "backends/support/host_memory.h"
#include "base/error.h"
#include "base/thread_local.h"

namespace whit::backends {

namespace {

struct InterpProgram final : Program {
  interp::Code code;
  LaunchCost cost;
};

/// Memory for a frame, aligned, kept by the thread from launch to launch.
std::byte* frame_memory(size_t bytes) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line>& memory = of_this_thread<std::vector<Line>, InterpProgram>();
  if (memory.size() * sizeof(Line) < bytes) memory.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
  return memory.data()->bytes;
}

/// Buffers that didn't come from host_alloc have no known end.
std::vector<interp::View> views_of(const interp::Code& code, std::span<void* const> buffers, std::span<const size_t> offsets) {
  WHIT_ASSERT(buffers.size() == code.params.size() && offsets.size() == buffers.size(), code.name, " takes ", code.params.size(),
              " buffers");
  std::vector<interp::View> views;
  for (size_t slot = 0; slot < buffers.size(); ++slot) {
    const size_t size = host_size(buffers[slot]);
    const int64_t elements =
        size == 0 ? std::numeric_limits<int64_t>::max() : int64_t((size - std::min(size, offsets[slot])) / item_size(code.params[slot]));
    views.push_back({static_cast<std::byte*>(buffers[slot]) + offsets[slot], elements});
  }
  return views;
}

void run(const interp::Code& code, const std::vector<interp::View>& views, std::span<const int64_t> variables, int64_t begin, int64_t end) {
  std::byte* values = frame_memory(std::max<size_t>(code.image.size() + code.local_bytes, 1));
  std::memcpy(values, code.image.data(), code.image.size());
  for (size_t i = 0; i < code.variables.size(); ++i)
    for (uint32_t lane = 0; lane < code.lanes; ++lane)
      std::memcpy(values + code.variables[i].place + lane * code.variables[i].bytes, &variables[i], code.variables[i].bytes);
  std::vector<interp::View> all;  // with the arrays of this thread's groups
  if (!code.locals.empty()) all = views;
  for (const interp::Code::Local& array : code.locals) all.push_back({values + code.image.size() + array.place, array.elements});
  const interp::Instruction* const last = code.instructions.data() + code.instructions.size();
  interp::Frame frame{values, all.empty() ? views.data() : all.data(), begin, end, code.instructions.data(), code.name.c_str()};
  while (frame.next != last) {
    const interp::Instruction& instruction = *frame.next++;
    instruction.run(instruction, frame);
  }
}

class InterpDevice final : public CpuDevice {
 public:
  InterpDevice() {
    target_ = host_target("CPU:INTERP");
    target_.claims = OpSet::with(lowered);
    target_.types = DTypeSet::of(DType::boolean, DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32,
                                 DType::int64, DType::uint64, DType::float8_e4m3, DType::float8_e5m2, DType::float16, DType::bfloat16,
                                 DType::float32, DType::float64, DType::index);
    // Long vectors spread the cost of an instruction over many lanes; values lie in the frame, so registers are plenty.
    target_.vector_bytes = 256;
    target_.vector_registers = 64;
    target_.fused_multiply_add = false;
    target_.flops_per_second = 0.5e9 * target_.nominal_threads;
  }

  std::vector<std::shared_ptr<Program>> compile(std::span<const LinearKernel* const> kernels) override {
    std::vector<std::shared_ptr<Program>> programs;
    for (const LinearKernel* kernel : kernels) {
      auto program = std::make_shared<InterpProgram>();
      program->source = to_string(*kernel);
      program->code = interp::translate(*kernel);
      program->cost = LaunchCost(*kernel, target_);
      programs.push_back(std::move(program));
    }
    return programs;
  }

  void launch(Program& program, std::span<void* const> buffers, std::span<const size_t> offsets, std::span<const int64_t> variables,
              int64_t count) override {
    const InterpProgram& prepared = static_cast<InterpProgram&>(program);
    WHIT_ASSERT(variables.size() == prepared.code.variables.size(), prepared.code.name, " takes ", prepared.code.variables.size(),
                " variables");
    const std::vector<interp::View> views = views_of(prepared.code, buffers, offsets);
    run_chunks(prepared.cost, count, [&](int64_t begin, int64_t end) { run(prepared.code, views, variables, begin, end); });
  }
};

}  // namespace

Backend* interp() {
  static Backend backend{.device = "CPU",
                         .compiler = "INTERP",
                         .rank = 2,
                         .description = "evaluates each op as the op table states it",
                         .unavailable = [] { return std::string(); },
                         .open = [](int) -> std::unique_ptr<OpenDevice> { return std::make_unique<InterpDevice>(); }};
  return &backend;
}

}  // namespace whit::backends
