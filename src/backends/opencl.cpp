// Any device with an OpenCL 1.2 driver. One queue per device, in order, so nothing here waits for events.
#include <algorithm>
#include <map>
#include <mutex>

#include "backends/support/opencl_api.h"
#include "base/error.h"
#include "codegen/cstyle.h"
#include "runtime/backend.h"

namespace whit::backends {

namespace {

constexpr Dialect kDialect = {
    .name = "OpenCL C",
    .header =
        "#pragma OPENCL FP_CONTRACT OFF\n"
        "#ifdef cl_khr_fp64\n"
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "#endif\n",
    .entry = Entry::grid,
    .kernel = "__kernel void",
    .memory = "__global ",
    .launch_index = "get_global_id(0)",
    .group_index = "get_group_id(0)",
    .thread_index = "get_local_id(0)",
    .group_size = "__attribute__((reqd_work_group_size($0, 1, 1)))",
    .group_memory = "__local ",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
};

constexpr size_t kWorkGroup = 64;

// What a device says of its float32 (a set of bits, DeviceInfo of this number).
constexpr auto kSingleFormats = opencl::DeviceInfo(0x101B);
constexpr uint64_t kFusedMultiplyAdd = 1 << 5, kExactDivideAndSqrt = 1 << 7;
constexpr auto kParameterBytes = opencl::DeviceInfo(0x1017);

const OpenClApi& api() { return OpenClApi::shared(); }

void check(int32_t code, std::string_view what) {
  if (code != opencl::kSuccess) throw BackendError(concat("OpenCL: ", what, ": ", opencl_error_name(code)));
}

template <class Value>
Value device_fact(opencl::Device device, opencl::DeviceInfo which) {
  Value value{};
  api().get_device_info(device, which, sizeof value, &value, nullptr);
  return value;
}

struct Place {
  opencl::Platform platform;
  opencl::Device device;
};

/// All devices of all drivers: GPUs and accelerators before CPUs, which CPU serves better.
std::vector<Place> find_devices() {
  std::vector<Place> found;
  uint32_t platform_count = 0;
  check(api().get_platform_ids(0, nullptr, &platform_count), "looking for drivers");
  std::vector<opencl::Platform> platforms(platform_count);
  check(api().get_platform_ids(platform_count, platforms.data(), nullptr), "looking for drivers");
  for (const opencl::Platform platform : platforms) {
    uint32_t count = 0;
    if (api().get_device_ids(platform, opencl::kTypeAll, 0, nullptr, &count) != opencl::kSuccess) continue;
    std::vector<opencl::Device> devices(count);
    api().get_device_ids(platform, opencl::kTypeAll, count, devices.data(), nullptr);
    for (const opencl::Device device : devices) found.push_back({platform, device});
  }
  std::stable_partition(found.begin(), found.end(), [](const Place& place) {
    return (device_fact<uint64_t>(place.device, opencl::DeviceInfo::Type) & opencl::kTypeCpu) == 0;
  });
  return found;
}

/// The kernels of one compile call.
struct Module {
  opencl::Program program = nullptr;
  ~Module() {
    if (program) api().release_program(program);
  }
};

struct ClProgram final : Program {
  std::shared_ptr<Module> module;
  opencl::Kernel kernel = nullptr;
  size_t group_size = 0;
  std::mutex mutex;  // the arguments belong to the kernel: they are set and used by one thread at a time
  ~ClProgram() override {
    if (kernel) api().release_kernel(kernel);
  }
};

/// Buffers that were freed, by size, for the next to ask: making one can cost more than a kernel.
class BufferCache {
 public:
  explicit BufferCache(opencl::Context context) : context_(context) {}
  ~BufferCache() { clear(); }

  opencl::Memory take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    if (auto found = kept_.find(bytes); found != kept_.end()) {
      const opencl::Memory memory = found->second;
      kept_.erase(found);
      kept_bytes_ -= bytes;
      return memory;
    }
    int32_t code = 0;
    opencl::Memory memory = api().create_buffer(context_, opencl::kReadWrite, bytes, nullptr, &code);
    if (!memory) {
      clear();
      memory = api().create_buffer(context_, opencl::kReadWrite, bytes, nullptr, &code);
    }
    if (memory) return memory;
    used_ -= bytes;
    fail(ErrorKind::OutOfMemory, "out of memory on CL: ", bytes, " bytes were asked for with ", used_, " in use (", opencl_error_name(code),
         ")");
  }

