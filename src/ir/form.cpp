#include "ir/form.h"

#include <algorithm>

#include "base/error.h"
#include "ir/device_id.h"
#include "ir/interval.h"

namespace whit {

namespace {

using Wide = __int128;

constexpr int64_t kElementLimit = int64_t(1) << 60;  // in bytes it still fits an int64
constexpr size_t kArgLimit = 65535;                  // Node::arg_count and Node::rank have 16 bits

std::string right() { return {}; }

std::string sources_text(const Draft& d) { return concat(name(d.op), " has ", d.sources.size(), " sources"); }

// The fewest and the most sources and args; -1 is no limit.
struct Counts {
  int least_sources, most_sources, least_args, most_args;
};

constexpr Counts counts_of(Op op) {
  switch (op) {
    case Op::Const: return {0, 0, 1, 1};
    case Op::Buffer:
    case Op::Param:
    case Op::Variable: return {0, 0, 3, 3};
    case Op::Bind:
    case Op::Copy: return {1, 1, 1, 1};
    case Op::Iota: return {0, 1, 1, 1};
    case Op::Reshape:
    case Op::Expand:
    case Op::Pad:
    case Op::Shrink: return {1, -1, 0, -1};
    case Op::Permute:
    case Op::Flip: return {1, 1, 0, -1};
    case Op::Window:
    case Op::Spread: return {1, 1, 5, 5};
    case Op::Reduce: return {1, 1, 1, -1};
    case Op::Scan: return {1, 2, 2, 2};
    case Op::Scatter: return {3, 3, 2, 2};
    case Op::Running: return {2, 3, 1, 1};
    case Op::Assign: return {2, 3, 1, 1};
    case Op::Sink: return {0, -1, 0, 0};
    case Op::Range: return {1, 1, 2, 2};
    case Op::Accumulate: return {1, -1, 1, 1};
    case Op::Load: return {2, 3, 0, 0};
    case Op::Store:
    case Op::VectorLoad: return {3, 4, 0, 0};
    case Op::VectorStore: return {4, 5, 0, 0};
    case Op::Stage: return {1, -1, 0, 0};
    case Op::Local: return {0, 0, 2, 2};
    case Op::Register: return {0, 1, 1, 1};
    case Op::Across: return {2, 2, 1, 1};
    default: return {info(op).arity, info(op).arity, 0, 0};
  }
}

std::string count_error(const Draft& d) {
  const Counts counts = counts_of(d.op);
  const auto outside = [](size_t count, int least, int most) { return count < size_t(least) || (most >= 0 && count > size_t(most)); };
  if (outside(d.sources.size(), counts.least_sources, counts.most_sources)) return sources_text(d);
  if (outside(d.args.size(), counts.least_args, counts.most_args) || d.args.size() > kArgLimit)
    return concat(name(d.op), " has ", d.args.size(), " args");
  return right();
}

bool is_scalar_integer(const Node* node) { return node->rank == 0 && is_integer(node->dtype); }

bool is_size(const Draft& d, int64_t arg) {
  if (!is_symbol_arg(arg)) return arg >= 0;
  const size_t k = size_t(arg - kSymbolArg);
  return k >= (d.op == Op::Iota ? 0 : 1) && k < d.sources.size() && is_scalar_integer(d.sources[k]) && d.sources[k]->minimum >= 0;
}

// The product of sizes, none counted as zero, stays within bounds: then so does that of any part of them, in any order.
class Product {
 public:
  void times(Wide size) { product_ = std::min(product_ * std::clamp<Wide>(size, 1, kElementLimit + 1), Wide(kElementLimit) + 1); }
  bool is_too_large() const { return product_ > kElementLimit; }

 private:
  Wide product_ = 1;
};

// Whether the args are sizes whose product is within bounds.
bool is_shape(const Draft& d, Args sizes) {
  Product product;
  for (const int64_t arg : sizes) {
    if (!is_size(d, arg)) return false;
    product.times(size_argument(d, arg).size);
  }
  return !product.is_too_large();
}

bool are_distinct_axes(Args axes, size_t rank) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || uint64_t(axes[i]) >= rank || std::ranges::find(axes.first(i), axes[i]) != axes.begin() + std::ptrdiff_t(i))
      return false;
  return true;
}

