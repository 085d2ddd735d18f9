// Arithmetic: dunders, their reflected and in-place forms, and the methods of the same meaning.
#include "binding.h"

namespace whit {

// The friends of Tensor, made visible where both sides are Operands.
Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator%(const Operand& a, const Operand& b);
Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor operator<<(const Operand& a, const Operand& b);
Tensor operator>>(const Operand& a, const Operand& b);
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);

}  // namespace whit

namespace whit::python {

namespace {

// `name` as a method, `dunder` as an operator and `reflected` with the sides exchanged.
using Operation = Tensor (*)(const Operand& a, const Operand& b);
using Member = Tensor (*)(const Tensor& a, const Operand& b);
using Change = void (*)(Tensor& a, const Operand& b);

void binary(TensorClass& c, const char* name, const char* dunder, const char* reflected, Operation operation, const char* text) {
  if (name)
    c.def(
        name,
        [operation](const Tensor& a, AnyValue b, bool reverse) {
          return reverse ? operation(Operand(b), Operand(a)) : operation(Operand(a), Operand(b));
        },
        Guard(), "x"_a, "reverse"_a = false, text);
  c.def(
      dunder, [operation](const Tensor& a, Value b) { return operation(Operand(a), Operand(b)); }, Guard(), nb::is_operator());
  if (reflected)
    c.def(
        reflected, [operation](const Tensor& a, Value b) { return operation(Operand(b), Operand(a)); }, Guard(), nb::is_operator());
}

// Operations that are members: the left side has to be a tensor.
void member(TensorClass& c, const char* name, const char* dunder, const char* reflected, Member operation, const char* text) {
  if (name)
    c.def(
        name,
        [operation](const Tensor& a, AnyValue b, bool reverse) {
          return reverse ? operation(b.as_tensor(a), Operand(a)) : operation(a, Operand(b));
        },
        Guard(), "x"_a, "reverse"_a = false, text);
  if (dunder)
    c.def(
        dunder, [operation](const Tensor& a, Value b) { return operation(a, Operand(b)); }, Guard(), nb::is_operator());
  if (reflected)
    c.def(
        reflected, [operation](const Tensor& a, Value b) { return operation(b.as_tensor(a), Operand(a)); }, Guard(), nb::is_operator());
}

void in_place(TensorClass& c, const char* name, Change operation) {
  c.def(
      name,
      [operation](nb::handle self, Value value) {
        operation(*nb::inst_ptr<Tensor>(self), Operand(value));
        return nb::borrow(self);
      },
      Guard(), nb::is_operator());
}

}  // namespace

void bind_operators(TensorClass& c) {
  using O = const Operand&;
  using T = const Tensor&;
  binary(
      c, "add", "__add__", "__radd__", [](O a, O b) { return a + b; }, "a + b");
  binary(
      c, "sub", "__sub__", "__rsub__", [](O a, O b) { return a - b; }, "a - b");
  binary(
      c, "mul", "__mul__", "__rmul__", [](O a, O b) { return a * b; }, "a * b");
  binary(
      c, "mod", "__mod__", "__rmod__", [](O a, O b) { return a % b; }, "As Python's %: the sign of b.");
  binary(
      c, nullptr, "__truediv__", "__rtruediv__", [](O a, O b) { return a / b; }, "");
  binary(
      c, "bitwise_and", "__and__", "__rand__", [](O a, O b) { return a & b; }, "a & b");
  binary(
      c, "bitwise_or", "__or__", "__ror__", [](O a, O b) { return a | b; }, "a | b");
  binary(
      c, "bitwise_xor", "__xor__", "__rxor__", [](O a, O b) { return a ^ b; }, "a ^ b");
  binary(
      c, "lshift", "__lshift__", "__rlshift__", [](O a, O b) { return a << b; }, "a << b");
  binary(
      c, "rshift", "__rshift__", "__rrshift__", [](O a, O b) { return a >> b; }, "a >> b");
  binary(
      c, "eq", "__eq__", nullptr, [](O a, O b) { return a == b; }, "a == b, elementwise");
  binary(
      c, "ne", "__ne__", nullptr, [](O a, O b) { return a != b; }, "a != b, elementwise");
  binary(
      c, nullptr, "__lt__", nullptr, [](O a, O b) { return a < b; }, "");
  binary(
      c, nullptr, "__gt__", nullptr, [](O a, O b) { return a > b; }, "");
  binary(
      c, nullptr, "__le__", nullptr, [](O a, O b) { return a <= b; }, "");
  binary(
      c, nullptr, "__ge__", nullptr, [](O a, O b) { return a >= b; }, "");
  member(
      c, nullptr, "__floordiv__", "__rfloordiv__", [](T a, O b) { return a.floor_div(b); }, "");
  member(
      c, "pow", "__pow__", "__rpow__", [](T a, O b) { return a.pow(b); }, "a ** b");
  member(
      c, "fmod", nullptr, nullptr, [](T a, O b) { return a.fmod(b); }, "The remainder of a division towards zero: the sign of a.");
  member(
      c, "maximum", nullptr, nullptr, [](T a, O b) { return a.maximum(b); }, "The greater one; NaN if either is.");
  member(
      c, "minimum", nullptr, nullptr, [](T a, O b) { return a.minimum(b); }, "The lesser one; NaN if either is.");
  c.def(
      "div",
      [](const Tensor& a, AnyValue b, bool reverse, std::optional<std::string> mode) {
        const Tensor left = reverse ? b.as_tensor(a) : a;
        const Operand right = reverse ? Operand(a) : Operand(b);
        if (!mode) return left / right;
        if (*mode == "floor") return left.floor_div(right);
        if (*mode == "trunc") return is_float(left.dtype()) ? (left / right).trunc() : left.trunc_div(right);
        throw UserError(ErrorKind::Value, "div: rounding_mode is None, \"trunc\" or \"floor\", not \"" + *mode + "\"");
      },
      Guard(), "x"_a, "reverse"_a = false, "rounding_mode"_a = nb::none(), "a / b; of integers, a float unless a rounding_mode is given.");
  c.def(
      "__neg__", [](T a) { return a.neg(); }, Guard());
  c.def("__pos__", [](T a) { return a; });
  c.def(
      "__abs__", [](T a) { return a.abs(); }, Guard());
  c.def(
      "__invert__", [](T a) { return a.bitwise_not(); }, Guard());

  in_place(c, "__iadd__", [](Tensor& a, O b) { a += b; });
  in_place(c, "__isub__", [](Tensor& a, O b) { a -= b; });
  in_place(c, "__imul__", [](Tensor& a, O b) { a *= b; });
  in_place(c, "__itruediv__", [](Tensor& a, O b) { a /= b; });
  in_place(c, "__imod__", [](Tensor& a, O b) { a %= b; });
  in_place(c, "__iand__", [](Tensor& a, O b) { a &= b; });
  in_place(c, "__ior__", [](Tensor& a, O b) { a |= b; });
  in_place(c, "__ixor__", [](Tensor& a, O b) { a ^= b; });
  in_place(c, "__ilshift__", [](Tensor& a, O b) { a <<= b; });
  in_place(c, "__irshift__", [](Tensor& a, O b) { a >>= b; });
  in_place(c, "__ifloordiv__", [](Tensor& a, O b) { a.assign(a.floor_div(b)); });
  in_place(c, "__ipow__", [](Tensor& a, O b) { a.assign(a.pow(b)); });
  c.def(
      "__imatmul__",
      [](nb::handle self, const Tensor& b) {
        Tensor& a = *nb::inst_ptr<Tensor>(self);
        a.assign(a.matmul(b));
        return nb::borrow(self);
      },
      Guard(), nb::is_operator());
}

}  // namespace whit::python