  void give(opencl::Memory memory, size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
    kept_.emplace(bytes, memory);
    kept_bytes_ += bytes;
    if (used_ + kept_bytes_ > peak_ + kAlwaysKept) clear();
  }

 private:
  static constexpr size_t kAlwaysKept = size_t(64) << 20;

  void clear() {
    for (const auto& [bytes, memory] : kept_) api().release_mem_object(memory);
    kept_.clear();
    kept_bytes_ = 0;
  }

  opencl::Context context_;
  std::mutex mutex_;
  std::multimap<size_t, opencl::Memory> kept_;
  size_t kept_bytes_ = 0, used_ = 0, peak_ = 0;
};

class ClDevice final : public OpenDevice {
 public:
  explicit ClDevice(const Place& place) : device_(place.device) {
    int32_t code = 0;
    const intptr_t properties[] = {intptr_t(opencl::kContextPlatform), reinterpret_cast<intptr_t>(place.platform), 0};
    context_.reset(api().create_context(properties, 1, &device_, nullptr, nullptr, &code));
    check(code, "making a context");
    queue_.reset(api().create_command_queue(context_.get(), device_, 0, &code));
    check(code, "making a queue");
    buffers_ = std::make_unique<BufferCache>(context_.get());
    describe();
  }
  ~ClDevice() override { api().finish(queue_.get()); }

  void* alloc(size_t bytes) override { return buffers_->take(rounded(bytes)); }
  void free(void* memory, size_t bytes) override { buffers_->give(static_cast<opencl::Memory>(memory), rounded(bytes)); }
  void copy_in(void* memory, size_t offset, const void* host, size_t bytes) override {
    if (bytes)
      check(api().enqueue_write_buffer(queue_.get(), static_cast<opencl::Memory>(memory), 1, offset, bytes, host, 0, nullptr, nullptr),
            "copying in");
  }
  void copy_out(void* host, const void* memory, size_t offset, size_t bytes) override {
    const auto buffer = static_cast<opencl::Memory>(const_cast<void*>(memory));
    if (bytes) check(api().enqueue_read_buffer(queue_.get(), buffer, 1, offset, bytes, host, 0, nullptr, nullptr), "copying out");
  }
  void synchronize() override { check(api().finish(queue_.get()), "waiting for the queue"); }

  std::vector<std::shared_ptr<Program>> compile(std::span<const LinearKernel* const> kernels) override {
    std::vector<std::shared_ptr<Program>> programs;
    if (kernels.empty()) return programs;
    const std::shared_ptr<Module> module = build(write_c(kernels, kDialect));
    for (const LinearKernel* kernel : kernels) {
      auto program = std::make_shared<ClProgram>();
      int32_t code = 0;
      program->module = module;
      program->group_size = size_t(kernel->group_size);
      program->kernel = api().create_kernel(module->program, kernel->name.c_str(), &code);
      check(code, kernel->name);
      program->source = write_c({&kernel, 1}, kDialect);
      programs.push_back(std::move(program));
    }
    return programs;
  }

  void launch(Program& program, std::span<void* const> buffers, std::span<const size_t> offsets, std::span<const int64_t> variables,
              int64_t count) override {
    if (count <= 0) return;
    ClProgram& compiled = static_cast<ClProgram&>(program);
    const std::lock_guard lock(compiled.mutex);
    uint32_t argument = 0;
    const auto set = [&](const auto& value) {
      check(api().set_kernel_arg(compiled.kernel, argument++, sizeof value, &value), "setting an argument");
    };
    for (size_t slot = 0; slot < buffers.size(); ++slot) {
      set(static_cast<opencl::Memory>(buffers[slot]));
      set(int64_t(offsets[slot]));
    }
    for (const int64_t variable : variables) set(variable);
    set(count);
    // One size of group for all launches of a kernel: drivers for CPUs compile it again for each.
    const size_t local = compiled.group_size ? compiled.group_size : target_.work_group;
    const size_t global = compiled.group_size ? size_t(count) * local : (size_t(count) + local - 1) / local * local;
    check(api().enqueue_nd_range_kernel(queue_.get(), compiled.kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr),
          "launching a kernel");
    api().flush(queue_.get());
  }

