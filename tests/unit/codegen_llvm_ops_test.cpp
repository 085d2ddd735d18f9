// Every op on every type against what ops.def says, on edge values, by every LLVM there is.
#include "ir/print.h"
#include "unit/llvm_run.h"

namespace whit {
namespace {

void compare(LlvmCompiler& compiler, int64_t lanes) {
  std::vector<LinearCase> cases = op_cases(host(), lanes);
  std::vector<const LinearKernel*> kernels;
  kernels.reserve(cases.size());
  for (const LinearCase& made : cases) kernels.push_back(&made.kernel());
  const ObjectImage image(compiler.compile(write_llvm(kernels, host()).text));
  for (LinearCase& made : cases) {
    std::vector<void*> buffers;
    buffers.reserve(made.buffers.size());
    for (CaseBuffer& buffer : made.buffers) buffers.push_back(buffer.bytes.data());
    reinterpret_cast<Entry>(image.symbol(made.title))(buffers.data(), nullptr, 0, made.count);
    size_t wrong = 0;
    for (size_t slot = 0; slot < made.expected.size() && wrong < 5; ++slot) {
      const Expectation& expected = made.expected[slot];
      const CaseBuffer& got = made.buffers[slot];
      for (size_t i = 0; i < got.size() && wrong < 5; ++i) {
        const bool zeros =
            expected.zeros_may_differ && float_of_bits(got.type, got.at(i)) == 0 && float_of_bits(got.type, expected.values[i]) == 0;
        if (zeros || same(got.type, expected.values[i], got.at(i))) continue;
        ++wrong;
        ADD_FAILURE() << "LLVM " << compiler.version() << ", " << lanes << " lanes, " << expected.title << " [" << i
                      << "]: " << print_value(got.type, got.at(i)) << ", not " << print_value(got.type, expected.values[i]);
      }
    }
  }
}

TEST_F(LlvmWriter, OpsMeanWhatTheTableSays) {
  for (const int64_t lanes : {1, 16}) compare(*compilers()[0], lanes);
}

TEST_F(LlvmWriter, OpsMeanTheSameToEveryVersion) {
  for (size_t i = 1; i < compilers().size(); ++i) compare(*compilers()[i], 8);
}

}  // namespace
}  // namespace whit
