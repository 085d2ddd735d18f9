// Kernels as text of a C-like language: one writer for all of them, what differs is in a Dialect. The text computes what ops.def says
// bit for bit, given a compiler that neither contracts nor reassociates.
#pragma once

#include <span>
#include <string>

#include "codegen/dialect.h"
#include "codegen/linear.h"

namespace whit {

/// The kernels as one source text: what they need of types and helper functions, then a function for each, called as the kernel is.
/// Narrow floats and ops that the dialect can't spell must have been lowered.
std::string write_c(std::span<const LinearKernel* const> kernels, const Dialect& dialect);

}  // namespace whit
