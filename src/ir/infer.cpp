// What follows from a node's parts: dtype, shape, interval, device, and whether it is really a constant.
#include <algorithm>

#include "base/error.h"
#include "ir/evaluate.h"
#include "ir/graph.h"
#include "ir/interval.h"

namespace whit {

namespace {

// These are rounded differently by different devices, so only the device may evaluate them.
constexpr OpSet kInexact = OpSet::of(Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Pow);

Dim dim_of(const Draft& d, int64_t arg) {
  if (!is_symbol_arg(arg)) return Dim(arg);
  const size_t k = size_t(arg - kSymbolArg);
  WHIT_ASSERT((k >= 1 || d.op == Op::Iota) && k < d.sources.size(), name(d.op), " has no source ", k, " for a symbolic size");
  const Node* symbol = d.sources[k];
  return symbol->is_constant() ? Dim(symbol->arg(0)) : Dim(symbol->maximum, symbol);
}

void infer_elementwise(Draft& d) {
  const size_t typed_by = d.op == Op::Where ? 1 : 0;
  if (has(d.op, typed)) WHIT_ASSERT(d.dtype != DType::none, name(d.op), " needs a dtype");
  else d.dtype = has(d.op, compares) ? DType::boolean : d.sources[typed_by]->dtype;
  for (size_t i = typed_by; i < d.sources.size(); ++i)
    WHIT_ASSERT(d.sources[i]->dtype == d.sources[typed_by]->dtype, name(d.op), " of ", name(d.sources[typed_by]->dtype), " and ", name(d.sources[i]->dtype));
  WHIT_ASSERT(d.op != Op::Where || d.sources[0]->dtype == DType::boolean, "Where chooses by a bool");
  const Node* widest = d.sources[0];
  for (const Node* source : d.sources)
    if (source->rank > widest->rank) widest = source;
  d.shape.assign(widest->shape().begin(), widest->shape().end());
  for (const Node* source : d.sources)
    WHIT_ASSERT(source->rank == 0 || std::ranges::equal(source->shape(), d.shape), name(d.op), " of ", to_string(widest->shape()), " and ", to_string(source->shape()));
}

void infer_shrink_or_pad(Draft& d) {
  WHIT_ASSERT(d.args.size() == 2 * d.shape.size(), name(d.op), " needs a pair per axis");
  for (size_t i = 0; i < d.shape.size(); ++i) {
    const Dim first = dim_of(d, d.args[2 * i]), second = dim_of(d, d.args[2 * i + 1]);
    if (d.op == Op::Shrink) {
      WHIT_ASSERT(first.size >= 0 && second.size >= 0 && (first.symbol || second.symbol || first.size + second.size <= d.shape[i].size), "Shrink out of bounds");
      d.shape[i] = second;
    } else if (!(first.is(0) && second.is(0))) {
      WHIT_ASSERT(!first.symbol && !second.symbol && !d.shape[i].symbol, "symbolic padding");
      d.shape[i] = Dim(d.shape[i].size + first.size + second.size);
    }
  }
}

void infer_movement(Draft& d) {
  const Node* source = d.sources[0];
  d.dtype = source->dtype;
  d.shape.assign(source->shape().begin(), source->shape().end());
  switch (d.op) {
    case Op::Reshape:
      d.shape.clear();
      for (const int64_t arg : d.args) d.shape.push_back(dim_of(d, arg));
      WHIT_ASSERT(is_symbolic(d.shape) || is_symbolic(source->shape()) || element_count(d.shape) == element_count(source->shape()), "Reshape of ", to_string(source->shape()), " to ", to_string(d.shape));
      break;
    case Op::Permute:
      WHIT_ASSERT(d.args.size() == d.shape.size(), "Permute needs every axis");
      for (size_t i = 0; i < d.args.size(); ++i) d.shape[i] = source->shape()[size_t(d.args[i])];
      break;
    case Op::Expand:
      WHIT_ASSERT(d.args.size() == d.shape.size(), "Expand keeps the rank");
      for (size_t i = 0; i < d.args.size(); ++i) {
        const Dim dim = dim_of(d, d.args[i]);
        WHIT_ASSERT(d.shape[i].is(1) || d.shape[i] == dim, "Expand of ", to_string(source->shape()));
        d.shape[i] = dim;
      }
      break;
    case Op::Pad:
    case Op::Shrink: infer_shrink_or_pad(d); break;
    case Op::Flip: break;
    case Op::Window:
      WHIT_ASSERT((d.args[2] - 1) * d.args[3] + (d.shape[size_t(d.args[1])].size - 1) * d.args[4] < std::max<int64_t>(d.shape[size_t(d.args[0])].size, 1) || d.args[2] == 0, "Window out of bounds");
      d.shape[size_t(d.args[0])] = Dim(d.args[2]);
      break;
    default: d.shape[size_t(d.args[0])] = Dim(d.args[2]);  // Spread
  }
}

void infer_reduce(Draft& d) {
  d.dtype = d.sources[0]->dtype;
  if (d.op == Op::Accumulate) return;
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
  if (d.op == Op::Bitcast && item_size(from) != item_size(d.dtype)) return false;
  d.folded_bits = d.op == Op::Cast      ? convert(from, d.dtype, operand[0])
                  : d.op == Op::Bitcast ? reinterpret(from, d.dtype, operand[0])
                                        : evaluate(d.op, from, std::span(operand, d.sources.size()));
  d.op = Op::Const;
  d.sources = {};
  d.args = Args(&d.folded_bits, 1);
  return true;
}

void infer_device(Draft& d) {
  if (d.op == Op::Buffer || d.op == Op::Param) d.device = DeviceId(d.args[2]);
  else if (d.op == Op::Copy) d.device = DeviceId(d.args[0]);
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
    case Op::Variable: break;
    case Op::Buffer:
    case Op::Param: d.shape.assign(1, Dim(d.args[1])); break;
    case Op::Range: d.dtype = DType::index; break;
    case Op::Iota:
      d.dtype = DType::index;
      d.shape.assign(1, dim_of(d, d.args[0]));
      break;
    case Op::Load: d.dtype = d.sources[0]->dtype; break;
    case Op::Bind:
    case Op::Contiguous:
    case Op::Detach:
    case Op::Copy:
    case Op::Assign:
      d.dtype = d.sources[0]->dtype;
      d.shape.assign(d.sources[0]->shape().begin(), d.sources[0]->shape().end());
      break;
    case Op::Across: d.dtype = d.sources[0]->dtype; break;
    default: break;  // Stage and Register carry their dtype; Sink, Store, Set, loops and Barrier have none
  }
}

}  // namespace

void infer(Draft& d) {
  const int arity = info(d.op).arity;
  WHIT_ASSERT(arity < 0 || size_t(arity) == d.sources.size(), name(d.op), " has ", d.sources.size(), " sources");
  if (has(d.op, commutes) && d.sources[0]->is_constant() && !d.sources[1]->is_constant()) {
    d.swapped[0] = d.sources[1];
    d.swapped[1] = d.sources[0];
    d.sources = Sources(d.swapped, 2);
  }
  if (has(d.op, alu)) infer_elementwise(d);
  else if (has(d.op, movement)) infer_movement(d);
  else if (has(d.op, reduces)) infer_reduce(d);
  else infer_other(d);
  fold(d);
  if (d.dtype == DType::boolean || is_integer(d.dtype)) {
    const Interval interval = infer_interval(d);
    d.minimum = interval.minimum;
    d.maximum = interval.maximum;
  }
  infer_device(d);
}

}  // namespace whit
