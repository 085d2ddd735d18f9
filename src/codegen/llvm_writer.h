// Kernels as one module of LLVM IR, in text that LLVM 14 to 19 read alike.
//
// The function of a kernel is `void NAME(i8** buffers, i64* variables, i64 begin, i64 end)`. It assumes that different slots never
// overlap.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/linear.h"
#include "target/target.h"

namespace whit {

struct LlvmModule {
  std::string text;
  std::vector<size_t> ends;  ///< where each kernel's function ends in the text; the first starts at 0

  std::string_view function(size_t i) const {
    const size_t begin = i ? ends[i - 1] : 0;
    return std::string_view(text).substr(begin, ends[i] - begin);
  }
};

LlvmModule write_llvm(std::span<const LinearKernel* const> kernels, const Target& target);

}  // namespace whit
