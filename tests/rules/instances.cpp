#include "instances.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "ir/interpret_tensor.h"
#include "ir/interval.h"
#include "ir/print.h"

namespace whit::rule_tests {

namespace {

using namespace patterns;

Bits random_integer(Random& random, DType type) {
  const Interval all = interval_of(type);
  const int64_t edges[] = {all.minimum, all.maximum, all.minimum + 1, all.maximum - 1, 0, 1, -1, 2, 3, 4, 6, 7, 8, 12, 16, -2, -4, 64, 100};
  int64_t value = random.next() % 3 ? random.pick(edges) : int64_t(random.next());
  if (type == DType::index) value %= int64_t(1) << 40;  // sizes and offsets: sums of a few of them are far from overflow
  return bits_of_integer(type, value);
}

Bits random_float(Random& random, DType type) {
  using Limits = std::numeric_limits<float>;
  const double edges[] = {0.0,
                          -0.0,
                          1,
                          -1,
                          2,
                          -2,
                          0.5,
                          3,
                          10,
                          -0.75,
                          4,
                          Limits::infinity(),
                          -Limits::infinity(),
                          std::nan(""),
                          Limits::max(),
                          Limits::lowest(),
                          Limits::min(),
                          Limits::denorm_min(),
                          240,
                          448,
                          57344,
                          65504,
                          6e-8,
                          6e-5};
  if (random.next() % 3) return bits_of_float(type, random.pick(edges));
  if (is_narrow_float(type))
    return bits_of_float(type, decode_narrow(type, uint16_t(item_size(type) == 1 ? random.next() & 0xFF : random.next())));
  if (type == DType::float32) return bits_of_float(type, std::bit_cast<float>(uint32_t(random.next())));
  return bits_of_float(type, std::bit_cast<double>(random.next()));
}

// A constant that guards are likely to accept: small, often a power of two or a multiple of another.
Bits random_constant(Random& random, DType type) {
  const double small[] = {0, 1, 2, 3, 4, 6, 8, 12, 24, 5, -1, -2, -3, -4, 0.5, 0.25, 64};
  if (type != DType::boolean && random.next() % 4) return bits_of_number(type, random.pick(small));
  return random_value(random, type);
}

class Builder {
 public:
  Builder(Random& random, Graph& graph, const RuleTable& table) : random_(random), graph_(graph), table_(table) {}

  /// A node for the step, of this type, or over it where the node compares; null where none is possible.
  const Node* build(const Step*& step, DType type, DType operands) {
    const Step& s = *step++;
    if (!table_.type_sets[s.types].contains(type)) return nullptr;
    if (s.kind == StepKind::literal) {
      const Node* constant = graph_.constant(type, table_.literals[s.literal].number);
      return table_.literals[s.literal].matches(constant) ? constant : nullptr;
    }
    if (s.kind == StepKind::hole) return hole(s, type);
    return apply(s, step, type, operands);
  }

 private:
  const Node* hole(const Step& s, DType type) {
    const Node*& bound = bound_[s.hole];
    if (bound) return bound->dtype == type ? bound : nullptr;
    const OpSet ops = s.flags & Step::any_op ? table_.op_sets[s.op] : OpSet(Op(s.op));
    const std::string name = "h" + std::to_string(s.hole);
    if (ops == OpSet(Op::Const))
      bound = graph_.constant_bits(type, random_constant(random_, type));
    else if (ops == OpSet(Op::Range))
      bound = type == DType::index ? graph_.range(s.hole, random_.between(1, 9), AxisKind::reduce) : nullptr;
    else if (ops == OpSet(Op::Cast))
      bound = graph_.make(Op::Cast, {random_variable(random_, graph_, random_type(anything), name)}, {}, type);
    else
      bound = random_variable(random_, graph_, type, name);
    return bound;
  }

