// What tests of the LLVM writer share: the compilers of this machine, memory as kernels see it, and running a kernel on all of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "backends/support/llvm_compiler.h"
#include "backends/support/object_image.h"
#include "codegen/llvm_writer.h"
#include "unit/linear_cases.h"

namespace whit {

using Entry = void (*)(void* const*, const int64_t*, int64_t, int64_t);

inline const Target& host() {
  static const Target target = [] {
    Target result;
    result.name = "test";
    result.vector_bytes = 64;
    result.claims = OpSet::of(Op::Max, Op::Min, Op::MulAdd);
    return result;
  }();
  return target;
}

/// The compilers of this machine, one per version of LLVM.
inline std::vector<std::unique_ptr<LlvmCompiler>>& compilers() {
  static auto& all = *[] {
    auto* found = new std::vector<std::unique_ptr<LlvmCompiler>>;
    for (int version = 19; version >= 14; --version) {
      try {
        found->push_back(std::make_unique<LlvmCompiler>(std::to_string(version)));
      } catch (const BackendError&) {
      }
    }
    return found;
  }();
  return all;
}

/// A buffer that shows by its contents what nobody wrote.
struct Memory : CaseBuffer {
  Memory(DType element, const std::vector<Bits>& values) : CaseBuffer(element, values) {}
  Memory(DType element, size_t count) : CaseBuffer(element, count) { std::ranges::fill(bytes, std::byte{0xcd}); }
};

inline bool same(DType type, Bits a, Bits b) {
  if (is_float(type) && std::isnan(float_of_bits(type, a))) return std::isnan(float_of_bits(type, b));
  return a == b;
}

inline constexpr DType kTypes[] = {DType::boolean, DType::int8,  DType::uint8,  DType::int16,   DType::uint16, DType::int32,
                                   DType::uint32,  DType::int64, DType::uint64, DType::float32, DType::float64};

inline constexpr DType kMachineWords[] = {DType::boolean, DType::int8,  DType::uint8,  DType::int16,   DType::uint16, DType::int32,
                                          DType::uint32,  DType::int64, DType::uint64, DType::float32, DType::float64};

/// Runs one kernel with every compiler, optimised and not, each on a copy of the memory, and checks that all give the same.
inline void run(const LinearBuilder& builder, std::vector<Memory>& memory, const std::vector<int64_t>& variables = {}, int64_t begin = 0,
                int64_t end = 1) {
  const LinearKernel* kernel = &builder.kernel;
  const LlvmModule module = write_llvm({&kernel, 1}, host());
  const std::vector<Memory> before = memory;
  for (const auto& compiler : compilers())
    for (const int optimization : {2, 0}) {
      std::vector<Memory> own = before;
      std::vector<void*> buffers;
      buffers.reserve(own.size());
      for (Memory& each : own) buffers.push_back(each.bytes.data());
      const ObjectImage image(compiler->compile(module.text, optimization));
      reinterpret_cast<Entry>(image.symbol(kernel->name))(buffers.data(), variables.data(), begin, end);
      if (compiler == compilers()[0] && optimization == 2) memory = own;
      for (size_t i = 0; i < own.size(); ++i)
        EXPECT_EQ(own[i].bytes, memory[i].bytes) << "buffer " << i << ", LLVM " << compiler->version() << " at " << optimization << "\n"
                                                 << module.text;
    }
}

inline Memory floats(size_t count, float (*value)(size_t)) {
  Memory memory(DType::float32, count);
  for (size_t i = 0; i < count; ++i) store_element(DType::float32, &memory.bytes[i * 4], bits_of_float(DType::float32, value(i)));
  return memory;
}
inline Memory integers(DType type, size_t count, int64_t (*value)(size_t)) {
  Memory memory(type, count);
  for (size_t i = 0; i < count; ++i) store_element(type, &memory.bytes[i * item_size(type)], bits_of_integer(type, value(i)));
  return memory;
}
inline float number(const Memory& memory, size_t i) { return float(float_of_bits(memory.type, memory.at(i))); }

class LlvmWriter : public testing::Test {
 protected:
  void SetUp() override {
    if (compilers().empty()) GTEST_SKIP() << LlvmCompiler::unavailable_reason();
  }
};

}  // namespace whit
