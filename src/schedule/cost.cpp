#include "schedule/cost.h"

namespace whit {

double op_cost(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2: return 15;
    case Op::Log:
    case Op::Log2: return 20;
    case Op::Sin:
    case Op::Cos: return 40;
    case Op::Pow: return 100;
    case Op::Threefry: return 150;
    case Op::Divide:
    case Op::Reciprocal:
    case Op::Sqrt:
    case Op::Quotient:
    case Op::Remainder: return 4;
    default: return has(op, alu) ? 1 : 0;
  }
}

namespace {

constexpr OpSet kReadsStorage =
    OpSet::of(Op::Param, Op::Buffer, Op::Reduce, Op::Assign, Op::Scan, Op::Scatter, Op::Order, Op::Copy, Op::Contiguous);

// In how many ways a position (known without storage) must equal an index, or this is true.
size_t mismatches(const Node* condition) {
  if (condition->op == Op::Or) return mismatches(condition->source(0)) + mismatches(condition->source(1));
  if (condition->op != Op::NotEqual) return 0;
  const auto position = [](const Node* node) { return node->below.contains(Op::Iota) && !node->below.intersects(kReadsStorage); };
  return position(condition->source(0)) || position(condition->source(1));
}

}  // namespace

bool picks_one(const Node* reduce) {
  if (reduce->op != Op::Reduce || reduce->reduce_op() != Op::Add) return false;
  const Node* value = reduce->source(0);
  return value->op == Op::Where && value->source(1)->is_constant(0) && mismatches(value->source(0)) >= reduce->args().size() - 1;
}

Estimate estimate(const Node* node, const std::vector<const Estimate*>& sources) {
  const double bytes = double(element_count(node->shape())) * double(item_size(node->dtype));
  if (node->op == Op::Param) return {0, bytes, 1};
  if (has(node->op, leaf)) return {};
  // What is folded or stored reads as one leaf from above.
  if (!has(node->op, alu | movement) && !picks_one(node)) return {0, bytes, 1};
  Estimate sum{op_cost(node->op), 0, 0};
  for (const Estimate* source : sources) {
    sum.flops += source->flops;
    sum.leaf_bytes += source->leaf_bytes;
    sum.leaves += source->leaves;
  }
  if (node->op == Op::Reduce) sum.leaf_bytes = std::min(sum.leaf_bytes, bytes * sum.leaves);
  // Shared subexpressions are counted once a use; a cap keeps long chains from growing without bound.
  sum.flops = std::min(sum.flops, 1e6);
  sum.leaf_bytes = std::min(sum.leaf_bytes, 1e15);
  sum.leaves = std::min(sum.leaves, 1000000);
  return sum;
}

}  // namespace whit
