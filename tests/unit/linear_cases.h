// Kernels with their data, for tests that run them on devices: one for each op on edge values, and one for each form of linear code.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/evaluate.h"
#include "runtime/backend.h"
#include "unit/linear_builder.h"

namespace whit {

/// A buffer of a kernel and what it holds at first.
struct CaseBuffer {
  DType type;
  std::vector<std::byte> bytes;

  CaseBuffer(DType element, const std::vector<Bits>& values) : type(element), bytes(values.size() * item_size(element)) {
    for (size_t i = 0; i < values.size(); ++i) store_element(type, &bytes[i * item_size(type)], values[i]);
  }
  CaseBuffer(DType element, size_t count) : type(element), bytes(count * item_size(element), std::byte{0}) {}
  size_t size() const { return bytes.size() / item_size(type); }
  Bits at(size_t i) const { return load_element(type, &bytes[i * item_size(type)]); }
};

struct LinearCase {
  std::string title;
  std::shared_ptr<LinearBuilder> builder;
  std::vector<CaseBuffer> buffers;  // by slot
  std::vector<int64_t> variables;
  int64_t count = 1;
  std::vector<Bits> expected;   // of buffer 0; empty: the interpreter's result is
  bool zeros_may_differ = false;

  LinearKernel& kernel() const { return builder->kernel; }
};

inline LinearCase start_case(const std::string& title) {
  LinearCase made;
  made.title = title;
  made.builder = std::make_shared<LinearBuilder>(title);
  return made;
}

/// Adds a buffer with these values, or of this many zeros.
template <class Contents>
const Node* add_buffer(LinearCase& made, DType type, const Contents& contents, bool written) {
  made.buffers.emplace_back(type, contents);
  return made.builder->param(type, int64_t(made.buffers.back().size()), true, written);
}

/// True if the device takes the case as it stands: its types, ops and lanes.
inline bool takes(const Target& target, const LinearCase& made) {
  for (const CaseBuffer& buffer : made.buffers)
    if (!target.types.contains(buffer.type)) return false;
  if (!made.kernel().vector_ranges.empty() && target.vector_bytes == 0) return false;
  for (const Node* node : made.kernel().code) {
    if (has(node->op, alu) && has(node->op, lowered) && !target.claims.contains(node->op)) return false;
    if (node->dtype != DType::none && !target.types.contains(node->dtype)) return false;
  }
  return true;
}

inline std::vector<Bits> edge_values(DType type) {
  std::vector<Bits> values;
  if (is_float(type)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const double v : {0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.75, 127.0, 128.0, -129.0, 255.5, 256.0, 32767.5, 65536.0, 2147483520.0, 2147483647.0, 2147483648.0, -2147483648.0,
                           -2147483904.0, 4294967040.0, 4294967296.0, 9223371487098961920.0, 9223372036854775808.0, -9223372036854775808.0, 1.8446742974197924e19,
                           18446744073709551616.0, 1e-40, 5e-324, -1e-38, 3.4e38, -1.7e308, infinity, -infinity, std::nan("")})
      values.push_back(bits_of_float(type, v));
    return values;
  }
  const int64_t width = int64_t(bit_width(type));
  for (const int64_t v : {int64_t(0), int64_t(1), int64_t(-1), int64_t(2), int64_t(3), int64_t(-3), int64_t(7), int64_t(100), width - 1, width, width + 1,
                          std::numeric_limits<int64_t>::min() >> (64 - width), ~(std::numeric_limits<int64_t>::min() >> (64 - width)), int64_t(0x123456789abcdef), int64_t(16777217),
                          int64_t(9007199254740993), int64_t(-36028797018963969)})
    values.push_back(bits_of_integer(type, v));
  return values;
}