// ---- Elementwise ops -----------------------------------------------------------------------------------------------------------------

std::string elementwise_error(const Draft& d) {
  const size_t first = d.op == Op::Where ? 1 : 0;
  const DType type = d.sources[first]->dtype;
  const Node* widest = d.sources[0];
  for (const Node* source : d.sources)
    if (source->rank > widest->rank) widest = source;
  for (size_t i = 0; i < d.sources.size(); ++i) {
    const Node* source = d.sources[i];
    if (source->rank && source != widest && !std::ranges::equal(source->shape(), widest->shape()))
      return concat(name(d.op), " of ", to_string(widest->shape()), " and ", to_string(source->shape()));
    if (i >= first && source->dtype != type) return concat(name(d.op), " of ", name(type), " and ", name(source->dtype));
  }
  if (first && d.sources[0]->dtype != DType::boolean) return "Where chooses by a bool";
  if (type == DType::none || (has(d.op, floating) && !is_float(type)) || (has(d.op, integral) && is_float(type)))
    return concat(name(d.op), " of ", name(type));
  if (d.op == Op::Threefry && type != DType::uint64) return "Threefry is of uint64";
  if (has(d.op, typed)) {
    if (d.dtype == DType::none) return concat(name(d.op), " needs a dtype");
    if (d.op == Op::Bitcast && item_size(type) != item_size(d.dtype)) return concat("Bitcast of ", name(type), " to ", name(d.dtype));
  }
  return right();
}

// ---- Movement ------------------------------------------------------------------------------------------------------------------------

std::string pairs_error(const Draft& d, ShapeView shape) {
  if (d.args.size() != 2 * shape.size()) return concat(name(d.op), " needs a pair per axis");
  Product product;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!is_size(d, d.args[2 * i]) || !is_size(d, d.args[2 * i + 1])) return concat(name(d.op), " by something that is not a size");
    const Dim first = size_argument(d, d.args[2 * i]), second = size_argument(d, d.args[2 * i + 1]);
    if (d.op == Op::Pad) {
      product.times(Wide(shape[i].size) + first.size + second.size);
      if (!(first.is(0) && second.is(0)) && (first.symbol || second.symbol || shape[i].symbol)) return "Pad of or by a symbolic size";
    } else if (Wide(first.symbol ? 0 : first.size) + second.size > shape[i].size) {
      return concat("Shrink of ", to_string(shape), " out of bounds at axis ", i);
    }
  }
  return product.is_too_large() ? concat("Pad of ", to_string(shape), " is too large") : right();
}

// Window's result and Spread's source have `positions` on the axis and the window's size on the other.
std::string window_error(const Draft& d, ShapeView shape) {
  const int64_t axis = d.args[0], window = d.args[1], size = d.args[2], stride = d.args[3], dilation = d.args[4];
  if (!are_distinct_axes(d.args.first(2), shape.size())) return concat(name(d.op), " needs two different axes");
  if (size < 0 || stride < 1 || dilation < 0) return concat(name(d.op), " by a number below its least");
  const bool spreads = d.op == Op::Spread;
  const Wide positions = spreads ? shape[size_t(axis)].size : size, length = spreads ? size : shape[size_t(axis)].size;
  const Wide last = (positions - 1) * stride + (Wide(shape[size_t(window)].size) - 1) * dilation;
  if (positions > 0 && last >= std::max<Wide>(length, 1)) return concat(name(d.op), " of ", to_string(shape), " out of bounds");
  Product product;
  for (size_t i = 0; i < shape.size(); ++i) product.times(i == size_t(axis) ? size : shape[i].size);
  return product.is_too_large() ? concat(name(d.op), " of ", to_string(shape), " is too large") : right();
}

