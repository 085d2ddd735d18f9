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

  /// An array that a group shares: where it lies behind the image, and its elements.
  struct Local {
    size_t place;
    int64_t elements;
  };

  std::string name;
  std::vector<Instruction> instructions;
  std::vector<std::byte> image;     ///< a frame with its constants filled in
  std::vector<Variable> variables;  ///< in the order of the kernel's
  std::vector<DType> params;
  std::vector<Local> locals;  ///< their slots follow those of the params
  size_t local_bytes = 0;
  uint32_t lanes = 1;  ///< the most of any value
};

Code translate(const LinearKernel& kernel);

}  // namespace whit::interp
