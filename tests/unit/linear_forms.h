// One kernel for each form that linear code takes.
#pragma once

#include "unit/linear_cases.h"

namespace whit {

/// out[i] = a[i] * b[i] + a[i] over 16 lanes, with the rest of an odd size done by gated lanes.
inline LinearCase elementwise_case(int64_t size) {
  LinearCase made = start_case("elementwise");
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::float32, size_t(size), true);
  const Node* x = add_buffer(made, DType::float32, some_values(DType::float32, size_t(size)), false);
  const Node* y = add_buffer(made, DType::float32, some_values(DType::float32, size_t(size), 5), false);
  made.count = (size + 15) / 16;
  const Node* i = b.loop(made.count, AxisKind::parallel);
  const Node* lanes = b.vector(16);
  const Node* at = b.mul(i, b.index(16));
  const Node* gate = b.less(b.add(at, lanes), b.index(size));
  const Node* a = b.load(x, at, lanes, gate);
  b.store(out, at, b.add(b.mul(a, b.load(y, at, lanes, gate)), a), lanes, gate);
  b.end(i);
  return made;
}

/// Row sums: a vector register over 8 lanes, folded, and a scalar loop for the rest.
inline LinearCase sum_case(DType type, int64_t rows, int64_t columns, Op op = Op::Add) {
  LinearCase made = start_case(concat("fold_", name(op), "_", name(type)));
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, type, size_t(rows), true);
  const Node* in = add_buffer(made, type, some_values(type, size_t(rows * columns)), false);
  made.count = rows;
  const Node* row = b.loop(rows, AxisKind::parallel);
  const Node* lanes = b.vector(8);
  const Node* start = b.mul(row, b.index(columns));
  const Node* wide = b.reg(0, type, lanes);
  const Node* identity = b.graph.constant_bits(type, identity_of(op, type));
  b.set(wide, identity);
  const Node* i = b.loop(columns / 8, AxisKind::reduce);
  b.set(wide, b.make(op, {wide, b.load(in, b.add(start, b.mul(i, b.index(8))), lanes, nullptr)}));
  b.end(i);
  const Node* narrow = b.reg(1, type);
  b.set(narrow, b.make(Op::Across, {wide, lanes}, {int64_t(op)}));
  const Node* j = b.loop(columns % 8, AxisKind::reduce);
  b.set(narrow, b.make(op, {narrow, b.load(in, b.add(b.add(start, j), b.index(columns / 8 * 8)))}));
  b.end(j);
  b.store(out, row, narrow);
  b.end(row);
  return made;
}

/// Two results of one loop: a[i] + b[i] and a[i] < b[i].
inline LinearCase two_outputs_case() {
  LinearCase made = start_case("two_outputs");
  LinearBuilder& b = *made.builder;
  const Node* sum = add_buffer(made, DType::int32, size_t(100), true);
  const Node* smaller = add_buffer(made, DType::boolean, size_t(100), true);
  const Node* x = add_buffer(made, DType::int32, some_values(DType::int32, 100), false);
  const Node* y = add_buffer(made, DType::int32, some_values(DType::int32, 100, 3), false);
  made.count = 100;
  const Node* i = b.loop(100, AxisKind::parallel);
  const Node* a = b.load(x, i);
  const Node* c = b.load(y, i);
  b.store(sum, i, b.add(a, c));
  b.store(smaller, i, b.less(a, c));
  b.end(i);
  return made;
}

