// Linear code as text: loops indent, values are named by where they are computed.
#include <gtest/gtest.h>

#include "unit/linear_builder.h"

namespace whit {
namespace {

TEST(LinearPrint, SumOfRows) {
  LinearBuilder b("rows");
  const Node *out = b.output(DType::float32, 5), *in = b.input(DType::float32, 40);
  const Node* n = b.variable("n", DType::index, 1, 8);
  const Node* i = b.loop(5, AxisKind::parallel);
  const Node* sum = b.reg(0, DType::float32);
  b.set(sum, b.graph.constant(DType::float32, 0));
  const Node* k = b.loop(n, AxisKind::reduce);
  b.set(sum, b.add(sum, b.load(in, b.scale(i, 8, k))));
  b.end(k);
  b.store(out, i, sum);
  b.end(i);
  EXPECT_EQ(to_string(b.kernel),
            "kernel rows (param0: float32 written, param1: float32 read, n: index) index int64, parallel r0 < 5\n"
            "  Loop r0 < 5 parallel\n"
            "    %1 = Register float32 [0]\n"
            "    Set (register0, 0.0)\n"
            "    Loop r1 < n reduce\n"
            "      %4 = Mul index (r0, 8)\n"
            "      %5 = Add index (%4, r1)\n"
            "      %6 = Load float32 (param1, %5)\n"
            "      %7 = Add float32 (register0, %6)\n"
            "      Set (register0, %7)\n"
            "    EndLoop r1\n"
            "    Store (param0, r0, register0)\n"
            "  EndLoop r0\n");
}

TEST(LinearPrint, LanesAndNodesListedAgain) {
  LinearBuilder b("again");
  const Node *out = b.output(DType::int32, 64), *in = b.input(DType::int32, 64);
  const Node* lanes = b.vector(4);
  const Node* before = b.load(in, b.index(0), lanes, nullptr);
  const Node* i = b.loop(2);
  b.push(before);
  b.store(out, b.index(8), before, lanes, nullptr);
  b.end(i);
  b.store(out, b.index(0), before, lanes, nullptr);
  // In the loop it is the load there; after it, the one before.
  EXPECT_EQ(to_string(b.kernel),
            "kernel again (param0: int32 written, param1: int32 read) index int64, vector r0 x4\n"
            "  %0 = VectorLoad int32 (param1, 0, r0) x4\n"
            "  Loop r1 < 2 loop\n"
            "    %2 = VectorLoad int32 (param1, 0, r0) x4\n"
            "    VectorStore (param0, 8, %2, r0) x4\n"
            "  EndLoop r1\n"
            "  VectorStore (param0, 0, %0, r0) x4\n");
}

TEST(LinearPrint, WhatIsNotComputedIsShown) {
  LinearBuilder b("broken");
  const Node* i = b.graph.range(0, 4, AxisKind::loop);
  b.push(b.graph.make(Op::Neg, {b.graph.add(i, b.index(1))}));
  EXPECT_NE(to_string(b.kernel).find("%0 = Neg index (not computed: r0 + 1)"), std::string::npos);
}

}  // namespace
}  // namespace whit
