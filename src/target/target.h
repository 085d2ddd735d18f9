// What scheduling and code generation ask of a device: facts, no behaviour. A backend fills one in when it opens.
#pragma once

#include <cstdint>
#include <string>

#include "ir/op.h"
#include <whit/dtype.h>

namespace whit {

/// A set of dtypes as bits.
struct DTypeSet {
  uint32_t bits = 0;
  constexpr DTypeSet() = default;
  template <class... Types>
  static constexpr DTypeSet of(Types... types) {
    DTypeSet set;
    ((set.bits |= 1u << unsigned(types)), ...);
    return set;
  }
  constexpr bool contains(DType type) const { return (bits >> unsigned(type)) & 1; }
};

/// Every type that is stored in a machine word of its own.
inline constexpr DTypeSet kMachineTypes =
    DTypeSet::of(DType::boolean, DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64,
                 DType::uint64, DType::float32, DType::float64, DType::index);

struct Target {
  std::string name;                ///< "CPU:LLVM", "CL", …
  OpSet claims;                    ///< ops marked `lowered` that the backend evaluates itself
  DTypeSet types = kMachineTypes;  ///< types it computes in; others are lowered by rules (narrow floats to bits and float32)
  unsigned vector_bytes = 0;       ///< native vector register; 0: scalar code only
  unsigned vector_registers = 16;
  bool fused_multiply_add = false;  ///< MulAdd is one instruction: the scheduler may place it
  unsigned work_group = 0;          ///< threads of a work group; 0: the launch index is a chunk of a loop, not a grid
  unsigned threads = 1;             ///< launches run on about this many workers
  unsigned max_buffers = 64;        ///< arguments of one kernel
  // What is stored and fused is decided by these, and with it how sums are cut and rounded: they describe a nominal machine with this kind
  // of processor and `nominal_threads` workers, so that results do not depend on how many `threads` there are.
  double nominal_threads = 8;
  double bytes_per_second = 10e9;
  double flops_per_second = 50e9;
  double launch_seconds = 3e-6;  ///< cost of one more kernel
};

}  // namespace whit