/// Rows minus their mean, divided by their greatest deviation: two reductions in a row, then a loop that uses both.
inline LinearCase staged_case(int64_t rows, int64_t columns) {
  LinearCase made = start_case("staged");
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::float32, size_t(rows * columns), true);
  const Node* in = add_buffer(made, DType::float32, some_values(DType::float32, size_t(rows * columns)), false);
  made.count = rows;
  const Node* row = b.loop(rows, AxisKind::parallel);
  const Node* start = b.mul(row, b.index(columns));
  const Node* sum = b.reg(0, DType::float32);
  b.set(sum, b.graph.constant(DType::float32, 0));
  const Node* i = b.loop(columns, AxisKind::reduce);
  b.set(sum, b.add(sum, b.load(in, b.add(start, i))));
  b.end(i);
  const Node* mean = b.make(Op::Divide, {sum, b.graph.constant(DType::float32, double(columns))});
  const Node* most = b.reg(1, DType::float32);
  b.set(most, b.graph.constant(DType::float32, 1));
  const Node* j = b.loop(columns, AxisKind::reduce);
  const Node* deviation = b.add(b.load(in, b.add(start, j)), b.make(Op::Neg, {mean}));
  b.set(most, b.make(Op::Where, {b.less(most, deviation), deviation, most}));
  b.end(j);
  const Node* k = b.loop(columns);
  b.store(out, b.add(start, k), b.make(Op::Divide, {b.add(b.load(in, b.add(start, k)), b.make(Op::Neg, {mean})), most}));
  b.end(k);
  b.end(row);
  return made;
}

/// out[i] = table[indices[i]] where the index is in bounds, else 0; with lanes as gathers and gated scatters.
inline LinearCase gather_case(int64_t lanes, DType type) {
  LinearCase made = start_case(concat("gather_", lanes, "_", name(type)));
  LinearBuilder& b = *made.builder;
  std::vector<Bits> places;
  for (int64_t i = 0; i < 96; ++i) places.push_back(i * 29 % 50 - 5);
  const Node* out = add_buffer(made, type, size_t(96), true);
  const Node* table = add_buffer(made, type, some_values(type, 40), false);
  const Node* indices = add_buffer(made, DType::int32, places, false);
  made.count = 96 / lanes;
  const Node* i = b.loop(made.count, AxisKind::parallel);
  const Node* at = b.mul(i, b.index(lanes));
  const Node* range = lanes > 1 ? b.vector(lanes) : nullptr;
  const Node* place = b.make(Op::Cast, {range ? b.load(indices, at, range, nullptr) : b.load(indices, at)}, {}, DType::index);
  const Node* inside = b.make(Op::And, {b.less(place, b.index(40)), b.less(b.index(-1), place)});
  const Node* value = b.load(table, place, inside);
  const Node* reversed = b.add(b.make(Op::Neg, {range ? b.add(at, range) : at}), b.index(95));
  b.store(out, reversed, value, b.make(Op::NotEqual, {place, b.index(7)}));
  b.end(i);
  return made;
}

/// A broadcast scalar, a bool in lanes, and a Where of lanes by a scalar: out[i] = flag[0] ? (x[i] < s ? x[i] : s) : -x[i].
inline LinearCase mixed_case(DType type, bool flag) {
  LinearCase made = start_case(concat("mixed_", name(type), flag ? "_true" : "_false"));
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, type, size_t(64), true);
  const Node* masks = add_buffer(made, DType::boolean, size_t(64), true);
  const Node* in = add_buffer(made, type, some_values(type, 64), false);
  const Node* flags = add_buffer(made, DType::boolean, std::vector<Bits>{flag}, false);
  const Node* limit = b.variable("limit", type, 0, type == DType::boolean ? 1 : 100);
  made.variables.push_back(bits_of_number(type, 3));
  made.count = 4;
  const Node* i = b.loop(4, AxisKind::parallel);
  const Node* lanes = b.vector(16);
  const Node* at = b.mul(i, b.index(16));
  const Node* x = b.load(in, at, lanes, nullptr);
  const Node* condition = b.load(flags, b.index(0));
  const Node* small = b.less(x, limit);
  const Node* chosen = b.make(Op::Where, {small, x, limit});
  b.store(out, at, b.make(Op::Where, {condition, chosen, b.make(Op::Neg, {x})}), lanes, nullptr);
  const Node* big = b.make(Op::NotEqual, {x, b.graph.constant(type, 2)});
  const Node* wide = b.less(b.make(Op::Cast, {x}, {}, DType::int64), b.graph.constant(DType::int64, 2));  // a mask of another width
  const Node* masked = b.make(Op::Xor, {b.make(Op::And, {small, big}), b.make(Op::Or, {wide, condition})});
  b.store(masks, at, b.make(Op::Where, {condition, masked, b.load(masks, at, lanes, nullptr)}), lanes, condition);
  b.end(i);
  return made;
}

