// Sorting as kernels.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"

namespace whit {

/// Sinks that, run in this order, write to `places` (int32) the stable ascending order of each of `rows` rows of `size` unsigned integers
/// in `keys`: a radix sort from the lowest digit (Knuth, The Art of Computer Programming 5.2.5), linear in the size. `buffer` gives a Param
/// of a new temporary.
std::vector<const Node*> sorting_kernels(Graph& graph, const Node* keys, const Node* places, int64_t rows, int64_t size,
                                         const std::function<const Node*(DType, int64_t)>& buffer);

}  // namespace whit
