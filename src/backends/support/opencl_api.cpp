#include "backends/support/opencl_api.h"

#include <vector>

#include "base/dynamic_library.h"
#include "base/error.h"

namespace whit {
namespace {

void load_functions(const DynamicLibrary& library, OpenClApi& api) {
  library.load("clGetPlatformIDs", api.get_platform_ids);
  library.load("clGetPlatformInfo", api.get_platform_info);
  library.load("clGetDeviceIDs", api.get_device_ids);
  library.load("clGetDeviceInfo", api.get_device_info);
  library.load("clCreateContext", api.create_context);
  library.load("clReleaseContext", api.release_context);
  library.load("clCreateCommandQueue", api.create_command_queue);
  library.load("clReleaseCommandQueue", api.release_command_queue);
  library.load("clFlush", api.flush);
  library.load("clFinish", api.finish);
  library.load("clCreateBuffer", api.create_buffer);
  library.load("clCreateSubBuffer", api.create_sub_buffer);
  library.load("clReleaseMemObject", api.release_mem_object);
  library.load("clEnqueueReadBuffer", api.enqueue_read_buffer);
  library.load("clEnqueueWriteBuffer", api.enqueue_write_buffer);
  library.load("clEnqueueCopyBuffer", api.enqueue_copy_buffer);
  library.load("clEnqueueFillBuffer", api.enqueue_fill_buffer);
  library.load("clCreateProgramWithSource", api.create_program_with_source);
  library.load("clCreateProgramWithBinary", api.create_program_with_binary);
  library.load("clBuildProgram", api.build_program);
  library.load("clGetProgramBuildInfo", api.get_program_build_info);
  library.load("clGetProgramInfo", api.get_program_info);
  library.load("clReleaseProgram", api.release_program);
  library.load("clCreateKernel", api.create_kernel);
  library.load("clReleaseKernel", api.release_kernel);
  library.load("clSetKernelArg", api.set_kernel_arg);
  library.load("clGetKernelWorkGroupInfo", api.get_kernel_work_group_info);
  library.load("clEnqueueNDRangeKernel", api.enqueue_nd_range_kernel);
  library.load("clWaitForEvents", api.wait_for_events);
  library.load("clGetEventProfilingInfo", api.get_event_profiling_info);
  library.load("clReleaseEvent", api.release_event);
}

/// A loader without a driver behind it is common, so what counts is whether some platform has a device.
void require_device(const OpenClApi& api) {
  uint32_t platform_count = 0;
  int32_t code = api.get_platform_ids(0, nullptr, &platform_count);
  if (code != opencl::kSuccess || platform_count == 0) {
    throw BackendError(concat("the OpenCL library finds no driver (", opencl_error_name(code), ")"));
  }
  std::vector<opencl::Platform> platforms(platform_count);
  api.get_platform_ids(platform_count, platforms.data(), nullptr);
  for (opencl::Platform platform : platforms) {
    uint32_t devices = 0;
    code = api.get_device_ids(platform, opencl::kTypeAll, 0, nullptr, &devices);
    if (code == opencl::kSuccess && devices > 0) return;
  }
  throw BackendError(concat("no OpenCL driver has a device (", opencl_error_name(code), ")"));
}

/// Leaked: drivers keep threads of their own, which must not outlive their code.
struct Shared {
  DynamicLibrary* library = nullptr;
  OpenClApi api{};
  std::string reason;

  Shared() {
    try {
      const std::string names[] = {"libOpenCL.so.1", "libOpenCL.so"};
      library = new DynamicLibrary(names);
      load_functions(*library, api);
      require_device(api);
    } catch (const Error& error) {
      reason = concat("no OpenCL: ", error.what());
    }
  }

  static const Shared& get() {
    static const Shared& shared = *new Shared;
    return shared;
  }
};

struct ErrorName {
  int32_t code;
  const char* name;
};

constexpr ErrorName kErrorNames[] = {
    {0, "CL_SUCCESS"},
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-9, "CL_IMAGE_FORMAT_MISMATCH"},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-18, "CL_DEVICE_PARTITION_FAILED"},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    {-40, "CL_INVALID_IMAGE_SIZE"},
    {-41, "CL_INVALID_SAMPLER"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-60, "CL_INVALID_GL_OBJECT"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-62, "CL_INVALID_MIP_LEVEL"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-65, "CL_INVALID_IMAGE_DESCRIPTOR"},
    {-66, "CL_INVALID_COMPILER_OPTIONS"},
    {-67, "CL_INVALID_LINKER_OPTIONS"},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

}  // namespace

const OpenClApi& OpenClApi::shared() {
  const Shared& shared = Shared::get();
  if (!shared.reason.empty()) throw BackendError(shared.reason);
  return shared.api;
}

std::string OpenClApi::unavailable_reason() { return Shared::get().reason; }

std::string opencl_error_name(int32_t code) {
  for (const ErrorName& entry : kErrorNames) {
    if (entry.code == code) return entry.name;
  }
  return concat("OpenCL error ", code);
}

}  // namespace whit