/// Values that differ, small enough that sums are exact in every type that is wide enough.
inline std::vector<Bits> some_values(DType type, size_t count, int64_t seed = 1) {
  std::vector<Bits> values;
  for (size_t i = 0; i < count; ++i) values.push_back(bits_of_number(type, double((int64_t(i) * 37 + seed * 11) % 23 - 9) * (is_float(type) ? 0.25 : 1)));
  return values;
}

inline bool op_applies(Op op, DType type) {
  if (!has(op, alu) || has(op, typed)) return false;
  return is_float(type) ? !has(op, integral) : !has(op, floating);
}

/// out[i] = op(a[i], b[i], c[i]) with so many lanes, over all pairs of edge values.
inline LinearCase op_case(Op op, DType type, DType result, int64_t lanes) {
  LinearCase made = start_case(concat("k_", name(op), "_", name(type), "_", name(result), "_", lanes));
  made.zeros_may_differ = op == Op::Max || op == Op::Min;
  LinearBuilder& b = *made.builder;
  const size_t arity = size_t(info(op).arity);
  const std::vector<Bits> edges = edge_values(type);
  size_t count = arity == 1 ? edges.size() : edges.size() * edges.size();
  count = (count + size_t(lanes) - 1) / size_t(lanes) * size_t(lanes);
  std::vector<Bits> operands[3];
  for (size_t i = 0; i < count; ++i) {
    Bits v[3] = {edges[i % edges.size()], edges[i / edges.size() % edges.size()], edges[(i * 7 + i / edges.size()) % edges.size()]};
    if (op == Op::Where) v[0] = Bits(i % 3 == 0);
    for (int k = 0; k < 3; ++k) operands[k].push_back(v[k]);
    made.expected.push_back(op == Op::Cast      ? convert(type, result, v[0])
                            : op == Op::Bitcast ? reinterpret(type, result, v[0])
                                                : evaluate(op, type, std::span(v, arity)));
  }
  const Node* out = add_buffer(made, result, count, true);
  const Node* inputs[3];
  for (size_t k = 0; k < arity; ++k) inputs[k] = add_buffer(made, op == Op::Where && k == 0 ? DType::boolean : type, operands[k], false);
  made.count = int64_t(count) / lanes;
  const Node* i = b.loop(made.count, AxisKind::parallel);
  const Node* range = lanes > 1 ? b.vector(lanes) : nullptr;
  const Node* at = lanes > 1 ? b.mul(i, b.index(lanes)) : i;
  const Node* sources[3];
  for (size_t k = 0; k < arity; ++k) sources[k] = range ? b.load(inputs[k], at, range, nullptr) : b.load(inputs[k], at);
  const Node* value = b.push(b.graph.make(op, Sources(sources, arity), {}, has(op, typed) ? result : DType::none));
  range ? b.store(out, at, value, range, nullptr) : b.store(out, at, value);
  b.end(i);
  return made;
}

inline constexpr DType kValueTypes[] = {DType::boolean, DType::int8,   DType::uint8,  DType::int16,       DType::uint16,      DType::int32,   DType::uint32,  DType::int64,
                                        DType::uint64,  DType::float8_e4m3, DType::float8_e5m2, DType::float16, DType::bfloat16, DType::float32, DType::float64};

/// Every op on every type it takes, every cast and bitcast.
inline std::vector<LinearCase> op_cases(int64_t lanes) {
  std::vector<LinearCase> cases;
  for (const DType type : kValueTypes) {
    for (size_t op = 0; op < kOpCount; ++op)
      if (op_applies(Op(op), type) && !(Op(op) == Op::Threefry && type != DType::uint64))
        cases.push_back(op_case(Op(op), type, has(Op(op), compares) ? DType::boolean : type, lanes));
    for (const DType to : kValueTypes) {
      if (to != type) cases.push_back(op_case(Op::Cast, type, to, lanes));
      if (to != type && item_size(to) == item_size(type) && to != DType::boolean) cases.push_back(op_case(Op::Bitcast, type, to, lanes));
    }
  }
  return cases;
}

}  // namespace whit
