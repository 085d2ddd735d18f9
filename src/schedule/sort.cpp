#include "schedule/sort.h"

#include "rules/simplify.h"

namespace whit {

namespace {

class RadixSort {
 public:
  RadixSort(Graph& graph, int64_t rows, int64_t size, int64_t digit_bits)
      : graph_(graph),
        size_(size),
        digits_(int64_t(1) << digit_bits),
        row_(rows == 1 ? graph.index(0) : graph.range(0, rows, AxisKind::loop)),
        element_(graph.range(1, size, AxisKind::sequence)),
        digit_(graph.range(1, digits_, AxisKind::sequence)),
        place_(at(row_, size, element_)) {}

  // counts[row, digit] = 0
  const Node* clear(const Node* counts) {
    return sink({store(counts, at(row_, digits_, graph_.range(1, digits_, AxisKind::loop)), number(0))});
  }

  // ++counts[row, digit of the element]
  const Node* count(const Node* counts, const Node* keys, int64_t shift) {
    const Node* bucket = at(row_, digits_, digit_of(load(keys, place_), shift));
    return sink({store(counts, bucket, graph_.add(load(counts, bucket), number(1)))});
  }

  // What a count becomes is where the first element with its digit goes.
  const Node* sum(const Node* counts) {
    const Node *here = at(row_, digits_, digit_), *own = load(counts, here);
    const Node* running = graph_.make(Op::Running, {own, digit_}, {int64_t(Op::Add)});
    return sink({store(counts, here, graph_.add(running, graph_.make(Op::Neg, {own})))});
  }

  // Each element, in order, goes to the next place of its digit. The first pass has the places themselves to move.
  const Node* move(const Node* counts, const Node* keys, const Node* places, const Node* new_keys, const Node* new_places, int64_t shift) {
    const Node* key = load(keys, place_);
    const Node* bucket = at(row_, digits_, digit_of(key, shift));
    const Node* next = load(counts, bucket);
    const Node* target = at(row_, size_, graph_.cast(next, DType::index));
    const Node* own = places ? load(places, place_) : graph_.cast(element_, DType::int32);
    std::vector<const Node*> stores{store(new_places, target, own)};
    if (new_keys) stores.push_back(store(new_keys, target, key));
    stores.push_back(store(counts, bucket, graph_.add(next, number(1))));
    return sink(stores);
  }

 private:
  const Node* number(double value) { return graph_.constant(DType::int32, value); }
  const Node* at(const Node* row, int64_t width, const Node* column) { return graph_.add(graph_.mul(row, graph_.index(width)), column); }
  const Node* load(const Node* from, const Node* index) { return graph_.make(Op::Load, {from, index}); }
  const Node* store(const Node* to, const Node* index, const Node* value) { return graph_.make(Op::Store, {to, index, value}); }
  const Node* sink(const std::vector<const Node*>& stores) { return simplify_kernel(graph_, graph_.make(Op::Sink, stores)); }

  const Node* digit_of(const Node* key, int64_t shift) {
    const DType type = key->dtype;
    const Node* low = graph_.make(Op::Shr, {key, graph_.constant(type, double(shift))});
    return graph_.cast(graph_.make(Op::And, {low, graph_.constant(type, double(digits_ - 1))}), DType::index);
  }

  Graph& graph_;
  const int64_t size_, digits_;
  const Node *row_, *element_, *digit_, *place_;
};

}  // namespace

std::vector<const Node*> sorting_kernels(Graph& graph, const Node* keys, const Node* places, int64_t rows, int64_t size,
                                         const std::function<const Node*(DType, int64_t)>& buffer) {
  // Wide digits take few passes, and counts that should stay in the first cache.
  const int64_t bits = int64_t(item_size(keys->dtype)) * 8, digit_bits = bits == 8 ? 8 : size >= 4096 && bits > 16 ? 11 : 8;
  const int64_t passes = (bits + digit_bits - 1) / digit_bits;
  RadixSort sort(graph, rows, size, digit_bits);
  const Node* counts = buffer(DType::int32, rows << digit_bits);
  std::vector<const Node*> sinks;
  const Node *from_keys = keys, *from_places = nullptr;
  for (int64_t pass = 0; pass < passes; ++pass) {
    const bool last = pass + 1 == passes;
    const Node* to_places = last ? places : buffer(DType::int32, rows * size);
    const Node* to_keys = last ? nullptr : buffer(keys->dtype, rows * size);
    sinks.push_back(sort.clear(counts));
    sinks.push_back(sort.count(counts, from_keys, pass * digit_bits));
    sinks.push_back(sort.sum(counts));
    sinks.push_back(sort.move(counts, from_keys, from_places, to_keys, to_places, pass * digit_bits));
    from_keys = to_keys;
    from_places = to_places;
  }
  return sinks;
}

}  // namespace whit
