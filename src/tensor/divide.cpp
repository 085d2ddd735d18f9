// Division in its forms: true, rounding down (as Python's // and %), rounding towards 0 (as C's).
#include "tensor/build.h"

namespace whit {

namespace {

// True where a remainder `r` has to be brought to the divisor's sign: it isn't 0 and the signs differ.
NodeRef wrong_sign(const NodeRef& r, const NodeRef& divisor) {
  const NodeRef none = zero(r->dtype);
  const NodeRef uneven = make(Op::NotEqual, {r.get(), none.get()});
  const NodeRef differ = make(Op::Xor, {make(Op::Less, {r.get(), none.get()}).get(), make(Op::Less, {divisor.get(), none.get()}).get()});
  return make(Op::And, {uneven.get(), differ.get()});
}

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

}  // namespace whit
