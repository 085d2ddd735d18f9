#include "ir/evaluate.h"

#include <limits>

#include "base/error.h"
#include "ir/meaning.h"

namespace whit {

namespace {

using namespace meaning;

template <class T>
T apply(Op op, T a, T b, T c) {
  (void)b, (void)c;
  switch (op) {
#define OP(id, arity, traits, meaning, spelling, gradient) \
  case Op::id:                                             \
    return meaning;
#include "ir/ops.def"
#undef OP
  }
  return T{};
}

template <class T>
Bits apply_integer(Op op, DType type, const Bits* v) {
  return bits_of_integer(has(op, compares) ? DType::boolean : type, int64_t(apply<T>(op, T(v[0]), T(v[1]), T(v[2]))));
}

template <class T>
Bits apply_float(Op op, DType type, const Bits* v) {
  T operand[3];
  for (int i = 0; i < 3; ++i) operand[i] = i == 0 && op == Op::Where ? T(v[0]) : T(float_of_bits(type, v[i]));
  const T result = apply<T>(op, operand[0], operand[1], operand[2]);
  return has(op, compares) ? Bits(result != T(0)) : bits_of_float(type, double(result));
}

}  // namespace

Bits evaluate(Op op, DType type, std::span<const Bits> operands) {
  WHIT_ASSERT(has(op, alu) && !has(op, typed) && operands.size() <= 3 && (is_float(type) || !has(op, floating)), name(op), " of ",
              name(type));
  Bits v[3] = {0, 0, 0};
  for (size_t i = 0; i < operands.size(); ++i) v[i] = operands[i];
  switch (type) {
    case DType::boolean: return apply_integer<bool>(op, type, v);
    case DType::int8: return apply_integer<int8_t>(op, type, v);
    case DType::uint8: return apply_integer<uint8_t>(op, type, v);
    case DType::int16: return apply_integer<int16_t>(op, type, v);
    case DType::uint16: return apply_integer<uint16_t>(op, type, v);
    case DType::int32: return apply_integer<int32_t>(op, type, v);
    case DType::uint32: return apply_integer<uint32_t>(op, type, v);
    case DType::uint64: return apply_integer<uint64_t>(op, type, v);
    case DType::int64:
    case DType::index: return apply_integer<int64_t>(op, type, v);
    case DType::float64: return apply_float<double>(op, type, v);
    default: return apply_float<float>(op, type, v);
  }
}

Bits identity_of(Op op, DType type) {
  const bool floating = is_float(type);
  const unsigned width = type == DType::boolean ? 1 : bit_width(type);
  const bool with_sign = is_signed(type) && !floating;
  const int64_t greatest = with_sign ? std::numeric_limits<int64_t>::max() >> (64 - width) : int64_t(~uint64_t(0) >> (64 - width));
  const int64_t least = with_sign ? -greatest - 1 : 0;
  const double top = type == DType::float8_e4m3 ? 448 : std::numeric_limits<double>::infinity();  // e4m3 has no infinity
  switch (op) {
    case Op::Add:
    case Op::Or:
    case Op::Xor: return floating ? bits_of_float(type, 0) : 0;
    case Op::Mul: return floating ? bits_of_float(type, 1) : 1;
    case Op::And: return type == DType::boolean ? 1 : bits_of_integer(type, -1);
    case Op::Max: return floating ? bits_of_float(type, -top) : least;
    case Op::Min: return floating ? bits_of_float(type, top) : greatest;
    default: WHIT_ASSERT(false, name(op), " does not accumulate");
  }
  return 0;
}

bool op_of_name(std::string_view text, Op& op) {
  for (size_t i = 0; i < kOpCount; ++i)
    if (kOps[i].name == text) {
      op = Op(i);
      return true;
    }
  return false;
}

ScanState::ScanState(Op op, DType type) : op_(op), type_(type), wide_(is_narrow_float(type) ? DType::float32 : type) { start(); }

void ScanState::start() { state_ = op_ == Op::MulAdd ? 0 : identity_of(op_, wide_); }

Bits ScanState::next(Bits value, Bits term) {
  const Bits first[2] = {state_, convert(type_, wide_, value)};
  state_ = evaluate(op_ == Op::MulAdd ? Op::Mul : op_, wide_, first);
  if (op_ == Op::MulAdd) {
    const Bits second[2] = {state_, convert(type_, wide_, term)};
    state_ = evaluate(Op::Add, wide_, second);
  }
  return convert(wide_, type_, state_);
}

}  // namespace whit
