// The shapes of linear code: loops, registers, gates, gathers, several outputs.
#include "codegen/llvm_writer.h"

#include <gtest/gtest.h>

#include "ir/evaluate.h"
#include "unit/llvm_run.h"

namespace whit {
namespace {

TEST_F(LlvmWriter, SumsRowsWithFourVectorsAndATail) {
  constexpr int64_t rows = 5, columns = 150, lanes = 16, blocks = columns / (4 * lanes);
  LinearBuilder b("rows");
  const Node *out = b.output(DType::float32, rows), *in = b.input(DType::float32, rows * columns);
  const Node* i = b.loop(rows, AxisKind::parallel);
  const Node* lane = b.vector(lanes);
  const Node* zero = b.graph.constant(DType::float32, 0);
  const Node* sums[4];
  for (int r = 0; r < 4; ++r) b.set(sums[r] = b.reg(r, DType::float32, lane), zero);
  const Node* k = b.loop(blocks, AxisKind::reduce);
  for (int r = 0; r < 4; ++r)
    b.set(sums[r], b.add(sums[r], b.load(in, b.scale(i, columns, b.scale(k, 4 * lanes, b.index(r * lanes))), lane, nullptr)));
  b.end(k);
  const Node* total = b.make(Op::Across, {b.add(b.add(sums[0], sums[1]), b.add(sums[2], sums[3])), lane}, {int64_t(Op::Add)});
  const Node* rest = b.reg(4, DType::float32);
  b.set(rest, total);
  const Node* t = b.loop(columns - blocks * 4 * lanes, AxisKind::reduce);
  b.set(rest, b.add(rest, b.load(in, b.scale(i, columns, b.add(t, b.index(blocks * 4 * lanes))))));
  b.end(t);
  b.store(out, i, rest);
  b.end(i);

  std::vector<Memory> memory{Memory(DType::float32, rows), floats(rows * columns, [](size_t n) { return float(n % 37) - 11; })};
  run(b, memory, {}, 1, 4);  // a chunk: rows 1 to 3
  for (size_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (size_t column = 0; column < columns; ++column) sum += number(memory[1], row * columns + column);
    if (row >= 1 && row < 4)
      EXPECT_EQ(number(memory[0], row), sum);
    else
      EXPECT_EQ(memory[0].bytes[row * 4], std::byte{0xcd}) << "outside the chunk";
  }
}

TEST_F(LlvmWriter, GatesByLaneTouchNothingBeyondTheEnd) {
  constexpr int64_t count = 37;
  for (const DType type : {DType::boolean, DType::int8, DType::uint16, DType::int32, DType::float64}) {
    LinearBuilder b(concat("tail_", name(type)));
    const Node *out = b.output(type, count), *in = b.input(type, count);
    const Node* i = b.loop(3, AxisKind::parallel);
    const Node* lane = b.vector(16);
    const Node* at = b.mul(i, b.index(16));
    const Node* gate = b.less(b.add(at, lane), b.index(count));
    b.store(out, at, b.load(in, at, lane, gate), lane, gate);
    b.end(i);
    // Two elements more than the kernel may touch: they show a write, and valgrind a read.
    std::vector<Memory> memory{Memory(type, count + 2), integers(type, count, [](size_t n) { return int64_t(n % 3); })};
    run(b, memory, {}, 0, 3);
    for (size_t n = 0; n < count; ++n) EXPECT_EQ(memory[0].at(n), memory[1].at(n)) << name(type) << ' ' << n;
    EXPECT_EQ(memory[0].bytes[count * item_size(type)], std::byte{0xcd});
  }
}

TEST_F(LlvmWriter, GatesOfScalarsGiveZeroAndWriteNothing) {
  // out[i] = in[i - 1] and skipped[i] = 1, both only where 1 <= i < 4; vectors by the same gate.
  LinearBuilder b("padded");
  const Node *out = b.output(DType::float32, 6), *skipped = b.output(DType::int32, 6), *wide = b.output(DType::float32, 24),
             *in = b.input(DType::float32, 3);
  const Node* i = b.loop(6, AxisKind::parallel);
  const Node* lane = b.vector(4);
  const Node* gate = b.make(Op::And, {b.less(b.index(0), i), b.less(i, b.index(4))});
  const Node* at = b.add(i, b.index(-1));
  b.store(out, i, b.load(in, at, gate));
  b.store(skipped, i, b.graph.constant(DType::int32, 1), gate);
  b.store(wide, b.mul(i, b.index(4)), b.load(in, at, gate), lane, gate);
  b.end(i);
  std::vector<Memory> memory{Memory(DType::float32, 6), Memory(DType::int32, 6), Memory(DType::float32, 24),
                             floats(3, [](size_t n) { return float(n) + 1; })};
  run(b, memory, {}, 0, 6);
  for (size_t n = 0; n < 6; ++n) {
    const bool inside = n >= 1 && n < 4;
    EXPECT_EQ(number(memory[0], n), inside ? float(n) : 0);
    EXPECT_EQ(memory[1].at(n), inside ? 1 : int32_t(0xcdcdcdcd));
    if (inside)
      EXPECT_EQ(number(memory[2], 4 * n + 3), float(n));
    else
      EXPECT_EQ(memory[2].bytes[16 * n], std::byte{0xcd});
  }
}

TEST_F(LlvmWriter, WhatIsGatedOffNeedsNoMemory) {
  // An empty tensor, padded: its buffer has no address.
  LinearBuilder b("empty");
  const Node *out = b.output(DType::float32, 12), *in = b.input(DType::float32, 0);
  const Node* i = b.loop(4, AxisKind::parallel);
  const Node* lane = b.vector(8);
  const Node* never = b.less(i, b.variable("n", DType::index, 0, 0));
  b.store(out, i, b.load(in, i, never));
  b.store(out, b.index(4), b.add(b.load(in, i, lane, never), b.load(in, b.add(i, lane), never)), lane, nullptr);
  b.end(i);
  std::vector<Memory> memory{Memory(DType::float32, 12), Memory(DType::float32, size_t(0))};
  run(b, memory, {0}, 0, 4);
  for (size_t n = 0; n < 12; ++n) EXPECT_EQ(number(memory[0], n), 0);
}

TEST_F(LlvmWriter, GathersAndScatters) {
  for (const DType index_type : {DType::int64, DType::int32})
    for (const DType type : {DType::boolean, DType::uint8, DType::int16, DType::float32, DType::float64})
      for (const DType places : {DType::index, DType::uint8, DType::int32}) {
        // out[n - 1 - place] = in[place] where n - 1 - place is not 5; place counts in the type an index may have, too.
        constexpr int64_t count = 32;
        LinearBuilder b(concat("gather_", name(type), "_", name(places)));
        b.kernel.index_type = index_type;
        const Node *out = b.output(type, count), *in = b.input(type, count);
        const Node* i = b.loop(count / 8, AxisKind::parallel);
        const Node* lane = b.vector(8);
        const Node* n = b.scale(i, 8, lane);
        const Node* place = places == DType::index ? n : b.make(Op::Cast, {n}, {}, places);
        const Node* target = b.add(b.index(count - 1), b.make(Op::Neg, {n}));
        b.store(out, target, b.load(in, place), b.make(Op::NotEqual, {target, b.index(5)}));
        b.end(i);
        std::vector<Memory> memory{Memory(type, count),
                                   integers(is_float(type) ? DType::int32 : type, count, [](size_t k) { return int64_t(k % 2); })};
        if (is_float(type)) memory[1] = Memory(type, edge_values(type));
        memory[1].bytes.resize(count * item_size(type));
        run(b, memory, {}, 0, count / 8);
        for (size_t k = 0; k < count; ++k) {
          const Bits expected = k == 5 ? Memory(type, count).at(5) : memory[1].at(count - 1 - k);
          EXPECT_TRUE(same(type, memory[0].at(k), expected)) << name(type) << ' ' << k;
        }
      }
}

TEST_F(LlvmWriter, LoopsOfVariableSizeMayRunNoTime) {
  // sum of squares below n, of an index below a bound that the inner loop has too; and what a register holds when no loop ran.
  LinearBuilder b("squares");
  const Node* out = b.output(DType::int64, 3);
  const Node *n = b.variable("n", DType::index, 0, 100), *m = b.variable("m", DType::index, 0, 100);
  const Node *sum = b.reg(0, DType::int64), *last = b.reg(1, DType::index), *untouched = b.reg(2, DType::int64);
  b.set(sum, b.graph.constant(DType::int64, 7));
  b.set(last, b.index(-1));
  b.set(untouched, b.graph.constant(DType::int64, 9));
  const Node* i = b.loop(n);
  const Node* j = b.loop(m);
  b.set(sum, b.add(sum, b.make(Op::Cast, {b.mul(i, i)}, {}, DType::int64)));
  b.set(last, j);
  b.end(j);
  b.end(i);
  b.store(out, b.index(0), sum);
  b.store(out, b.index(1), b.make(Op::Cast, {last}, {}, DType::int64));
  b.store(out, b.index(2), untouched);
  for (const int64_t rows : {0, 1, 5})
    for (const int64_t columns : {0, 1, 3}) {
      std::vector<Memory> memory{Memory(DType::int64, 3)};
      run(b, memory, {rows, columns});
      int64_t expected = 7;
      for (int64_t k = 0; k < rows; ++k) expected += k * k * columns;
      EXPECT_EQ(memory[0].at(0), expected);
      EXPECT_EQ(memory[0].at(1), rows ? columns - 1 : -1);
      EXPECT_EQ(memory[0].at(2), 9);
    }
}

TEST_F(LlvmWriter, VariablesOfEveryType) {
  for (const DType type : kMachineWords) {
    LinearBuilder b(concat("variable_", name(type)));
    const Node* out = b.output(type, 8);
    const Node* value = b.variable("v", type, 0, 1);
    b.store(out, b.index(0), value, b.vector(8), nullptr);
    for (const size_t edge : {size_t(0), size_t(2), edge_values(type).size() - 1}) {
      const Bits bits = edge_values(type)[edge];
      std::vector<Memory> memory{Memory(type, 8)};
      run(b, memory, {bits});
      EXPECT_TRUE(same(type, memory[0].at(0), bits) && same(type, memory[0].at(7), bits)) << name(type);
    }
  }
}

TEST_F(LlvmWriter, ANodeExecutedAgainHasAValueOfItsOwn) {
  // x is loaded before, inside and after a loop that changes what it loads.
  LinearBuilder b("again");
  const Node* data = b.param(DType::int32, 4, true, true);
  const Node* zero = b.index(0);
  const Node* x = b.load(data, zero);
  const Node* i = b.loop(3);
  b.load(data, zero);
  b.store(data, zero, b.add(x, b.graph.constant(DType::int32, 10)));
  b.end(i);
  b.store(data, b.index(1), x);
  b.load(data, zero);
  b.store(data, b.index(2), x);
  std::vector<Memory> memory{integers(DType::int32, 4, [](size_t) { return int64_t(5); })};
  run(b, memory);
  EXPECT_EQ(memory[0].at(0), 35);
  EXPECT_EQ(memory[0].at(1), 5);
  EXPECT_EQ(memory[0].at(2), 35);
}

TEST_F(LlvmWriter, TwoOutputsAndAStagedRow) {
  // Softmax without exp: the row is staged in memory between a reduction and its use; the largest value is the second output.
  constexpr int64_t rows = 3, columns = 24;
  LinearBuilder b("staged");
  const Node *out = b.output(DType::float32, rows * columns), *peak = b.output(DType::float32, rows),
             *staged = b.param(DType::float32, columns, true, true), *in = b.input(DType::float32, rows * columns);
  const Node* i = b.loop(rows, AxisKind::parallel);
  const Node* lane = b.vector(8);
  const Node *most = b.reg(0, DType::float32, lane), *sum = b.reg(1, DType::float32);
  b.set(most, b.graph.constant(DType::float32, -std::numeric_limits<double>::infinity()));
  const Node* j = b.loop(columns / 8, AxisKind::reduce);
  b.set(most, b.make(Op::Max, {most, b.load(in, b.scale(i, columns, b.mul(j, b.index(8))), lane, nullptr)}));
  b.end(j);
  const Node* top = b.make(Op::Across, {most, lane}, {int64_t(Op::Max)});
  b.store(peak, i, top);
  b.set(sum, b.graph.constant(DType::float32, 0));
  const Node* k = b.loop(columns, AxisKind::reduce);
  const Node* part = b.add(b.load(in, b.scale(i, columns, k)), b.make(Op::Neg, {top}));
  b.store(staged, k, part);
  b.set(sum, b.add(sum, part));
  b.end(k);
  const Node* scale = b.make(Op::Reciprocal, {sum});
  const Node* l = b.loop(columns / 8);
  b.store(out, b.scale(i, columns, b.mul(l, b.index(8))), b.mul(b.load(staged, b.mul(l, b.index(8)), lane, nullptr), scale), lane, nullptr);
  b.end(l);
  b.end(i);
  std::vector<Memory> memory{Memory(DType::float32, rows * columns), Memory(DType::float32, rows), Memory(DType::float32, columns),
                             floats(rows * columns, [](size_t n) { return float(n * 7 % 31); })};
  run(b, memory, {}, 0, rows);
  for (size_t row = 0; row < rows; ++row) {
    float top_value = -1, total = 0;
    for (size_t c = 0; c < columns; ++c) top_value = std::max(top_value, number(memory[3], row * columns + c));
    for (size_t c = 0; c < columns; ++c) total += number(memory[3], row * columns + c) - top_value;
    EXPECT_EQ(number(memory[1], row), top_value);
    for (size_t c = 0; c < columns; ++c)
      EXPECT_EQ(number(memory[0], row * columns + c), (number(memory[3], row * columns + c) - top_value) * (1 / total));
  }
}

TEST_F(LlvmWriter, FoldsLanesInHalves) {
  constexpr Op ops[] = {Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or, Op::Xor};
  for (const DType type : kMachineWords)
    for (const int64_t lanes : {1, 16}) {
      const size_t count = is_float(type) ? 4 : 7;
      LinearBuilder b(concat("across_", name(type), "_", lanes));
      const Node *out = b.output(type, int64_t(count)), *in = b.input(type, lanes);
      const Node* lane = b.vector(lanes);
      const Node* value = b.load(in, b.index(0), lane, nullptr);
      for (size_t k = 0; k < count; ++k) b.store(out, b.index(int64_t(k)), b.make(Op::Across, {value, lane}, {int64_t(ops[k])}));
      std::vector<Bits> given = edge_values(type);
      given.erase(given.begin());
      given.resize(size_t(lanes), bits_of_number(type, 1));
      std::vector<Memory> memory{Memory(type, count), Memory(type, given)};
      run(b, memory);
      for (size_t k = 0; k < count; ++k) {
        std::vector<Bits> values = given;
        for (size_t half = size_t(lanes) / 2; half; half /= 2)
          for (size_t n = 0; n < half; ++n) {
            const Bits pair[2] = {values[n], values[n + half]};
            values[n] = evaluate(ops[k], type, pair);
          }
        EXPECT_TRUE(same(type, memory[0].at(k), values[0])) << b.kernel.name << ' ' << name(ops[k]);
      }
    }
}

TEST_F(LlvmWriter, IndexArithmeticDividesAndCounts) {
  // (i / 3, i % 3, lane-wise (i + lane) / 5 as a float), with every index width; the vector range itself is a value.
  for (const DType index_type : {DType::int64, DType::int32}) {
    LinearBuilder b("indices");
    b.kernel.index_type = index_type;
    const Node *out = b.output(DType::int32, 20), *wide = b.output(DType::float32, 80), *total = b.output(DType::int64, 10);
    const Node* i = b.loop(10, AxisKind::parallel);
    const Node* lane = b.vector(8);
    const Node* row = b.make(Op::Quotient, {i, b.index(3)});
    b.store(out, b.mul(i, b.index(2)), b.make(Op::Cast, {row}, {}, DType::int32));
    b.store(out, b.scale(i, 2, b.index(1)), b.make(Op::Cast, {b.make(Op::Remainder, {i, b.index(3)})}, {}, DType::int32));
    const Node* fifth = b.make(Op::Quotient, {b.add(i, lane), b.index(5)});
    b.store(wide, b.mul(i, b.index(8)), b.make(Op::Cast, {fifth}, {}, DType::float32), lane, nullptr);
    const Node* sum = b.make(Op::Across, {b.mul(fifth, lane), lane}, {int64_t(Op::Add)});
    b.store(total, i, b.make(Op::Cast, {sum}, {}, DType::int64));
    b.end(i);
    std::vector<Memory> memory{Memory(DType::int32, 20), Memory(DType::float32, 80), Memory(DType::int64, 10)};
    run(b, memory, {}, 0, 10);
    for (int64_t n = 0; n < 10; ++n) {
      EXPECT_EQ(memory[0].at(size_t(2 * n)), n / 3);
      EXPECT_EQ(memory[0].at(size_t(2 * n + 1)), n % 3);
      int64_t expected = 0;
      for (int64_t k = 0; k < 8; ++k) {
        EXPECT_EQ(number(memory[1], size_t(8 * n + k)), float(int64_t((n + k) / 5)));
        expected += (n + k) / 5 * k;
      }
      EXPECT_EQ(memory[2].at(size_t(n)), expected);
    }
  }
}

TEST_F(LlvmWriter, LanesOfAnIndexAreAsWideAsTheyNeedToBe) {
  // Lanes below 2^31 and beyond meet in every op that takes indices.
  LinearBuilder b("widths");
  const Node *out = b.output(DType::int64, 6 * 8), *flags = b.output(DType::boolean, 8);
  const Node* i = b.loop(3, AxisKind::parallel);
  const Node* lane = b.vector(8);
  const Node* large = b.scale(lane, int64_t(3) << 31, i);
  const Node* small = b.make(Op::Quotient, {large, b.index(int64_t(1) << 32)});
  const Node* values[] = {large,
                          small,
                          b.make(Op::Remainder, {large, b.index(10)}),
                          b.add(small, large),
                          b.make(Op::Where, {b.less(lane, b.index(4)), lane, large}),
                          b.make(Op::Shr, {large, b.index(30)})};
  for (int64_t k = 0; k < 6; ++k) b.store(out, b.index(8 * k), b.make(Op::Cast, {values[k]}, {}, DType::int64), lane, nullptr);
  b.store(flags, b.index(0), b.less(b.mul(small, b.index(5)), large), lane, nullptr);
  b.end(i);
  std::vector<Memory> memory{Memory(DType::int64, 48), Memory(DType::boolean, 8)};
  run(b, memory, {}, 0, 3);
  for (int64_t k = 0; k < 8; ++k) {
    const int64_t wide = k * (int64_t(3) << 31) + 2, narrow = wide / (int64_t(1) << 32);
    const int64_t expected[] = {wide, narrow, wide % 10, wide + narrow, k < 4 ? k : wide, wide >> 30};
    for (int64_t n = 0; n < 6; ++n) EXPECT_EQ(memory[0].at(size_t(8 * n + k)), expected[n]) << n << ' ' << k;
    EXPECT_EQ(memory[1].at(size_t(k)), narrow * 5 < wide);
  }
}

TEST_F(LlvmWriter, ConstantsOfManyLanesGoThroughLoops) {
  LinearBuilder b("constants");
  const Node *out = b.output(DType::float32, 16), *steps = b.output(DType::int64, 16);
  const Node* n = b.variable("n", DType::index, 0, 9);
  const Node* lane = b.vector(16);
  const Node *value = b.reg(0, DType::float32, lane), *counts = b.reg(1, DType::index, lane);
  b.set(value, b.graph.constant(DType::float32, std::nan("")));
  const Node* i = b.loop(n);
  b.set(value, b.graph.constant(DType::float32, -0.1));
  b.set(counts, lane);
  b.end(i);
  b.store(steps, b.index(0), b.make(Op::Cast, {counts}, {}, DType::int64), lane, nullptr);
  const Node* once = b.loop(1);
  b.set(value, b.make(Op::Neg, {value}));
  b.end(once);
  b.store(out, b.index(0), value, lane, nullptr);
  for (const int64_t count : {0, 2}) {
    std::vector<Memory> memory{Memory(DType::float32, 16), Memory(DType::int64, 16)};
    run(b, memory, {count});
    EXPECT_EQ(memory[1].at(7), count ? 7 : 0);
    if (count)
      EXPECT_EQ(number(memory[0], 15), 0.1f);
    else
      EXPECT_TRUE(std::isnan(number(memory[0], 15)));
  }
}

TEST_F(LlvmWriter, WrongTextAndWrongCodeAreErrors) {
  LinearBuilder b("wrong");
  const Node* out = b.output(DType::int32, 1);
  b.store(out, b.index(0), b.graph.constant(DType::int32, 1));
  const LinearKernel* kernel = &b.kernel;
  LlvmModule module = write_llvm({&kernel, 1}, host());
  EXPECT_EQ(module.function(0).substr(0, 18), "define void @wrong");
  module.text.insert(module.ends[0] - 3, "oops");
  EXPECT_THROW(compilers()[0]->compile(module.text), BackendError);

  b.kernel.code.insert(b.kernel.code.begin(), b.graph.make(Op::Store, {out, b.index(0), b.graph.make(Op::Load, {out, b.index(0)})}));
  EXPECT_THROW(write_llvm({&kernel, 1}, host()), InternalError);
  b.kernel.code.assign(1, b.graph.make(Op::EndLoop, {b.graph.range(0, 4, AxisKind::loop)}));
  EXPECT_THROW(write_llvm({&kernel, 1}, host()), InternalError);
  b.kernel.code.assign(1, b.graph.make(Op::Loop, {b.graph.range(0, 4, AxisKind::loop)}));
  EXPECT_THROW(write_llvm({&kernel, 1}, host()), InternalError);
}

}  // namespace
}  // namespace whit
