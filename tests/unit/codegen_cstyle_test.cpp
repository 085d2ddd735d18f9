#include "codegen/cstyle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "codegen/cstyle_expression.h"
#include "unit/linear_builder.h"

namespace whit {
namespace {

/// The text of a kernel's function, without what stands before it.
std::string function_of(const LinearKernel& kernel, const Dialect& dialect = kCDialect) {
  const LinearKernel* kernels[] = {&kernel};
  const std::string text = write_c(kernels, dialect);
  return text.substr(text.find("\n\n") + 2);
}

std::string all_of(const LinearKernel& kernel) {
  const LinearKernel* kernels[] = {&kernel};
  return write_c(kernels, kCDialect);
}

TEST(CWriter, WritesWhatAPersonWould) {
  LinearBuilder b("scale");
  const Node* out = b.output(DType::float32, 100);
  const Node* in = b.input(DType::float32, 100);
  const Node* i = b.loop(100, AxisKind::parallel);
  b.store(out, i, b.add(b.mul(b.load(in, i), b.graph.constant(DType::float32, 2.5)), b.graph.constant(DType::float32, 1)));
  b.end(i);
  EXPECT_EQ(function_of(b.kernel),
            "void scale(void* const* buffers, const i64* variables, i64 begin, i64 end) {\n"
            "  f32_stored* b0 = (f32_stored*)buffers[0];\n"
            "  const f32_stored* b1 = (const f32_stored*)buffers[1];\n"
            "  for (i64 n0 = begin; n0 < end; ++n0) {\n"
            "    b0[n0] = (b1[n0] * 2.5f) + 1.0f;\n"
            "  }\n"
            "}\n");
}

TEST(CWriter, WritesGrids) {
  constexpr Dialect dialect = {
      .name = "test", .entry = Entry::grid, .kernel = "__kernel void", .memory = "__global ", .launch_index = "get_global_id(0)"};
  LinearBuilder b("copy");
  const Node* out = b.output(DType::int32, 100);
  const Node* in = b.input(DType::int32, 100);
  const Node* shift = b.variable("shift", DType::int32, 0, 9);
  const Node* i = b.loop(100, AxisKind::parallel);
  b.store(out, i, b.add(b.load(in, i), shift));
  b.end(i);
  EXPECT_EQ(function_of(b.kernel, dialect),
            "__kernel void copy(__global i32* p0, i64 offset0, __global const i32* p1, i64 offset1, i64 variable0, i64 count) {\n"
            "  const i64 launch = get_global_id(0);\n"
            "  if (launch >= count) return;\n"
            "  __global i32* b0 = (__global i32*)((__global const char*)p0 + offset0);\n"
            "  __global const i32* b1 = (__global const i32*)((__global const char*)p1 + offset1);\n"
            "  i32 s0 = (i32)variable0;\n"
            "  {\n"
            "    const i64 n0 = launch;\n"
            "    b0[n0] = (i32)((u32)b1[n0] + (u32)s0);\n"
            "  }\n"
            "}\n");
}

TEST(CWriter, KeepsVectorsWhole) {
  LinearBuilder b("add");
  const Node* out = b.output(DType::float32, 64);
  const Node* in = b.input(DType::float32, 64);
  const Node* i = b.loop(8, AxisKind::parallel);
  const Node* lanes = b.vector(8);
  const Node* at = b.mul(i, b.index(8));
  const Node* x = b.load(in, at, lanes, nullptr);
  b.store(out, at, b.add(x, x), lanes, nullptr);
  b.end(i);
  const std::string text = function_of(b.kernel);
  EXPECT_NE(text.find("f32x8 v1 = load_f32x8(&b1[v0]);\n    store_f32x8(&b0[v0], v1 + v1);"), std::string::npos) << text;
}

TEST(CWriter, GuardsDivisionUnlessItsNeedless) {
  const auto divide = [](int64_t least, int64_t greatest) {
    LinearBuilder b("divide");
    const Node* out = b.output(DType::int32, 1);
    const Node* in = b.input(DType::int32, 1);
    const Node* divisor = b.variable("divisor", DType::int32, least, greatest);
    b.store(out, b.index(0), b.make(Op::Quotient, {b.load(in, b.index(0)), divisor}));
    return all_of(b.kernel);
  };
  EXPECT_NE(divide(0, 9).find("quotient_i32(b1[0l], s0)"), std::string::npos);
  EXPECT_NE(divide(-9, -1).find("quotient_i32(b1[0l], s0)"), std::string::npos);
  EXPECT_NE(divide(1, 9).find("= b1[0l] / s0;"), std::string::npos);
  EXPECT_NE(divide(-9, -2).find("= b1[0l] / s0;"), std::string::npos);
}

TEST(CWriter, DoesNotMoveReadsAcrossWrites) {
  LinearBuilder b("swap");
  const Node* data = b.param(DType::int32, 2, true, true);
  const Node* first = b.load(data, b.index(0));
  const Node* second = b.load(data, b.index(1));
  b.store(data, b.index(0), second);
  b.store(data, b.index(1), first);
  const std::string text = function_of(b.kernel);
  EXPECT_NE(text.find("i32 v0 = b0[0l];\n  b0[0l] = b0[1l];\n  b0[1l] = v0;"), std::string::npos) << text;
}

TEST(CWriter, WritesConstantsExactly) {
  Prelude prelude(kCDialect);
  Expressions expressions(prelude);
  const auto text = [&](DType type, double value) { return expressions.constant(type, bits_of_number(type, value)).text; };
  EXPECT_EQ(text(DType::float32, 0.1), "0.1f");
  EXPECT_EQ(text(DType::float32, -0.0), "(-0.0f)");
  EXPECT_EQ(text(DType::float32, 1e20), "1e+20f");
  EXPECT_EQ(text(DType::float32, 1.0 / 3), "0x1.555556p-2f");
  EXPECT_EQ(text(DType::float64, -1.0 / 3), "(-0x1.5555555555555p-2)");
  EXPECT_EQ(text(DType::float32, HUGE_VAL), "f32_from_u32(2139095040u)");
  EXPECT_EQ(text(DType::int64, -9223372036854775808.0), "(-9223372036854775807l - 1)");
  EXPECT_EQ(text(DType::int32, -2147483648.0), "(-2147483647 - 1)");
  EXPECT_EQ(expressions.constant(DType::uint64, -1).text, "18446744073709551615ul");
  EXPECT_EQ(text(DType::boolean, 1), "1");
}

}  // namespace
}  // namespace whit