  const Node* apply(const Step& s, const Step*& step, DType type, DType operands) {
    Op op = Op(s.op);
    if (s.flags & Step::any_op) {
      std::vector<Op> fitting;
      for (size_t i = 0; i < kOpCount; ++i)
        if (table_.op_sets[s.op].contains(Op(i)) && has(Op(i), alu) && info(Op(i)).arity >= s.sources) fitting.push_back(Op(i));
      if (fitting.empty()) return nullptr;
      op = random_.pick(fitting);
    }
    if (!has(op, alu)) return nullptr;
    if (has(op, compares) ? type != DType::boolean : !types_of_op(op, anything).contains(type)) return nullptr;
    const Node* sources[3];
    DType source_type = has(op, compares) ? operands : type;
    if (has(op, typed)) source_type = random_type(table_.type_sets[step->types]);
    if (has(op, compares) && operands == DType::none) source_type = random_type(numbers);
    for (int k = 0; k < info(op).arity; ++k) {
      const DType own = op == Op::Where && k == 0 ? DType::boolean : source_type;
      sources[k] = k < s.sources ? build(step, own, DType::none) : random_variable(random_, graph_, own, "rest" + std::to_string(k));
      if (!sources[k]) return nullptr;
    }
    if (op == Op::Bitcast && item_size(type) != item_size(sources[0]->dtype)) return nullptr;
    const Node* node = graph_.make(op, Sources(sources, size_t(info(op).arity)), {}, has(op, typed) ? type : DType::none);
    return node->is_constant() ? nullptr : node;
  }

  DType random_type(TypeSet set) {
    const std::vector<DType> types = types_of(set);
    return types.empty() ? DType::none : random_.pick(types);
  }