std::string expand_error(const Draft& d, ShapeView shape) {
  if (d.args.size() != shape.size()) return "Expand keeps the rank";
  if (!is_shape(d, d.args)) return concat("Expand of ", to_string(shape), " to something that is not a shape");
  for (size_t i = 0; i < shape.size(); ++i)
    if (!shape[i].is(1) && !(shape[i] == size_argument(d, d.args[i]))) return concat("Expand of ", to_string(shape), " at axis ", i);
  return right();
}

std::string reshape_error(const Draft& d, ShapeView shape) {
  if (!is_shape(d, d.args)) return concat("Reshape of ", to_string(shape), " to something that is not a shape");
  bool symbolic = is_symbolic(shape);
  int64_t count = 1;
  for (const int64_t arg : d.args) {
    const Dim dim = size_argument(d, arg);
    count *= dim.size;
    symbolic = symbolic || dim.symbol;
  }
  return symbolic || count == element_count(shape) ? right() : concat("Reshape of ", to_string(shape), " to ", count, " elements");
}

std::string movement_error(const Draft& d) {
  const ShapeView shape = d.sources[0]->shape();
  if (d.sources[0]->dtype == DType::none) return concat(name(d.op), " of something without a value");
  switch (d.op) {
    case Op::Reshape: return reshape_error(d, shape);
    case Op::Permute:
      return d.args.size() == shape.size() && are_distinct_axes(d.args, shape.size()) ? right() : "Permute needs every axis once";
    case Op::Expand: return expand_error(d, shape);
    case Op::Pad:
    case Op::Shrink: return pairs_error(d, shape);
    case Op::Flip: return are_distinct_axes(d.args, shape.size()) ? right() : "Flip of axes that are not there";
    default: return window_error(d, shape);
  }
}

// ---- Leaves, storage, structure ------------------------------------------------------------------------------------------------------

std::string leaf_error(const Draft& d) {
  if (d.op == Op::Iota) {
    return is_shape(d, d.args) && is_symbol_arg(d.args[0]) == !d.sources.empty() ? right() : "Iota needs a size";
  }
  if (d.op == Op::Bind) {
    const Node* variable = d.sources[0];
    if (variable->op != Op::Variable) return concat("Bind of a ", name(variable->op));
    return is_float(variable->dtype) || (variable->minimum <= d.args[0] && d.args[0] <= variable->maximum)
               ? right()
               : "Bind of a value out of bounds";
  }
  if (d.dtype == DType::none) return concat(name(d.op), " needs a dtype");
  if (d.op == Op::Const) return right();
  if (d.op == Op::Variable) {
    const Interval all = is_float(d.dtype) ? interval_of(DType::int64) : interval_of(d.dtype);
    return d.args[0] >= 0 && all.minimum <= d.args[1] && d.args[1] <= d.args[2] && d.args[2] <= all.maximum
               ? right()
               : concat("Variable of ", name(d.dtype), " in ", d.args[1], " to ", d.args[2]);
  }
  if (d.args[1] < 0 || d.args[1] > kElementLimit) return concat(name(d.op), " of ", d.args[1], " elements");
  return d.args[2] == DeviceId(d.args[2]) && d.args[2] >= kNoDevice ? right() : concat(name(d.op), " on no device");
}

// The op of a Scan or Running, and the values it takes.
std::string scan_error(const Draft& d, Sources values) {
  const DType type = values[0]->dtype;
  for (const Node* value : values)
    if (value->dtype == DType::none || value->dtype != type || !std::ranges::equal(value->shape(), values[0]->shape()))
      return concat(name(d.op), " of values that differ in dtype or shape");
  if (d.args[0] == int64_t(Op::MulAdd)) return values.size() == 2 ? right() : concat(name(d.op), " by MulAdd needs a factor and a term");
  if (values.size() != 1 || d.args[0] < 0 || uint64_t(d.args[0]) >= kOpCount || !kFolds.contains(Op(d.args[0])))
    return concat(name(d.op), " by an op that does not fold one value");
  return has(Op(d.args[0]), integral) && is_float(type) ? concat(name(d.op), " by ", name(Op(d.args[0])), " of ", name(type)) : right();
}

