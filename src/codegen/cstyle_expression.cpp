#include "codegen/cstyle_expression.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "ir/interval.h"

namespace whit {

namespace {

std::string number_text(double value, bool single) {
  char buffer[64];
  // Both forms give back the same bits; the shorter decimals read better.
  auto end =
      single ? std::to_chars(buffer, buffer + sizeof buffer, float(value)).ptr : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.size() > 9) {
    end = std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::hex).ptr;
    text = (std::signbit(value) ? "-0x" : "0x") + std::string(buffer, end);
  } else if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  if (single) text += "f";
  return text[0] == '-' ? "(" + text + ")" : text;
}

bool division_needs_no_guard(const Node* a, const Node* b) {
  const bool with_sign = is_signed(b->dtype);
  if (b->is_constant()) return b->arg(0) != 0 && (!with_sign || b->arg(0) != -1);
  if (b->dtype == DType::uint64) return false;
  if (b->minimum > 0 || b->maximum < -1) return true;
  return with_sign && b->maximum < 0 && a->minimum > interval_of(a->dtype).minimum;
}

}  // namespace

Form form_of(const Node* node, DType index_type) {
  const auto resolve = [&](DType type) { return type == DType::index ? index_type : type; };
  const Node* typed_by = node->source(node->op == Op::Where ? 1 : 0);
  Form form{.op = node->op, .from = resolve(typed_by->dtype), .type = resolve(node->dtype)};
  form.exact = typed_by->dtype == DType::index;
  if (node->op == Op::Quotient || node->op == Op::Remainder) form.in_range = division_needs_no_guard(node->source(0), node->source(1));
  if (node->op == Op::Shl || node->op == Op::Shr) {
    const Node* count = node->source(1);
    form.in_range = count->minimum >= 0 && count->maximum < int64_t(bit_width(form.from));
  }
  return form;
}

CValue Expressions::constant(DType type, Bits bits) {
  CValue value{.type = type};
  if (is_float(type)) {
    const double number = float_of_bits(type, bits);
    const bool single = type == DType::float32;
    if (std::isfinite(number))
      value.text = number_text(number, single);
    else
      value = bitcast({Op::Bitcast, single ? DType::uint32 : DType::uint64, type}, constant(single ? DType::uint32 : DType::uint64, bits));
    return value;
  }
  const std::string_view suffix = item_size(type) == 8 ? "l" : "";
  if (type == DType::uint64 || type == DType::uint32)
    value.text = concat(uint64_t(bits), "u", suffix);
  else if (bits == std::numeric_limits<int64_t>::min())
    value.text = concat("(-", std::numeric_limits<int64_t>::max(), suffix, " - 1)");
  else if (type == DType::int32 && bits == std::numeric_limits<int32_t>::min())
    value.text = concat("(-", std::numeric_limits<int32_t>::max(), " - 1)");
  else
    value.text = concat(bits < 0 ? "(" : "", bits, suffix, bits < 0 ? ")" : "");
  return value;
}

std::string Expressions::type_of(const CValue& value) { return prelude_.type(lane_type(value), value.lanes); }

CValue Expressions::broadcast(const CValue& value, int64_t lanes) {
  if (value.lanes == lanes) return value;
  WHIT_ASSERT(value.lanes == 1, "a vector of ", value.lanes, " where ", lanes, " lanes are wanted");
  CValue wide{.type = value.type, .lanes = lanes, .mask_bytes = value.type == DType::boolean ? 1u : 0u};
  wide.text = wide.is_mask() ? prelude_.splat(DType::int8, lanes, concat("-(", prelude_.type(DType::int8), ")", value.text))
                             : prelude_.splat(value.type, lanes, value.text);
  return wide;
}

CValue Expressions::with_mask(const CValue& value, unsigned bytes) {
  if (value.mask_bytes == bytes) return value;
  CValue mask = value;
  mask.mask_bytes = bytes;
  mask.text = concat("__builtin_convertvector(", value.text, ", ", type_of(mask), ")");
  return mask;
}

std::string Expressions::call(const std::string& function, std::span<const CValue> operands) {
  std::string text = function + "(";
  for (const CValue& operand : operands) text += (&operand == operands.data() ? "" : ", ") + bare(operand.text);
  return text + ")";
}

