// OpenCL 1.2, declared by hand and loaded at run time: the build needs neither headers nor a library. Names are OpenCL's own in
// this project's spelling, so clEnqueueReadBuffer is `enqueue_read_buffer`; the OpenCL specification says what each one does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace whit {
namespace opencl {

using Platform = struct PlatformHandle*;
using Device = struct DeviceHandle*;
using Context = struct ContextHandle*;
using Queue = struct QueueHandle*;
using Memory = struct MemoryHandle*;
using Program = struct ProgramHandle*;
using Kernel = struct KernelHandle*;
using Event = struct EventHandle*;

constexpr int32_t kSuccess = 0;
constexpr int32_t kOutOfDeviceMemory = -4, kOutOfResources = -5, kOutOfHostMemory = -6;  // the allocation failures

constexpr uint64_t kTypeCpu = 1 << 1, kTypeGpu = 1 << 2, kTypeAccelerator = 1 << 3, kTypeAll = 0xFFFFFFFF;
constexpr uint64_t kOutOfOrder = 1 << 0, kProfiling = 1 << 1;                                     // of a queue
constexpr uint64_t kReadWrite = 1 << 0, kUseHostPointer = 1 << 3, kAllocateHostPointer = 1 << 4;  // of a buffer
constexpr uint32_t kBufferRegion = 0x1220;                                                        // for create_sub_buffer
constexpr uint64_t kContextPlatform = 0x1084;                                                     // a property of a context

/// What create_sub_buffer takes.
struct Region {
  size_t origin, size;
};

enum class PlatformInfo : uint32_t { Version = 0x0901, Name = 0x0902, Vendor = 0x0903, Extensions = 0x0904 };

enum class DeviceInfo : uint32_t {
  Type = 0x1000,
  ComputeUnits = 0x1002,
  MaxWorkItemSizes = 0x1005,
  MaxWorkGroupSize = 0x1004,
  PreferredVectorWidthFloat = 0x100A,
  MaxClockMegahertz = 0x100C,
  MaxAllocation = 0x1010,
  BaseAddressAlignmentBits = 0x1019,
  GlobalCacheSize = 0x101E,
  GlobalMemory = 0x101F,
  LocalMemoryType = 0x1022,
  LocalMemory = 0x1023,
  Available = 0x1027,
  CompilerAvailable = 0x1028,
  Name = 0x102B,
  Vendor = 0x102C,
  DriverVersion = 0x102D,
  Version = 0x102F,
  Extensions = 0x1030,
  DoubleFormats = 0x1032,
  UnifiedMemory = 0x1035,
  OpenClCVersion = 0x103D,
};

enum class BuildInfo : uint32_t { Log = 0x1183 };
enum class ProgramInfo : uint32_t { BinarySizes = 0x1165, Binaries = 0x1166 };
enum class WorkGroupInfo : uint32_t { MaxSize = 0x11B0, LocalMemory = 0x11B2, PreferredMultiple = 0x11B3 };
enum class ProfilingInfo : uint32_t { Queued = 0x1280, Submitted = 0x1281, Start = 0x1282, End = 0x1283 };

}  // namespace opencl

struct OpenClApi {
  /// The process's OpenCL, loaded on first use; throws a BackendError when there is no library or no device.
  static const OpenClApi& shared();

  /// Empty when `shared` works, otherwise why it doesn't.
  static std::string unavailable_reason();

  using Wait = const opencl::Event*;  // a list of events to wait for, with its length before it

  int32_t (*get_platform_ids)(uint32_t capacity, opencl::Platform* platforms, uint32_t* count);
  int32_t (*get_platform_info)(opencl::Platform, opencl::PlatformInfo, size_t capacity, void* value, size_t* size);
  int32_t (*get_device_ids)(opencl::Platform, uint64_t type, uint32_t capacity, opencl::Device* devices, uint32_t* count);
  int32_t (*get_device_info)(opencl::Device, opencl::DeviceInfo, size_t capacity, void* value, size_t* size);

