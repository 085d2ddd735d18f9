#include "codegen/choose.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "codegen/accesses.h"
#include "codegen/groups.h"
#include "rules/simplify.h"
#include "schedule/normalise.h"

namespace whit {

namespace {

// Loads of a lane each instead of one vector; a broadcast costs little.
constexpr double kGather = 1.5, kBroadcast = 0.3;
// A body with more than this many copies grows the code faster than it saves time.
constexpr int64_t kMaxUnroll = 8;
// Enough launch indices for any machine to balance; more only cost index arithmetic.
constexpr int64_t kEnoughParallel = 1024;
// A single loop over at least this many elements is cut into blocks that run in parallel.
constexpr int64_t kBlockElements = 4096;

class Chooser {
 public:
  Chooser(Graph& graph, KernelAxes axes, const Target& target, std::string* why)
      : graph_(graph), axes_(std::move(axes)), target_(target), why_(why) {}

  KernelAxes run() {
    merge_loops();
    if (target_.vector_bytes > 0) {
      vectorise();
      write_out_for_reuse();
      write_out_for_latency();
    }
    run_in_parallel();
    return std::move(axes_);
  }

  KernelAxes plain() {
    run_in_parallel();
    return std::move(axes_);
  }

 private:
  template <class... Parts>
  void note(const Parts&... parts) {
    if (why_) *why_ += concat("  ", parts..., "\n");
  }

  // ---- Merging -----------------------------------------------------------------------------------------------------------------------

  bool can_merge(const Node* outer, const Node* inner, uint64_t in_values, const std::vector<Access>& accesses) {
    if (outer->axis_kind() != inner->axis_kind() || !fixed_size(outer) || !fixed_size(inner)) return false;
    if (in_values >> outer->range_number() & 1 || in_values >> inner->range_number() & 1) return false;
    for (const Access& access : accesses) {
      int64_t a = 0, b = 0;
      if (!access.index.stride(outer, a) || !access.index.stride(inner, b) || a != b * fixed_size(inner)) return false;
    }
    if (outer->axis_kind() != AxisKind::reduce) return true;
    return std::ranges::all_of(folds_of(axes_.sink), [&](const Node* fold) {
      const auto ranges = fold->sources().subspan(1);
      return (std::ranges::find(ranges, outer) == ranges.end()) == (std::ranges::find(ranges, inner) == ranges.end());
    });
  }

  void merge_loops() {
    for (size_t i = 0; i + 1 < axes_.order.size();) {
      const uint64_t in_values = ranges_in_values(axes_.sink);
      const std::vector<Access> accesses = accesses_below(Sources(&axes_.sink, 1));
      const Node *outer = axes_.order[i], *inner = axes_.order[i + 1];
      if (!can_merge(outer, inner, in_values, accesses)) {
        ++i;
        continue;
      }
      note("merge ", fixed_size(outer), " x ", fixed_size(inner));
      axes_ = merge(graph_, axes_, outer, inner);
      i = i > 0 ? i - 1 : 0;
    }
  }

  // ---- Vectors -----------------------------------------------------------------------------------------------------------------------

  int64_t native_lanes() const {
    size_t widest = 4;
    for (const Node* node : topological_order(Sources(&axes_.sink, 1)))
      if (has(node->op, alu) && node->dtype != DType::index) widest = std::max(widest, item_size(node->dtype));
    return std::max<int64_t>(1, int64_t(target_.vector_bytes / widest));
  }

  static int64_t pieces(int64_t size, int64_t lanes) { return size / lanes + std::popcount(uint64_t(size % lanes)); }

  // The time of one element's work if `range` is the vector axis; more than the scalar time when it should not be.
  double vector_cost(const Node* range, int64_t lanes, const std::vector<Access>& accesses, double operations) {
    const int64_t size = fixed_size(range);
    if (size < 2) return 1e30;
    const double effective = double(size) / double(pieces(size, lanes));
    double cost = operations / effective;
    for (const Access& access : accesses) {
      int64_t step = 0;
      const bool known = access.index.stride(range, step);
      if (access.is_store && depends_on(access.node, range) && (!known || step != 1)) return 1e30;
      cost += known && step == 1 ? 1 / effective : known && step == 0 ? kBroadcast / effective : kGather;
    }
    return cost;
  }

