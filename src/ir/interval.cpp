#include "ir/interval.h"

#include <algorithm>

namespace whit {

namespace {

constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();

int64_t clamp(__int128 value) { return value < kLow ? kLow : value > kHigh ? kHigh : int64_t(value); }

// The interval if every value in it fits the type; else wrapping may give anything.
Interval fit(DType type, __int128 low, __int128 high) {
  const Interval all = interval_of(type);
  if (type == DType::index) return {clamp(low), clamp(high)};
  return low < all.minimum || high > all.maximum ? all : Interval{int64_t(low), int64_t(high)};
}

Interval corners(DType type, const __int128 (&v)[4]) { return fit(type, *std::min_element(v, v + 4), *std::max_element(v, v + 4)); }

Interval quotient(DType type, Interval a, Interval b) {
  if (b.minimum <= 0 && b.maximum >= 0) {
    // Zero divides to 0, and |a/b| never exceeds |a|.
    const __int128 reach = std::max<__int128>(a.maximum, -__int128(a.minimum));
    return fit(type, a.minimum >= 0 && b.minimum >= 0 ? 0 : -reach, reach);
  }
  const __int128 v[4] = {__int128(a.minimum) / b.minimum, __int128(a.minimum) / b.maximum, __int128(a.maximum) / b.minimum,
                         __int128(a.maximum) / b.maximum};
  return corners(type, v);
}

Interval remainder(DType type, Interval a, Interval b) {
  const __int128 reach = std::max<__int128>(b.maximum, -__int128(b.minimum)) - 1;
  if (a.minimum >= 0 && b.minimum > 0 && a.maximum < b.minimum) return a;
  const __int128 high = a.maximum <= 0 ? 0 : std::min<__int128>(reach, a.maximum);
  const __int128 low = a.minimum >= 0 ? 0 : std::max<__int128>(-reach, a.minimum);
  return fit(type, std::min<__int128>(low, high), std::max<__int128>(low, high));
}

Interval less(Interval a, Interval b) { return {a.maximum < b.minimum, a.minimum < b.maximum}; }
Interval not_equal(Interval a, Interval b) {
  const bool apart = a.maximum < b.minimum || b.maximum < a.minimum;
  const bool one = a.minimum == a.maximum && b.minimum == b.maximum && a.minimum == b.minimum;
  return {apart, !one};
}

Interval bitwise(Op op, DType type, Interval a, Interval b) {
  if (a.minimum < 0 || b.minimum < 0) {
    if (op == Op::And && (a.minimum >= 0 || b.minimum >= 0)) return {0, a.minimum >= 0 ? a.maximum : b.maximum};
    return interval_of(type);
  }
  if (op == Op::And) return {a.minimum && b.minimum && type == DType::boolean ? 1 : 0, std::min(a.maximum, b.maximum)};
  // Or and Xor stay below the next power of two.
  const uint64_t top = std::bit_ceil(uint64_t(std::max(a.maximum, b.maximum)) + 1) - 1;
  return {op == Op::Or ? std::max(a.minimum, b.minimum) : 0, clamp(__int128(top))};
}

Interval shift(Op op, DType type, Interval a, Interval b) {
  if (b.minimum != b.maximum || b.minimum < 0 || b.minimum >= bit_width(type)) return interval_of(type);
  if (op == Op::Shr) return {a.minimum >> b.minimum, a.maximum >> b.minimum};
  const __int128 factor = __int128(1) << b.minimum;
  return fit(type, a.minimum * factor, a.maximum * factor);
}

Interval of(const Node* node) { return {node->minimum, node->maximum}; }

// Whether a reduction may be over no element at all: then its value is the op's identity.
bool may_fold_nothing(const Draft& d) {
  const auto may_be_empty = [](const Dim& dim) { return dim.symbol ? dim.symbol->minimum < 1 : dim.size < 1; };
  if (d.op == Op::Reduce)
    return std::ranges::any_of(d.args.subspan(1), [&](int64_t axis) { return may_be_empty(d.sources[0]->shape()[size_t(axis)]); });
  return std::ranges::any_of(d.sources.subspan(1),
                             [](const Node* range) { return range->op != Op::Range || range->source(0)->minimum < 1; });
}

Interval elementwise(const Draft& d) {
  const Interval a = of(d.sources[0]), b = d.sources.size() > 1 ? of(d.sources[1]) : a;
  switch (d.op) {
    case Op::Neg: return fit(d.dtype, -__int128(a.maximum), -__int128(a.minimum));
    case Op::Add: return fit(d.dtype, __int128(a.minimum) + b.minimum, __int128(a.maximum) + b.maximum);
    case Op::Mul: {
      const __int128 v[4] = {__int128(a.minimum) * b.minimum, __int128(a.minimum) * b.maximum, __int128(a.maximum) * b.minimum,
                             __int128(a.maximum) * b.maximum};
      return corners(d.dtype, v);
    }
    case Op::Quotient: return quotient(d.dtype, a, b);
    case Op::Remainder: return remainder(d.dtype, a, b);
    case Op::Max: return {std::max(a.minimum, b.minimum), std::max(a.maximum, b.maximum)};
    case Op::Min: return {std::min(a.minimum, b.minimum), std::min(a.maximum, b.maximum)};
    case Op::And:
    case Op::Or:
    case Op::Xor: return bitwise(d.op, d.dtype, a, b);
    case Op::Shl:
    case Op::Shr: return shift(d.op, d.dtype, a, b);
    case Op::Where: return {std::min(b.minimum, d.sources[2]->minimum), std::max(b.maximum, d.sources[2]->maximum)};
    case Op::Cast: {
      const DType from = d.sources[0]->dtype;
      if (is_float(from)) return interval_of(d.dtype);
      if (d.dtype == DType::boolean) return not_equal(a, {0, 0});
      return fit(d.dtype, a.minimum, a.maximum);
    }
    default: return interval_of(d.dtype);
  }
}

}  // namespace

Interval interval_of(DType type) {
  if (type == DType::boolean) return {0, 1};
  if (type == DType::index || type == DType::int64 || type == DType::uint64) return {kLow, kHigh};
  const int width = int(bit_width(type));
  return is_signed(type) ? Interval{-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1} : Interval{0, (int64_t(1) << width) - 1};
}

Interval infer_interval(const Draft& d) {
  // An interval of uint64 cannot be told in int64: such values are read as if they wrapped, so only constants are known.
  if (d.op == Op::Const) return {d.args[0], d.args[0]};
  if (d.op == Op::Variable) return {d.args[1], d.args[2]};
  if (d.op == Op::Range) return {0, std::max<int64_t>(d.sources[0]->maximum, 1) - 1};
  if (d.op == Op::Iota) return {0, std::max<int64_t>(d.shape[0].size, 1) - 1};
  if (d.op == Op::Bind || has(d.op, movement) || d.op == Op::Contiguous || d.op == Op::Detach || d.op == Op::Copy) {
    const Interval a = of(d.sources[0]);
    return d.op == Op::Pad || d.op == Op::Spread ? Interval{std::min<int64_t>(a.minimum, 0), std::max<int64_t>(a.maximum, 0)} : a;
  }
  if (!d.sources.empty() && has(d.op, compares)) {
    const DType type = d.sources[0]->dtype;
    if (is_float(type) || type == DType::uint64) return {0, 1};
    return d.op == Op::Less ? less(of(d.sources[0]), of(d.sources[1])) : not_equal(of(d.sources[0]), of(d.sources[1]));
  }
  if (d.dtype == DType::uint64) return interval_of(d.dtype);
  if (has(d.op, alu)) {
    for (const Node* source : d.sources)
      if (source->dtype == DType::uint64) return interval_of(d.dtype);
    return elementwise(d);
  }
  if (d.op == Op::Order) return {0, std::max<int64_t>(d.shape.back().size, 1) - 1};
  if ((d.op == Op::Scan || d.op == Op::Running) && (d.args[0] == int64_t(Op::Max) || d.args[0] == int64_t(Op::Min)))
    return of(d.sources[0]);
  if ((has(d.op, reduces) || d.op == Op::Across) && (d.args[0] == int64_t(Op::Max) || d.args[0] == int64_t(Op::Min)) &&
      !may_fold_nothing(d))
    return of(d.sources[0]);
  return interval_of(d.dtype);
}

}  // namespace whit
