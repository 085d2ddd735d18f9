// Conversions as LLVM IR.
#include <bit>
#include <cmath>

#include "base/error.h"
#include "codegen/llvm_kernel.h"

namespace whit {

LlvmValue LlvmKernel::convert(std::string_view word, const LlvmValue& value, LlvmWord to) {
  const LlvmType type = value.type.with(to);
  return text_.define(type, word, ' ', Typed{value}, " to ", type);
}

LlvmValue LlvmKernel::resize(const LlvmValue& value, LlvmWord to, bool keep_sign) {
  if (value.type.word == to) return value;
  if (value.kind != LlvmValue::instruction && keep_sign) return {value.type.with(to), value.kind, value.payload};
  return convert(bit_width(to) < bit_width(value.type.word) ? "trunc" : keep_sign ? "sext" : "zext", value, to);
}

LlvmValue LlvmKernel::to_boolean(const LlvmValue& value) {
  if (value.type.word == LlvmWord::i1) return value;
  return compare(whit::is_float(value.type.word) ? "fcmp une" : "icmp ne", value, llvm_constant(value.type, 0));
}

LlvmValue LlvmKernel::cast(const Node* node) {
  const Node* source = node->source(0);
  const LlvmValue value = operand(source, lanes_of(node));
  const LlvmWord from = value.type.word, to = type_of(node).word;
  WHIT_ASSERT(!is_narrow_float(source->dtype) && !is_narrow_float(node->dtype), "Cast of ", name(source->dtype), " to ", name(node->dtype),
              " has to be lowered");
  const bool from_signed = is_signed(source->dtype) && source->dtype != DType::boolean;
  if (node->dtype == DType::boolean) return to_boolean(value);
  if (whit::is_float(from) && whit::is_float(to)) return from == to ? value : convert(to == LlvmWord::f64 ? "fpext" : "fptrunc", value, to);
  if (whit::is_float(from)) return float_to_integer(value, to, is_signed(node->dtype));
  if (whit::is_float(to)) return convert(from_signed ? "sitofp" : "uitofp", value, to);
  return resize(value, to, from_signed);
}

// Out of range saturates and NaN gives 0, where LLVM's instruction gives nothing defined: the value is brought into the range first, by
// comparisons that are false with NaN. Small integers go by way of i32, for which there are instructions.
LlvmValue LlvmKernel::float_to_integer(const LlvmValue& value, LlvmWord to, bool keep_sign) {
  const unsigned width = bit_width(to);
  const LlvmWord through = width < 32 ? LlvmWord::i32 : to;
  const bool single = value.type.word == LlvmWord::f32;
  const auto number = [&](double n) {
    return llvm_constant(value.type, single ? Bits(std::bit_cast<uint32_t>(float(n))) : std::bit_cast<Bits>(n));
  };
  const double beyond = std::ldexp(1.0, int(width) - (keep_sign ? 1 : 0)), least = keep_sign ? -beyond : 0.0;
  const unsigned precision = single ? 24 : 53;
  const bool exact = width - (keep_sign ? 1 : 0) <= precision;  // the greatest integer is itself a float
  const double greatest = exact ? beyond - 1 : beyond - std::ldexp(beyond, -int(precision));

  LlvmValue clamped = select(compare("fcmp ogt", value, number(least)), value, number(least));
  clamped = select(compare("fcmp olt", clamped, number(greatest)), clamped, number(greatest));
  LlvmValue result = convert(keep_sign || width < 32 ? "fptosi" : "fptoui", clamped, through);
  if (!exact) {
    const int64_t all = keep_sign ? int64_t(~uint64_t(0) >> (65 - width)) : -1;
    result = select(compare("fcmp oge", value, number(beyond)), llvm_constant(result.type, all), result);
  }
  if (keep_sign) result = select(compare("fcmp uno", value, number(0)), llvm_constant(result.type, 0), result);
  return resize(result, to, false);
}

LlvmValue LlvmKernel::bitcast(const Node* node) {
  const LlvmValue value = operand(node->source(0), lanes_of(node));
  const LlvmWord from = value.type.word, to = type_of(node).word;
  if (from == to) return value;
  if (to == LlvmWord::i1) return to_boolean(value);
  if (from == LlvmWord::i1) return resize(value, to, false);
  WHIT_ASSERT(bit_width(from) == bit_width(to), "Bitcast of ", name(node->source(0)->dtype), " to ", name(node->dtype));
  return convert("bitcast", value, to);
}

}  // namespace whit
