// Linear code, prepared once for the interpreter.
#pragma once

#include <vector>

#include "backends/interp/machine.h"
#include "codegen/linear.h"

namespace whit::interp {

struct Code {
  /// Where a variable of the launch goes: all lanes of a place in the frame.
  struct Variable {
    uint32_t place, bytes;
  };

  std::string name;
  std::vector<Instruction> instructions;
  std::vector<std::byte> image;     ///< a frame with its constants filled in
  std::vector<Variable> variables;  ///< in the order of the kernel's
  std::vector<DType> params;
  uint32_t lanes = 1;  ///< the most of any value
};

Code translate(const LinearKernel& kernel);

}  // namespace whit::interp
