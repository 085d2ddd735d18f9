// Operators and the elementwise operations that are one node or a few.
#include <array>
#include <cmath>

#include "tensor/build.h"

namespace whit {

namespace {

std::string types_of(const Operand& a, const Operand& b) {
  const auto one = [](const Operand& x) {
    return x.tensor ? std::string(name(x.tensor->dtype())) : concat("a literal ", name(type_of(x.scalar)));
  };
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
    refuse(ErrorKind::Type, operation, "works on integers", shift ? "" : " and bool", ", not on ", types_of(a, b),
           "; cast or bitcast first");
  const auto [x, y] = meet(a, b, operation, type);
  return tensor_of(make(op, {x.get(), y.get()}));
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

Tensor& Tensor::operator%=(const Operand& value) {
  const Call call(value.site);
  return assign(*this % value);
}

Tensor& Tensor::operator&=(const Operand& value) {
  const Call call(value.site);
  return assign(*this & value);
}

Tensor& Tensor::operator|=(const Operand& value) {
  const Call call(value.site);
  return assign(*this | value);
}

Tensor& Tensor::operator^=(const Operand& value) {
  const Call call(value.site);
  return assign(*this ^ value);
}

Tensor& Tensor::operator<<=(const Operand& value) {
  const Call call(value.site);
  return assign(*this << value);
}

Tensor& Tensor::operator>>=(const Operand& value) {
  const Call call(value.site);
  return assign(*this >> value);
}

Tensor& Tensor::operator/=(const Operand& value) {
  const Call call(value.site);
  return assign(*this / value);
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
  const Call call(value.site, __func__);
  if (mask.dtype() != DType::boolean)
    refuse(ErrorKind::Type, "masked_fill", "the mask is bool, not ", name(mask.dtype()), "; compare it with something");
  return mask.where(value, *this);
}

Tensor Tensor::clip(std::optional<double> low, std::optional<double> high, Site at) const {
  const Call call(at);
  if (!low && !high) refuse(ErrorKind::Value, "clip", "neither a least nor a greatest value is given");
  // Bounds that are whole keep an integer tensor one.
  const auto bound = [&](double value) {
    return !is_float(dtype()) && value == std::trunc(value) ? Operand(int64_t(value)) : Operand(value);
  };
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

}  // namespace whit