std::string fold_error(const Draft& d) {
  const DType type = d.sources[0]->dtype;
  if (d.args[0] < 0 || uint64_t(d.args[0]) >= kOpCount || !kFolds.contains(Op(d.args[0])))
    return concat(name(d.op), " by an op that does not fold");
  if (type == DType::none || (has(Op(d.args[0]), integral) && is_float(type)))
    return concat(name(d.op), " by ", name(Op(d.args[0])), " of ", name(type));
  if (d.op == Op::Reduce)
    return are_distinct_axes(d.args.subspan(1), d.sources[0]->rank)
               ? right()
               : concat("Reduce of ", to_string(d.sources[0]->shape()), " over axes that are not there");
  return std::ranges::all_of(d.sources.subspan(1), is_scalar_integer) ? right() : concat(name(d.op), " over something that is not a range");
}

std::string scatter_error(const Draft& d) {
  const Node *old = d.sources[0], *value = d.sources[1], *index = d.sources[2];
  if (value->dtype != old->dtype || !is_integer(index->dtype))
    return concat("Scatter of ", name(value->dtype), " at ", name(index->dtype), " into ", name(old->dtype));
  if (d.args[1] < 0 || d.args[1] >= old->rank) return concat("Scatter into ", to_string(old->shape()), " along axis ", d.args[1]);
  if (!std::ranges::equal(value->shape(), index->shape()) || value->rank != old->rank)
    return concat("Scatter of ", to_string(value->shape()), " at ", to_string(index->shape()), " into ", to_string(old->shape()));
  for (size_t i = 0; i < old->rank; ++i)
    if (int64_t(i) != d.args[1] && !(value->shape()[i] == old->shape()[i]))
      return concat("Scatter of ", to_string(value->shape()), " into ", to_string(old->shape()), " along axis ", d.args[1]);
  if (d.args[0] == int64_t(Op::Assign)) return right();
  if (d.args[0] < 0 || uint64_t(d.args[0]) >= kOpCount || !kFolds.contains(Op(d.args[0]))) return "Scatter by an op that does not fold";
  return has(Op(d.args[0]), integral) && is_float(old->dtype) ? concat("Scatter by ", name(Op(d.args[0])), " of ", name(old->dtype))
                                                              : right();
}

std::string structure_error(const Draft& d) {
  if (d.op == Op::Sink) return right();
  for (const Node* source : d.sources)
    if (source->dtype == DType::none) return concat(name(d.op), " of something without a value");
  if (d.op == Op::Assign && d.sources[1]->dtype != d.sources[0]->dtype)
    return concat("Assign of ", name(d.sources[1]->dtype), " to ", name(d.sources[0]->dtype));
  if (d.op == Op::Scatter) return scatter_error(d);
  if (d.op == Op::Order) {
    const Node* keys = d.sources[0];
    const bool sortable = is_integer(keys->dtype) && !is_signed(keys->dtype) && keys->rank > 0 && !is_symbolic(keys->shape());
    return sortable ? right() : concat("Order of ", name(keys->dtype), " ", to_string(keys->shape()));
  }
  if (d.op == Op::Scan) {
    if (d.args[1] < 0 || d.args[1] >= d.sources[0]->rank)
      return concat("Scan of ", to_string(d.sources[0]->shape()), " along axis ", d.args[1]);
    return scan_error(d, d.sources);
  }
  if (d.op == Op::Copy && (d.args[0] != DeviceId(d.args[0]) || d.args[0] < kNoDevice)) return "Copy to no device";
  return right();
}

// ---- Kernels -------------------------------------------------------------------------------------------------------------------------

