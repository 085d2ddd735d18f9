// Which device a run of these tests is for.
#include "device_under_test.h"

namespace whit {
namespace {

TEST(DeviceUnderTest, IsNamedByFileOrByDevice) {
  EXPECT_EQ(device_of_backend("llvm"), "CPU:LLVM");
  EXPECT_EQ(device_of_backend("CPU:LLVM"), "CPU:LLVM");
  EXPECT_EQ(device_of_backend("opencl"), "CL");
  for (const Backend* backend : registered_backends()) {
    const std::string device = std::string(backend->device) + (backend->compiler.empty() ? "" : ":") + std::string(backend->compiler);
    EXPECT_EQ(device_of_backend(device), device);
  }
}

TEST(DeviceUnderTest, AnUnknownNameIsAnErrorWithTheChoices) {
  try {
    device_of_backend("lvm");
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    for (const char* part : {"WHIT_TEST_BACKEND=lvm", "llvm (CPU:LLVM)", "interp (CPU:INTERP)"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace whit