  void vectorise() {
    const int64_t lanes = native_lanes();
    if (lanes < 2) return;
    const std::vector<Access> accesses = accesses_below(Sources(&axes_.sink, 1));
    const double operations = operations_below(Sources(&axes_.sink, 1));
    const double scalar = operations + double(accesses.size());
    const Node* best = nullptr;
    double least = scalar;
    for (const Node* range : axes_.order) {
      if (range->axis_kind() == AxisKind::sequence || !folds_depend_on(range)) continue;
      if (range->axis_kind() == AxisKind::loop &&
          !std::ranges::all_of(axes_.sink->sources(), [&](const Node* store) { return depends_on(store, range); }))
        continue;
      const double cost = vector_cost(range, lanes, accesses, operations);
      if (cost < least) {
        least = cost;
        best = range;
      }
    }
    if (best) make_vector(best, lanes);
    // Folds outside the lanes of that axis may have an axis of their own as lanes.
    for (size_t tries = 0; tries < 8; ++tries) {
      const Node* range = scalar_fold_range(lanes);
      if (!range) break;
      make_vector(range, lanes);
    }
  }

  bool in_lanes(const Node* fold) {
    const Node* value = fold->source(0);
    for (const Node* node : topological_order(Sources(&value, 1)))
      if (node->op == Op::Range && node->axis_kind() == AxisKind::vector && depends_on(value, node)) return true;
    return false;
  }

  const Node* scalar_fold_range(int64_t lanes) {
    for (const Node* fold : folds_of(axes_.sink)) {
      if (in_lanes(fold)) continue;
      const Node* value = fold->source(0);
      const std::vector<Access> accesses = accesses_below(Sources(&value, 1));
      const double operations = 1 + operations_below(Sources(&value, 1));
      for (const Node* range : fold->sources().subspan(1)) {
        if (fixed_size(range) < 2 * lanes || !folds_depend_on(range) || meets_vector(range)) continue;
        if (vector_cost(range, lanes, accesses, operations) < 0.7 * (operations + double(accesses.size()))) return range;
      }
    }
    return nullptr;
  }

  // A sum of equal terms needs no lanes.
  bool folds_depend_on(const Node* range) const {
    return std::ranges::all_of(folds_of(axes_.sink), [&](const Node* fold) {
      return std::ranges::find(fold->sources().subspan(1), range) == fold->sources().end() || depends_on(fold->source(0), range);
    });
  }

  // A value has the lanes of one axis: true if something depends on this range and on one that is a vector already.
  bool meets_vector(const Node* range) const {
    uint64_t vectors = 0;
    const std::vector<const Node*> nodes = topological_order(Sources(&axes_.sink, 1));
    for (const Node* node : nodes)
      if (node->op == Op::Range && node->axis_kind() == AxisKind::vector) vectors |= uint64_t(1) << node->range_number();
    return std::ranges::any_of(nodes, [&](const Node* node) { return depends_on(node, range) && (node->open & vectors); });
  }

  bool is_only_loop(const Node* range) const {
    return range->axis_kind() == AxisKind::loop && std::ranges::none_of(axes_.order, [&](const Node* other) {
             return other != range && other->axis_kind() == AxisKind::loop && fixed_size(other) != 1;
           });
  }

  void make_vector(const Node* range, int64_t lanes) {
    const int64_t size = fixed_size(range);
    if (size % lanes != 0 && size >= 2 * kBlockElements && is_only_loop(range)) return make_blocks(range, lanes);
    note("vector of ", std::min<int64_t>(lanes, int64_t(std::bit_floor(uint64_t(size)))), " along an axis of ", size);
    // What is left past the whole vectors is done with narrower ones, and the rest of that one by one.
    for (int part = 0; part < 3 && range; ++part) {
      const int64_t left = fixed_size(range), width = std::min<int64_t>(lanes, int64_t(std::bit_floor(uint64_t(left))));
      if (width < 2) return;
      const Node* rest = nullptr;
      if (left % width != 0) {
        const Peel peeled = peel(graph_, axes_, range, left / width * width);
        axes_ = peeled.axes;
        range = peeled.head;
        rest = peeled.tail;
      }
      axes_ = split(graph_, axes_, range, width, AxisKind::vector).axes;
      range = rest;
    }
  }

