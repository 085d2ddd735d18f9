// Powers: exact where base and exponent are integers.
#include "tensor/build.h"

namespace whit {

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
    if (!is_float(common) && n < 0)
      refuse(ErrorKind::Value, "pow", "an integer to the power ", n, " isn't an integer; cast to a float first");
    if (n >= 0 && (!is_float(common) || (n >= 1 && n <= 8))) return natural_power(cast(common), uint64_t(n));
    if (n < 0 && n >= -8) return natural_power(cast(common), uint64_t(-n)).reciprocal();
  }
  if (!exponent.tensor && exponent.scalar.real == 0.5) return cast(common).sqrt();
  if (common == DType::boolean) return cast(DType::int32).pow(exponent.tensor ? Operand(exponent.tensor->cast(DType::int32)) : exponent);
  const auto [x, y] = meet(*this, exponent, "pow", common);
  if (!is_float(common)) return integer_power(tensor_of(x), tensor_of(y));
  return tensor_of(make(Op::Pow, {x.get(), y.get()}));
}

}  // namespace whit
