#include "schedule/stores.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "schedule/cost.h"

namespace whit {

namespace {

// Ranges are numbered within 64 bits; scheduling needs some numbers for itself.
constexpr size_t kMaxNest = 20, kMaxFolds = 10;
// Operations of a value that reads nothing, below which storing it is never worth while: fewer than a transcendental takes.
constexpr double kCheap = 12;
struct Use {
  size_t root;
  Place place;
  const Node* nest;
  friend bool operator==(const Use&, const Use&) = default;
};

struct Root {
  const Node* node;
  Place place;
  const Node* nest;
  double ops = 0;
  size_t leaves = 0, pending = 0, folds = 0;
  std::vector<Use> readers;
};

// How often a value of `count` elements is computed by a loop nest that reads it there: the loops down to the innermost one its place
// depends on. Padding makes a nest look longer than the work it does: behind a gate, no more than twice the elements count once.
double evaluations(const Use& use, double elements) {
  double count = 1;
  for (size_t i = 0, depth = depth_of(use.place, use.nest); i < depth; ++i) count *= double(use.nest->source(i)->source(0)->maximum);
  return use.place.gate && count < 2 * elements ? std::min(count, elements) : count;
}

class Chooser {
 public:
  Chooser(Graph& graph, const std::vector<const Node*>& outputs, const std::function<const Target&(DeviceId)>& target)
      : graph_(graph), target_(target) {
    order_ = topological_order(outputs);
    size_t top = 0;
    for (const Node* node : order_) top = std::max<size_t>(top, node->id);
    facts_.resize(top + 1);
    for (const Node* output : outputs) fact(output).forced = true;
    for (const Node* node : order_) prepare(node);
  }

  std::vector<StoredTensor> run() {
    for (size_t i = order_.size(); i-- > 0;) visit(order_[i]);
    std::vector<StoredTensor> stores;
    for (const Root& root : roots_) {
      stores.push_back({root.node, root.place, root.nest, {}, root.ops});
      for (const Use& use : root.readers) stores.back().readers.emplace_back(roots_.size() - 1 - use.root, use.place);
    }
    std::ranges::reverse(stores);
    return stores;
  }

 private:
  struct Fact {
    Estimate estimate;
    std::vector<Use> uses;
    bool forced = false;
    double terms = 1;    ///< folded into one element, were all reductions below fused
    uint64_t along = 0;  ///< the axes, as bits, along which what is folded below differs from element to element
  };
  Fact& fact(const Node* node) { return facts_[node->id]; }

  void prepare(const Node* node) {
    std::vector<const Estimate*> sources;
    for (const Node* source : node->sources()) sources.push_back(&fact(source).estimate);
    fact(node).estimate = estimate(node, sources);
    count_terms(node);
    if (node->op == Op::Contiguous || node->op == Op::Copy || node->op == Op::Assign || node->op == Op::Scan) fact(node).forced = true;
    if (node->op == Op::Scatter || node->op == Op::Order) {
      fact(node).forced = true;
      const Node* old = node->source(0);
      while (old->op == Op::Reshape && old->sources().size() == 1) old = old->source(0);
      if (old->op != Op::Param) fact(old).forced = true;
    }
    if (node->op == Op::Copy && node->source(0)->op != Op::Param) fact(node->source(0)).forced = true;
  }

  // A fold within a fold multiplies its terms where it has another value at each of them; where it doesn't, it is done once before.
  void count_terms(const Node* node) {
    Fact& own = fact(node);
    if (has(node->op, alu | movement | reduces))
      for (const Node* source : node->sources()) {
        const Fact& below = fact(source);
        if (below.forced || below.terms <= 1) continue;
        own.terms = std::max(own.terms, below.terms);
        own.along |= has(node->op, movement) ? axes_after(node, below.along) : below.along;
      }
    if (node->op != Op::Reduce || element_count(node->shape()) == 0 || picks_one(node)) return;
    const double terms = double(element_count(node->source(0)->shape())) / double(element_count(node->shape()));
    uint64_t folded = 0;
    for (const int64_t axis : node->args().subspan(1)) folded |= uint64_t(1) << axis;
    own.terms = own.along & folded ? own.terms * terms : std::max(own.terms, terms);
    own.along = long_axes(node->shape()) & ~folded;
  }

  static uint64_t long_axes(ShapeView shape) {
    uint64_t axes = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      if (!shape[i].is(1)) axes |= uint64_t(1) << i;
    return axes;
  }

