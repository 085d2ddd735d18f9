// Casts: which can be left out, and which can move to where they cost less.
#include "ir/interval.h"
#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;

bool is_whole(DType type) { return type == DType::boolean || is_integer(type); }

// The bits of a significand, hidden bit included: integers up to 2 to that power are exact.
int significand_bits(DType type) {
  switch (type) {
    case DType::float8_e4m3: return 4;
    case DType::float8_e5m2: return 3;
    case DType::float16: return 11;
    case DType::bfloat16: return 8;
    case DType::float32: return 24;
    default: return 53;
  }
}

// Whether each value of one float type is a value of the other.
bool holds_float(DType wide, DType narrow) {
  if (wide == narrow || wide == DType::float64) return true;
  if (wide == DType::float32) return narrow != DType::float64;
  return is_narrow_float(narrow) && item_size(narrow) == 1 && wide == DType::float16;
}

// The interval of a node's value; false for uint64, whose interval is not known.
bool bounds(const Node* node, Interval& interval) {
  interval = {node->minimum, node->maximum};
  return node->dtype != DType::uint64;
}

// Whether a cast to the type keeps the value, whatever it is.
bool keeps_value(const Node* node, DType type) {
  if (is_float(node->dtype)) return is_float(type) && holds_float(type, node->dtype);
  Interval value{};
  if (!bounds(node, value)) return type == DType::uint64;
  if (is_float(type)) {
    const int64_t limit = int64_t(1) << significand_bits(type);
    return value.minimum >= -limit && value.maximum <= limit;
  }
  if (type == DType::uint64) return value.minimum >= 0;
  const Interval all = interval_of(type);
  return all.minimum <= value.minimum && value.maximum <= all.maximum;
}

// Whether cast(cast(x)) is cast(x).
bool middle_is_needless(const Match& m) {
  const Node* value = m[x];
  const DType middle = m.root->source(0)->dtype, to = m.root->dtype;
  // A float saturates on its way to an integer, an integer wraps.
  if (keeps_value(value, middle)) return is_float(value->dtype) || !is_float(middle) || !is_integer(to) || keeps_value(value, to);
  if (to == DType::boolean) return is_whole(value->dtype) && is_float(middle);
  // Cutting bits off twice is cutting off the more.
  return is_integer(value->dtype) && is_integer(middle) && is_integer(to) && bit_width(to) <= bit_width(middle);
}

// The constant as one of another type, if it has that value there.
const Node* same_number(Graph& graph, const Node* constant, DType type) {
  const Bits bits = convert(constant->dtype, type, constant->arg(0));
  // Integers that wrap come back the same, but are another number; of 64 bits, even with the same bits.
  const bool whole = !is_float(constant->dtype) && !is_float(type);
  if (whole && (bits != constant->arg(0) || (bits < 0 && is_signed(type) != is_signed(constant->dtype)))) return nullptr;
  return convert(type, constant->dtype, bits) == constant->arg(0) ? graph.constant_bits(type, bits) : nullptr;
}

// cast(x) ∘ cast(y) → x ∘ y and cast(x) ∘ c → x ∘ c, for a comparison.
const Node* compare_before_cast(const Match& m, Graph& graph) {
  const Node *a = m.root->source(0), *b = m.root->source(1);
  const Node* inner = a->op == Op::Cast ? a->source(0) : b->source(0);
  const auto undo = [&](const Node* side) -> const Node* {
    if (side->is_constant()) return same_number(graph, side, inner->dtype);
    return side->op == Op::Cast && side->source(0)->dtype == inner->dtype && keeps_value(side->source(0), side->dtype) ? side->source(0)
                                                                                                                       : nullptr;
  };
  const Node *left = undo(a), *right = undo(b);
  return left && right && inner->dtype != DType::boolean ? graph.make(m.root->op, {left, right}) : nullptr;
}

// An op on integers that came from indices and cannot wrap is done as an index.
const Node* compute_as_index(const Match& m, Graph& graph) {
  const Node* operands[2];
  bool any_cast = false;
  const auto sources = m.root->sources();
  for (size_t i = 0; i < sources.size(); ++i) {
    const Node* source = sources[i];
    if (source->is_constant() && source->dtype != DType::uint64)
      operands[i] = graph.index(source->arg(0));
    else if (source->op == Op::Cast && source->source(0)->dtype == DType::index && keeps_value(source->source(0), source->dtype))
      operands[i] = source->source(0), any_cast = true;
    else
      return nullptr;
  }
  if (!any_cast) return nullptr;
  const Node* result = graph.make(m.root->op, Sources(operands, sources.size()));
  return keeps_value(result, m.root->dtype) ? graph.cast(result, m.root->dtype) : nullptr;
}

// The low bits of a sum or product depend on the low bits of its sources only.
const Node* narrow(const Match& m, Graph& graph) {
  const Node* wide = m.root->source(0);
  const DType type = m.root->dtype;
  if (!is_integer(wide->dtype) || wide->dtype == DType::index || type == DType::index || bit_width(type) >= bit_width(wide->dtype))
    return nullptr;
  const Node* operands[2];
  const auto sources = wide->sources();
  for (size_t i = 0; i < sources.size(); ++i) {
    const bool widened = sources[i]->op == Op::Cast && is_integer(sources[i]->source(0)->dtype) &&
                         bit_width(sources[i]->source(0)->dtype) <= bit_width(type);
    if (!widened && !sources[i]->is_constant()) return nullptr;
    operands[i] = graph.cast(sources[i], type);
  }
  return graph.make(wide->op, Sources(operands, sources.size()));
}

