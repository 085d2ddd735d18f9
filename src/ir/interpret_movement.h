// What movement ops do to values: the part of the reference evaluator that knows about axes.
#pragma once

#include "ir/interpret_tensor.h"

namespace whit {

int64_t count_of(const std::vector<int64_t>& shape);
/// Where an element lies, row-major; an axis of size 1 has the same element at every index.
int64_t offset_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& index);
/// The next index in row-major order, the first again after the last.
void advance(std::vector<int64_t>& index, const std::vector<int64_t>& shape);

/// The numbers first, first + 1, ….
TensorValue counted(int64_t count, int64_t first);

/// The value of a movement node whose source has this value, its args read as numbers.
TensorValue moved(const Node* node, const TensorValue& source, const std::vector<int64_t>& args);

}  // namespace whit
