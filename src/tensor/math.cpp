// The functions of real numbers that are composed of a few primitive ones, each within some units in the last place of float32. Where
// two forms meet, the one not chosen gets a harmless argument, so that its gradient (times 0) isn't NaN.
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "tensor/build.h"

namespace whit {

namespace {

// c0 x^n + … + cn
Tensor polynomial(const Tensor& x, std::span<const double> coefficients) {
  Tensor result = coefficients[0] * x + coefficients[1];
  for (const double c : coefficients.subspan(2)) result = result * x + c;
  return result;
}

Tensor as_float(const Tensor& x, std::string_view operation) { return tensor_of(cast(NodeRef(node_of(x, operation)), float_type(x))); }

// Computes in float32 where the type is narrower, and rounds once.
template <class Function>
Tensor in_wide(const Tensor& x, std::string_view operation, Function function) {
  const Tensor floats = as_float(x, operation);
  return function(widened(floats)).cast(floats.dtype());
}

// tanh x for |x| < 0.625 is x + x³ P(x²)/Q(x²) (the Cephes library's form).
Tensor small_tanh(const Tensor& x) {
  static constexpr std::array p{-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3};
  static constexpr std::array q{1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3};
  const Tensor square = x * x;
  return x + x * (square * polynomial(square, p) / polynomial(square, q));
}

// log(1 + x): the error of the rounded sum u cancels in log(u) / (u - 1).
Tensor wide_log1p(const Tensor& x) {
  const Tensor u = 1 + x, tiny = u == 1, top = u == std::numeric_limits<double>::infinity();
  const Tensor less_one = tiny.where(1, u - 1);
  return tiny.where(x, top.where(x, u.log() * (x / less_one)));
}

Tensor wide_tanh(const Tensor& x) {
  const Tensor negative = x < 0, e = ((negative.where(x, -x)) * 2).exp(), large = (1 - e) / (1 + e);
  const Tensor small = x.abs() < 0.625;
  return small.where(small_tanh(small.where(x, 0)), negative.where(-large, large));
}

Tensor wide_expm1(const Tensor& x) { return wide_tanh(0.5 * x) * (x.exp() + 1); }

// For x in [0, 1]: x + x³ P(x²)/Q(x²) after bringing x above tan(π/8) to (x - 1) / (x + 1) (the Cephes library's form).
Tensor unit_atan(const Tensor& x) {
  static constexpr std::array p{-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                                -1.228866684490136173410e2, -6.485021904942025371773e1};
  static constexpr std::array q{1.0,
                                2.485846490142306297962e1,
                                1.650270098316988542046e2,
                                4.328810604912902668951e2,
                                4.853903996359136964868e2,
                                1.945506571482613964425e2};
  const Tensor high = x > 0.41421356237309503, reduced = high.where((x - 1) / (x + 1), x), square = reduced * reduced;
  const Tensor angle = reduced + reduced * (square * polynomial(square, p) / polynomial(square, q));
  return high.where(angle + std::numbers::pi / 4, angle);
}

Tensor wide_atan(const Tensor& x) {
  const Tensor size = -minus_abs(x), beyond = size > 1, result = unit_atan(beyond.where(1 / beyond.where(size, 1), size));
  const Tensor positive = beyond.where(std::numbers::pi / 2 - result, result);
  return (x < 0).where(-positive, positive);
}

// erf in float32: x P(x²)/Q(x²) up to where the result rounds to 1.
Tensor erf32(const Tensor& x) {
  static constexpr std::array p{0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861, 0.18520832239976145,
                                1.128379143519084};
  static constexpr std::array q{-1.1791602954361697e-7,
                                0.000023547966471313185,
                                0.0010179625278914885,
                                0.014070470171167667,
                                0.11098505178285362,
                                0.49746925110067538,
                                1.0};
  const Tensor bounded = x.clip(-3.832506856900711, 3.832506856900711), square = bounded * bounded;
  return (bounded * polynomial(square, p) / polynomial(square, q)).clip(-1, 1);
}

// erf in float64, after W. J. Cody, "Rational Chebyshev approximations for the error function" (1969).
Tensor erf64(const Tensor& x) {
  static constexpr std::array a{1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
                                3.20937758913846947e3};
  static constexpr std::array b{1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3};
  static constexpr std::array c{2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
                                6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
                                1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3};
  static constexpr std::array d{1.0,
                                1.57449261107098347e1,
                                1.17693950891312499e2,
                                5.37181101862009858e2,
                                1.62138957456669019e3,
                                3.29079923573345963e3,
                                4.36261909014324716e3,
                                3.43936767414372164e3,
                                1.23033935480374942e3};
  const Tensor size = x.abs(), small = size < 0.46875;
  const Tensor near = small.where(x, 0), square = near * near;
  const Tensor far = small.where(1, size).minimum(6), rest = (-far * far).exp() * polynomial(far, c) / polynomial(far, d);
  return small.where(near * polynomial(square, a) / polynomial(square, b), (x < 0).where(rest - 1, 1 - rest));
}

// True for negative numbers, -0 included.
Tensor sign_bit(const Tensor& x) { return (x < 0) | ((x == 0) & (1 / x < 0)); }

}  // namespace

Tensor Tensor::abs(Site at) const {
  const Call call(at);
  const DType type = node_of(*this, "abs")->dtype;
  if (!is_signed(type)) return *this;
  // max(x, -x) may be -0 at 0; adding 0 makes it 0. Its gradient at 0 is 0.
  const Tensor larger = maximum(-*this);
  return is_float(type) ? larger + 0.0 : larger;
}

Tensor Tensor::sign(Site at) const {
  const Call call(at);
  if (node_of(*this, "sign")->dtype == DType::boolean) return *this;
  const Tensor rest = is_signed(dtype()) ? (*this < 0).where(-1, detach()) : detach();  // 0, -0 and NaN stand for themselves
  return (*this > 0).where(1, rest).cast(dtype());
}

Tensor Tensor::square(Site at) const {
  const Call call(at);
  return *this * *this;
}

Tensor Tensor::rsqrt(Site at) const {
  const Call call(at);
  return 1 / sqrt();
}

Tensor Tensor::log10(Site at) const {
  const Call call(at);
  return log() / std::numbers::ln10;
}

Tensor Tensor::log1p(Site at) const {
  const Call call(at);
  return in_wide(*this, "log1p", wide_log1p);
}

Tensor Tensor::expm1(Site at) const {
  const Call call(at);
  return in_wide(*this, "expm1", wide_expm1);
}

Tensor Tensor::tan(Site at) const {
  const Call call(at);
  return in_wide(*this, "tan", [](const Tensor& x) { return x.sin() / x.cos(); });
}

Tensor Tensor::atan(Site at) const {
  const Call call(at);
  return in_wide(*this, "atan", wide_atan);
}

Tensor Tensor::asin(Site at) const {
  const Call call(at);
  return in_wide(*this, "asin", [](const Tensor& x) { return wide_atan(x / ((1 - x) * (1 + x)).sqrt()); });
}

Tensor Tensor::acos(Site at) const {
  const Call call(at);
  return in_wide(*this, "acos", [](const Tensor& x) { return 2 * wide_atan(((1 - x) / (1 + x)).sqrt()); });
}

Tensor Tensor::tanh(Site at) const {
  const Call call(at);
  return in_wide(*this, "tanh", wide_tanh);
}

Tensor Tensor::sinh(Site at) const {
  const Call call(at);
  return in_wide(*this, "sinh", [](const Tensor& x) {
    const Tensor positive = x > 0, e = wide_expm1(positive.where(x, -x)), top = e == std::numeric_limits<double>::infinity();
    const Tensor half = top.where(e, 0.5 * (e + e / (1 + top.where(0, e))));
    return positive.where(half, -half);
  });
}

Tensor Tensor::cosh(Site at) const {
  const Call call(at);
  return in_wide(*this, "cosh", [](const Tensor& x) { return 0.5 * (x.exp() + (-x).exp()); });
}

Tensor Tensor::asinh(Site at) const {
  const Call call(at);
  return in_wide(*this, "asinh", [](const Tensor& x) {
    const Tensor positive = x > 0, size = positive.where(x, -x), large = size > 1e9, bounded = large.where(1, size);
    const Tensor square = bounded * bounded;
    const Tensor result = large.where(size.log() + std::numbers::ln2, wide_log1p(bounded + square / (1 + (square + 1).sqrt())));
    return positive.where(result, -result);
  });
}

Tensor Tensor::acosh(Site at) const {
  const Call call(at);
  return in_wide(*this, "acosh", [](const Tensor& x) {
    const Tensor large = x > 1e9, t = large.where(2, x) - 1;
    return large.where(x.log() + std::numbers::ln2, wide_log1p(t + (t * (t + 2)).sqrt()));
  });
}

Tensor Tensor::atanh(Site at) const {
  const Call call(at);
  return in_wide(*this, "atanh", [](const Tensor& x) {
    const Tensor size = -minus_abs(x), result = 0.5 * wide_log1p(2 * size / (1 - size));
    return (x < 0).where(-result, result);
  });
}

Tensor Tensor::erf(Site at) const {
  const Call call(at);
  return in_wide(*this, "erf", [](const Tensor& x) { return x.dtype() == DType::float64 ? erf64(x) : erf32(x); });
}

Tensor Tensor::floor(Site at) const {
  const Call call(at);
  if (!is_float(node_of(*this, "floor")->dtype)) return *this;
  const Tensor whole = trunc();
  return (*this < whole).where(whole - 1, whole);
}

Tensor Tensor::ceil(Site at) const {
  const Call call(at);
  if (!is_float(node_of(*this, "ceil")->dtype)) return *this;
  const Tensor whole = trunc();
  return (whole < *this).where(whole + 1, whole);
}

Tensor Tensor::round(Site at) const {
  const Call call(at);
  if (!is_float(node_of(*this, "round")->dtype)) return *this;
  const Tensor whole = trunc(), rest = (*this - whole).abs(), half = whole * 0.5, odd = half != half.trunc();
  const Tensor away = (rest > 0.5) | ((rest == 0.5) & odd);
  return away.where(whole + (*this < 0).where(-1.0, 1.0).cast(dtype()), whole);
}

Tensor Tensor::isnan(Site at) const {
  const Call call(at);
  return *this != *this;
}

Tensor Tensor::isinf(Site at) const {
  const Call call(at);
  if (!is_float(node_of(*this, "isinf")->dtype)) return zeros_like({.dtype = DType::boolean});
  return (*this == std::numeric_limits<double>::infinity()) | (*this == -std::numeric_limits<double>::infinity());
}

Tensor Tensor::isfinite(Site at) const {
  const Call call(at);
  return !(isinf() | isnan());
}

Tensor copysign(const Tensor& x, const Tensor& sign, Site at) {
  const Call call(at);
  const Tensor size = as_float(x, "copysign").abs();
  return sign_bit(as_float(sign, "copysign")).where(-size, size);
}

}  // namespace whit
