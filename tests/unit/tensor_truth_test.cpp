// Bools that come from elsewhere: any byte but 0 is true, and a kernel sees 1.
#include <whit/state.h>

#include <filesystem>
#include <fstream>

#include "unit/tensor_values.h"

namespace whit {
namespace {

TEST(TensorTruth, AnyByteButZeroIsTrue) {
  const uint8_t bytes[] = {0, 2, 255, 1};
  for (const char* device : {"CPU", "CPU:C", "CPU:INTERP"}) {
    Tensor x;
    try {
      x = Tensor::from_blob(bytes, {4}, {.dtype = DType::boolean, .device = device});
    } catch (const UserError&) {
      continue;  // there is no C compiler
    }
    expect_values(x.sum(), {}, {3});
    expect_values(x.where(1, 2), {4}, {2, 1, 1, 1});
    expect_values(!x, {4}, {1, 0, 0, 0});
    expect_values(Tensor({10, 20}).to(device)[{x.cast(DType::int32)}], {4}, {10, 20, 20, 20});
  }
}

TEST(TensorTruth, OfAFile) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "whit_truth.safetensors").string();
  const std::string header = R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})";
  std::ofstream(path, std::ios::binary) << char(header.size()) << std::string(7, '\0') << header << '\0' << '\2' << '\200';
  expect_values(nn::safe_load(path)["a"].sum(), {}, {2});
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace whit
