// What follows from a node's parts: dtype, shape, interval, device, and whether it is really a constant.
#include <algorithm>

#include "base/error.h"
#include "ir/evaluate.h"
#include "ir/form.h"
#include "ir/interval.h"

namespace whit {

namespace {

// These are rounded differently by different devices, so only the device may evaluate them.
constexpr OpSet kInexact = OpSet::of(Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Pow);

void infer_elementwise(Draft& d) {
  if (!has(d.op, typed)) d.dtype = has(d.op, compares) ? DType::boolean : d.sources[d.op == Op::Where ? 1 : 0]->dtype;
  const Node* widest = d.sources[0];
  for (const Node* source : d.sources)
    if (source->rank > widest->rank) widest = source;
  if (widest->rank) d.shape.assign(widest->shape().begin(), widest->shape().end());
}

void infer_movement(Draft& d) {
  const Node* source = d.sources[0];
  d.dtype = source->dtype;
  d.shape.assign(source->shape().begin(), source->shape().end());
  switch (d.op) {
    case Op::Reshape:
    case Op::Expand:
      d.shape.clear();
      for (const int64_t arg : d.args) d.shape.push_back(size_argument(d, arg));
      break;
    case Op::Permute:
      for (size_t i = 0; i < d.args.size(); ++i) d.shape[i] = source->shape()[size_t(d.args[i])];
      break;
    case Op::Pad:
      for (size_t i = 0; i < d.shape.size(); ++i)
        d.shape[i].size += size_argument(d, d.args[2 * i]).size + size_argument(d, d.args[2 * i + 1]).size;
      break;
    case Op::Shrink:
      for (size_t i = 0; i < d.shape.size(); ++i) d.shape[i] = size_argument(d, d.args[2 * i + 1]);
      break;
    case Op::Flip: break;
    default: d.shape[size_t(d.args[0])] = Dim(d.args[2]);  // Window, Spread
  }
}

void infer_reduce(Draft& d) {
  d.dtype = d.sources[0]->dtype;
  if (d.op != Op::Reduce) return;
  d.shape.assign(d.sources[0]->shape().begin(), d.sources[0]->shape().end());
  for (const int64_t axis : d.args.subspan(1)) d.shape[size_t(axis)] = Dim(1);
}

// Const-ness: the bits of the value if every source is a constant and the op is exact.
bool fold(Draft& d) {
  if (!has(d.op, alu) || kInexact.contains(d.op)) return false;
  Bits operand[3];
  for (size_t i = 0; i < d.sources.size(); ++i) {
    if (!d.sources[i]->is_constant()) return false;
    operand[i] = d.sources[i]->arg(0);
  }
  const DType from = d.sources[d.op == Op::Where ? 1 : 0]->dtype;
  d.folded_bits = d.op == Op::Cast      ? convert(from, d.dtype, operand[0])
                  : d.op == Op::Bitcast ? reinterpret(from, d.dtype, operand[0])
                                        : evaluate(d.op, from, std::span(operand, d.sources.size()));
  d.op = Op::Const;
  d.sources = {};
  d.args = Args(&d.folded_bits, 1);
  return true;
}

void infer_device(Draft& d) {
  if (d.op == Op::Buffer || d.op == Op::Param)
    d.device = DeviceId(d.args[2]);
  else if (d.op == Op::Copy)
    d.device = DeviceId(d.args[0]);
  else
    for (const Node* source : d.sources)
      if (source->device != kNoDevice) {
        d.device = source->device;
        break;
      }
}

void infer_other(Draft& d) {
  switch (d.op) {
    case Op::Const:
      // Equal constants are one node whatever bits they were given as.
      d.folded_bits = canonical(d.dtype, d.args[0]);
      d.args = Args(&d.folded_bits, 1);
      break;
    case Op::Variable:
    case Op::Register: break;
    case Op::Local:
    case Op::Buffer:
    case Op::Param: d.shape.assign(1, Dim(d.args[1])); break;
    case Op::Range: d.dtype = DType::index; break;
    case Op::Iota:
      d.dtype = DType::index;
      d.shape.assign(1, size_argument(d, d.args[0]));
      break;
    case Op::Order:
      d.dtype = DType::int32;
      d.shape.assign(d.sources[0]->shape().begin(), d.sources[0]->shape().end());
      break;
    case Op::Load:
    case Op::VectorLoad: d.dtype = d.sources[0]->dtype; break;
    case Op::Bind:
    case Op::Scan:
    case Op::Scatter:
    case Op::Contiguous:
    case Op::Detach:
    case Op::Copy:
    case Op::Assign:
      d.dtype = d.sources[0]->dtype;
      d.shape.assign(d.sources[0]->shape().begin(), d.sources[0]->shape().end());
      break;
    case Op::Stage:
    case Op::Running:
    case Op::Across: d.dtype = d.sources[0]->dtype; break;
    default: d.dtype = DType::none;  // Sink, Store, VectorStore, Set, Loop, EndLoop, Barrier: no value
  }
}

}  // namespace

void infer(Draft& d) {
  if (const std::string error = form_error(d); !error.empty()) WHIT_ASSERT(false, error);
  if (has(d.op, commutes) && d.sources[0]->is_constant() && !d.sources[1]->is_constant()) {
    d.swapped[0] = d.sources[1];
    d.swapped[1] = d.sources[0];
    d.sources = Sources(d.swapped, 2);
  }
  if (has(d.op, alu))
    infer_elementwise(d);
  else if (has(d.op, movement))
    infer_movement(d);
  else if (has(d.op, reduces))
    infer_reduce(d);
  else
    infer_other(d);
  fold(d);
  if (d.dtype == DType::boolean || is_integer(d.dtype)) {
    const Interval interval = infer_interval(d);
    d.minimum = interval.minimum;
    d.maximum = interval.maximum;
  }
  infer_device(d);
}

}  // namespace whit
