#include "rules/decompose.h"

#include "rewrite/driver.h"

namespace whit {

namespace {

// What the rows go by while they are applied; the default lowers everything.
thread_local const Lowering* current_lowering = nullptr;

const Lowering& lowering() {
  static const Lowering everything;
  return current_lowering ? *current_lowering : everything;
}

class Scope {
 public:
  explicit Scope(const Lowering& lowering) : outer_(current_lowering) { current_lowering = &lowering; }
  ~Scope() { current_lowering = outer_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const Lowering* outer_;
};

bool claimed(const Node* node) { return lowering().claims.contains(node->op); }

// Functions of floats. Narrow ones, on a target that computes in them, go by way of float32.
const Node* by(const Match& match, Graph& graph, const Node* (*function)(Graph&, const Node*, const Lowering&)) {
  const Node* x = match.root->source(0);
  if (claimed(match.root)) return nullptr;
  return graph.cast(function(graph, is_narrow_float(x->dtype) ? graph.cast(x, DType::float32) : x, lowering()), x->dtype);
}

const Node* power(const Match& match, Graph& graph) {
  const Node *x = match.root->source(0), *y = match.root->source(1);
  if (claimed(match.root)) return nullptr;
  if (!is_narrow_float(x->dtype)) return lower_pow(graph, x, y, lowering());
  return graph.cast(lower_pow(graph, graph.cast(x, DType::float32), graph.cast(y, DType::float32), lowering()), x->dtype);
}

// Functions of any values, which ask nothing of the target.
const Node* of_both(const Match& match, Graph& graph, const Node* (*function)(Graph&, const Node*, const Node*)) {
  return claimed(match.root) ? nullptr : function(graph, match.root->source(0), match.root->source(1));
}

const Node* multiply_add(const Match& match, Graph& graph) {
  const Node* node = match.root;
  if (claimed(node) || lowering().fused_multiply_add || node->dtype == DType::float64 || !lowering().types.contains(DType::float64))
    return nullptr;
  const auto source = [&](size_t i) { return graph.cast(node->source(i), DType::float32); };
  return graph.cast(lower_multiply_add(graph, source(0), source(1), source(2)), node->dtype);
}

template <Op op>
const Node* example(Random& random, Graph& graph) {
  constexpr DType kFloats[] = {DType::float32, DType::float64};
  constexpr DType kAny[] = {DType::boolean, DType::int8, DType::uint16, DType::int32, DType::uint64, DType::float32, DType::float64};
  const DType type = op == Op::Threefry  ? DType::uint64
                     : op == Op::MulAdd  ? DType::float32
                     : has(op, floating) ? random.pick(kFloats)
                                         : random.pick(kAny);
  const int64_t size = random.between(1, 8);
  std::vector<const Node*> sources;
  for (int64_t i = 0; i < info(op).arity; ++i) sources.push_back(graph.make(Op::Param, {}, {i, size, kNoDevice}, type));
  return graph.make(op, sources);
}

using namespace patterns;

constexpr Note kOnce = grows("its result has no op that is lowered");

// clang-format off
constexpr Rule kRows[] = {
    {"exp", floats, exp(x), [](const Match& m, Graph& g) { return by(m, g, lower_exp); }, "2^n * p(x - n*ln2)", example<Op::Exp>, kOnce},
    {"exp2", floats, exp2(x), [](const Match& m, Graph& g) { return by(m, g, lower_exp2); }, "2^n * p(x - n)", example<Op::Exp2>, kOnce},
    {"log", floats, log(x), [](const Match& m, Graph& g) { return by(m, g, lower_log); }, "e*ln2 + p(m - 1), where x = 2^e * m", example<Op::Log>, kOnce},
    {"log2", floats, log2(x), [](const Match& m, Graph& g) { return by(m, g, lower_log2); }, "e + p(m - 1), where x = 2^e * m", example<Op::Log2>, kOnce},
    {"sin", floats, sin(x), [](const Match& m, Graph& g) { return by(m, g, lower_sin); }, "a polynomial of x modulo pi/2, by the bits of 2/pi", example<Op::Sin>, kOnce},
    {"cos", floats, cos(x), [](const Match& m, Graph& g) { return by(m, g, lower_cos); }, "sin of |x| + pi/2", example<Op::Cos>, kOnce},
    {"pow", floats, pow(x, y), power, "2^(y * log2|x|) in more digits, then the sign", example<Op::Pow>, kOnce},
    {"max", numbers | bools, max(x, y), [](const Match& m, Graph& g) { return of_both(m, g, lower_max); }, "where(y < x, x, y), but a NaN if either is", example<Op::Max>, kOnce},
    {"min", numbers | bools, min(x, y), [](const Match& m, Graph& g) { return of_both(m, g, lower_min); }, "where(x < y, x, y), but a NaN if either is", example<Op::Min>, kOnce},
    {"threefry", TypeSet(DType::uint64), Pattern::of(Op::Threefry, x, y), [](const Match& m, Graph& g) { return of_both(m, g, lower_threefry); }, "twenty rounds on 32-bit halves", example<Op::Threefry>, kOnce},
    {"multiply_add", floats, fused(x, y, z), multiply_add, "in float64, rounded to odd, then rounded", example<Op::MulAdd>, kOnce},
};
// clang-format on
constexpr char kName[] = "decompose";

}  // namespace

constinit const RuleTable decompose_rules = rule_table<kRows, kName>();

const Node* decompose(Graph& graph, const Node* root, const Lowering& with) {
  const Scope scope(with);
  return rewrite(graph, root, decompose_rules);
}

const Node* lower_op(Graph& graph, const Node* node, const Lowering& with) {
  const Scope scope(with);
  const RuleInfo* rule = nullptr;
  const Node* result = RuleSet(decompose_rules).rewrite(node, graph, &rule);
  return result ? result : node;
}

}  // namespace whit
