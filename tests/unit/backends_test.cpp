#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "ir/print.h"
#include "unit/linear_cases.h"
#include "unit/linear_forms.h"
#include "unit/random_kernel.h"

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

/// What the buffers hold after the launch, with each at an offset into its memory.
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

bool same(DType type, Bits a, Bits b, bool zeros_may_differ) {
  if (a == b) return true;
  if (!is_float(type)) return false;
  const double x = float_of_bits(type, a), y = float_of_bits(type, b);
  return (x != x && y != y) || (zeros_may_differ && x == 0 && y == 0);
}

class Backends : public testing::TestWithParam<Backend*> {
 protected:
  void SetUp() override {
    if (std::string reason = GetParam()->unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
  OpenDevice& device() { return *device_of(GetParam()); }

  /// Compiles the cases it takes together, and compares every buffer with what is expected or with the interpreter.
  void compare(std::vector<LinearCase> cases) {
    std::erase_if(cases, [&](const LinearCase& made) { return !takes(device().target(), made); });
    std::vector<const LinearKernel*> kernels;
    for (const LinearCase& made : cases) kernels.push_back(&made.kernel());
    const auto programs = device().compile(kernels);
    ASSERT_EQ(programs.size(), cases.size());
    for (size_t k = 0; k < cases.size(); ++k) {
      SCOPED_TRACE(cases[k].title);
      const std::vector<Expectation> expected = cases[k].expected.empty() ? interpreted(cases[k]) : cases[k].expected;
      const size_t failures =
          check(expected, run(device(), *programs[k], cases[k])) + check(expected, run(device(), *programs[k], cases[k], 8));
      if (failures > 0) ADD_FAILURE() << programs[k]->source;
    }
  }

  std::vector<Expectation> interpreted(const LinearCase& made) {
    OpenDevice& reference = *device_of(interpreter());
    const LinearKernel* kernel = &made.kernel();
    std::vector<Expectation> expected;
    for (const CaseBuffer& buffer : run(reference, *reference.compile({&kernel, 1})[0], made)) {
      expected.push_back({.title = concat("buffer ", expected.size()), .values = {}});
      for (size_t i = 0; i < buffer.size(); ++i) expected.back().values.push_back(buffer.at(i));
    }
    return expected;
  }

  size_t check(const std::vector<Expectation>& expected, const std::vector<CaseBuffer>& got) {
    size_t wrong = 0;
    for (size_t slot = 0; slot < expected.size(); ++slot)
      for (size_t i = 0; i < expected[slot].values.size(); ++i) {
        const DType type = got[slot].type;
        const Bits wanted = expected[slot].values[i], value = got[slot].at(i);
        if (!same(type, wanted, value, expected[slot].zeros_may_differ) && ++wrong <= 3)
          ADD_FAILURE() << expected[slot].title << ": [" << i << "] is " << print_value(type, value) << ", not "
                        << print_value(type, wanted);
      }
    return wrong;
  }
};

TEST_P(Backends, OpsOnScalars) { compare(op_cases(device().target(), 1)); }
TEST_P(Backends, OpsOnVectors) {
  for (const int64_t lanes : {2, 16}) compare(op_cases(device().target(), lanes));
}
TEST_P(Backends, Forms) { compare(form_cases()); }
TEST_P(Backends, Groups) { compare(group_cases()); }

TEST_P(Backends, RandomKernels) {
  std::vector<LinearCase> cases;
  for (uint64_t seed = 1; seed <= 40; ++seed) cases.push_back(RandomKernel(seed).draw());
  compare(std::move(cases));
}

TEST_P(Backends, ResultsDoNotDependOnTheChunks) {
  if (GetParam()->device != "CPU") GTEST_SKIP() << "not a CPU";
  // Work that is estimated as long is dealt to all threads, one index at a time.
  std::vector<LinearCase> cases = form_cases();
  for (LinearCase& made : cases) made.kernel().flops = 1e15;
  compare(std::move(cases));
}

TEST_P(Backends, OneProgramServesManyThreads) {
  const LinearCase made = staged_case(33, 21);
  const LinearKernel* kernel = &made.kernel();
  const auto program = device().compile({&kernel, 1})[0];
  const std::vector<Expectation> expected = interpreted(made);
  std::vector<std::thread> threads;
  std::atomic<size_t> wrong{0};
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) wrong += check(expected, run(device(), *program, made));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_P(Backends, TakesManyBuffers) {
  const size_t count = std::min(device().target().max_buffers, 200u);
  LinearCase made = start_case("many");
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::int32, size_t(1), true);
  const Node* sum = b.graph.constant(DType::int32, 0);
  for (size_t i = 1; i < count; ++i) {
    const Node* in = add_buffer(made, DType::int32, std::vector<Bits>{Bits(i)}, false);
    sum = b.add(sum, b.load(in, b.index(0)));
  }
  b.store(out, b.index(0), sum);
  made.expected.push_back({.title = "sum", .values = {Bits(count * (count - 1) / 2)}});
  compare({made});
}

TEST_P(Backends, CompilesNothing) { EXPECT_TRUE(device().compile({}).empty()); }

TEST(Interpreter, RefusesAnIndexOutOfBounds) {
  LinearCase made = start_case("stray");
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::float32, size_t(8), true);
  const Node* i = b.loop(9);
  b.store(out, i, b.graph.constant(DType::float32, 1));
  b.end(i);
  const LinearKernel* kernel = &made.kernel();
  OpenDevice& device = *device_of(interpreter());
  const auto program = device.compile({&kernel, 1})[0];
  try {
    run(device, *program, made);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "stray: instruction 1, a Store, reaches element 8 of buffer 0, which has 8");
  }
}

TEST(NullDevice, CompilesAndRunsNothing) {
  for (Backend* backend : registered_backends()) {
    if (backend->device != "NULL") continue;
    const LinearCase made = elementwise_case(100);
    const LinearKernel* kernel = &made.kernel();
    const auto program = device_of(backend)->compile({&kernel, 1})[0];
    EXPECT_NE(program->source.find("void elementwise("), std::string::npos);
    for (const CaseBuffer& buffer : run(*device_of(backend), *program, made))
      for (size_t i = 0; i < buffer.size(); ++i) EXPECT_EQ(buffer.at(i), 0);
  }
}

std::vector<Backend*> computing_backends() {
  std::vector<Backend*> backends = registered_backends();
  std::erase_if(backends, [](const Backend* backend) { return backend->device == "NULL"; });
  return backends;
}

std::string backend_name(const testing::TestParamInfo<Backend*>& parameter) {
  return std::string(parameter.param->device) + std::string(parameter.param->compiler);
}
INSTANTIATE_TEST_SUITE_P(All, Backends, testing::ValuesIn(computing_backends()), backend_name);

}  // namespace
}  // namespace whit
