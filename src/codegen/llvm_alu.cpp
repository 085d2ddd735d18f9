// Arithmetic as LLVM IR: what ops.def means, where LLVM's own instruction means less.
#include <algorithm>

#include "base/error.h"
#include "codegen/llvm_kernel.h"
#include "ir/interval.h"

namespace whit {

LlvmValue LlvmKernel::binary(std::string_view word, const LlvmValue& a, const LlvmValue& b) {
  return text_.define(a.type, word, ' ', Typed{a}, ", ", b);
}

LlvmValue LlvmKernel::compare(std::string_view word, const LlvmValue& a, const LlvmValue& b) {
  return text_.define(a.type.with(LlvmWord::i1), word, ' ', Typed{a}, ", ", b);
}

LlvmValue LlvmKernel::select(const LlvmValue& condition, const LlvmValue& a, const LlvmValue& b) {
  return text_.define(a.type, "select ", Typed{condition}, ", ", Typed{a}, ", ", Typed{b});
}

LlvmValue LlvmKernel::alu(const Node* node) {
  if (node->op == Op::Cast) return cast(node);
  if (node->op == Op::Bitcast) return bitcast(node);
  LlvmValue v[3];
  for (size_t i = 0; i < node->source_count; ++i) v[i] = operand(node->source(i), lanes_of(node));
  const size_t first = node->op == Op::Where ? 1 : 0;
  const DType type = node->source(first)->dtype;
  if (type == DType::index) {
    // Lanes of an index have the width that each node needs: the operation takes the greatest of them.
    LlvmWord word = node->dtype == DType::index ? type_of(node).word : LlvmWord::i32;
    for (size_t i = first; i < node->source_count; ++i) word = std::max(word, v[i].type.word);
    for (size_t i = first; i < node->source_count; ++i) v[i] = resize(v[i], word, true);
  }
  LlvmValue result;
  if (type != DType::boolean && (node->op == Op::Quotient || node->op == Op::Remainder))
    result = division(node, v[0], v[1]);
  else if (type != DType::boolean && (node->op == Op::Shl || node->op == Op::Shr))
    result = shift(node, v[0], v[1]);
  else
    result = apply(node->op, type, v);
  return node->dtype == DType::index ? resize(result, type_of(node).word, true) : result;
}

LlvmValue LlvmKernel::apply(Op op, DType type, const LlvmValue* v) {
  if (op == Op::Where) return select(v[0], v[1], v[2]);
  if (op == Op::Max || op == Op::Min) return extremum(op, type, v[0], v[1]);
  if (type == DType::boolean) return apply_boolean(op, v);
  WHIT_ASSERT(!is_narrow_float(type), name(op), " of ", name(type), " has to be lowered");
  return whit::is_float(type) ? apply_float(op, v) : apply_integer(op, type, v);
}

LlvmValue LlvmKernel::apply_float(Op op, const LlvmValue* v) {
  const LlvmType type = v[0].type;
  const auto call = [&](LlvmIntrinsic intrinsic) {
    LlvmText& text = text_;
    return text.define(type, "call ", type, ' ', IntrinsicName{intrinsic, type}, '(', Typed{v[0]}, ')');
  };
  switch (op) {
    case Op::Neg: return text_.define(type, "fneg ", Typed{v[0]});
    case Op::Reciprocal:
      return binary("fdiv", llvm_constant(type, bits_of_float(type.word == LlvmWord::f64 ? DType::float64 : DType::float32, 1)), v[0]);
    case Op::Sqrt: return call(LlvmIntrinsic::sqrt);
    case Op::Trunc: return call(LlvmIntrinsic::trunc);
    case Op::Add: return binary("fadd", v[0], v[1]);
    case Op::Mul: return binary("fmul", v[0], v[1]);
    case Op::Divide: return binary("fdiv", v[0], v[1]);
    case Op::Less: return compare("fcmp olt", v[0], v[1]);
    case Op::NotEqual: return compare("fcmp une", v[0], v[1]);
    case Op::MulAdd:
      return text_.define(type, "call ", type, ' ', IntrinsicName{LlvmIntrinsic::fma, type}, '(', Typed{v[0]}, ", ", Typed{v[1]}, ", ",
                          Typed{v[2]}, ')');
    default: WHIT_ASSERT(false, name(op), " of floats has to be lowered");
  }
  return {};
}

// Only the index type is known not to overflow; the others wrap.
LlvmValue LlvmKernel::apply_integer(Op op, DType type, const LlvmValue* v) {
  const bool exact = type == DType::index;
  switch (op) {
    case Op::Neg: return binary(exact ? "sub nsw" : "sub", llvm_constant(v[0].type, 0), v[0]);
    case Op::Add: return binary(exact ? "add nsw" : "add", v[0], v[1]);
    case Op::Mul: return binary(exact ? "mul nsw" : "mul", v[0], v[1]);
    case Op::Less: return compare(is_signed(type) ? "icmp slt" : "icmp ult", v[0], v[1]);
    case Op::NotEqual: return compare("icmp ne", v[0], v[1]);
    case Op::And: return binary("and", v[0], v[1]);
    case Op::Or: return binary("or", v[0], v[1]);
    case Op::Xor: return binary("xor", v[0], v[1]);
    default: WHIT_ASSERT(false, name(op), " of ", name(type), " has to be lowered");
  }
  return {};
}

// What the arithmetic of 0 and 1 comes to when any result but 0 is true.
LlvmValue LlvmKernel::apply_boolean(Op op, const LlvmValue* v) {
  const LlvmValue yes = llvm_constant(v[0].type, 1);
  switch (op) {
    case Op::Neg: return v[0];
    case Op::Add:
    case Op::Or: return binary("or", v[0], v[1]);
    case Op::Mul:
    case Op::Quotient:
    case Op::And: return binary("and", v[0], v[1]);
    case Op::Remainder: return llvm_constant(v[0].type, 0);
    case Op::NotEqual:
    case Op::Xor: return binary("xor", v[0], v[1]);
    case Op::Less: return binary("and", binary("xor", v[0], yes), v[1]);
    case Op::Shl:
    case Op::Shr: return binary("and", v[0], binary("xor", v[1], yes));
    default: WHIT_ASSERT(false, name(op), " of bool has to be lowered");
  }
  return {};
}

// The float form is a hardware maximum, which gives `b` when either is NaN, and a second choice for a NaN in `a`.
LlvmValue LlvmKernel::extremum(Op op, DType type, const LlvmValue& a, const LlvmValue& b) {
  const bool most = op == Op::Max;
  if (type == DType::boolean) return binary(most ? "or" : "and", a, b);
  if (whit::is_float(type)) {
    const LlvmValue chosen = select(compare(most ? "fcmp ogt" : "fcmp olt", a, b), a, b);
    return select(compare("fcmp uno", a, llvm_constant(a.type, 0)), a, chosen);
  }
  const std::string_view words[] = {"icmp ult", "icmp ugt", "icmp slt", "icmp sgt"};
  return select(compare(words[2 * is_signed(type) + most], a, b), a, b);
}

// No vector unit divides integers. Floats that hold every value of the type do as well: the error of a quotient is smaller than its
// distance to the next integer, 1/b at least.
LlvmValue LlvmKernel::divide_as_floats(const LlvmValue& a, const LlvmValue& b, bool sign) {
  const LlvmWord through = bit_width(a.type.word) < 32 ? LlvmWord::f32 : LlvmWord::f64;
  const std::string_view there = sign ? "sitofp" : "uitofp", back = sign ? "fptosi" : "fptoui";
  return convert(back, binary("fdiv", convert(there, a, through), convert(there, b, through)), a.type.word);
}

// Guards what stops the process or has no meaning in LLVM (x/0 and MIN/-1), where the intervals don't exclude it.
LlvmValue LlvmKernel::division(const Node* node, const LlvmValue& a, const LlvmValue& b) {
  const Node *dividend = node->source(0), *divisor = node->source(1);
  const DType type = dividend->dtype;
  const bool remainder = node->op == Op::Remainder;
  const LlvmValue zero = llvm_constant(a.type, 0), one = llvm_constant(a.type, 1);
  // An interval of uint64 is that of its bits read as signed; only a constant's tells something.
  const bool sign = is_signed(type) && (dividend->minimum < 0 || divisor->minimum < 0);
  const auto may_be = [&](int64_t value) {
    return divisor->minimum <= value && value <= divisor->maximum && !(divisor->is_constant() && divisor->arg(0) != value);
  };
  const bool by_zero = may_be(0), by_minus_one = sign && may_be(-1) && dividend->minimum == interval_of(type).minimum;
  const auto divide = [&](const LlvmValue& by) {
    const std::string_view words[] = {"udiv", "sdiv", "urem", "srem"};
    if (a.type.lanes == 1 || bit_width(a.type.word) > 32 || divisor->is_constant()) return binary(words[2 * remainder + sign], a, by);
    const LlvmValue quotient = divide_as_floats(a, by, sign);
    return remainder ? binary("sub", a, binary("mul", quotient, by)) : quotient;
  };
  if (!by_zero && !by_minus_one) return divide(b);

  LlvmValue is_zero, is_minus_one, bad;
  if (by_zero) bad = is_zero = compare("icmp eq", b, zero);
  if (by_minus_one) bad = is_minus_one = compare("icmp eq", b, llvm_constant(a.type, -1));
  if (by_zero && by_minus_one) bad = binary("or", is_zero, is_minus_one);
  LlvmValue result = divide(select(bad, one, b));
  if (by_minus_one && !remainder) result = select(is_minus_one, binary("sub", zero, a), result);
  // A remainder by the 1 that stands in for 0 and -1 is 0 as it should be.
  return by_zero && !remainder ? select(is_zero, zero, result) : result;
}

// LLVM gives a shift by the width or more no meaning.
LlvmValue LlvmKernel::shift(const Node* node, const LlvmValue& a, const LlvmValue& b) {
  const Node *value = node->source(0), *count = node->source(1);
  const int width = int(bit_width(a.type.word));
  const bool within = count->minimum >= 0 && count->maximum < width;
  const bool keep_sign = is_signed(value->dtype) && value->minimum < 0;
  const std::string_view word = node->op == Op::Shl ? "shl" : keep_sign ? "ashr" : "lshr";
  if (within) return binary(word, a, b);
  const LlvmValue fits = compare("icmp ult", b, llvm_constant(b.type, width));
  if (word == "ashr") return binary(word, a, select(fits, b, llvm_constant(b.type, width - 1)));
  return select(fits, binary(word, a, b), llvm_constant(a.type, 0));
}

LlvmValue LlvmKernel::extract(const LlvmValue& vector, uint32_t lane) {
  return text_.define({vector.type.word}, "extractelement ", Typed{vector}, ", i64 ", lane);
}

LlvmValue LlvmKernel::across(const Node* node) {
  const Op op = node->reduce_op();
  const DType type = node->source(0)->dtype;
  const uint32_t lanes = uint32_t(node->source(1)->source(0)->arg(0));
  WHIT_ASSERT((lanes & (lanes - 1)) == 0, "Across folds ", lanes, " lanes");
  LlvmValue value = operand(node->source(0), lanes);
  if (type == DType::index) value = resize(value, LlvmWord::i64, true);  // a sum of what fits may not fit
  for (uint32_t half = lanes / 2; half > 1; half /= 2) {
    const LlvmType narrow{value.type.word, half};
    LlvmValue parts[2];
    for (uint32_t part = 0; part < 2; ++part) {
      std::string mask;
      for (uint32_t lane = 0; lane < half; ++lane) mask += (lane ? ", i32 " : "i32 ") + std::to_string(part * half + lane);
      parts[part] = text_.define(narrow, "shufflevector ", Typed{value}, ", ", value.type, " poison, <", half, " x i32> <", mask, '>');
    }
    value = apply(op, type, parts);
  }
  if (lanes > 1) {
    const LlvmValue parts[2] = {extract(value, 0), extract(value, 1)};
    value = apply(op, type, parts);
  }
  return value;
}

}  // namespace whit
