#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "runtime/thread_pool.h"
#include "unit/linear_cases.h"
#include "unit/linear_forms.h"

namespace whit {
namespace {

/// Each backend, opened once; null where it isn't available.
OpenDevice* device_of(const Backend* backend) {
  static auto& opened = *new std::map<const Backend*, std::unique_ptr<OpenDevice>>;
  auto& device = opened[backend];
  if (!device && backend->unavailable().empty()) device = backend->open(0);
  return device.get();
}

const Backend* interpreter() {
  for (const Backend* backend : registered_backends())
    if (backend->compiler == "INTERP") return backend;
  return nullptr;
}

/// What the buffers hold after the launch, which is made of several where `step` is less than the count.
std::vector<CaseBuffer> run(OpenDevice& device, Program& program, const LinearCase& made, size_t offset = 0) {
  std::vector<void*> memory;
  std::vector<size_t> offsets;
  for (const CaseBuffer& buffer : made.buffers) {
    memory.push_back(device.alloc(buffer.bytes.size() + offset));
    offsets.push_back(offset);
    device.copy_in(memory.back(), offset, buffer.bytes.data(), buffer.bytes.size());
  }
  device.launch(program, memory, offsets, made.variables, made.count);
  device.synchronize();
  std::vector<CaseBuffer> results = made.buffers;
  for (size_t i = 0; i < results.size(); ++i) {
    device.copy_out(results[i].bytes.data(), memory[i], offset, results[i].bytes.size());
    device.free(memory[i], results[i].bytes.size() + offset);
  }
  return results;
}

bool same(const LinearCase& made, DType type, Bits a, Bits b) {
  if (a == b) return true;
  if (!is_float(type)) return false;
  const double x = float_of_bits(type, a), y = float_of_bits(type, b);
  return (x != x && y != y) || (made.zeros_may_differ && x == 0 && y == 0);
}

class Backends : public testing::TestWithParam<Backend*> {
 protected:
  void SetUp() override {
    if (std::string reason = GetParam()->unavailable(); !reason.empty()) GTEST_SKIP() << reason;
    if (GetParam()->device == "NULL") GTEST_SKIP() << "computes nothing";
  }
  OpenDevice& device() { return *device_of(GetParam()); }

  /// Compiles the cases it takes together, and compares every buffer with what is expected or with the interpreter.
  void compare(std::vector<LinearCase> cases) {
    std::erase_if(cases, [&](const LinearCase& made) { return !takes(device().target(), made); });
    std::vector<const LinearKernel*> kernels;
    for (const LinearCase& made : cases) kernels.push_back(&made.kernel());
    const auto programs = device().compile(kernels);
    ASSERT_EQ(programs.size(), cases.size());
    OpenDevice& reference = *device_of(interpreter());
    for (size_t k = 0; k < cases.size(); ++k) {
      std::vector<CaseBuffer> expected = cases[k].buffers;
      if (cases[k].expected.empty()) expected = run(reference, *reference.compile({&kernels[k], 1})[0], cases[k]);
      else expected[0] = CaseBuffer(expected[0].type, cases[k].expected);
      check(cases[k], expected, run(device(), *programs[k], cases[k]), programs[k]->source);
      if (cases[k].expected.empty()) check(cases[k], expected, run(device(), *programs[k], cases[k], 8), programs[k]->source);
    }
  }

  void check(const LinearCase& made, const std::vector<CaseBuffer>& expected, const std::vector<CaseBuffer>& got, const std::string& source) {
    size_t wrong = 0;
    for (size_t slot = 0; slot < expected.size(); ++slot)
      for (size_t i = 0; i < expected[slot].size(); ++i)
        if (const DType type = expected[slot].type; !same(made, type, expected[slot].at(i), got[slot].at(i)) && ++wrong <= 3)
          ADD_FAILURE() << made.title << ": buffer " << slot << " [" << i << "] is " << float_of_bits(type, got[slot].at(i)) << " (" << got[slot].at(i) << "), not "
                        << float_of_bits(type, expected[slot].at(i)) << " (" << expected[slot].at(i) << ")" << (wrong == 1 ? "\n" + source : "");
  }
};

TEST_P(Backends, OpsOnScalars) { compare(op_cases(1)); }
TEST_P(Backends, OpsOnVectors) { compare(op_cases(16)); }
TEST_P(Backends, Forms) { compare(form_cases()); }

TEST_P(Backends, ResultsDoNotDependOnTheChunks) {
  if (GetParam()->device != "CPU") GTEST_SKIP() << "not a CPU";
  // Work that is estimated as long is dealt to all threads, one index at a time.
  std::vector<LinearCase> cases = form_cases();
  for (LinearCase& made : cases) made.kernel().flops = 1e15;
  compare(std::move(cases));
}

std::string backend_name(const testing::TestParamInfo<Backend*>& parameter) {
  return std::string(parameter.param->device) + std::string(parameter.param->compiler);
}
INSTANTIATE_TEST_SUITE_P(All, Backends, testing::ValuesIn(registered_backends()), backend_name);

}  // namespace
}  // namespace whit