/// A loop whose size and bounds are a Variable: out[i] = sum of the first n.
inline LinearCase symbolic_case() {
  LinearCase made = start_case("symbolic");
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::uint32, size_t(20), true);
  const Node* in = add_buffer(made, DType::uint32, some_values(DType::uint32, 20), false);
  const Node* n = b.variable("n", DType::index, 0, 10);
  const Node* factor = b.variable("factor", DType::float32, 0, 0);
  made.variables = {7, bits_of_float(DType::float32, 2.5)};
  const Node* total = b.reg(0, DType::uint32);
  b.set(total, b.graph.constant(DType::uint32, 0));
  const Node* i = b.loop(b.add(n, b.index(1)));
  b.set(total, b.add(total, b.load(in, i)));
  b.store(out, i, b.add(total, b.make(Op::Cast, {factor}, {}, DType::uint32)));
  b.end(i);
  return made;
}

/// One node executed before a loop, inside it and after it: a load of what the loop changes.
inline LinearCase repeated_case() {
  LinearCase made = start_case("repeated");
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::int32, size_t(8), true);
  const Node* cell = add_buffer(made, DType::int32, std::vector<Bits>{5}, true);
  const Node* at = b.index(0);
  const Node* value = b.load(cell, at);
  const Node* i = b.loop(3);
  b.push(value);
  b.store(cell, at, b.add(value, b.graph.constant(DType::int32, 10)));
  b.end(i);
  b.store(out, b.index(0), value);  // the execution before the loop: 5
  b.push(value);
  b.store(out, b.index(1), value);  // 35
  const Node* held = b.reg(0, DType::int32);
  b.set(held, value);
  const Node* copy = b.make(Op::Cast, {held}, {}, DType::int64);
  b.set(held, b.graph.constant(DType::int32, 1));
  b.store(out, b.index(2), b.make(Op::Cast, {copy}, {}, DType::int32));  // 35, though the register has changed
  b.store(out, b.index(3), held);
  return made;
}

/// Stores that overlap what was loaded: lanes must be read before any is written.
inline LinearCase in_place_case() {
  LinearCase made = start_case("in_place");
  LinearBuilder& b = *made.builder;
  const Node* data = add_buffer(made, DType::float32, some_values(DType::float32, 17), true);
  const Node* lanes = b.vector(16);
  const Node* first = b.load(data, b.index(0));
  const Node* x = b.load(data, b.index(0), lanes, nullptr);
  const Node* gate = b.less(lanes, b.index(12));
  b.store(data, b.index(0), b.add(first, first), lanes, gate);
  b.store(data, b.index(1), x, lanes, nullptr);
  return made;
}

/// A row a group: it is staged with a round of stores per step, its sum taken by every thread, and added to the reversed row.
inline LinearCase group_case(DType type, int64_t rows, int64_t threads, int64_t steps) {
  LinearCase made = start_case(concat("group_", name(type), "_", threads, "x", steps));
  LinearBuilder& b = *made.builder;
  const int64_t columns = threads * steps;
  const Node* out = add_buffer(made, type, size_t(rows * columns), true);
  const Node* sums = add_buffer(made, type, size_t(rows), true);
  const Node* in = add_buffer(made, type, some_values(type, size_t(rows * columns)), false);
  const Node* kept = b.local(type, columns);
  made.count = rows;
  const Node* row = b.loop(rows, AxisKind::parallel);
  const Node* start = b.mul(row, b.index(columns));
  const Node* writer = b.loop(threads, AxisKind::local);
  const Node* i = b.loop(steps);
  const Node* place = b.scale(i, threads, writer);
  b.store(kept, place, b.load(in, b.add(start, place)));
  b.end(i);
  b.end(writer);
  b.barrier();
  const Node* sum = b.reg(0, type);
  b.set(sum, b.graph.constant(type, 0));
  const Node* j = b.loop(columns, AxisKind::reduce);
  b.set(sum, b.add(sum, b.load(kept, j)));
  b.end(j);
  b.store(sums, row, sum);  // once, though every thread has it
  const Node* reader = b.loop(threads, AxisKind::local);
  const Node* k = b.loop(steps);
  const Node* at = b.scale(reader, steps, k);
  const Node* reversed = b.add(b.make(Op::Neg, {at}), b.index(columns - 1));
  const Node* inside = b.less(at, b.index(columns - 1));
  b.store(out, b.add(start, at), b.add(b.load(kept, reversed, inside), sum));
  b.end(k);
  b.end(reader);
  b.end(row);
  return made;
}

