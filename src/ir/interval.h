// Interval arithmetic: the least and greatest value of integer nodes.
#pragma once

#include "ir/graph.h"

namespace whit {

struct Interval {
  int64_t minimum, maximum;
};

/// All values of a type (of index and uint64: what int64 can hold of them).
Interval interval_of(DType type);

/// Fills in the interval of a draft whose dtype is bool, an integer or index, from those of its sources.
Interval infer_interval(const Draft& draft);

}  // namespace whit
