#include "codegen/llvm_writer.h"

#include "codegen/llvm_kernel.h"

namespace whit {

LlvmModule write_llvm(std::span<const LinearKernel* const> kernels, const Target& target) {
  LlvmModule module;
  LlvmText text;
  LlvmKernel writer(text);
  for (const LinearKernel* kernel : kernels) {
    writer.write(*kernel);
    module.ends.push_back(text.text.size());
  }
  text.declare_intrinsics();
  text.put("attributes #0 = { nounwind");
  // LLVM prefers 256 bits on machines whose 512-bit units are slow; the code was made for the width that the target names.
  if (target.vector_bytes) text.put(" \"prefer-vector-width\"=\"", target.vector_bytes * 8, '"');
  text.put(" }\n!0 = !{}\n");
  module.text = std::move(text.text);
  return module;
}

}  // namespace whit