  opencl::Context (*create_context)(const intptr_t* properties, uint32_t count, const opencl::Device* devices,
                                    void (*notify)(const char* message, const void* data, size_t size, void* user), void* user,
                                    int32_t* error);
  int32_t (*release_context)(opencl::Context);
  opencl::Queue (*create_command_queue)(opencl::Context, opencl::Device, uint64_t properties, int32_t* error);
  int32_t (*release_command_queue)(opencl::Queue);
  int32_t (*flush)(opencl::Queue);
  int32_t (*finish)(opencl::Queue);

  opencl::Memory (*create_buffer)(opencl::Context, uint64_t flags, size_t size, void* host, int32_t* error);
  opencl::Memory (*create_sub_buffer)(opencl::Memory, uint64_t flags, uint32_t type, const void* region, int32_t* error);
  int32_t (*release_mem_object)(opencl::Memory);
  int32_t (*enqueue_read_buffer)(opencl::Queue, opencl::Memory, uint32_t blocking, size_t offset, size_t size, void* host, uint32_t, Wait,
                                 opencl::Event* done);
  int32_t (*enqueue_write_buffer)(opencl::Queue, opencl::Memory, uint32_t blocking, size_t offset, size_t size, const void* host, uint32_t,
                                  Wait, opencl::Event* done);
  int32_t (*enqueue_copy_buffer)(opencl::Queue, opencl::Memory from, opencl::Memory to, size_t from_offset, size_t to_offset, size_t size,
                                 uint32_t, Wait, opencl::Event* done);
  int32_t (*enqueue_fill_buffer)(opencl::Queue, opencl::Memory, const void* pattern, size_t pattern_size, size_t offset, size_t size,
                                 uint32_t, Wait, opencl::Event* done);

  opencl::Program (*create_program_with_source)(opencl::Context, uint32_t count, const char* const* texts, const size_t* sizes,
                                                int32_t* error);
  opencl::Program (*create_program_with_binary)(opencl::Context, uint32_t count, const opencl::Device* devices, const size_t* sizes,
                                                const unsigned char* const* binaries, int32_t* status, int32_t* error);
  int32_t (*build_program)(opencl::Program, uint32_t count, const opencl::Device* devices, const char* options,
                           void (*notify)(opencl::Program, void* user), void* user);
  int32_t (*get_program_build_info)(opencl::Program, opencl::Device, opencl::BuildInfo, size_t capacity, void* value, size_t* size);
  int32_t (*get_program_info)(opencl::Program, opencl::ProgramInfo, size_t capacity, void* value, size_t* size);
  int32_t (*release_program)(opencl::Program);

  opencl::Kernel (*create_kernel)(opencl::Program, const char* name, int32_t* error);
  int32_t (*release_kernel)(opencl::Kernel);
  int32_t (*set_kernel_arg)(opencl::Kernel, uint32_t index, size_t size, const void* value);
  int32_t (*get_kernel_work_group_info)(opencl::Kernel, opencl::Device, opencl::WorkGroupInfo, size_t capacity, void* value, size_t* size);
  int32_t (*enqueue_nd_range_kernel)(opencl::Queue, opencl::Kernel, uint32_t dimensions, const size_t* offset, const size_t* global,
                                     const size_t* local, uint32_t, Wait, opencl::Event* done);

  int32_t (*wait_for_events)(uint32_t count, const opencl::Event*);
  int32_t (*get_event_profiling_info)(opencl::Event, opencl::ProfilingInfo, size_t capacity, void* value, size_t* size);
  int32_t (*release_event)(opencl::Event);
};

/// OpenCL's name for an error code, such as "CL_OUT_OF_RESOURCES"; the number for a code it doesn't define.
std::string opencl_error_name(int32_t code);

}  // namespace whit
