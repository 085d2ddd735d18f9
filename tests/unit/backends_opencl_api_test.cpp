#include "backends/support/opencl_api.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace whit {
namespace {

TEST(OpenClErrors, HaveNames) {
  EXPECT_EQ(opencl_error_name(0), "CL_SUCCESS");
  EXPECT_EQ(opencl_error_name(-5), "CL_OUT_OF_RESOURCES");
  EXPECT_EQ(opencl_error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
  EXPECT_EQ(opencl_error_name(-9999), "OpenCL error -9999");
}

TEST(OpenClApi, SaysWhyItIsMissing) {
  if (OpenClApi::unavailable_reason().empty()) GTEST_SKIP() << "it is there";
  try {
    OpenClApi::shared();
    FAIL() << "nothing was thrown";
  } catch (const BackendError& error) {
    EXPECT_EQ(error.what(), OpenClApi::unavailable_reason());
  }
}

/// The first device, a context and a queue on it.
class OpenClApiTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string reason = OpenClApi::unavailable_reason(); !reason.empty()) GTEST_SKIP() << reason;
    api_ = &OpenClApi::shared();
    uint32_t count = 0;
    ASSERT_EQ(api_->get_platform_ids(0, nullptr, &count), opencl::kSuccess);
    std::vector<opencl::Platform> platforms(count);
    ASSERT_EQ(api_->get_platform_ids(count, platforms.data(), nullptr), opencl::kSuccess);
    for (opencl::Platform platform : platforms) {
      if (!device_) api_->get_device_ids(platform, opencl::kTypeAll, 1, &device_, nullptr);
    }
    ASSERT_TRUE(device_);
    int32_t error = 1;
    context_ = api_->create_context(nullptr, 1, &device_, nullptr, nullptr, &error);
    ASSERT_EQ(error, opencl::kSuccess);
    queue_ = api_->create_command_queue(context_, device_, opencl::kProfiling, &error);
    ASSERT_EQ(error, opencl::kSuccess);
  }

  void TearDown() override {
    if (queue_) {
      EXPECT_EQ(api_->release_command_queue(queue_), opencl::kSuccess);
    }
    if (context_) {
      EXPECT_EQ(api_->release_context(context_), opencl::kSuccess);
    }
  }

  opencl::Memory buffer(size_t size) {
    int32_t error = 1;
    opencl::Memory memory = api_->create_buffer(context_, opencl::kReadWrite, size, nullptr, &error);
    EXPECT_EQ(error, opencl::kSuccess) << opencl_error_name(error);
    return memory;
  }

  /// Builds the text; `log` gets what the compiler said.
  opencl::Program build(const char* text, int32_t& code, std::string& log) {
    int32_t error = 1;
    opencl::Program program = api_->create_program_with_source(context_, 1, &text, nullptr, &error);
    EXPECT_EQ(error, opencl::kSuccess);
    code = api_->build_program(program, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
    size_t size = 0;
    EXPECT_EQ(api_->get_program_build_info(program, device_, opencl::BuildInfo::Log, 0, nullptr, &size), opencl::kSuccess);
    log.resize(size);
    EXPECT_EQ(api_->get_program_build_info(program, device_, opencl::BuildInfo::Log, size, log.data(), nullptr), opencl::kSuccess);
    return program;
  }

  const OpenClApi* api_ = nullptr;
  opencl::Device device_ = nullptr;
  opencl::Context context_ = nullptr;
  opencl::Queue queue_ = nullptr;
};

TEST_F(OpenClApiTest, TellsWhatTheDeviceIs) {
  char name[256] = {};
  EXPECT_EQ(api_->get_device_info(device_, opencl::DeviceInfo::Name, sizeof name, name, nullptr), opencl::kSuccess);
  EXPECT_NE(std::string(name), "");
  uint32_t units = 0;
  EXPECT_EQ(api_->get_device_info(device_, opencl::DeviceInfo::ComputeUnits, sizeof units, &units, nullptr), opencl::kSuccess);
  EXPECT_GE(units, 1u);
  uint64_t memory = 0;
  EXPECT_EQ(api_->get_device_info(device_, opencl::DeviceInfo::GlobalMemory, sizeof memory, &memory, nullptr), opencl::kSuccess);
  EXPECT_GT(memory, 0u);
}

