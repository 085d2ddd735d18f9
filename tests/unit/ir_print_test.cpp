// The text form: what it looks like, that it reads back, and what wrong text is told.
#include <gtest/gtest.h>
#include <whit/error.h>

#include <random>
#include <string>
#include <vector>

#include "ir/device_id.h"
#include "ir/parse.h"
#include "ir/print.h"

namespace whit {
namespace {

std::string error_of(std::string_view text) {
  Graph graph;
  try {
    parse(graph, text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// Texts as `print` writes them: each reads and prints as itself.
constexpr const char* kCanonical[] = {
    "%0 = Const float32 1.5\n",
    "%0 = Variable index [\"n\", 1, 16]\n%1 = Iota index (%0) [%0] : (n,)\n%2 = Iota index [5] : (5,)\nreturn %1, %2\n",
    "%0 = Variable int32 [\"a \\\"b\\\" \\x0a\", -3, 4]\n%1 = Bind int32 (%0) [-2]\n",
    "%0 = Buffer float16 [3, 6, \"CPU\"] : (6,)\n%1 = Reshape float16 (%0) [2, 3] : (2, 3)\n%2 = Permute float16 (%1) [1, 0] : (3, 2)\n"
    "%3 = Pad float16 (%2) [0, 1, 2, 0] : (4, 4)\n%4 = Shrink float16 (%3) [1, 2, 0, 4] : (2, 4)\n%5 = Flip float16 (%4) [1] : (2, 4)\n"
    "%6 = Reduce float16 (%5) [Max, 0] : (1, 4)\n%7 = Copy float16 (%6) [any] : (1, 4)\n",
    "%0 = Param float32 [0, 8, any] : (8,)\n%1 = Const index 0\n%2 = Const index 8\n%3 = Range index (%2) [2, reduce]\n"
    "%4 = Load float32 (%0, %3)\n%5 = Accumulate float32 (%4, %3) [Add]\n%6 = Store (%0, %1, %5)\n%7 = Sink (%6)\n",
    "%0 = Param float32 [1, 4, any] : (4,)\n%1 = Variable index [\"n\", 1, 4]\n%2 = Reshape float32 (%0, %1, %1) [%1, $2] : (n, n)\n",
    "%0 = Const index 4\n%1 = Range index (%0) [0, vector]\n%2 = Register float64 (%1) [7]\n%3 = Loop (%1)\n%4 = EndLoop (%1)\n%5 = "
    "Barrier\nreturn %2, %3, %4, %5\n",
    "%0 = Param uint8 [0, 12, \"CL:1\"] : (12,)\n%1 = Reshape uint8 (%0) [3, 4] : (3, 4)\n%2 = Window uint8 (%1) [1, 0, 2, 1, 1] : (3, "
    "2)\n",
    "%0 = Const float32 1.0\n%1 = Exp float32 (%0)\nreturn %1, %0, %1\n",
    "",
};

TEST(Text, CanonicalTextsReadAsThemselves) {
  for (const char* text : kCanonical) {
    Graph graph;
    EXPECT_EQ(print(parse(graph, text)), text);
  }
}

TEST(Text, WhatMayBeLeftOut) {
  Graph graph;
  const std::vector<const Node*> roots = parse(graph,
                                               "# A comment, then names that are words; dtypes and shapes follow.\r\n"
                                               "\n  %x=Variable int32 [\"x\",0,9]# here too\n"
                                               "%square = Mul(%x ,%x)\n\t%one = Const int32 1\n"
                                               "%sum = Add (%one, %square)");
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(print(roots), "%0 = Variable int32 [\"x\", 0, 9]\n%1 = Mul int32 (%0, %0)\n%2 = Const int32 1\n%3 = Add int32 (%1, %2)\n");
}

TEST(Text, ErrorsNameTheirPlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"%0 = Addd (%1)", "line 1, column 6: no op has this name"},
      {"\n\n  %0 = Add (%1)", "line 3, column 13: no line above names this node"},
      {"%0 = Const int8 1\n%0 = Const int8 2", "line 2, column 2: a line above has this name"},
      {"%0 = Const int8 128", "line 1, column 17: expected a value of int8"},
      {"%0 = Const uint64 -1", "expected a value of uint64"},
      {"%0 = Const float32 1e999", "expected a value of float32"},
      {"%0 = Const bool 1", "expected a value of bool"},
      {"%0 = Const 1", "expected a dtype"},
      {"%0 = Const float33 1", "expected a dtype"},
      {"%0 = Const int8 1\n%1 = Neg (%0, %0)", "line 2, column 6: Neg has 2 sources"},
      {"%0 = Const int8 1\n%1 = Const int16 1\n%2 = Add (%0, %1)", "line 3, column 6: Add of int8 and int16"},
      {"%0 = Param int8 [0, 3, any]\n%1 = Neg int16 (%0)", "line 2, column 6: the dtype is int8"},
      {"%0 = Param int8 [0, 3, any] : (4,)", "line 1, column 31: the shape is (3,)"},
      {"%0 = Param int8 [0, 6, any]\n%1 = Reshape (%0) [2, 4]", "Reshape of (6,) to 8 elements"},
      {"%0 = Param int8 [0, 6, any]\n%1 = Permute (%0) [1]", "Permute needs every axis once"},
      {"%0 = Param int8 [0, 6, any]\n%1 = Reshape (%0) [9223372036854775807, 2]", "something that is not a shape"},
      {"%0 = Param int8 [0, 6, any]\n%1 = Reshape (%0) [%0]", "this size is not among the sources"},
      {"%0 = Param int8 [0, 6, any]\n%1 = Reshape (%0) [$1]", "there is no such source"},
      {"%0 = Param int8 [0, 99999999999999999999, any]", "expected an integer of 64 bits"},
      {"%0 = Param int8 [0, 6, \"CPU]", "line 1, column 24: the quotes are not closed"},
      {"%0 = Param int8 [0, 6, CPU]", "expected a device in quotes, or any"},
      {"%0 = Variable int8 [\"\\xg0\", 0, 1]", "two hexadecimal digits"},
      {"%0 = Variable int8 [\"n\", 5, 4]", "Variable of int8 in 5 to 4"},
      {"%0 = Const index 4\n%1 = Range (%0) [64, loop]", "Range with the number 64"},
      {"%0 = Const index 4\n%1 = Range (%0) [0, sideways]", "no kind of range has this name"},
      {"%0 = Const index 4\nreturn %0\n%1 = Neg (%0)", "line 3, column 1: nothing follows `return`"},
      {"%0 = Const index 4 5", "expected the end of the line"},
      {"%0 = Neg (%0)", "no line above names this node"},
      {"hello", "a line starts with %name or return"},
      {"%", "expected the name of the node"},
      {"%0 = ", "expected an op"},
      {"%0 = Const index 1\nreturn", "expected '%'"},
  };
  for (const auto& [text, message] : rows)
    EXPECT_NE(error_of(text).find(message), std::string::npos) << text << "\n gives " << error_of(text);
}

TEST(Text, HostileTexts) {
  const std::string million(1'000'000, '(');
  EXPECT_NE(error_of("%0 = Neg " + million), "");
  EXPECT_NE(error_of("%0 = Param int8 [" + million), "");
  EXPECT_NE(error_of("%" + million), "");
  EXPECT_NE(error_of("%0 = Variable int8 [\"" + million + "\", 0, 1]"), "");
  std::string many = "%0 = Param int8 [0, 1, any]\n%1 = Reshape (%0) [1";
  for (int i = 0; i < 300; ++i) many += ", 1";
  EXPECT_NE(error_of(many + "]").find("more than 256 args"), std::string::npos);
  // 2^64 paths through 64 nodes, one of them as a size.
  std::string doubling = "%0 = Variable index [\"n\", 0, 1]\n";
  for (int i = 0; i < 60; ++i)
    doubling += "%" + std::to_string(i + 1) + " = Add (%" + std::to_string(i) + ", %" + std::to_string(i) + ")\n";
  doubling += "%x = Param int8 [0, 1, any]\n%y = Reshape (%x, %20) [%20]\nreturn %y, %60";
  Graph graph;
  const std::vector<const Node*> roots = parse(graph, doubling);
  EXPECT_LT(print_expression(roots[1]).size(), 300u);
  EXPECT_EQ(parse(graph, print(roots)), roots);
}

TEST(Text, ValuesReadBack) {
  Graph graph;
  const auto check = [&](DType type, Bits bits) {
    const Node* node = graph.constant_bits(type, bits);
    ASSERT_EQ(parse(graph, "%0 = Const " + std::string(name(type)) + " " + print_value(type, node->arg(0))), std::vector{node})
        << print_value(type, bits);
  };
  for (const DType type : {DType::float16, DType::bfloat16, DType::int16, DType::uint16})
    for (uint32_t e = 0; e < 65536; ++e) ASSERT_NO_FATAL_FAILURE(check(type, load_element(type, &e)));
  std::mt19937_64 random(1);
  for (size_t i = 1; i < kDTypeCount; ++i)
    for (int k = 0; k < 4000; ++k) {
      const uint64_t memory = random();
      ASSERT_NO_FATAL_FAILURE(check(DType(i), load_element(DType(i), &memory)));
    }
}

TEST(Text, ValuesAsPeopleWriteThem) {
  const auto text = [](DType type, double value) { return print_value(type, bits_of_number(type, value)); };
  EXPECT_EQ(text(DType::float32, 0.1), "0.1");
  EXPECT_EQ(text(DType::float64, 0.1), "0.1");
  EXPECT_EQ(text(DType::float32, 3), "3.0");
  EXPECT_EQ(text(DType::float32, 1e30), "1e+30");
  EXPECT_EQ(text(DType::float32, -0.0), "-0.0");
  EXPECT_EQ(text(DType::float16, std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(text(DType::bfloat16, -std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(text(DType::boolean, 1), "true");
  EXPECT_EQ(print_value(DType::uint64, -1), "18446744073709551615");
  EXPECT_EQ(print_value(DType::int64, -1), "-1");
}

TEST(Expression, ReadsLikeC) {
  Graph graph;
  const Node* i = graph.range(0, 8, AxisKind::loop);
  const Node* n = graph.make(Op::Variable, {}, {name_id("n"), 1, 16}, DType::index);
  const Node* flat = graph.add(graph.mul(i, graph.index(4)), n);
  EXPECT_EQ(print_expression(flat), "(r0 * 4) + n");
  EXPECT_EQ(print_expression(graph.add(flat, graph.index(-3))), "((r0 * 4) + n) - 3");
  EXPECT_EQ(print_expression(graph.sub(i, n)), "r0 - n");
  EXPECT_EQ(print_expression(graph.where(graph.less(i, n), i, n)), "(r0 < n) ? r0 : n");
  EXPECT_EQ(print_expression(graph.make(Op::Max, {i, n})), "max(r0, n)");
  EXPECT_EQ(print_expression(graph.cast(i, DType::float32)), "float32(r0)");
  const Node* storage = graph.make(Op::Param, {}, {2, 64, kNoDevice}, DType::float32);
  EXPECT_EQ(print_expression(graph.make(Op::Accumulate, {graph.make(Op::Load, {storage, i}), i}, {int64_t(Op::Add)})),
            "Accumulate.Add(Load(param2, r0), r0)");
  EXPECT_EQ(print_expression(nullptr), "nothing");
  EXPECT_EQ(print_expression(graph.make(Op::Variable, {}, {name_id("a b"), 1, 2}, DType::index)), "\"a b\"");
  const Node* deep = n;
  for (int k = 0; k < 100'000; ++k) deep = graph.mul(deep, n);
  EXPECT_LT(print_expression(deep).size(), 260u);
  EXPECT_EQ(print_expression(deep, 10).size(), 13u);
}

TEST(Expression, Shapes) {
  Graph graph;
  const Node* n = graph.make(Op::Variable, {}, {name_id("n"), 1, 16}, DType::index);
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{Dim(3)}), "(3,)");
  EXPECT_EQ(to_string(Shape{Dim(2), Dim(32, graph.mul(n, graph.index(2)))}), "(2, n * 2)");
}

}  // namespace
}  // namespace whit
