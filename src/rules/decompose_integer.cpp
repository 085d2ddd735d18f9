// Lowerings that are about comparing and about integers: Max, Min, Threefry and the exact MulAdd.
#include "rules/decompose_value.h"

namespace whit {

namespace {

Value value_of(Graph& graph, const Node* node) { return whit::value_of(graph, node, {}); }

bool is_number(const Node* node) { return node->is_constant() && node->number() == node->number(); }

// The greater or the lesser by `pick`, which says that the first is to be taken; where either is NaN, so is the result. pick(a, b) is
// false with a NaN: then b is taken, which is right if b is the NaN.
template <class Pick>
const Node* extreme(Graph& graph, const Node* first, const Node* second, Pick pick) {
  const Value a = value_of(graph, first), b = value_of(graph, second);
  if (!is_float(a.type())) return where(pick(a, b), a, b).node;
  if (is_number(second)) return where(pick(b, a), b, a).node;
  if (is_number(first)) return where(pick(a, b), a, b).node;
  return where(a != a, a, where(pick(a, b), a, b)).node;
}

}  // namespace

const Node* lower_max(Graph& graph, const Node* a, const Node* b) {
  if (a->dtype == DType::boolean) return graph.make(Op::Or, {a, b});
  return extreme(graph, a, b, [](const Value& x, const Value& y) { return y < x; });
}

const Node* lower_min(Graph& graph, const Node* a, const Node* b) {
  if (a->dtype == DType::boolean) return graph.make(Op::And, {a, b});
  return extreme(graph, a, b, [](const Value& x, const Value& y) { return x < y; });
}

const Node* lower_threefry(Graph& graph, const Node* counter_node, const Node* key_node) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Value counter = value_of(graph, counter_node), key = value_of(graph, key_node);
  const auto low = [](const Value& word) { return cast(word, DType::uint32); };
  const Value keys[3] = {low(key), low(key >> 32), low(key) ^ low(key >> 32) ^ 0x1BD11BDA};
  Value x0 = low(counter) + keys[0], x1 = low(counter >> 32) + keys[1];
  for (int group = 0; group < 5; ++group) {
    for (const int rotation : rotations[group % 2]) {
      x0 = x0 + x1;
      x1 = ((x1 << rotation) | (x1 >> (32 - rotation))) ^ x0;
    }
    x0 = x0 + keys[(group + 1) % 3];
    x1 = x1 + (keys[(group + 2) % 3] + (group + 1));
  }
  return ((cast(x1, DType::uint64) << 32) | cast(x0, DType::uint64)).node;
}

// The product of two float32 is exact in float64; the sum is not, and rounding it again to float32 would round twice. So the float64 sum
// is rounded to odd: where it is inexact, its last bit is set on the side of the error. That keeps what the second rounding must know.
const Node* lower_multiply_add(Graph& graph, const Node* a_node, const Node* b_node, const Node* c_node) {
  const auto wide = [&](const Node* node) { return cast(value_of(graph, node), DType::float64); };
  const Value product = wide(a_node) * wide(b_node), c = wide(c_node), sum = product + c;
  const Value other = sum - product;
  const Value error = (product - (sum - other)) + (c - other);
  const Value bits = bitcast(sum, DType::int64);
  const Value inexact = (error < 0) | (0 < error);
  const Value away = where((error < 0) != (sum < 0), bits.constant(-1), 1);
  const Value odd = bits + where(inexact & ((bits & 1) != 1), away, 0);
  return cast(bitcast(odd, DType::float64), DType::float32).node;
}

}  // namespace whit
