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

/// What one buffer must hold after the launch.
struct Expectation {
  std::string title;
  std::vector<Bits> values;
  bool zeros_may_differ = false;
};

struct LinearCase {
  std::string title;
  std::shared_ptr<LinearBuilder> builder;
  std::vector<CaseBuffer> buffers;  // by slot
  std::vector<int64_t> variables;
  int64_t count = 1;
  std::vector<Expectation> expected;  // of the first buffers; empty: what the interpreter gives

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
  if (target.work_group && made.kernel().group_size > target.work_group) return false;
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
    for (const double v : {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           0.5,
                           -1.5,
                           2.75,
                           127.0,
                           128.0,
                           -129.0,
                           255.5,
                           256.0,
                           32767.5,
                           65536.0,
                           2147483520.0,
                           2147483647.0,
                           2147483648.0,
                           -2147483648.0,
                           -2147483904.0,
                           4294967040.0,
                           4294967296.0,
                           9223371487098961920.0,
                           9223372036854775808.0,
                           -9223372036854775808.0,
                           1.8446742974197924e19,
                           18446744073709551616.0,
                           1e-40,
                           5e-324,
                           -1e-38,
                           3.4e38,
                           -1.7e308,
                           infinity,
                           -infinity,
                           std::nan("")})
      values.push_back(bits_of_float(type, v));
    return values;
  }
  const int64_t width = int64_t(bit_width(type));
  for (const int64_t v :
       {int64_t(0), int64_t(1), int64_t(-1), int64_t(2), int64_t(3), int64_t(-3), int64_t(7), int64_t(100), width - 1, width, width + 1,
        std::numeric_limits<int64_t>::min() >> (64 - width), ~(std::numeric_limits<int64_t>::min() >> (64 - width)),
        int64_t(0x123456789abcdef), int64_t(16777217), int64_t(9007199254740993), int64_t(-36028797018963969)})
    values.push_back(bits_of_integer(type, v));
  return values;
}

/// Values that differ, small enough that sums are exact in every type that is wide enough.
inline std::vector<Bits> some_values(DType type, size_t count, int64_t seed = 1) {
  std::vector<Bits> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(bits_of_number(type, double((int64_t(i) * 37 + seed * 11) % 23 - 9) * (is_float(type) ? 0.25 : 1)));
  return values;
}

inline bool op_applies(Op op, DType type) {
  if (!has(op, alu) || has(op, typed)) return false;
  return is_float(type) ? !has(op, integral) : !has(op, floating);
}

inline constexpr DType kValueTypes[] = {DType::boolean,     DType::int8,    DType::uint8,    DType::int16,   DType::uint16,
                                        DType::int32,       DType::uint32,  DType::int64,    DType::uint64,  DType::float8_e4m3,
                                        DType::float8_e5m2, DType::float16, DType::bfloat16, DType::float32, DType::float64};

/// Operands so that all pairs of edge values occur.
struct Operands {
  std::vector<Bits> condition, values[3];

  Operands(DType type, size_t multiple) {
    const std::vector<Bits> edges = edge_values(type);
    const size_t count = (edges.size() * edges.size() + multiple - 1) / multiple * multiple;
    for (size_t i = 0; i < count; ++i) {
      condition.push_back(Bits(i % 3 == 0));
      values[0].push_back(edges[i % edges.size()]);
      values[1].push_back(edges[i / edges.size() % edges.size()]);
      values[2].push_back(edges[(i * 7 + i / edges.size()) % edges.size()]);
    }
  }
  size_t count() const { return condition.size(); }
};

/// One elementwise op with its result type.
struct OpForm {
  Op op;
  DType result;
};

/// Kernels with a store for each op of the list: out_k[i] = op_k(x[i], y[i], z[i]), with so many lanes.
inline LinearCase ops_case(const std::string& title, DType type, const std::vector<OpForm>& forms, int64_t lanes) {
  LinearCase made = start_case(title);
  LinearBuilder& b = *made.builder;
  const Operands operands(type, size_t(lanes));
  std::vector<const Node*> outputs;
  for (const OpForm& form : forms) {
    const size_t arity = size_t(info(form.op).arity);
    Expectation expected{.title = concat(name(form.op), " of ", name(type), " to ", name(form.result)),
                         .values = {},
                         .zeros_may_differ = form.op == Op::Max || form.op == Op::Min};
    for (size_t i = 0; i < operands.count(); ++i) {
      const Bits v[3] = {form.op == Op::Where ? operands.condition[i] : operands.values[0][i], operands.values[1][i],
                         operands.values[2][i]};
      expected.values.push_back(form.op == Op::Cast      ? convert(type, form.result, v[0])
                                : form.op == Op::Bitcast ? reinterpret(type, form.result, v[0])
                                                         : evaluate(form.op, type, std::span(v, arity)));
    }
    made.expected.push_back(std::move(expected));
    outputs.push_back(add_buffer(made, form.result, operands.count(), true));
  }
  const Node* const condition = add_buffer(made, DType::boolean, operands.condition, false);
  const Node* inputs[3];
  for (int k = 0; k < 3; ++k) inputs[k] = add_buffer(made, type, operands.values[k], false);
  made.count = int64_t(operands.count()) / lanes;
  const Node* i = b.loop(made.count, AxisKind::parallel);
  const Node* range = lanes > 1 ? b.vector(lanes) : nullptr;
  const Node* at = lanes > 1 ? b.mul(i, b.index(lanes)) : i;
  for (size_t k = 0; k < forms.size(); ++k) {
    const Node* sources[3];
    const size_t arity = size_t(info(forms[k].op).arity);
    for (size_t operand = 0; operand < arity; ++operand) {
      const Node* from = forms[k].op == Op::Where && operand == 0 ? condition : inputs[operand];
      sources[operand] = range ? b.load(from, at, range, nullptr) : b.load(from, at);
    }
    const Node* value =
        b.push(b.graph.make(forms[k].op, Sources(sources, arity), {}, has(forms[k].op, typed) ? forms[k].result : DType::none));
    range ? b.store(outputs[k], at, value, range, nullptr) : b.store(outputs[k], at, value);
  }
  b.end(i);
  return made;
}

/// Every op that the target supplies on every type, every cast and bitcast.
inline std::vector<LinearCase> op_cases(const Target& target, int64_t lanes) {
  std::vector<LinearCase> cases;
  for (const DType type : kValueTypes) {
    if (!target.types.contains(type)) continue;
    std::vector<OpForm> ops, casts;
    for (size_t i = 0; i < kOpCount; ++i) {
      const Op op = Op(i);
      const bool supplied = !has(op, lowered) || target.claims.contains(op);
      if (op_applies(op, type) && supplied && (op != Op::Threefry || type == DType::uint64))
        ops.push_back({op, has(op, compares) ? DType::boolean : type});
    }
    for (const DType to : kValueTypes) {
      if (to == type || !target.types.contains(to)) continue;
      casts.push_back({Op::Cast, to});
      if (item_size(to) == item_size(type)) casts.push_back({Op::Bitcast, to});
    }
    cases.push_back(ops_case(concat("ops_", name(type), "_", lanes), type, ops, lanes));
    cases.push_back(ops_case(concat("casts_", name(type), "_", lanes), type, casts, lanes));
  }
  return cases;
}

}  // namespace whit
