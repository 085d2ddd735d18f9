// What an elementwise op gives on given values: the `meaning` column of ops.def, for every dtype.
#pragma once

#include <span>

#include "ir/number.h"
#include "ir/op.h"

namespace whit {

/// The value of `op` (an alu op other than Cast and Bitcast) on operands of dtype `type` (of the second and third for Where, whose
/// first operand is bool). Comparisons give the bits of a bool.
Bits evaluate(Op op, DType type, std::span<const Bits> operands);

/// The value an accumulation by Add, Mul, Max, Min, And or Or starts from.
Bits identity_of(Op op, DType type);

}  // namespace whit
