// Functions of each element, and choices between elements.
#include "binding.h"

namespace whit::python {

namespace {

using Function = Tensor (Tensor::*)(Site) const;

struct Named {
  const char* name;
  Function function;
  const char* text;
};

constexpr Named kMembers[] = {
    {"neg", &Tensor::neg, "-x"},
    {"bitwise_not", &Tensor::bitwise_not, "Every bit turned over."},
    {"logical_not", &Tensor::logical_not, "True where x is zero."},
    {"abs", &Tensor::abs, "|x|"},
    {"sign", &Tensor::sign, "-1, 0 or 1; NaN of NaN."},
    {"reciprocal", &Tensor::reciprocal, "1 / x"},
    {"square", &Tensor::square, "x²"},
    {"sqrt", &Tensor::sqrt, "√x"},
    {"rsqrt", &Tensor::rsqrt, "1 / √x"},
    {"exp", &Tensor::exp, "e^x"},
    {"exp2", &Tensor::exp2, "2^x"},
    {"expm1", &Tensor::expm1, "e^x - 1, exact near 0."},
    {"log", &Tensor::log, "The natural logarithm."},
    {"log2", &Tensor::log2, "The logarithm to base 2."},
    {"log10", &Tensor::log10, "The logarithm to base 10."},
    {"log1p", &Tensor::log1p, "log(1 + x), exact near 0."},
    {"sin", &Tensor::sin, "The sine."},
    {"cos", &Tensor::cos, "The cosine."},
    {"tan", &Tensor::tan, "The tangent."},
    {"asin", &Tensor::asin, "The inverse of the sine."},
    {"acos", &Tensor::acos, "The inverse of the cosine."},
    {"atan", &Tensor::atan, "The inverse of the tangent."},
    {"sinh", &Tensor::sinh, "The hyperbolic sine."},
    {"cosh", &Tensor::cosh, "The hyperbolic cosine."},
    {"tanh", &Tensor::tanh, "The hyperbolic tangent."},
    {"asinh", &Tensor::asinh, "The inverse of the hyperbolic sine."},
    {"acosh", &Tensor::acosh, "The inverse of the hyperbolic cosine."},
    {"atanh", &Tensor::atanh, "The inverse of the hyperbolic tangent."},
    {"erf", &Tensor::erf, "The error function."},
    {"trunc", &Tensor::trunc, "Towards zero."},
    {"floor", &Tensor::floor, "Down."},
    {"ceil", &Tensor::ceil, "Up."},
    {"round", &Tensor::round, "To the nearest integer, ties to even."},
    {"isnan", &Tensor::isnan, "True where x is NaN."},
    {"isfinite", &Tensor::isfinite, "True where x is neither NaN nor infinite."},
    {"relu", &Tensor::relu, "max(x, 0)"},
    {"sigmoid", &Tensor::sigmoid, "1 / (1 + e^-x)"},
    {"silu", &Tensor::silu, "x · sigmoid(x)"},
    {"swish", &Tensor::silu, "As silu."},
    {"detach", &Tensor::detach, "The same value without gradient history."},
};

using Free = Tensor (*)(const Tensor&, Site);
struct NamedFree {
  const char* name;
  Free function;
  const char* text;
};

constexpr NamedFree kFunctions[] = {
    {"relu6", whit::relu6, "min(max(x, 0), 6)"},
    {"hardswish", whit::hardswish, "x · min(max(x + 3, 0), 6) / 6"},
    {"hardsigmoid", [](const Tensor& x, Site at) { return whit::hardsigmoid(x, at); }, "min(max(x / 6 + 0.5, 0), 1)"},
    {"logsigmoid", whit::logsigmoid, "log(sigmoid(x))"},
    {"mish", whit::mish, "x · tanh(softplus(x))"},
    {"softsign", whit::softsign, "x / (1 + |x|)"},
    {"selu", [](const Tensor& x, Site at) { return whit::selu(x, at); }, "The scaled ELU."},
    {"quick_gelu", whit::quick_gelu, "x · sigmoid(1.702 x)"},
};

std::optional<double> bound(nb::handle value) {
  const std::optional<Scalar> number = number_or_nothing(value);
  return number ? std::optional(number->real) : std::nullopt;
}

Tensor clamped(const Tensor& x, nb::object low, nb::object high) {
  if (tensor_in(low) || tensor_in(high)) {
    Tensor result = x;
    if (tensor_in(low))
      result = result.maximum(*tensor_in(low));
    else if (!low.is_none())
      result = result.maximum(*number_or_nothing(low));
    if (tensor_in(high))
      result = result.minimum(*tensor_in(high));
    else if (!high.is_none())
      result = result.minimum(*number_or_nothing(high));
    return result;
  }
  return x.clip(bound(low), bound(high));
}

void bind_choices(TensorClass& c) {
  c.def(
      "where", [](const Tensor& condition, AnyValue yes, AnyValue no) { return condition.where(yes, no); }, Guard(), "x"_a, "y"_a,
      "x where this is true, else y.");
  c.def(
      "masked_fill", [](const Tensor& x, const Tensor& mask, AnyValue value) { return x.masked_fill(mask, value); }, Guard(), "mask"_a,
      "value"_a, "value where the mask is true, else this.");
  for (const char* name : {"clamp", "clip"})
    c.def(name, clamped, Guard(), "min_"_a.none() = nb::none(), "max_"_a.none() = nb::none(),
          "Held between the two bounds; None is no bound.");
  c.def(
      "isinf",
      [](const Tensor& x, bool positive, bool negative) {
        return positive && negative ? x.isinf() : x.isinf() & (positive ? x > 0 : x < 0);
      },
      Guard(), "detect_positive"_a = true, "detect_negative"_a = true, "True where x is infinite.");
  c.def(
      "isclose",
      [](const Tensor& x, const Tensor& other, double rtol, double atol, bool equal_nan) {
        return isclose(x, other, rtol, atol, equal_nan);
      },
      Guard(), "other"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false, "True where |x - other| <= atol + rtol |other|.");
  c.def(
      "allclose",
      [](const Tensor& x, const Tensor& other, double rtol, double atol, bool equal_nan) {
        const Tensor all = isclose(x, other, rtol, atol, equal_nan).all();
        compute_released(all);
        return all.item<bool>();
      },
      Guard(), "other"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false, "Whether all elements are close.");
  c.def(
      "copysign", [](const Tensor& x, AnyValue other) { return copysign(x, other.as_tensor(x)); }, Guard(), "other"_a,
      "|x| with the sign of the other.");
  c.def(
      "logaddexp", [](const Tensor& x, AnyValue other) { return logaddexp(x, other.as_tensor(x)); }, Guard(), "other"_a,
      "log(e^x + e^other)");
  c.def(
      "lerp", [](const Tensor& x, const Tensor& end, AnyValue weight) { return lerp(x, end, weight); }, Guard(), "end"_a, "weight"_a,
      "x + (end - x) · weight");
}

void bind_types(TensorClass& c) {
  c.def(
      "cast", [](const Tensor& x, DType type) { return x.cast(type); }, Guard(), "dtype"_a, "The values in another dtype.");
  c.def(
      "bitcast", [](const Tensor& x, DType type) { return x.bitcast(type); }, Guard(), "dtype"_a, "The bytes read as another dtype.");
  constexpr std::pair<const char*, DType> kCasts[] = {{"float", DType::float32},  {"half", DType::float16}, {"bfloat16", DType::bfloat16},
                                                      {"double", DType::float64}, {"int", DType::int32},    {"long", DType::int64},
                                                      {"short", DType::int16},    {"bool", DType::boolean}};
  for (const auto& [name, type] : kCasts)
    c.def(
        name, [type = type](const Tensor& x) { return x.cast(type); }, Guard(),
        (std::string("The values as ") + std::string(whit::name(type)) + ".").c_str());
}

}  // namespace

void bind_elementwise(TensorClass& c) {
  for (const auto& [name, function, text] : kMembers)
    c.def(
        name, [function = function](const Tensor& x) { return (x.*function)(Site()); }, Guard(), text);
  for (const auto& [name, function, text] : kFunctions)
    c.def(
        name, [function = function](const Tensor& x) { return function(x, Site()); }, Guard(), text);
  c.def(
      "hardtanh", [](const Tensor& x, double low, double high) { return hardtanh(x, low, high); }, Guard(), "min_val"_a = -1.0,
      "max_val"_a = 1.0, "Held between the two.");
  c.def(
      "leaky_relu", [](const Tensor& x, double slope) { return x.leaky_relu(slope); }, Guard(), "neg_slope"_a = 0.01,
      "x, or slope · x below 0.");
  c.def(
      "softplus", [](const Tensor& x, double beta) { return beta == 1 ? x.softplus() : (x * beta).softplus() / beta; }, Guard(),
      "beta"_a = 1.0, "log(1 + e^(beta x)) / beta");
  c.def(
      "elu", [](const Tensor& x, double alpha) { return elu(x, alpha); }, Guard(), "alpha"_a = 1.0, "x, or alpha (e^x - 1) below 0.");
  c.def(
      "celu", [](const Tensor& x, double alpha) { return x.maximum(0) + alpha * (x / alpha).minimum(0).expm1(); }, Guard(), "alpha"_a = 1.0,
      "x, or alpha (e^(x/alpha) - 1) below 0.");
  c.def(
      "gelu",
      [](const Tensor& x, nb::object approximate) {
        const bool named = PyUnicode_Check(approximate.ptr());
        return x.gelu(named ? nb::cast<std::string>(approximate) == "tanh" : nb::cast<bool>(approximate));
      },
      Guard(), "approximate"_a = "none", "x Φ(x), exact, or by \"tanh\".");
  bind_choices(c);
  bind_types(c);
}

}  // namespace whit::python