  static uint64_t axes_after(const Node* node, uint64_t axes) {
    switch (node->op) {
      case Op::Expand: return axes;  // a stretched axis had size 1 and no bit
      case Op::Permute: {
        uint64_t result = 0;
        for (size_t i = 0; i < node->args().size(); ++i) result |= (axes >> node->arg(i) & 1) << i;
        return result;
      }
      default: return axes == 0 ? 0 : long_axes(node->shape());
    }
  }

  void visit(const Node* node) {
    Fact& own = fact(node);
    if (has(node->op, leaf) && !own.forced) return;
    if (own.forced || (has(node->op, alu | reduces) && !own.uses.empty() && worth_storing(node, own.uses))) {
      std::vector<Use> readers = std::move(own.uses);
      own.uses.assign(1, new_root(node));
      roots_.back().readers = std::move(readers);
    } else if (own.uses.empty()) {
      return;  // read only through a written view, which names a place and needs no value
    }
    const std::vector<Use> uses = std::move(own.uses);
    for (const Use& use : uses) propagate(node, use);
  }

  Use new_root(const Node* node) {
    std::vector<const Node*> index, nest;
    for (const Dim& dim : is_partial_write(node) ? node->source(1)->shape() : node->shape()) {
      const bool scanned = (node->op == Op::Scan || node->op == Op::Scatter) && int64_t(index.size()) == node->arg(1);
      if (dim.is(1)) {
        index.push_back(graph_.index(0));
        continue;
      }
      index.push_back(graph_.range(int64_t(nest.size()), size_node(graph_, dim), scanned ? AxisKind::sequence : AxisKind::loop));
      nest.push_back(index.back());
    }
    Root& root = roots_.emplace_back();
    root.node = node;
    root.place.tuple = graph_.make(Op::Sink, index);
    root.nest = graph_.make(Op::Sink, nest);
    return {roots_.size() - 1, roots_.back().place, roots_.back().nest};
  }

  void propagate(const Node* node, const Use& use) {
    Root& root = roots_[use.root];
    root.ops += op_cost(node->op);
    root.folds += node->op == Op::Reduce;
    if (root.node != node && root.pending > 0) --root.pending;
    if (node->op == Op::Copy) return;
    const auto [first, last] = sources_read(node);
    for (size_t i = first; i < last; ++i) {
      const Node* source = node->source(i);
      if (has(source->op, leaf) && source->op != Op::Param) continue;
      const SourceUse place = source_use(graph_, node, i, use.place, use.nest);
      const Use next{use.root, place.place, place.nest};
      std::vector<Use>& uses = fact(source).uses;
      if (std::ranges::find(uses, next) != uses.end()) continue;
      if (std::ranges::none_of(uses, [&](const Use& other) { return other.root == use.root; }))
        ++(source->op == Op::Param || fact(source).forced ? root.leaves : root.pending);
      uses.push_back(next);
    }
  }

  bool worth_storing(const Node* node, const std::vector<Use>& uses) {
    const Target& target = target_(node->device);
    for (const Use& use : uses) {
      const Root& root = roots_[use.root];
      if (root.ops + op_cost(node->op) > kMaxOperations || use.nest->sources().size() > kMaxNest || root.folds >= kMaxFolds) return true;
      if (root.leaves + root.pending + node->sources().size() > target.max_buffers) return true;
    }
    return node->op == Op::Reduce && !picks_one(node) ? reduce_worth_storing(node, uses, target)
                                                      : elementwise_worth_storing(node, uses, target);
  }

  static size_t count_roots(const std::vector<Use>& uses) {
    std::vector<size_t> seen;
    for (const Use& use : uses)
      if (std::ranges::find(seen, use.root) == seen.end()) seen.push_back(use.root);
    return seen.size();
  }

  static double store_seconds(const Node* node, size_t roots, const Target& target) {
    const double bytes = double(element_count(node->shape())) * double(item_size(node->dtype));
    return bytes * double(1 + roots) / target.bytes_per_second + target.launch_seconds;
  }

