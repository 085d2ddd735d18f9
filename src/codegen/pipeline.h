// The whole way of one kernel from scalar expressions over ranges to linear code.
#pragma once

#include <string>

#include "codegen/linear.h"
#include "target/target.h"

namespace whit {

struct LowerOptions {
  bool optimize = true;             ///< false: the plain loop nest (NOOPT=1)
  std::string* why = nullptr;       ///< collects the schedule's decisions (DEBUG=3)
  std::string* rewrites = nullptr;  ///< collects every rewrite (DEBUG=6)
};

/// Lowers a kernel of a Plan (a Sink of Stores over Ranges, Params numbered by slot). Works in a graph of its own, so several kernels
/// may be lowered at the same time.
LinearKernel lower_kernel(const Node* sink, const Target& target, const std::string& name, const LowerOptions& options = {});

}  // namespace whit
