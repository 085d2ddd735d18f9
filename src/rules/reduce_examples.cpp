// Random reductions that the rows of reduce.cpp are for.
#include "rules/reduce_functions.h"

namespace whit::reductions {

namespace {

const DType kTypes[] = {DType::int8,    DType::uint8,   DType::int32,   DType::uint32,  DType::int64,
                        DType::float16, DType::float32, DType::float64, DType::bfloat16};

// The range that goes, one that stays closed beside it, and one that is open.
struct Nest {
  Random& random;
  Graph& graph;
  const Node* range = graph.range(0, random.between(0, 9), AxisKind::reduce);
  const Node* other = graph.range(1, random.between(1, 3), AxisKind::reduce);
  const Node* open = graph.range(2, random.between(1, 6), AxisKind::loop);
  bool has_other = random.next() % 3 == 0;

  const Node* reduce(Op op, const Node* value) const {
    if (!has_other) return graph.make(Op::Accumulate, {value, range}, {int64_t(op)});
    return random.coin() ? graph.make(Op::Accumulate, {value, range, other}, {int64_t(op)})
                         : graph.make(Op::Accumulate, {value, other, range}, {int64_t(op)});
  }
  const Node* param(int64_t slot, int64_t size, DType type) const { return graph.make(Op::Param, {}, {slot, size, kNoDevice}, type); }
  /// Something of the other ranges: a load, or an index.
  const Node* free_value(DType type) const {
    const Node* index = has_other && random.coin() ? other : open;
    if (random.next() % 3 == 0) return graph.cast(graph.add(index, graph.index(random.between(-3, 3))), type);
    return graph.make(Op::Load, {param(0, 6, type), index});
  }
  /// An integer that is often, but not always, within the range; as a tensor of indices gives it.
  const Node* wanted() const {
    const DType types[] = {DType::int32, DType::int64, DType::uint8};
    const Node* loaded = graph.make(Op::Load, {param(1, 6, random.pick(types)), open});
    return graph.make(Op::Remainder, {loaded, graph.constant(loaded->dtype, double(random.between(2, 12)))});
  }
  const Node* equal(const Node* a, const Node* b) const {
    const Node* different = random.coin() ? graph.make(Op::NotEqual, {a, b}) : graph.make(Op::NotEqual, {b, a});
    return graph.make(Op::Xor, {different, graph.boolean(true)});
  }
  const Node* range_is_wanted() const {
    switch (random.next() % 3) {
      case 0: {
        const Node* index = wanted();
        return equal(graph.cast(range, index->dtype), index);
      }
      case 1:
        return equal(graph.add(graph.mul(range, graph.index(random.between(1, 3))), graph.index(random.between(-2, 2))),
                     graph.cast(wanted(), DType::index));
      default: return equal(graph.sub(open, range), graph.index(random.between(-3, 3)));
    }
  }
  const Node* bound() const {
    const Node* limit = random.coin() ? graph.index(random.between(-2, 10)) : graph.add(open, graph.index(random.between(-2, 3)));
    const Node* scaled = random.coin() ? range : graph.mul(range, graph.index(random.between(2, 3)));
    const Node* result = random.coin() ? graph.less(scaled, limit) : graph.less(limit, scaled);
    return random.next() % 4 ? result : graph.make(Op::Xor, {result, graph.boolean(true)});
  }
  const Node* condition(const Node* first) const {
    if (random.coin()) return first;
    return graph.make(Op::And, {random.coin() ? bound() : graph.less(open, graph.index(random.between(0, 6))), first});
  }
  /// value where the condition holds, else 0, spelt one way or another.
  const Node* choose(const Node* condition, const Node* value) const {
    const Node* zero = graph.constant(value->dtype, 0);
    if (value->op == Op::Load && value->source_count == 2 && random.coin())
      return graph.make(Op::Load, {value->source(0), value->source(1), condition});
    if (random.next() % 3 == 0) return graph.where(graph.make(Op::Xor, {condition, graph.boolean(true)}), zero, value);
    return graph.where(condition, value, zero);
  }
  const Node* table_value(DType type) const {
    const Node* value = graph.make(Op::Load, {param(2, 64, type), graph.add(graph.mul(range, graph.index(6)), open)});
    if (random.next() % 4 == 0) return graph.add(value, free_value(type));
    return value;
  }
};

}  // namespace

const Node* example_trivial(Random& random, Graph& graph) {
  const Node* one = graph.range(0, random.between(0, 1), AxisKind::reduce);
  const Nest nest{random, graph};
  const DType type = random.pick(kTypes);
  const Op ops[] = {Op::Add, Op::Mul, Op::Max, Op::Min};
  const Node* value = graph.add(graph.make(Op::Load, {nest.param(0, 1, type), one}), nest.free_value(type));
  if (nest.has_other) return graph.make(Op::Accumulate, {value, one, nest.other}, {int64_t(random.pick(ops))});
  return graph.make(Op::Accumulate, {value, one}, {int64_t(random.pick(ops))});
}

const Node* example_independent(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  const DType type = random.pick(kTypes);
  const Node* value = is_float(type) && random.coin() ? graph.constant(type, double(random.between(-3, 3))) : nest.free_value(type);
  const Op ops[] = {Op::Add, Op::Max, Op::Min};
  return nest.reduce(random.pick(ops), value);
}

const Node* example_nested(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  const DType type = random.pick(kTypes);
  const Op ops[] = {Op::Add, Op::Max, Op::Mul};
  const int64_t op = int64_t(random.pick(ops));
  const Node* value = graph.make(Op::Load, {nest.param(0, 18, type), graph.add(graph.mul(nest.range, graph.index(2)),
                                                                               graph.make(Op::Min, {nest.other, graph.index(1)}))});
  return graph.make(Op::Accumulate, {graph.make(Op::Accumulate, {value, nest.other}, {op}), nest.range}, {op});
}

const Node* example_gather(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  const DType type = random.pick(kTypes);
  const Node* value = nest.choose(nest.condition(nest.range_is_wanted()), nest.table_value(type));
  if (is_narrow_float(type) && random.coin()) value = graph.cast(value, DType::float32);
  if (is_integer(type) && random.next() % 3 == 0) value = graph.mul(graph.cast(nest.range_is_wanted(), type), nest.table_value(type));
  return nest.reduce(Op::Add, value);
}

const Node* example_product_gather(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  return nest.reduce(Op::Add, graph.mul(graph.cast(nest.range_is_wanted(), DType::float32), nest.table_value(DType::float32)));
}

const Node* example_count(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  const DType type = random.pick(kTypes);
  const Node* condition = nest.condition(nest.bound());
  if (random.coin()) return nest.reduce(Op::Add, graph.cast(condition, type));
  return nest.reduce(Op::Add,
                     nest.choose(condition, is_float(type) ? graph.constant(type, double(random.between(-3, 3))) : nest.free_value(type)));
}

const Node* example_any(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  const Op ops[] = {Op::Or, Op::And, Op::Max, Op::Min};
  const Node* condition = nest.condition(nest.bound());
  return nest.reduce(random.pick(ops), random.coin() ? condition : graph.make(Op::Xor, {condition, graph.boolean(true)}));
}

const Node* example_indices(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  const Node* index =
      graph.add(graph.add(graph.mul(nest.range, graph.index(random.between(-3, 3))), nest.open), graph.index(random.between(-4, 4)));
  const DType types[] = {DType::int8, DType::int32, DType::int64, DType::index};
  const Node* value = graph.cast(index, random.pick(types));
  return nest.reduce(Op::Add, random.coin() ? value : nest.choose(nest.condition(nest.bound()), value));
}

const Node* example_split(Random& random, Graph& graph) {
  const Nest nest{random, graph};
  const DType types[] = {DType::int8, DType::int32, DType::uint8};
  const DType type = random.pick(types);
  const Node* load = graph.make(Op::Load, {nest.param(2, 16, type), nest.range});
  const Node* closed = random.coin() ? nest.free_value(type) : graph.cast(nest.bound(), type);
  return nest.reduce(Op::Add, graph.add(load, closed));
}

}  // namespace whit::reductions