// A function that computes `text` (of $0, $1, …) lane by lane; compilers make vector code of such loops.
std::string Expressions::by_lane(const std::string& name, std::string_view text, DType from, DType to, size_t operands, int64_t lanes) {
  const std::string wide = prelude_.type(to, lanes);
  const std::string operand_type = prelude_.type(from, lanes);
  std::string parameters;
  for (size_t k = 0; k < operands; ++k) parameters += concat(k ? ", " : "", operand_type, " ", "abc"[k]);
  const std::string body = fill(text, {"a[lane]", "b[lane]", "c[lane]"});
  return prelude_.function(concat(name, "_", operand_type), wide, parameters,
                           concat(wide, " out; for (int lane = 0; lane < ", lanes, "; ++lane) out[lane] = ", body, "; return out;"));
}

std::string Expressions::wrapped(const Form& form, std::string_view text, std::span<const CValue> operands, int64_t lanes) {
  const std::string& a = operands[0].text;
  const std::string& b = operands.back().text;
  // Without lanes, narrow integers are computed in 32 bits and cut.
  const bool narrow = lanes == 1 && item_size(form.type) < 4;
  if (is_float(form.type) || form.exact || (!is_signed(form.type) && !narrow)) return "(" + fill(text, {a, b}) + ")";
  const std::string computed = "(" + prelude_.type(integer_of_size(narrow ? 4 : item_size(form.type), false), lanes) + ")";
  return concat("((", prelude_.type(form.type, lanes), ")(", fill(text, {computed + a, computed + b}), "))");
}

// Quotient, Remainder, Shl and Shr with their guards in a function.
std::string Expressions::guarded(const Form& form, std::span<const CValue> operands, int64_t lanes) {
  const bool with_sign = is_signed(form.type);
  const CValue dividend{.text = "a", .type = form.type};
  const std::string type = prelude_.type(form.type), minus = wrapped({Op::Neg, form.type, form.type}, "-$0", {&dividend, 1}, 1);
  const size_t width = bit_width(form.type);
  const std::string word = prelude_.type(integer_of_size(item_size(form.type) < 4 ? 4 : item_size(form.type), false));
  std::string name, body;
  switch (form.op) {
    case Op::Quotient:
      name = "quotient_" + type;
      body = with_sign ? concat("return b == 0 ? 0 : b == -1 ? ", minus, " : a / b;") : "return b == 0 ? 0 : a / b;";
      break;
    case Op::Remainder:
      name = "remainder_" + type;
      body = with_sign ? "return b == 0 || b == -1 ? 0 : a % b;" : "return b == 0 ? 0 : a % b;";
      break;
    case Op::Shl:
      name = "shift_left_" + type;
      body = concat("return (", word, ")b < ", width, " ? (", type, ")((", word, ")a << b) : 0;");
      break;
    default:
      name = "shift_right_" + type;
      body = concat("return (", word, ")b < ", width, " ? a >> b : ", with_sign ? "a < 0 ? -1 : 0" : "0", ";");
  }
  prelude_.function(name, type, concat(type, " a, ", type, " b"), body);
  return call(lanes == 1 ? name : by_lane(name.substr(0, name.rfind('_')), name + "($0, $1)", form.type, form.type, 2, lanes), operands);
}

std::string Expressions::larger_or_smaller(const Form& form, std::span<const CValue> operands, int64_t lanes) {
  const std::string type = prelude_.type(form.type, lanes);
  std::string test = form.op == Op::Max ? "(a > b)" : "(a < b)";
  if (is_float(form.type)) test = "(" + test + (lanes == 1 ? " || " : " | ") + "(a != a))";  // if b is NaN the test fails and b is taken
  const CValue choice[] = {
      {.text = test, .type = DType::boolean, .lanes = lanes, .mask_bytes = lanes == 1 ? 0u : unsigned(item_size(form.type))},
      {.text = "a", .type = form.type, .lanes = lanes},
      {.text = "b", .type = form.type, .lanes = lanes}};
  const std::string body = select(choice, form.type, lanes).text;
  return call(prelude_.function((form.op == Op::Max ? "max_" : "min_") + type, type, concat(type, " a, ", type, " b"),
                                concat("return ", body, ";")),
              operands);
}