  // A long single loop that the lanes do not divide: blocks to run in parallel, each with its vectors and its rest.
  void make_blocks(const Node* range, int64_t lanes) {
    const int64_t size = fixed_size(range);
    note("blocks of ", kBlockElements, ", vector of ", lanes, " along an axis of ", size);
    const Node* block = graph_.range(range->range_number(), (size + kBlockElements - 1) / kBlockElements, AxisKind::loop);
    const Node* start = graph_.mul(block, graph_.index(kBlockElements));
    const Node* left = graph_.sub(graph_.index(size), start);
    const Node* full = graph_.less(left, graph_.index(kBlockElements));
    const Node* count = graph_.where(full, left, graph_.index(kBlockElements));
    const Node* vectors = graph_.make(Op::Quotient, {count, graph_.index(lanes)});
    const Node* step = graph_.range(free_number(axes_), vectors, AxisKind::loop);
    const Node* lane = graph_.range(free_number(axes_, 1), lanes, AxisKind::vector);
    const Node* rest = graph_.range(free_number(axes_, 2), graph_.make(Op::Remainder, {count, graph_.index(lanes)}), AxisKind::loop);
    const Node* whole = graph_.add(start, graph_.add(graph_.mul(step, graph_.index(lanes)), lane));
    const Node* single = graph_.add(start, graph_.add(graph_.mul(vectors, graph_.index(lanes)), rest));
    std::vector<const Node*> stores;
    for (const Node* value : {whole, single})
      for (const Node* store : axes_.sink->sources()) stores.push_back(replace(graph_, store, {{range, value}}));
    axes_.sink = simplify(graph_, graph_.make(Op::Sink, stores));
    const auto at = std::ranges::find(axes_.order, range);
    axes_.order.insert(axes_.order.erase(at), {block, step, rest});
    axes_ = refreshed(axes_);
  }

  // The order with ranges as the simplified sink has them.
  static KernelAxes refreshed(const KernelAxes& axes) {
    KernelAxes result{axes.sink, {}};
    const std::vector<const Node*> now = axes_of(axes.sink).order;
    for (const Node* range : axes.order)
      for (const Node* other : now)
        if (other->range_number() == range->range_number() && other->axis_kind() != AxisKind::vector) result.order.push_back(other);
    return result;
  }

  // ---- Writing out -------------------------------------------------------------------------------------------------------------------

  // Loads per operation of the innermost loops when `range` is written out `factor` times: what is used again is loaded once.
  static double loads_per_step(const std::vector<Access>& accesses, const std::vector<std::pair<const Node*, int64_t>>& factors) {
    double loads = 0, copies = 1;
    for (const auto& [range, factor] : factors) copies *= double(factor);
    for (const Access& access : accesses) {
      double needed = 1;
      for (const auto& [range, factor] : factors)
        if (depends_on(access.node, range)) needed *= double(factor);
      loads += needed;
    }
    return loads / copies;
  }

  // Of a size that is not fixed, none.
  static std::vector<int64_t> factors_of(int64_t size) {
    std::vector<int64_t> factors;
    for (int64_t f = 2; f <= kMaxUnroll && f <= size; ++f)
      if (size % f == 0) factors.push_back(f);
    return factors;
  }

  // The fold whose body takes the time: the one with the most iterations.
  const Node* main_fold() {
    const Node* best = nullptr;
    double most = 0;
    for (const Node* fold : folds_of(axes_.sink)) {
      double count = 1;
      for (const Node* range : axes_.order)
        if (fixed_size(range) && (depends_on(fold->source(0), range))) count *= double(fixed_size(range));
      if (count > most) {
        most = count;
        best = fold;
      }
    }
    return best;
  }

  int64_t accumulators_allowed() const { return target_.vector_registers >= 32 ? 24 : 12; }

  void write_out_for_reuse() {
    const Node* fold = main_fold();
    if (!fold) return;
    const Node* value = fold->source(0);
    const std::vector<Access> accesses = accesses_below(Sources(&value, 1));
    std::vector<std::pair<const Node*, int64_t>> chosen;
    int64_t accumulators = 1;
    double loads = loads_per_step(accesses, {});
    for (int round = 0; round < 3; ++round) {
      const Node* best = nullptr;
      int64_t best_factor = 1;
      double least = loads * 0.92;
      for (const Node* range : axes_.order) {
        if (range->axis_kind() != AxisKind::loop || !depends_on(fold, range)) continue;
        if (std::ranges::any_of(chosen, [&](const auto& pair) { return pair.first == range; })) continue;
        for (const int64_t factor : factors_of(fixed_size(range))) {
          if (accumulators * factor > accumulators_allowed()) continue;
          auto trial = chosen;
          trial.emplace_back(range, factor);
          // A tile that fills the registers with one axis leaves no reuse for the other: balance by the square root at first.
          if (round == 0 && factor > 4 && has_second_axis(fold, range, accesses)) continue;
          if (const double now = loads_per_step(accesses, trial); now < least) {
            least = now;
            best = range;
            best_factor = factor;
          }
        }
      }
      if (!best) break;
      chosen.emplace_back(best, best_factor);
      accumulators *= best_factor;
      loads = least;
    }
    for (const auto& [range, factor] : chosen) unroll(range, factor);
  }

