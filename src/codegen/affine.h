// Index expressions as sums of ranges: what a kernel's accesses look like along each axis.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace whit {

/// index = sum of coefficient[r] * range r + the rest. Ranges in `other` occur in the rest in some other way (division, a gate, …).
struct Affine {
  std::vector<std::pair<uint32_t, int64_t>> terms;  ///< range number, coefficient
  uint64_t other = 0;

  /// The step of the index per step of a range; false if it is not constant.
  bool stride(const Node* range, int64_t& step) const;
};

Affine affine(const Node* index);

}  // namespace whit