// As the op table or the dialect spells it.
std::string Expressions::spelled(const Form& form, std::span<const CValue> operands, int64_t lanes) {
  std::string_view spelling = info(form.op).spelling;
  for (const Spelling& special : prelude_.dialect().spellings)
    if (special.op == form.op && special.type == form.type) spelling = special.text;
  WHIT_ASSERT(!spelling.empty(), prelude_.dialect().name, " can't spell ", name(form.op));
  const bool is_operator = spelling[0] == '(';
  if (form.op == Op::Reciprocal)
    return concat("(", broadcast(constant(form.type, bits_of_float(form.type, 1)), lanes).text, " / ", operands[0].text, ")");
  if (lanes > 1 && !is_operator) {
    std::string lower(name(form.op));
    for (char& letter : lower) letter = char(std::tolower(letter));
    return call(by_lane(lower, spelling, form.from, form.type, operands.size(), lanes), operands);
  }
  return fill(spelling, {operands[0].text, operands.size() > 1 ? std::string_view(operands[1].text) : "",
                         operands.size() > 2 ? std::string_view(operands[2].text) : ""});
}

CValue Expressions::select(std::span<const CValue> operands, DType type, int64_t lanes) {
  CValue chosen{.type = type, .lanes = lanes};
  if (operands[0].lanes == 1) {
    chosen.mask_bytes = operands[1].mask_bytes;
    const CValue other = operands[1].is_mask() ? with_mask(operands[2], chosen.mask_bytes) : operands[2];
    chosen.text = concat("(", operands[0].text, " ? ", operands[1].text, " : ", other.text, ")");
    return chosen;
  }
  const bool masks = type == DType::boolean;
  const unsigned bytes = masks ? operands[0].mask_bytes : unsigned(item_size(type));
  chosen.mask_bytes = masks ? bytes : 0;
  const CValue condition = with_mask(operands[0], bytes);
  const CValue either[] = {condition, masks ? with_mask(operands[1], bytes) : operands[1],
                           masks ? with_mask(operands[2], bytes) : operands[2]};
  const std::string result = type_of(chosen), mask = type_of(condition);
  const std::string body = concat("return (", result, ")((m & (", mask, ")a) | (~m & (", mask, ")b));");
  chosen.text = call(prelude_.function("select_" + result, result, concat(mask, " m, ", result, " a, ", result, " b"), body), either);
  return chosen;
}

// Bool is computed as what the wrapped result of the byte arithmetic is beside 0; the same forms hold for 0 and 1 and for masks.
CValue Expressions::bool_op(Op op, std::span<const CValue> operands, int64_t lanes) {
  CValue value{.type = DType::boolean, .lanes = lanes, .mask_bytes = operands[0].mask_bytes};
  const std::string& a = operands[0].text;
  const std::string b = operands.size() < 2 ? "" : lanes == 1 ? operands[1].text : with_mask(operands[1], value.mask_bytes).text;
  const char* const opposite = lanes == 1 ? "!" : "~";
  switch (op) {
    case Op::Neg: value.text = a; break;
    case Op::Add:
    case Op::Or:
    case Op::Max: value.text = concat("(", a, " | ", b, ")"); break;
    case Op::Mul:
    case Op::And:
    case Op::Min:
    case Op::Quotient: value.text = concat("(", a, " & ", b, ")"); break;
    case Op::Xor:
    case Op::NotEqual: value.text = concat("(", a, " ^ ", b, ")"); break;
    case Op::Remainder: value.text = concat("(", a, " & 0)"); break;
    case Op::Less: value.text = concat("(", b, " & ", opposite, a, ")"); break;
    case Op::Shl:
    case Op::Shr: value.text = concat("(", a, " & ", opposite, b, ")"); break;
    default: WHIT_ASSERT(false, name(op), " of bool");
  }
  return value;
}

std::string Expressions::saturating(DType from, DType to) {
  const Interval all = interval_of(to);
  const int64_t greatest = to == DType::uint64 ? -1 : all.maximum;
  const double low = is_signed(to) ? double(all.minimum) : 0, beyond = std::ldexp(1.0, int(bit_width(to)) - (is_signed(to) ? 1 : 0));
  const std::string result = prelude_.type(to), source = prelude_.type(from);
  const std::string body = concat(
      "return x != x ? 0 : x <= ", constant(from, bits_of_float(from, low)).text, " ? ", constant(to, is_signed(to) ? all.minimum : 0).text,
      " : x >= ", constant(from, bits_of_float(from, beyond)).text, " ? ", constant(to, greatest).text, " : (", result, ")x;");
  return prelude_.function(result + "_of_" + source, result, source + " x", body);
}