  bool elementwise_worth_storing(const Node* node, const std::vector<Use>& uses, const Target& target) {
    const Estimate& own = fact(node).estimate;
    const double count = double(element_count(node->shape()));
    // What reads nothing and takes little (an iota, a comparison of two) is computed wherever it is wanted.
    if (own.leaves == 0 && own.flops < kCheap) return false;
    double evaluated = 0;
    for (const Use& use : uses) evaluated += evaluations(use, count);
    const size_t roots = count_roots(uses);
    if (evaluated <= count && roots == 1) return false;
    const double anew = std::max(0.0, evaluated - count) * own.flops / target.flops_per_second +
                        double(roots - 1) * own.leaf_bytes / target.bytes_per_second;
    return anew > store_seconds(node, roots, target);
  }

  bool reduce_worth_storing(const Node* node, const std::vector<Use>& uses, const Target& target) {
    const double count = std::max(1.0, double(element_count(node->shape())));
    const double inner = double(element_count(node->source(0)->shape()));
    const double work = inner * (1 + fact(node->source(0)).estimate.flops) / target.flops_per_second;
    double evaluated = 0;
    for (const Use& use : uses) evaluated += evaluations(use, count);
    const size_t roots = count_roots(uses);
    double anew = std::max(0.0, evaluated / count - 1) * work;
    // Loops inside the rows of the reduction cannot be spread over threads before it is done: with few rows, work is serial.
    const Use& use = uses.front();
    const double rows = evaluations(use, count);
    const Root& root = roots_[use.root];
    if (rows < target.nominal_threads && rows < double(element_count(root.node->shape())))
      anew += work * (1 / rows - 1 / target.nominal_threads) * target.nominal_threads;
    return anew + hindrance(use, fact(node).terms, count * fact(node).terms / target.flops_per_second) > store_seconds(node, roots, target);
  }

  // A long reduction beside short loops of its consumer decides over no axis of its own: run by itself it is vectorised and tiled along the
  // axes that suit it. Beside loops of about its own length (softmax, a norm) there is nothing to lose.
  static double hindrance(const Use& use, double terms, double work) {
    double beside = 1;
    for (size_t i = depth_of(use.place, use.nest); i < use.nest->sources().size(); ++i)
      beside *= double(use.nest->source(i)->source(0)->maximum);
    return beside > 1 && terms > 4 * beside ? 0.5 * work : 0;
  }

  Graph& graph_;
  const std::function<const Target&(DeviceId)>& target_;
  std::vector<const Node*> order_;
  std::vector<Fact> facts_;
  std::vector<Root> roots_;
};

}  // namespace

bool is_partial_write(const Node* node) { return is_view_write(node) || node->op == Op::Scatter; }

std::pair<size_t, size_t> sources_read(const Node* node) {
  if (node->op == Op::Assign) return {1, 2};
  if (node->op == Op::Scatter) return {1, 3};
  if (node->op == Op::Order) return {0, 0};  // it reads its keys in any order, from storage
  return {0, has(node->op, movement) ? 1 : node->sources().size()};
}

bool is_view_write(const Node* node) { return node->op == Op::Assign && node->sources().size() == 3; }

size_t depth_of(Place place, const Node* nest) {
  const uint64_t open = place.tuple->open | (place.gate ? place.gate->open : 0);
  return std::min<size_t>(size_t(64 - std::countl_zero(open)), nest->sources().size());
}

SourceUse source_use(Graph& graph, const Node* node, size_t source, Place place, const Node* nest) {
  const Node* from = node->source(source);
  if (has(node->op, movement)) {
    SourceUse use{{}, nest};
    use.place = source_place(graph, node, place, use.valid);
    return use;
  }
  if (node->op == Op::Reduce) {
    std::vector<const Node*> index(place.tuple->sources().begin(), place.tuple->sources().end());
    const Sources outer = nest->sources().first(depth_of(place, nest));
    std::vector<const Node*> ranges(outer.begin(), outer.end());
    for (const int64_t axis : node->args().subspan(1)) {
      const Dim& dim = from->shape()[size_t(axis)];
      if (dim.is(1)) continue;
      index[size_t(axis)] = graph.range(int64_t(ranges.size()), size_node(graph, dim), AxisKind::reduce);
      ranges.push_back(index[size_t(axis)]);
    }
    return {{graph.make(Op::Sink, index), place.gate}, graph.make(Op::Sink, ranges)};
  }
  if (from->rank == 0) return {{graph.make(Op::Sink, Sources{}), place.gate}, nest};
  return {place, nest};
}

std::vector<StoredTensor> choose_stores(Graph& graph, const std::vector<const Node*>& outputs,
                                        const std::function<const Target&(DeviceId)>& target) {
  return Chooser(graph, outputs, target).run();
}

}  // namespace whit
