// What tests of the LLVM writer share: the compilers of this machine, memory as kernels see it, and running a kernel on all of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "backends/support/llvm_compiler.h"
#include "backends/support/object_image.h"
#include "base/error.h"
#include "codegen/llvm_writer.h"
#include "unit/linear_builder.h"

namespace whit {

using Entry = void (*)(void* const*, const int64_t*, int64_t, int64_t);

inline const Target& host() {
  static const Target target = [] {
    Target result;
    result.name = "test";
    result.vector_bytes = 64;
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

/// Memory of one buffer: elements as Bits, laid out as a kernel sees them.
struct Memory {
  DType type;
  std::vector<std::byte> bytes;

  Memory(DType element, std::span<const Bits> values) : type(element), bytes(values.size() * item_size(element)) {
    for (size_t i = 0; i < values.size(); ++i) store_element(type, &bytes[i * item_size(type)], values[i]);
  }
  Memory(DType element, size_t count) : type(element), bytes(count * item_size(element), std::byte{0xcd}) {}
  Bits at(size_t i) const { return load_element(type, &bytes[i * item_size(type)]); }
};

inline std::vector<Bits> edge_values(DType type) {
  std::vector<Bits> values;
  if (is_float(type)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const double v : {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           0.5,
                           -1.5,
                           2.75,
                           127.0,
                           128.0,
                           -129.0,
                           255.5,
                           256.0,
                           32767.5,
                           65536.0,
                           2147483520.0,
                           2147483647.0,
                           2147483648.0,
                           -2147483648.0,
                           -2147483904.0,
                           4294967040.0,
                           4294967296.0,
                           9223371487098961920.0,
                           9223372036854775808.0,
                           -9223372036854775808.0,
                           1.8446742974197924e19,
                           18446744073709551616.0,
                           1e-40,
                           5e-324,
                           -1e-38,
                           3.4e38,
                           -1.7e308,
                           infinity,
                           -infinity,
                           std::nan("")})
      values.push_back(bits_of_float(type, v));
    return values;
  }
  const int64_t width = int64_t(bit_width(type));
  for (const int64_t v :
       {int64_t(0), int64_t(1), int64_t(-1), int64_t(2), int64_t(3), int64_t(-3), int64_t(7), int64_t(100), width - 1, width, width + 1,
        std::numeric_limits<int64_t>::min() >> (64 - width), ~(std::numeric_limits<int64_t>::min() >> (64 - width)),
        int64_t(0x123456789abcdef), int64_t(16777217), int64_t(9007199254740993)})
    values.push_back(bits_of_integer(type, v));
  return values;
}

inline bool same(DType type, Bits a, Bits b) {
  if (is_float(type) && std::isnan(float_of_bits(type, a))) return std::isnan(float_of_bits(type, b));
  return a == b;
}

inline constexpr DType kTypes[] = {DType::boolean, DType::int8,  DType::uint8,  DType::int16,   DType::uint16, DType::int32,
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
