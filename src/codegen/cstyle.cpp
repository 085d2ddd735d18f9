#include "codegen/cstyle.h"

#include "base/error.h"
#include "codegen/cstyle_kernel.h"

namespace whit {

namespace {

constexpr Spelling kCSpellings[] = {
    {Op::Sqrt, DType::float32, "__builtin_sqrtf($0)"},          {Op::Sqrt, DType::float64, "__builtin_sqrt($0)"},
    {Op::Trunc, DType::float32, "__builtin_truncf($0)"},        {Op::Trunc, DType::float64, "__builtin_trunc($0)"},
    {Op::MulAdd, DType::float32, "__builtin_fmaf($0, $1, $2)"}, {Op::MulAdd, DType::float64, "__builtin_fma($0, $1, $2)"},
};

}  // namespace

constinit const Dialect kCDialect = {
    .name = "C",
    .may_alias = "__attribute__((may_alias))",
    .vectors = true,
    .spellings = kCSpellings,
};

std::string write_c(std::span<const LinearKernel* const> kernels, const Dialect& dialect) {
  Prelude prelude(dialect);
  std::string functions;
  for (const LinearKernel* kernel : kernels) functions += "\n" + KernelWriter(*kernel, prelude).write();
  return concat(dialect.header, prelude.text(), functions);
}

}  // namespace whit