  Random& random_;
  Graph& graph_;
  const RuleTable& table_;
  const Node* bound_[kMaxHoles]{};
};

bool contains_op(const Node* root, OpSet ops) { return root->below.intersects(ops); }

int64_t weight(Op op) {
  switch (op) {
    case Op::Const: return 1;
    case Op::Variable:
    case Op::Range: return 2;
    case Op::Neg: return 9;
    case Op::Mul:
    case Op::Where: return 12;
    case Op::MulAdd: return 20;
    case Op::Reciprocal: return 30;
    case Op::Divide:
    case Op::Quotient:
    case Op::Remainder: return 40;
    case Op::Pow: return 100;
    default: return 10;
  }
}

}  // namespace

std::vector<DType> types_of(TypeSet set) {
  std::vector<DType> types;
  for (size_t i = 1; i < kDTypeCount; ++i)
    if (set.contains(DType(i))) types.push_back(DType(i));
  return types;
}

Bits random_value(Random& random, DType type) {
  if (type == DType::boolean) return random.coin();
  return is_float(type) ? random_float(random, type) : random_integer(random, type);
}

Bits random_value_in(Random& random, const Node* node) {
  if (is_float(node->dtype) || node->dtype == DType::uint64) return random_value(random, node->dtype);
  for (int attempt = 0; attempt < 4; ++attempt)
    if (const Bits value = random_value(random, node->dtype); value >= node->minimum && value <= node->maximum) return value;
  const uint64_t span = uint64_t(node->maximum) - uint64_t(node->minimum);
  if (random.next() % 3 == 0) return random.coin() ? node->minimum : node->maximum;
  return node->minimum + int64_t(span == ~uint64_t(0) ? random.next() : random.next() % (span + 1));
}

const Node* random_variable(Random& random, Graph& graph, DType type, const std::string& name) {
  int64_t low = 0, high = 0;
  if (!is_float(type) && type != DType::none) {
    const Interval all = interval_of(type);
    low = all.minimum, high = all.maximum;
    if (type == DType::index) {  // mostly small, so that sums and products seldom overflow
      low = random.next() % 3 ? 0 : random.between(-40, 40);
      high = low + random.between(0, 60);
    } else if (type != DType::boolean && random.coin()) {
      low = std::max<int64_t>(all.minimum, random.between(-20, 20));
      high = std::min<int64_t>(all.maximum, low + random.between(0, 40));
    }
  }
  return graph.make(Op::Variable, {}, {name_id(name), low, high}, type);
}

const Node* instance(Random& random, Graph& graph, const RuleTable& table, const RuleInfo& row, DType type) {
  const Step* step = table.steps + row.left;
  const bool comparison = !(step->flags & Step::any_op) && has(Op(step->op), compares);
  return Builder(random, graph, table).build(step, comparison ? DType::boolean : type, comparison ? type : DType::none);
}

void bind_leaves(Random& random, Sources roots, Environment& environment) {
  uint64_t open = 0;
  for (const Node* root : roots) open |= root->open;
  for (const Node* node : topological_order(roots)) {
    if (environment.values.contains(node)) continue;
    if (node->op == Op::Variable) environment.values[node] = random_value_in(random, node);
    // A range that is not open anywhere gets its values from the reduction that closes it.
    if (node->op == Op::Range && (open & node->open))
      environment.values[node] = random.between(0, std::max<int64_t>(evaluate_expression(node->source(0), environment), 1) - 1);
    if (node->op == Op::Param && !environment.arrays.contains(node)) {
      std::vector<Bits>& array = environment.arrays[node];
      for (int64_t i = 0; i < node->arg(1); ++i) array.push_back(random_value(random, node->dtype));
    }
  }
}

std::optional<Bits> checked_value(const Node* root, const Environment& given) {
  Environment environment = given;
  for (const Node* node : topological_order(Sources(&root, 1))) {
    if (!has(node->op, alu | reduces) && node->op != Op::Load) continue;
    if (node->open & ~root->open) continue;  // depends on a range that is closed above it
    const auto wide = [&](size_t i) -> __int128 {
      return node->source(i)->is_constant() ? node->source(i)->arg(0) : *environment.values.find(node->source(i));
    };
    if (node->dtype == DType::index && (node->op == Op::Add || node->op == Op::Mul || node->op == Op::Neg)) {
      const __int128 value = node->op == Op::Add ? wide(0) + wide(1) : node->op == Op::Mul ? wide(0) * wide(1) : -wide(0);
      if (value != int64_t(value)) return std::nullopt;
    }
    const Bits value = evaluate_expression(node, environment);
    environment.values[node] = value;
    const bool bounded = node->dtype == DType::boolean || (is_integer(node->dtype) && node->dtype != DType::uint64);
    if (bounded && (value < node->minimum || value > node->maximum))
      ADD_FAILURE() << value << " is not in the interval of " << print_expression(node);
  }
  if (root->op != Op::Store) return evaluate_expression(root, environment);
  const auto part = [&](size_t i) { return evaluate_expression(root->source(i), environment); };
  if (root->source_count > 3 && !part(3)) return 0;  // it writes nothing
  return Bits(mix(mix(1, uint64_t(part(1))), uint64_t(part(2))));
}

std::vector<Bits> tensor_values(const Node* root, ShapeView shape, const Environment& environment) {
  TensorInputs inputs;
  environment.values.for_each([&](const Node* node, Bits value) { inputs[node] = {{}, {value}}; });
  environment.arrays.for_each([&](const Node* node, const std::vector<Bits>& values) {
    inputs[node] = {{int64_t(values.size())}, values};
  });
  std::vector<Bits> values = evaluate_tensor(root, inputs).values;
  if (root->rank == 0) values.assign(size_t(element_count(shape)), Bits(values[0]));
  return values;
}

bool same_value(const Node* left, Bits a, Bits b) {
  if (a == b) return true;
  if (!is_float(left->dtype)) return false;
  const double x = float_of_bits(left->dtype, a), y = float_of_bits(left->dtype, b);
  if (contains_op(left, OpSet::of(Op::Max, Op::Min)) && x == y) return true;
  return contains_op(left, Op::Pow) && std::fabs(x - y) <= std::fabs(x) * 1e-6;
}

int64_t cost_of(const Node* root) {
  int64_t cost = 0;
  for (const Node* node : topological_order(Sources(&root, 1))) cost += weight(node->op);
  return cost;
}

std::string describe(const RuleTable& table, const RuleInfo& row) {
  return concat(table.name, ".", row.name, " (src/rules/", table.name, ".cpp:", row.line, ")");
}

std::string explain(const Node* left, const Node* right, const Environment& environment) {
  std::string text = concat("\n  ", name(left->dtype), "  ", print_expression(left), "\n  → ", print_expression(right), "\n");
  environment.values.for_each(
      [&](const Node* node, Bits value) { text += concat("  ", print_expression(node), " = ", print_value(node->dtype, value), "\n"); });
  return text;
}

}  // namespace whit::rule_tests