TEST_F(OpenClApiTest, CopiesAndFills) {
  std::vector<int32_t> in(64), out(64);
  for (int32_t i = 0; i < 64; ++i) in[static_cast<size_t>(i)] = i;
  opencl::Memory a = buffer(256), b = buffer(256);
  const int32_t seven = 7;
  EXPECT_EQ(api_->enqueue_write_buffer(queue_, a, 1, 0, 256, in.data(), 0, nullptr, nullptr), opencl::kSuccess);
  EXPECT_EQ(api_->enqueue_fill_buffer(queue_, b, &seven, sizeof seven, 0, 256, 0, nullptr, nullptr), opencl::kSuccess);
  EXPECT_EQ(api_->enqueue_copy_buffer(queue_, a, b, 0, 128, 128, 0, nullptr, nullptr), opencl::kSuccess);
  EXPECT_EQ(api_->enqueue_read_buffer(queue_, b, 1, 0, 256, out.data(), 0, nullptr, nullptr), opencl::kSuccess);
  for (int32_t i = 0; i < 64; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], i < 32 ? 7 : i - 32);
  EXPECT_EQ(api_->release_mem_object(a), opencl::kSuccess);
  EXPECT_EQ(api_->release_mem_object(b), opencl::kSuccess);
}

TEST_F(OpenClApiTest, BuildsAndRunsAKernel) {
  int32_t code = 1;
  std::string log;
  opencl::Program program = build("__kernel void twice(__global float* x, float y) { x[get_global_id(0)] *= y; }", code, log);
  ASSERT_EQ(code, opencl::kSuccess) << log;
  opencl::Kernel kernel = api_->create_kernel(program, "twice", &code);
  ASSERT_EQ(code, opencl::kSuccess);

  std::vector<float> values(128);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  opencl::Memory memory = buffer(512);
  const float factor = 2;
  const size_t global = 128, local = 16;
  opencl::Event event = nullptr;
  EXPECT_EQ(api_->enqueue_write_buffer(queue_, memory, 1, 0, 512, values.data(), 0, nullptr, nullptr), opencl::kSuccess);
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the argument is the handle itself
  EXPECT_EQ(api_->set_kernel_arg(kernel, 0, sizeof memory, &memory), opencl::kSuccess);
  EXPECT_EQ(api_->set_kernel_arg(kernel, 1, sizeof factor, &factor), opencl::kSuccess);
  EXPECT_EQ(api_->set_kernel_arg(kernel, 2, sizeof factor, &factor), -49);
  EXPECT_EQ(api_->enqueue_nd_range_kernel(queue_, kernel, 1, nullptr, &global, &local, 0, nullptr, &event), opencl::kSuccess);
  EXPECT_EQ(api_->wait_for_events(1, &event), opencl::kSuccess);
  uint64_t start = 0, end = 0;
  EXPECT_EQ(api_->get_event_profiling_info(event, opencl::ProfilingInfo::Start, 8, &start, nullptr), opencl::kSuccess);
  EXPECT_EQ(api_->get_event_profiling_info(event, opencl::ProfilingInfo::End, 8, &end, nullptr), opencl::kSuccess);
  EXPECT_LE(start, end);
  EXPECT_EQ(api_->enqueue_read_buffer(queue_, memory, 0, 0, 512, values.data(), 0, nullptr, nullptr), opencl::kSuccess);
  EXPECT_EQ(api_->finish(queue_), opencl::kSuccess);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 2 * static_cast<float>(i));

  EXPECT_EQ(api_->release_event(event), opencl::kSuccess);
  EXPECT_EQ(api_->release_mem_object(memory), opencl::kSuccess);
  EXPECT_EQ(api_->release_kernel(kernel), opencl::kSuccess);
  EXPECT_EQ(api_->release_program(program), opencl::kSuccess);
}

TEST_F(OpenClApiTest, ABrokenProgramGivesALog) {
  int32_t code = 1;
  std::string log;
  opencl::Program program = build("__kernel void broken( {", code, log);
  EXPECT_EQ(opencl_error_name(code), "CL_BUILD_PROGRAM_FAILURE");
  EXPECT_NE(log.find("error"), std::string::npos) << log;
  EXPECT_EQ(api_->release_program(program), opencl::kSuccess);
}

}  // namespace
}  // namespace whit
