// LLVM in process: text of LLVM IR in, machine code of this host out. The library is loaded at run time through its C API, so
// the build needs no LLVM; nothing global is set in it, since another user in this process may hold the same library.
//
// What the writer of IR must hold to, so that one text serves LLVM 14 to 19: pointers are typed (`float*`; `ptr` fails on 14),
// 16-bit floats are i16 (bfloat ends the process on 14), functions that want 512-bit vectors carry
// "prefer-vector-width"="512", and functions are nounwind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace whit {

class LlvmCompiler {
 public:
  /// The process's compiler, loaded on first use and never unloaded; WHIT_LLVM (a path or a version) chooses which.
  /// Throws a BackendError that says what was tried.
  static LlvmCompiler& shared();

  /// Empty when `shared` works, otherwise why it doesn't.
  static std::string unavailable_reason();

  /// Loads the library that `wanted` names: a path or file name, a version ("15"), or empty for the newest from 19 to 14.
  explicit LlvmCompiler(const std::string& wanted);
  ~LlvmCompiler();

  int version() const;
  const std::string& library() const;
  const std::string& cpu() const;
  const std::string& features() const;
  const std::string& triple() const;

  /// Machine code as an ELF object. `optimization` is 0 (fast to compile), 1 or 2. Throws a BackendError with LLVM's message
  /// when the text doesn't parse or verify. Any number of threads may call it at once.
  std::vector<uint8_t> compile(const std::string& ir_text, int optimization = 2);

  /// The same as assembly text, for people.
  std::string assembly(const std::string& ir_text, int optimization = 2);

  /// The IR after the passes and before instruction selection, for people.
  std::string optimized(const std::string& ir_text, int optimization = 2);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace whit
