// The C compiler of this machine, run as a child process: source in, a loaded shared library out. The flags keep IEEE results:
// nothing is reassociated, contracted or assumed finite.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/dynamic_library.h"

namespace whit {

class CCompiler {
 public:
  /// The process's compiler: $CC, else cc, gcc or clang, whichever is found first. Throws a BackendError that says what was tried.
  static const CCompiler& shared();

  /// Empty when `shared` works, otherwise why it doesn't.
  static std::string unavailable_reason();

  /// `setting` is what $CC holds: a program, found as a shell would, and perhaps arguments after it. Null and blank mean unset.
  explicit CCompiler(const char* setting);

  /// The program and the arguments given before all others.
  const std::vector<std::string>& command() const { return command_; }

  /// Compiles and loads; nothing stays on the disk. Throws a BackendError with what the compiler said. Any number of threads may
  /// call it at once.
  std::unique_ptr<DynamicLibrary> compile_shared(const std::string& source) const;

 private:
  std::vector<std::string> command_;
};

}  // namespace whit
