// Every op on every type against what ops.def says, on edge values.
#include "ir/evaluate.h"
#include "unit/llvm_run.h"

namespace whit {
namespace {

/// One op over all pairs of edge values, as a kernel, with the values it has to give.
struct OpCase {
  std::string title;
  std::unique_ptr<LinearBuilder> builder;
  std::vector<Memory> memory;
  std::vector<Bits> expected;
  int64_t count = 0;
  bool zeros_may_differ = false;
};

bool applies(Op op, DType type) {
  if (has(op, floating) && !is_float(type)) return false;
  if (has(op, integral) && is_float(type)) return false;
  const bool claimed = op == Op::Max || op == Op::Min || op == Op::MulAdd;
  return has(op, alu) && !has(op, typed) && (!has(op, lowered) || claimed);
}

/// Builds out[i] = op(a[i], b[i], c[i]) with so many lanes; the operands run over all pairs.
OpCase op_case(Op op, DType type, DType result, int64_t lanes) {
  OpCase made;
  made.title = concat(name(op), " of ", name(type), " to ", name(result), " with ", lanes, " lanes");
  made.builder = std::make_unique<LinearBuilder>(concat("k_", name(op), "_", name(type), "_", name(result), "_", lanes));
  made.zeros_may_differ = op == Op::Max || op == Op::Min;
  const size_t arity = size_t(int(info(op).arity));
  const std::vector<Bits> edges = edge_values(type);
  size_t count = arity == 1 ? edges.size() : edges.size() * edges.size();
  count = (count + size_t(lanes) - 1) / size_t(lanes) * size_t(lanes);
  std::vector<Bits> operands[3];
  for (size_t i = 0; i < count; ++i) {
    const Bits values[3] = {edges[i % edges.size()], edges[i / edges.size() % edges.size()],
                            edges[(i * 7 + i / edges.size()) % edges.size()]};
    Bits v[3] = {values[0], values[1], values[2]};
    if (op == Op::Where) v[0] = Bits(i % 3 == 0);
    for (int k = 0; k < 3; ++k) operands[k].push_back(v[k]);
    made.expected.push_back(op == Op::Cast      ? whit::convert(type, result, v[0])
                            : op == Op::Bitcast ? reinterpret(type, result, v[0])
                                                : evaluate(op, type, std::span(v, arity)));
  }
  LinearBuilder& b = *made.builder;
  made.memory.emplace_back(result, count);
  const Node* out = b.output(result, int64_t(count));
  const Node* inputs[3];
  for (size_t k = 0; k < arity; ++k) {
    const DType source = op == Op::Where && k == 0 ? DType::boolean : type;
    inputs[k] = b.input(source, int64_t(count));
    made.memory.emplace_back(source, operands[k]);
  }
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

void run_cases(LlvmCompiler& compiler, std::vector<OpCase>& cases) {
  std::vector<const LinearKernel*> kernels;
  kernels.reserve(cases.size());
  for (const OpCase& made : cases) kernels.push_back(&made.builder->kernel);
  const LlvmModule module = write_llvm(kernels, host());
  ASSERT_EQ(module.ends.size(), kernels.size());
  const ObjectImage image(compiler.compile(module.text));
  for (size_t k = 0; k < cases.size(); ++k) {
    OpCase& made = cases[k];
    std::vector<void*> buffers;
    for (Memory& memory : made.memory) buffers.push_back(memory.bytes.data());
    reinterpret_cast<Entry>(image.symbol(made.builder->kernel.name))(buffers.data(), nullptr, 0, made.count);
    size_t wrong = 0;
    for (size_t i = 0; i < made.expected.size() && wrong < 5; ++i) {
      const Memory& out = made.memory[0];
      if (same(out.type, made.expected[i], out.at(i))) continue;
      if (made.zeros_may_differ && float_of_bits(out.type, out.at(i)) == 0 && float_of_bits(out.type, made.expected[i]) == 0) continue;
      ++wrong;
      std::string operands;
      for (size_t s = 1; s < made.memory.size(); ++s) operands += concat(" ", float_of_bits(made.memory[s].type, made.memory[s].at(i)));
      ADD_FAILURE() << "LLVM " << compiler.version() << ", " << made.title << " at" << operands << ": "
                    << float_of_bits(out.type, out.at(i)) << " instead of " << float_of_bits(out.type, made.expected[i]);
    }
  }
}

std::vector<OpCase> all_ops(std::initializer_list<int64_t> lane_counts) {
  std::vector<OpCase> cases;
  for (size_t op = 0; op < kOpCount; ++op)
    for (const DType type : kTypes)
      for (const int64_t lanes : lane_counts)
        if (applies(Op(op), type)) cases.push_back(op_case(Op(op), type, has(Op(op), compares) ? DType::boolean : type, lanes));
  return cases;
}

std::vector<OpCase> all_casts(std::initializer_list<int64_t> lane_counts) {
  std::vector<OpCase> cases;
  for (const DType from : kTypes)
    for (const DType to : kTypes)
      for (const int64_t lanes : lane_counts) {
        if (from != to) cases.push_back(op_case(Op::Cast, from, to, lanes));
        if (from != to && item_size(from) == item_size(to)) cases.push_back(op_case(Op::Bitcast, from, to, lanes));
      }
  return cases;
}

TEST_F(LlvmWriter, OpsMeanWhatTheTableSays) {
  std::vector<OpCase> cases = all_ops({1, 16});
  run_cases(*compilers()[0], cases);
}

TEST_F(LlvmWriter, CastsMeanWhatTheTableSays) {
  std::vector<OpCase> cases = all_casts({1, 16});
  run_cases(*compilers()[0], cases);
}

TEST_F(LlvmWriter, EveryVersionAgrees) {
  for (size_t c = 1; c < compilers().size(); ++c) {
    std::vector<OpCase> cases = all_ops({8});
    run_cases(*compilers()[c], cases);
    cases = all_casts({8});
    run_cases(*compilers()[c], cases);
  }
}

}  // namespace
}  // namespace whit
