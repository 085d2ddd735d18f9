#include "codegen/linear.h"

namespace whit {

const Node* LinearKernel::vector_range(const Node* node) const {
  for (const Node* range : vector_ranges)
    if (node->open & range->open) return range;
  return nullptr;
}

}  // namespace whit
