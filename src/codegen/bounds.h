// Code that checks itself: CHECK=bounds guards every access of a kernel, on whatever device it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/linear.h"
#include "target/target.h"

namespace whit {

/// One access of a kernel that intervals alone do not prove to be within its buffer.
struct GuardedAccess {
  Op op;
  bool local;         ///< the array of a work group, not a buffer
  int64_t slot;       ///< of the buffer, or the number of the array
  int64_t elements;   ///< what may be reached
  int64_t width;      ///< consecutive elements from the index on
  std::string index;  ///< as an expression
  int64_t place;      ///< where its lanes stand in the report
  int64_t lanes;
};

/// The accesses of one kernel and the buffer they report to.
struct BoundsGuard {
  std::vector<GuardedAccess> accesses;  ///< empty: every access is proven, and the kernel is as it was
  DType type = DType::int64;            ///< of the report's elements
  int64_t elements = 0;                 ///< of the report, which is the kernel's last buffer and zero at launch
};

/// Rewrites the code so that an access out of bounds is left out and reported instead.
BoundsGuard guard_bounds(LinearKernel& kernel, const Target& target);

/// What is wrong by a report after a launch, one line for each access: kernel, buffer, index. Empty if nothing is.
std::string describe_report(const std::string& kernel, const BoundsGuard& guard, const std::vector<int64_t>& report);

}  // namespace whit