  // True if another axis could be written out as well, with reuse of a load that `range` does not help.
  bool has_second_axis(const Node* fold, const Node* range, const std::vector<Access>& accesses) {
    for (const Node* other : axes_.order) {
      if (other == range || other->axis_kind() != AxisKind::loop || !depends_on(fold, other) || factors_of(fixed_size(other)).empty())
        continue;
      for (const Access& access : accesses)
        if (depends_on(access.node, range) && !depends_on(access.node, other)) return true;
    }
    return false;
  }

  void unroll(const Node* range, int64_t factor) {
    for (const Node* now : axes_.order)  // an earlier split may have rebuilt the range
      if (now->range_number() == range->range_number()) range = now;
    note("write out ", factor, " of an axis of ", fixed_size(range));
    axes_ = split(graph_, axes_, range, factor, AxisKind::unroll).axes;
  }

  // A sum has to wait for its previous addition: independent accumulators hide that.
  void write_out_for_latency() {
    for (const Node* candidate : folds_of(axes_.sink)) {
      if (std::ranges::any_of(axes_.order, [&](const Node* range) {
            return range->axis_kind() == AxisKind::unroll && depends_on(candidate->source(0), range);
          }))
        continue;
      const Node* inner = nullptr;
      for (const Node* range : axes_.order)
        if (range->axis_kind() == AxisKind::reduce &&
            std::ranges::find(candidate->sources().subspan(1), range) != candidate->sources().end())
          inner = range;
      if (!inner || fixed_size(inner) < 4) continue;
      const int64_t size = fixed_size(inner);
      if (size % 4 != 0 && size < 16) continue;
      const Node* range = inner;
      if (size % 4 != 0) {
        const Peel peeled = peel(graph_, axes_, inner, size / 4 * 4);
        axes_ = peeled.axes;
        range = peeled.head;
      }
      unroll(range, 4);
      return;  // the folds are new nodes now; one is enough for kernels with a single long sum
    }
  }

  // ---- Parallel ----------------------------------------------------------------------------------------------------------------------

  bool may_run_in_parallel(const Node* range) {
    if (range->axis_kind() != AxisKind::loop || !fixed_size(range)) return false;
    const auto inside = [&](const Node* node) { return depends_on(node, range); };
    // What does not depend on the range is computed again by every thread: only short folds may.
    const auto short_fold = [&](const Node* fold) {
      double count = 1;
      for (const Node* folded : fold->sources().subspan(1)) count *= double(std::max<int64_t>(1, folded->source(0)->maximum));
      return count <= 64;
    };
    return std::ranges::all_of(axes_.sink->sources(), inside) &&
           std::ranges::all_of(folds_of(axes_.sink), [&](const Node* fold) { return inside(fold) || short_fold(fold); });
  }

  void run_in_parallel() {
    std::vector<const Node*> outer;
    int64_t count = 1;
    for (const Node* range : axes_.order) {
      if (!may_run_in_parallel(range)) break;
      if (!outer.empty() && target_.work_group == 0 && count >= kEnoughParallel) break;
      outer.push_back(range);
      count *= fixed_size(range);
    }
    if (!outer.empty()) launch_over(outer, count);
    axes_ = run_in_groups(graph_, std::move(axes_), target_, why_);
  }

  // The outer loops as one parallel range.
  void launch_over(const std::vector<const Node*>& outer, int64_t count) {
    note("parallel over ", count);
    const Node* launch = graph_.range(outer[0]->range_number(), count, AxisKind::parallel);
    std::vector<std::pair<const Node*, const Node*>> pairs;
    const Node* rest = launch;
    for (size_t i = outer.size(); i-- > 0;) {
      const Node* size = graph_.index(fixed_size(outer[i]));
      pairs.emplace_back(outer[i], i == 0 ? rest : graph_.make(Op::Remainder, {rest, size}));
      rest = graph_.make(Op::Quotient, {rest, size});
    }
    std::vector<const Node*> order{launch};
    order.insert(order.end(), axes_.order.begin() + std::ptrdiff_t(outer.size()), axes_.order.end());
    axes_ = refreshed({simplify(graph_, replace(graph_, axes_.sink, pairs)), order});
  }

  Graph& graph_;
  KernelAxes axes_;
  const Target& target_;
  std::string* why_;
};

}  // namespace

KernelAxes plain_schedule(Graph& graph, KernelAxes axes, const Target& target) {
  return Chooser(graph, std::move(axes), target, nullptr).plain();
}

KernelAxes choose_schedule(Graph& graph, KernelAxes axes, const Target& target, std::string* why) {
  return Chooser(graph, std::move(axes), target, why).run();
}

}  // namespace whit