const Node* example_compare(Random& random, Graph& graph) {
  const DType narrow_types[] = {DType::int8, DType::uint8, DType::int16};
  const DType wide_types[] = {DType::int32, DType::int64, DType::float32};
  const DType type = random.pick(narrow_types), wide = random.pick(wide_types);
  const auto variable = [&](const char* text) {
    const Interval all = interval_of(type);
    return graph.cast(graph.make(Op::Variable, {}, {name_id(text), all.minimum, all.maximum}, type), wide);
  };
  const Node *a = variable("v0"), *b = random.coin() ? variable("v1") : graph.constant(wide, double(random.between(0, 100)));
  const Op op = random.coin() ? Op::Less : Op::NotEqual;
  return random.coin() ? graph.make(op, {a, b}) : graph.make(op, {b, a});
}

const Node* index_leaf(Random& random, Graph& graph, DType type) {
  return graph.cast(graph.range(random.between(0, 4), random.between(1, 20), AxisKind::loop), type);
}

const Node* example_index(Random& random, Graph& graph) {
  const DType types[] = {DType::int8, DType::int32, DType::int64, DType::uint8};
  const DType type = random.pick(types);
  const Node* a = index_leaf(random, graph, type);
  if (random.next() % 6 == 0) return graph.make(Op::Neg, {a});
  const Op ops[] = {Op::Add, Op::Mul, Op::Max, Op::Min, Op::Quotient, Op::Remainder};
  return graph.make(random.pick(ops),
                    {a, random.coin() ? index_leaf(random, graph, type) : graph.constant(type, double(random.between(1, 9)))});
}

const Node* example_divided_constant(Random& random, Graph& graph) {
  return graph.make(random.coin() ? Op::Quotient : Op::Remainder,
                    {graph.constant(DType::int32, double(random.between(0, 50))), index_leaf(random, graph, DType::int32)});
}

const Node* example_narrow(Random& random, Graph& graph) {
  const auto wide = [&](const char* text) {
    return graph.cast(graph.make(Op::Variable, {}, {name_id(text), -128, 127}, DType::int8), DType::int32);
  };
  const Op ops[] = {Op::Add, Op::Mul, Op::And, Op::Or, Op::Xor};
  const Node* b = random.coin() ? wide("v1") : graph.constant(DType::int32, double(random.between(-300, 300)));
  return graph.cast(graph.make(random.pick(ops), {wide("v0"), b}), random.coin() ? DType::int8 : DType::int16);
}

constexpr OpSet kIndexable = OpSet::of(Op::Add, Op::Mul, Op::Neg, Op::Max, Op::Min, Op::Quotient, Op::Remainder);
constexpr OpSet kRing = OpSet::of(Op::Add, Op::Mul, Op::Neg, Op::And, Op::Or, Op::Xor);

constexpr char kName[] = "cast";

// clang-format off
constexpr Rule kRows[] = {
    {"cast_same", anything, cast(x), x, [](const Match& m) { return m[x]->dtype == m.root->dtype; }},
    {"bitcast_same", anything, bitcast(x), x, [](const Match& m) { return m[x]->dtype == m.root->dtype; }},
    {"cast_cast", anything, cast(cast(x)), cast(x), middle_is_needless},
    {"cast_of_choice", anything, cast(where(p, c0, c1)), where(p, cast(c0), cast(c1)), grows("the cast moves to constants, which fold")},
    {"cast_of_choice_with_constant", anything, cast(where(p, x.in(Op::Cast), c0)), where(p, cast(x), cast(c0)), grows("the cast moves inwards, to a cast and a constant")},

    // A bool as a number.
    {"bool_not_zero", numbers, cast(p.of(bools)) != 0, p},
    {"bool_not_one", numbers, cast(p.of(bools)) != 1, !p},
    {"bool_less_one", numbers, cast(p.of(bools)) < 1, !p},
    {"zero_less_bool", numbers, 0 < cast(p.of(bools)), p},
    {"bool_times", integers, cast(p) * x, where(p, x, 0)},
    {"where_bool", integers | floats, where(p, 1, 0), cast(p)},

    {"compare_before_cast", numbers, any(OpSet::of(Op::Less, Op::NotEqual), cast(x), y), compare_before_cast, "values are compared before a cast that keeps them", example_compare},
    {"compare_before_cast_right", numbers, x < cast(y), compare_before_cast, "values are compared before a cast that keeps them", example_compare},
    {"compute_as_index", ints, any(kIndexable, cast(x), rest), compute_as_index, "integers made from indices are computed as indices, where nothing can wrap", example_index, grows("casts move outwards")},
    {"compute_constant_as_index", ints, any(OpSet::of(Op::Quotient, Op::Remainder), c0, cast(y)), compute_as_index, "integers made from indices are computed as indices, where nothing can wrap", example_divided_constant, grows("casts move outwards")},
    {"narrow", ints, cast(any(kRing, x, rest)), narrow, "what only has to be right in its low bits is computed in a narrow type", example_narrow, grows("casts move inwards, to casts and constants")},
};
// clang-format on

}  // namespace

constinit const RuleTable cast_rules = rule_table<kRows, kName>();

}  // namespace whit