// Load, Store and their vector forms: storage, index[, value][, range][, gate].
std::string memory_error(const Draft& d) {
  const bool stores = d.op == Op::Store || d.op == Op::VectorStore;
  const bool vector = d.op == Op::VectorLoad || d.op == Op::VectorStore;
  const size_t range = stores ? 3 : 2, gate = range + (vector ? 1 : 0);
  if (d.sources[0]->dtype == DType::none || !is_integer(d.sources[1]->dtype)) return concat(name(d.op), " needs storage and an index");
  if (stores && d.sources[2]->dtype != d.sources[0]->dtype)
    return concat(name(d.op), " of ", name(d.sources[2]->dtype), " into ", name(d.sources[0]->dtype));
  if (vector && d.sources[range]->op != Op::Range) return concat(name(d.op), " needs a range");
  if (d.sources.size() > gate && d.sources[gate]->dtype != DType::boolean) return concat(name(d.op), " is gated by a bool");
  return right();
}

std::string kernel_error(const Draft& d) {
  switch (d.op) {
    case Op::Range:
      if (!is_scalar_integer(d.sources[0])) return "Range needs a size";
      if (d.args[0] < 0 || d.args[0] >= kRangeLimit) return concat("Range with the number ", d.args[0]);
      return d.args[1] >= 0 && d.args[1] <= int64_t(AxisKind::sequence) ? right() : "Range of no kind";
    case Op::Running:
      if (d.sources.back()->op != Op::Range) return "Running needs a range";
      return scan_error(d, d.sources.first(d.sources.size() - 1));
    case Op::Stage:
      if (d.sources[0]->dtype == DType::none) return "Stage of something without a value";
      return std::ranges::all_of(d.sources.subspan(1), is_scalar_integer) ? right() : "Stage over something that is not a range";
    case Op::Local:
      if (d.dtype == DType::none) return "Local needs a dtype";
      return d.args[0] >= 0 && d.args[1] >= 0 && d.args[1] <= kElementLimit ? right() : concat("Local of ", d.args[1], " elements");
    case Op::Register:
      if (d.dtype == DType::none) return "Register needs a dtype";
      return std::ranges::all_of(d.sources, is_scalar_integer) ? right() : "Register over something that is not a range";
    case Op::Set:
      if (d.sources[0]->op != Op::Register) return "Set needs a Register";
      return d.sources[0]->dtype == d.sources[1]->dtype ? right()
                                                        : concat("Set of ", name(d.sources[0]->dtype), " to ", name(d.sources[1]->dtype));
    case Op::Across: return fold_error(d);
    case Op::Loop:
    case Op::EndLoop: return d.sources[0]->op == Op::Range ? right() : concat(name(d.op), " needs a range");
    default: return right();  // Barrier
  }
}

}  // namespace

std::string form_error(const Draft& d) {
  if (std::string error = count_error(d); !error.empty()) return error;
  if (has(d.op, alu)) return elementwise_error(d);
  if (has(d.op, leaf)) return leaf_error(d);
  if (has(d.op, movement)) return movement_error(d);
  if (has(d.op, reduces)) return fold_error(d);
  if (has(d.op, structure)) return structure_error(d);
  return d.op != Op::Stage && has(d.op, memory) ? memory_error(d) : kernel_error(d);
}

Dim size_argument(const Draft& d, int64_t arg) {
  if (!is_symbol_arg(arg)) return Dim(arg);
  const Node* symbol = d.sources[size_t(arg - kSymbolArg)];
  return symbol->is_constant() ? Dim(symbol->arg(0)) : Dim(symbol->maximum, symbol);
}

ArgKind arg_kind(Op op, size_t position) {
  switch (op) {
    case Op::Const:
    case Op::Bind: return ArgKind::value;
    case Op::Buffer:
    case Op::Param: return position == 2 ? ArgKind::device : ArgKind::number;
    case Op::Copy: return ArgKind::device;
    case Op::Variable: return position == 0 ? ArgKind::name : ArgKind::number;
    case Op::Iota:
    case Op::Reshape:
    case Op::Expand:
    case Op::Pad:
    case Op::Shrink: return ArgKind::size;
    case Op::Reduce:
    case Op::Scan:
    case Op::Scatter:
    case Op::Accumulate:
    case Op::Running:
    case Op::Across: return position == 0 ? ArgKind::op : ArgKind::number;
    case Op::Range: return position == 1 ? ArgKind::axis_kind : ArgKind::number;
    default: return ArgKind::number;
  }
}

}  // namespace whit
