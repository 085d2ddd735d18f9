// Several outputs from one kernel: stored tensors with the same loops that share what they read, or are made from each other.
#pragma once

#include <vector>

#include "schedule/stores.h"

namespace whit {

/// Groups of stored tensors (by their place in the list, rising), each to be computed by one kernel. A tensor that another of its group is
/// made from is read there at its own place only, so that its value need not go through storage. No kernel outside a group lies between
/// two of its members.
std::vector<std::vector<size_t>> group_stores(const std::vector<StoredTensor>& stores, size_t max_buffers);

}  // namespace whit