/// One array written again in a loop, with a Barrier before and after: out[t] = what the neighbours pass round, a place each time.
inline LinearCase ring_case(int64_t groups, int64_t threads, int64_t rounds) {
  LinearCase made = start_case("ring");
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::int32, size_t(groups * threads), true);
  const Node* kept[] = {b.local(DType::int32, threads), b.local(DType::int32, threads)};
  made.count = groups;
  const Node* group = b.loop(groups, AxisKind::parallel);
  const Node* first = b.loop(threads, AxisKind::local);
  b.store(kept[0], first, b.make(Op::Cast, {b.scale(group, threads, first)}, {}, DType::int32));
  b.end(first);
  const Node* round = b.loop(rounds);
  b.barrier();
  const Node* giver = b.loop(threads, AxisKind::local);
  const Node* next = b.make(Op::Remainder, {b.add(giver, b.index(1)), b.index(threads)});
  b.store(kept[1], next, b.load(kept[0], giver));
  b.end(giver);
  b.barrier();
  const Node* taker = b.loop(threads, AxisKind::local);
  b.store(kept[0], taker, b.add(b.load(kept[1], taker), b.make(Op::Cast, {round}, {}, DType::int32)));
  b.end(taker);
  b.end(round);
  const Node* last = b.loop(threads, AxisKind::local);
  b.store(out, b.scale(group, threads, last), b.load(kept[0], last));
  b.end(last);
  b.end(group);
  return made;
}

/// Threads without shared memory, in one group or several: out[i] = 3*in[i] + the group's number.
inline LinearCase threads_case(int64_t groups, int64_t threads) {
  LinearCase made = start_case(concat("threads_", groups, "x", threads));
  LinearBuilder& b = *made.builder;
  const Node* out = add_buffer(made, DType::float32, size_t(groups * threads), true);
  const Node* in = add_buffer(made, DType::float32, some_values(DType::float32, size_t(groups * threads)), false);
  made.count = groups;
  const Node* group = groups > 1 ? b.loop(groups, AxisKind::parallel) : nullptr;
  const Node* shift = group ? b.make(Op::Cast, {group}, {}, DType::float32) : b.graph.constant(DType::float32, 5);
  const Node* thread = b.loop(threads, AxisKind::local);
  const Node* at = group ? b.scale(group, threads, thread) : thread;
  b.store(out, at, b.add(b.mul(b.load(in, at), b.graph.constant(DType::float32, 3)), shift));
  b.end(thread);
  if (group) b.end(group);
  return made;
}

inline std::vector<LinearCase> group_cases() {
  std::vector<LinearCase> cases = {ring_case(5, 16, 7), threads_case(9, 64), threads_case(1, 48), threads_case(40, 3)};
  for (const DType type : kValueTypes)
    if (type != DType::boolean) cases.push_back(group_case(type, 7, 32, 3));
  return cases;
}

inline std::vector<LinearCase> form_cases() {
  std::vector<LinearCase> cases = {elementwise_case(1003), two_outputs_case(), staged_case(33, 21),
                                   symbolic_case(),        repeated_case(),    in_place_case()};
  for (const DType type : kValueTypes) {
    if (type != DType::boolean) cases.push_back(sum_case(type, 37, 61));
    for (const int64_t lanes : {1, 8, 16}) cases.push_back(gather_case(lanes, type));
    for (const bool flag : {false, true}) cases.push_back(mixed_case(type, flag));
  }
  for (const Op op : {Op::Max, Op::Min, Op::Mul}) cases.push_back(sum_case(DType::float32, 5, 61, op));
  for (const Op op : {Op::Max, Op::Or, Op::And}) cases.push_back(sum_case(DType::boolean, 5, 61, op));
  for (const Op op : {Op::Max, Op::Min, Op::And, Op::Or, Op::Mul}) cases.push_back(sum_case(DType::int16, 5, 61, op));
  return cases;
}

}  // namespace whit