CValue Expressions::cast(const Form& form, const CValue& value) {
  CValue result{.type = form.type, .lanes = value.lanes};
  const std::string target = prelude_.type(form.type, value.lanes);
  if (form.from == form.type) return value;
  if (form.type == DType::boolean) {
    result.mask_bytes = value.lanes == 1 ? 0 : unsigned(item_size(form.from));
    result.text =
        concat("(", value.text,
               " != ", value.lanes == 1 ? constant(form.from, 0).text : concat("(", prelude_.type(form.from, value.lanes), "){}"), ")");
  } else if (value.is_mask()) {
    const CValue choice[] = {value, broadcast(constant(form.type, bits_of_number(form.type, 1)), value.lanes),
                             broadcast(constant(form.type, 0), value.lanes)};
    return select(choice, form.type, value.lanes);
  } else if (is_float(form.from) && !is_float(form.type)) {
    const std::string convert = saturating(form.from, form.type);
    result.text =
        call(value.lanes == 1 ? convert : by_lane(prelude_.type(form.type) + "_of", convert + "($0)", form.from, form.type, 1, value.lanes),
             {&value, 1});
  } else if (value.lanes == 1) {
    result.text = concat("((", target, ")", value.text, ")");
  } else {
    result.text = concat("__builtin_convertvector(", value.text, ", ", target, ")");
  }
  return result;
}

CValue Expressions::bitcast(const Form& form, const CValue& value) {
  const bool to_bool = form.type == DType::boolean, from_bool = form.from == DType::boolean;
  if (to_bool) return cast({Op::Cast, form.from, form.type}, value);
  CValue result{.type = form.type, .lanes = value.lanes};
  const std::string target = prelude_.type(form.type, value.lanes), source = prelude_.type(form.from, value.lanes);
  if (from_bool) return cast({Op::Cast, form.from, form.type}, value);
  if (value.lanes > 1 || is_float(form.from) == is_float(form.type)) {
    result.text = concat("((", target, ")", value.text, ")");
    return result;
  }
  const std::string body = concat("union { ", source, " from; ", target, " to; } x; x.from = value; return x.to;");
  result.text = prelude_.function(concat(target, "_from_", source), target, source + " value", body) + "(" + value.text + ")";
  return result;
}

CValue Expressions::apply(const Form& form, std::span<const CValue> operands, int64_t lanes) {
  if (form.op == Op::Cast) return cast(form, operands[0]);
  if (form.op == Op::Bitcast) return bitcast(form, operands[0]);
  if (form.op == Op::Where) return select(operands, form.type, lanes);
  if (form.from == DType::boolean) return bool_op(form.op, operands, lanes);
  CValue value{.type = form.type, .lanes = lanes};
  if (has(form.op, compares)) value.mask_bytes = lanes == 1 ? 0 : unsigned(item_size(form.from));
  switch (form.op) {
    case Op::Add: value.text = wrapped(form, "$0 + $1", operands, lanes); break;
    case Op::Mul: value.text = wrapped(form, "$0 * $1", operands, lanes); break;
    case Op::Neg: value.text = wrapped(form, "-$0", operands, lanes); break;
    case Op::Max:
    case Op::Min: value.text = larger_or_smaller(form, operands, lanes); break;
    case Op::Quotient:
    case Op::Remainder:
    case Op::Shr: value.text = form.in_range ? spelled(form, operands, lanes) : guarded(form, operands, lanes); break;
    case Op::Shl:
      value.text = form.in_range ? wrapped({form.op, form.from, form.type}, "$0 << $1", operands, lanes) : guarded(form, operands, lanes);
      break;
    default: value.text = spelled(form, operands, lanes);
  }
  return value;
}

CValue Expressions::across(Op op, const CValue& value) {
  const DType lane = lane_type(value);
  const std::string vector = type_of(value), element = prelude_.type(lane);
  const CValue pair[] = {{.text = "x[lane]", .type = value.type}, {.text = "x[lane + half]", .type = value.type}};
  const std::string step = apply({op, value.type, value.type}, pair, 1).text;
  const std::string body = concat("for (int half = ", value.lanes / 2,
                                  "; half; half /= 2) for (int lane = 0; lane < half; ++lane) x[lane] = ", step, "; return x[0];");
  std::string text = prelude_.function(concat("across_", name(op), "_", vector), element, vector + " x", body) + "(" + value.text + ")";
  return {.text = value.is_mask() ? "(" + text + " != 0)" : text, .type = value.type};
}

}  // namespace whit