 private:
  static size_t rounded(size_t bytes) { return (bytes + 255) & ~size_t(255); }

  void describe() {
    const bool cpu = device_fact<uint64_t>(device_, opencl::DeviceInfo::Type) & opencl::kTypeCpu;
    const uint64_t single = device_fact<uint64_t>(device_, kSingleFormats);
    const uint32_t units = std::max(device_fact<uint32_t>(device_, opencl::DeviceInfo::ComputeUnits), 1u);
    const double clock = std::max(device_fact<uint32_t>(device_, opencl::DeviceInfo::MaxClockMegahertz), 1000u) * 1e6;
    // Where a driver offers no exact division, Divide and Sqrt may be 2.5 and 3 units off, and it may flush subnormals of float32:
    // OpenCL has no way to ask for more.
    exact_division_ = single & kExactDivideAndSqrt;
    target_.name = "CL";
    target_.claims = OpSet::of(Op::Max, Op::Min);
    target_.fused_multiply_add = single & kFusedMultiplyAdd;
    if (target_.fused_multiply_add) target_.claims = target_.claims | OpSet(Op::MulAdd);
    if (!device_fact<uint64_t>(device_, opencl::DeviceInfo::DoubleFormats)) target_.types.bits &= ~DTypeSet::of(DType::float64).bits;
    target_.work_group =
        unsigned(std::min(kWorkGroup, std::max<size_t>(device_fact<size_t>(device_, opencl::DeviceInfo::MaxWorkGroupSize), 1)));
    target_.threads = units;
    // A buffer takes an address and an offset; some room is left for variables.
    target_.max_buffers = unsigned(std::clamp<size_t>(device_fact<size_t>(device_, kParameterBytes) / 16, 12, 132)) - 4;
    target_.flops_per_second = units * clock * (cpu ? 16 : 128);
    target_.bytes_per_second = cpu ? 10e9 : 300e9;
    target_.launch_seconds = 10e-6;
  }

  std::shared_ptr<Module> build(const std::string& source) {
    auto module = std::make_shared<Module>();
    int32_t code = 0;
    const char* text = source.c_str();
    const size_t size = source.size();
    module->program = api().create_program_with_source(context_.get(), 1, &text, &size, &code);
    check(code, "making a program");
    const char* const options = exact_division_ ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt" : "-cl-std=CL1.2";
    code = api().build_program(module->program, 1, &device_, options, nullptr, nullptr);
    if (code == opencl::kSuccess) return module;
    size_t length = 0;
    api().get_program_build_info(module->program, device_, opencl::BuildInfo::Log, 0, nullptr, &length);
    std::string log(length, '\0');
    api().get_program_build_info(module->program, device_, opencl::BuildInfo::Log, length, log.data(), nullptr);
    throw BackendError(concat("OpenCL can't build a kernel (", opencl_error_name(code), "):\n", log.c_str()));
  }

  struct Release {
    void operator()(opencl::Context context) const { api().release_context(context); }
    void operator()(opencl::Queue queue) const { api().release_command_queue(queue); }
  };

  opencl::Device device_;
  std::unique_ptr<std::remove_pointer_t<opencl::Context>, Release> context_;
  std::unique_ptr<std::remove_pointer_t<opencl::Queue>, Release> queue_;
  std::unique_ptr<BufferCache> buffers_;
  bool exact_division_ = false;
};

std::unique_ptr<OpenDevice> open_device(int index) {
  const std::vector<Place> devices = find_devices();
  if (index < 0 || size_t(index) >= devices.size())
    fail(ErrorKind::Device, "CL:", index, " is not there: OpenCL finds ", devices.size(), devices.size() == 1 ? " device" : " devices");
  return std::make_unique<ClDevice>(devices[size_t(index)]);
}

}  // namespace

Backend* opencl() {
  static Backend backend{.device = "CL",
                         .compiler = "",
                         .rank = 0,
                         .description = "devices with an OpenCL driver",
                         .unavailable = OpenClApi::unavailable_reason,
                         .open = open_device};
  return &backend;
}

}  // namespace whit::backends
