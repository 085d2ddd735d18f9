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

/// The state of a Scan: starts from the op's identity (of MulAdd from 0) and takes one element after the other. Narrow floats are kept in
/// float32 and rounded in each result.
class ScanState {
 public:
  ScanState(Op op, DType type);
  void start();
  Bits next(Bits value, Bits term);  ///< `term` is read by MulAdd alone: state = state * value + term, rounded twice

 private:
  Op op_;
  DType type_, wide_;
  Bits state_ = 0;
};

}  // namespace whit
