// Operators and the elementwise operations that are one node or a few.
#include <array>
#include <cmath>

#include "tensor/build.h"

namespace whit {

namespace {

struct Operands {
  NodeRef a, b;
};

// Both sides in one type and shape.
Operands meet(const Operand& a, const Operand& b, std::string_view operation, DType type) {
  std::array<NodeRef, 2> nodes{operand_node(a, type, operation), operand_node(b, type, operation)};
  stretch(nodes, operation);
  return {nodes[0], nodes[1]};
}

Operands meet(const Operand& a, const Operand& b, std::string_view operation) { return meet(a, b, operation, common_type({&a, &b}, operation)); }

Site site_of(const Operand& a, const Operand& b) { return a.tensor ? a.site : b.site; }

std::string types_of(const Operand& a, const Operand& b) {
  const auto one = [](const Operand& x) { return x.tensor ? std::string(name(x.tensor->dtype())) : concat("a literal ", name(type_of(x.scalar))); };
  return concat(one(a), " and ", one(b));
}

Tensor binary(Op op, const Operand& a, const Operand& b, std::string_view operation) {
  const Call call(site_of(a, b));
  const auto [x, y] = meet(a, b, operation);
  return tensor_of(make(op, {x.get(), y.get()}));
}

// Bitwise: integers and bool only.
Tensor bitwise(Op op, const Operand& a, const Operand& b, std::string_view operation) {
  const Call call(site_of(a, b));
  const DType type = common_type({&a, &b}, operation);
  const bool shift = op == Op::Shl || op == Op::Shr;
  if (is_float(type) || (shift && type == DType::boolean))
    refuse(ErrorKind::Type, operation, "works on integers", shift ? "" : " and bool", ", not on ", types_of(a, b), "; cast or bitcast first");
  const auto [x, y] = meet(a, b, operation, type);
  return tensor_of(make(op, {x.get(), y.get()}));
}

NodeRef not_node(const NodeRef& node) { return make(Op::Xor, {node.get(), TensorGraph::shared().constant(DType::boolean, 1).get()}); }
NodeRef zero(DType type) { return TensorGraph::shared().constant(type, 0); }
NodeRef where_node(const NodeRef& condition, const NodeRef& yes, const NodeRef& no) { return make(Op::Where, {condition.get(), yes.get(), no.get()}); }

// True where a remainder `r` has to be brought to the divisor's sign: it isn't 0 and the signs differ.
NodeRef wrong_sign(const NodeRef& r, const NodeRef& divisor) {
  const NodeRef none = zero(r->dtype);
  const NodeRef uneven = make(Op::NotEqual, {r.get(), none.get()});
  const NodeRef differ = make(Op::Xor, {make(Op::Less, {r.get(), none.get()}).get(), make(Op::Less, {divisor.get(), none.get()}).get()});
  return make(Op::And, {uneven.get(), differ.get()});
}

NodeRef subtract(const NodeRef& a, const NodeRef& b) { return make(Op::Add, {a.get(), make(Op::Neg, {b.get()}).get()}); }
NodeRef magnitude(const NodeRef& a) { return make(Op::Max, {a.get(), make(Op::Neg, {a.get()}).get()}); }

// The remainder of truncating division. Of floats: exact, since the fused product loses nothing; where the quotient was rounded up to
// the next integer, the result has the other sign and gets one divisor back.
NodeRef truncated_remainder(const NodeRef& a, const NodeRef& b) {
  if (!is_float(a->dtype)) return make(Op::Remainder, {a.get(), b.get()});
  const NodeRef quotient = make(Op::Trunc, {make(Op::Divide, {a.get(), b.get()}).get()});
  const NodeRef rest = make(Op::MulAdd, {make(Op::Neg, {quotient.get()}).get(), b.get(), a.get()});
  const NodeRef none = zero(a->dtype);
  const NodeRef below = make(Op::Less, {rest.get(), none.get()}), above = make(Op::Less, {none.get(), rest.get()});
  const NodeRef from_below = make(Op::Less, {a.get(), none.get()}), from_above = make(Op::Less, {none.get(), a.get()});
  const NodeRef size = magnitude(b);
  const NodeRef too_low = make(Op::And, {below.get(), from_above.get()}), too_high = make(Op::And, {above.get(), from_below.get()});
  const NodeRef mended = where_node(too_low, make(Op::Add, {rest.get(), size.get()}), where_node(too_high, subtract(rest, size), rest));
  return where_node(make(Op::Less, {magnitude(a).get(), size.get()}), a, mended);
}

NodeRef floored_remainder(const NodeRef& a, const NodeRef& b) {
  const NodeRef rest = truncated_remainder(a, b);
  if (!is_signed(a->dtype)) return rest;
  return where_node(wrong_sign(rest, b), make(Op::Add, {rest.get(), b.get()}), rest);
}

// bool has no division: it is divided as int32.
DType division_type(const Operand& a, const Operand& b, std::string_view operation) {
  const DType type = common_type({&a, &b}, operation);
  return type == DType::boolean ? DType::int32 : type;
}

}  // namespace

// ---- Operators ----------------------------------------------------------------------------------------------------------------------

Tensor operator+(const Operand& a, const Operand& b) {
  const Call call(site_of(a, b));
  if (common_type({&a, &b}, "add") == DType::boolean) return binary(Op::Or, a, b, "add");
  return binary(Op::Add, a, b, "add");
}

Tensor operator-(const Operand& a, const Operand& b) {
  const Call call(site_of(a, b));
  const DType type = common_type({&a, &b}, "sub");
  if (type == DType::boolean) refuse(ErrorKind::Type, "sub", "bool has no difference; use ^ or !=, or cast to an integer");
  const auto [x, y] = meet(a, b, "sub", type);
  return tensor_of(subtract(x, y));
}

Tensor operator*(const Operand& a, const Operand& b) {
  const Call call(site_of(a, b));
  if (common_type({&a, &b}, "mul") == DType::boolean) return binary(Op::And, a, b, "mul");
  return binary(Op::Mul, a, b, "mul");
}

Tensor operator/(const Operand& a, const Operand& b) {
  const Call call(site_of(a, b));
  const DType type = common_type({&a, &b}, "div");
  const auto [x, y] = meet(a, b, "div", is_float(type) ? type : DType::float32);
  return tensor_of(make(Op::Divide, {x.get(), y.get()}));
}

Tensor operator%(const Operand& a, const Operand& b) {
  const Call call(site_of(a, b));
  const auto [x, y] = meet(a, b, "mod", division_type(a, b, "mod"));
  return tensor_of(floored_remainder(x, y));
}

Tensor operator&(const Operand& a, const Operand& b) { return bitwise(Op::And, a, b, "bitwise_and"); }
Tensor operator|(const Operand& a, const Operand& b) { return bitwise(Op::Or, a, b, "bitwise_or"); }
Tensor operator^(const Operand& a, const Operand& b) { return bitwise(Op::Xor, a, b, "bitwise_xor"); }
Tensor operator<<(const Operand& a, const Operand& b) { return bitwise(Op::Shl, a, b, "lshift"); }
Tensor operator>>(const Operand& a, const Operand& b) { return bitwise(Op::Shr, a, b, "rshift"); }

Tensor operator!=(const Operand& a, const Operand& b) { return binary(Op::NotEqual, a, b, "ne"); }
Tensor operator<(const Operand& a, const Operand& b) { return binary(Op::Less, a, b, "lt"); }
Tensor operator>(const Operand& a, const Operand& b) { return binary(Op::Less, b, a, "gt"); }

Tensor operator==(const Operand& a, const Operand& b) {
  const Call call(site_of(a, b));
  const auto [x, y] = meet(a, b, "eq");
  return tensor_of(not_node(make(Op::NotEqual, {x.get(), y.get()})));
}

namespace {
// a <= b. Not !(b < a): that would be true with NaN. Where there is no NaN, one comparison does.
Tensor less_or_equal(const Operand& a, const Operand& b, std::string_view operation) {
  const Call call(site_of(a, b));
  const auto [x, y] = meet(a, b, operation);
  if (!is_float(x->dtype)) return tensor_of(not_node(make(Op::Less, {y.get(), x.get()})));
  const NodeRef less = make(Op::Less, {x.get(), y.get()}), equal = not_node(make(Op::NotEqual, {x.get(), y.get()}));
  return tensor_of(make(Op::Or, {less.get(), equal.get()}));
}
}  // namespace

Tensor operator<=(const Operand& a, const Operand& b) { return less_or_equal(a, b, "le"); }
Tensor operator>=(const Operand& a, const Operand& b) { return less_or_equal(b, a, "ge"); }

Tensor& Tensor::operator+=(const Operand& value) {
  const Call call(value.site);
  return assign(*this + value);
}

Tensor& Tensor::operator-=(const Operand& value) {
  const Call call(value.site);
  return assign(*this - value);
}

Tensor& Tensor::operator*=(const Operand& value) {
  const Call call(value.site);
  return assign(*this * value);
}

Tensor& Tensor::operator/=(const Operand& value) {
  const Call call(value.site);
  return assign(*this / value);
}


// ---- Division and powers ------------------------------------------------------------------------------------------------------------

Tensor Tensor::trunc_div(const Operand& b) const {
  const Call call(b.site);
  const auto [x, y] = meet(*this, b, "trunc_div", division_type(*this, b, "trunc_div"));
  if (!is_float(x->dtype)) return tensor_of(make(Op::Quotient, {x.get(), y.get()}));
  return tensor_of(make(Op::Divide, {x.get(), y.get()})).trunc();
}

Tensor Tensor::fmod(const Operand& b) const {
  const Call call(b.site);
  const auto [x, y] = meet(*this, b, "fmod", division_type(*this, b, "fmod"));
  return tensor_of(truncated_remainder(x, y));
}

Tensor Tensor::floor_div(const Operand& b) const {
  const Call call(b.site);
  const auto [x, y] = meet(*this, b, "floor_div", division_type(*this, b, "floor_div"));
  if (!is_float(x->dtype)) {
    const NodeRef quotient = make(Op::Quotient, {x.get(), y.get()});
    if (!is_signed(x->dtype)) return tensor_of(quotient);
    const NodeRef round_down = wrong_sign(make(Op::Remainder, {x.get(), y.get()}), y);
    return tensor_of(subtract(quotient, whit::cast(round_down, x->dtype)));
  }
  // By the remainder: dividing alone could round up to the next integer.
  const NodeRef rest = truncated_remainder(x, y);
  const Tensor quotient = (tensor_of(subtract(x, rest)) / tensor_of(y)).round(), round_down = tensor_of(wrong_sign(rest, y));
  return tensor_of(rest).isnan().where(tensor_of(x) / tensor_of(y), round_down.where(quotient - 1, quotient));
}

namespace {

// base^n by repeated squaring: exact for integers, and for floats where the products are.
Tensor natural_power(const Tensor& base, uint64_t n) {
  if (n == 0) return base.ones_like();
  Tensor result, square = base;
  for (;; square = square * square) {
    if (n & 1) result = result.defined() ? result * square : square;
    if ((n >>= 1) == 0) return result;
  }
}

// Bit by bit of the exponent. A negative one leaves 1/base rounded towards 0: nothing but for ±1.
Tensor integer_power(const Tensor& base, const Tensor& exponent) {
  const DType type = base.dtype();
  Tensor result = base.ones_like(), square = base;
  const int bits = int(bit_width(type)) - (is_signed(type) ? 1 : 0);
  for (int bit = 0; bit < bits; ++bit) {
    result = (((exponent >> bit) & 1) != 0).where(result * square, result);
    if (bit + 1 < bits) square = square * square;
  }
  if (!is_signed(type)) return result;
  const Tensor odd = (exponent & 1) != 0, inverse = (base == 1).where(1, (base == -1).where(odd.where(-1, 1), 0)).cast(type);
  return (exponent < 0).where(inverse, result);
}

}  // namespace

Tensor Tensor::pow(const Operand& exponent) const {
  const Call call(exponent.site);
  const Operand base(*this);
  const DType common = common_type({&base, &exponent}, "pow");
  if (!exponent.tensor && exponent.scalar.kind == Scalar::Kind::integer) {
    const int64_t n = exponent.scalar.integer;
    if (!is_float(common) && n < 0) refuse(ErrorKind::Value, "pow", "an integer to the power ", n, " isn't an integer; cast to a float first");
    if (n >= 0 && (!is_float(common) || (n >= 1 && n <= 8))) return natural_power(cast(common), uint64_t(n));
    if (n < 0 && n >= -8) return natural_power(cast(common), uint64_t(-n)).reciprocal();
  }
  if (!exponent.tensor && exponent.scalar.real == 0.5) return cast(common).sqrt();
  if (common == DType::boolean) return cast(DType::int32).pow(exponent.tensor ? Operand(exponent.tensor->cast(DType::int32)) : exponent);
  const auto [x, y] = meet(*this, exponent, "pow", common);
  if (!is_float(common)) return integer_power(tensor_of(x), tensor_of(y));
  return tensor_of(make(Op::Pow, {x.get(), y.get()}));
}

// ---- Choice -------------------------------------------------------------------------------------------------------------------------

Tensor Tensor::maximum(const Operand& b) const { return binary(Op::Max, Operand(*this, b.site), b, "maximum"); }
Tensor Tensor::minimum(const Operand& b) const { return binary(Op::Min, Operand(*this, b.site), b, "minimum"); }

Tensor Tensor::where(const Operand& yes, const Operand& no) const {
  const Call call(yes.site);
  const DType type = common_type({&yes, &no}, "where");
  NodeRef condition(node_of(*this, "where"));
  if (condition->dtype != DType::boolean) condition = make(Op::NotEqual, {condition.get(), zero(condition->dtype).get()});
  std::array<NodeRef, 3> nodes{condition, operand_node(yes, type, "where"), operand_node(no, type, "where")};
  stretch(nodes, "where");
  return tensor_of(where_node(nodes[0], nodes[1], nodes[2]));
}

Tensor Tensor::masked_fill(const Tensor& mask, const Operand& value) const {
  const Call call(value.site);
  if (mask.dtype() != DType::boolean) refuse(ErrorKind::Type, "masked_fill", "the mask is bool, not ", name(mask.dtype()), "; compare it with something");
  return mask.where(value, *this);
}

Tensor Tensor::clip(std::optional<double> low, std::optional<double> high, Site at) const {
  const Call call(at);
  if (!low && !high) refuse(ErrorKind::Value, "clip", "neither a least nor a greatest value is given");
  // Bounds that are whole keep an integer tensor one.
  const auto bound = [&](double value) { return !is_float(dtype()) && value == std::trunc(value) ? Operand(int64_t(value)) : Operand(value); };
  Tensor result = *this;
  if (low) result = result.maximum(bound(*low));
  if (high) result = result.minimum(bound(*high));
  return result;
}

// ---- One operand --------------------------------------------------------------------------------------------------------------------

namespace {

Tensor unary(Op op, const Tensor& x, std::string_view operation, Site at, bool floats) {
  const Call call(at);
  NodeRef node(node_of(x, operation));
  if (floats && !is_float(node->dtype)) node = cast(node, DType::float32);
  return tensor_of(make(op, {node.get()}));
}

}  // namespace

Tensor Tensor::neg(Site at) const {
  const Call call(at);
  if (node_of(*this, "neg")->dtype == DType::boolean) refuse(ErrorKind::Type, "neg", "bool has no negative; use ! or cast to an integer");
  return unary(Op::Neg, *this, "neg", at, false);
}

Tensor Tensor::reciprocal(Site at) const { return unary(Op::Reciprocal, *this, "reciprocal", at, true); }
Tensor Tensor::sqrt(Site at) const { return unary(Op::Sqrt, *this, "sqrt", at, true); }
Tensor Tensor::exp(Site at) const { return unary(Op::Exp, *this, "exp", at, true); }
Tensor Tensor::exp2(Site at) const { return unary(Op::Exp2, *this, "exp2", at, true); }
Tensor Tensor::log(Site at) const { return unary(Op::Log, *this, "log", at, true); }
Tensor Tensor::log2(Site at) const { return unary(Op::Log2, *this, "log2", at, true); }
Tensor Tensor::sin(Site at) const { return unary(Op::Sin, *this, "sin", at, true); }
Tensor Tensor::cos(Site at) const { return unary(Op::Cos, *this, "cos", at, true); }

Tensor Tensor::trunc(Site at) const {
  const Call call(at);
  return is_float(node_of(*this, "trunc")->dtype) ? unary(Op::Trunc, *this, "trunc", at, false) : *this;
}

Tensor Tensor::bitwise_not(Site at) const {
  const Call call(at);
  const DType type = node_of(*this, "bitwise_not")->dtype;
  if (type == DType::boolean) return logical_not();
  if (is_float(type)) refuse(ErrorKind::Type, "bitwise_not", "works on integers and bool, not on ", name(type), "; cast or bitcast first");
  const int64_t ones = bits_of_integer(type, -1);
  return tensor_of(make(Op::Xor, {node_of(*this, "bitwise_not"), make(Op::Const, {}, Args(&ones, 1), type).get()}));
}

Tensor Tensor::logical_not(Site at) const {
  const Call call(at);
  return tensor_of(not_node(whit::cast(NodeRef(node_of(*this, "logical_not")), DType::boolean)));
}

// ---- Types --------------------------------------------------------------------------------------------------------------------------

Tensor Tensor::cast(DType type, Site at) const {
  const Call call(at);
  if (type == DType::none || type == DType::index) refuse(ErrorKind::Type, "cast", "a tensor can't be of type ", name(type));
  return tensor_of(whit::cast(NodeRef(node_of(*this, "cast")), type));
}

namespace {

DType unsigned_of_size(size_t size) { return size == 1 ? DType::uint8 : size == 2 ? DType::uint16 : size == 4 ? DType::uint32 : DType::uint64; }
Tensor same_size_bitcast(const Tensor& x, DType type) { return x.dtype() == type ? x : tensor_of(make(Op::Bitcast, {node_of(x, "bitcast")}, {}, type)); }

// The bit offsets of the narrow elements in a wide one, the first lowest.
Tensor bit_offsets(int64_t count, size_t narrow, DType type) { return Tensor::arange(count, {.dtype = type}) * int64_t(narrow * 8); }

}  // namespace

Tensor Tensor::bitcast(DType type, Site at) const {
  const Call call(at);
  const DType from = node_of(*this, "bitcast")->dtype;
  if (type == DType::none || type == DType::index) refuse(ErrorKind::Type, "bitcast", "a tensor can't be of type ", name(type));
  if ((from == DType::boolean) != (type == DType::boolean)) refuse(ErrorKind::Type, "bitcast", "from ", name(from), " to ", name(type), " is not defined; use cast");
  const size_t old_size = item_size(from), new_size = item_size(type);
  if (old_size == new_size) return same_size_bitcast(*this, type);
  Sizes sizes = shape();
  if (sizes.empty()) refuse(ErrorKind::Shape, "bitcast", "a scalar has no axis to take up the change from ", old_size, " to ", new_size, " bytes");
  const int64_t ratio = int64_t(old_size > new_size ? old_size / new_size : new_size / old_size), last = sizes.back();
  if (old_size > new_size) {
    const DType words = unsigned_of_size(old_size);
    const Tensor parts = same_size_bitcast(*this, words).unsqueeze(-1) >> bit_offsets(ratio, new_size, words);
    sizes.back() = last * ratio;
    return same_size_bitcast(parts.cast(unsigned_of_size(new_size)).reshape(sizes), type);
  }
  if (last % ratio != 0)
    refuse(ErrorKind::Shape, "bitcast", "the last axis of ", text(sizes), " has ", last, " elements of ", old_size, " bytes, not a whole number of ", new_size, " bytes");
  const DType words = unsigned_of_size(new_size);
  sizes.back() = last / ratio;
  Sizes grouped = sizes;
  grouped.push_back(ratio);
  const Tensor parts = same_size_bitcast(*this, unsigned_of_size(old_size)).reshape(grouped).cast(words) << bit_offsets(ratio, old_size, words);
  return same_size_bitcast(tensor_of(reduce(NodeRef(node_of(parts, "bitcast")), Op::Or, {int64_t(sizes.size())})).reshape(sizes), type);
}

}  // namespace whit
