// The interpreter's machine: a list of instructions over a frame of typed values. Every value has a place in the frame, one element per
// lane; floats narrower than float32 are kept as float32, as everywhere in the IR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include <whit/dtype.h>

#include "ir/op.h"

namespace whit::interp {

struct Instruction;

/// One buffer of a launch.
struct View {
  std::byte* data;
  int64_t elements;  ///< how many there are from `data` on; accesses beyond are refused
};

/// What one thread runs on.
struct Frame {
  std::byte* values;
  const View* buffers;  ///< by slot, and then the arrays that a group shares
  int64_t begin, end;   ///< of the parallel loop
  const Instruction* next;
  const char* kernel;  ///< its name, for messages

  template <class T>
  T* at(uint32_t place) const {
    return reinterpret_cast<T*>(values + place);
  }
};

using Run = void (*)(const Instruction& instruction, Frame& frame);

struct Instruction {
  static constexpr uint32_t kNone = ~0u;

  Run run = nullptr;
  uint32_t lanes = 1;
  uint32_t out = kNone;                      ///< the place of the result, or of a loop's counter
  uint32_t a = kNone, b = kNone, c = kNone;  ///< the places of the operands. Memory: index, gate (or kNone), value to store
  uint32_t slot = 0;                         ///< of the buffer
  int32_t jump = 0;                          ///< of loops: where to go on, relative to the next instruction
  uint32_t position = 0;                     ///< in the linear code, and its op there: for messages
  Op op = Op::Const;
};

/// out = op(a, b, c), lane by lane; null where the op is not defined on the type. Narrow floats need `rounding` after it.
Run arithmetic(Op op, DType type);
Run casting(DType from, DType to);
/// Rounds `out` to a narrow float type; null for any other.
Run rounding(DType type);

Run loading(DType type, bool consecutive);
Run storing(DType type, bool consecutive);
Run bitcasting(DType from, DType to);

/// Moves `lanes` elements of so many bytes from a to out; spreads lane 0 of out over all its lanes.
Run moving(size_t bytes);
Run spreading(size_t bytes);

/// Of one element in the frame.
size_t frame_bytes(DType type);

}  // namespace whit::interp
