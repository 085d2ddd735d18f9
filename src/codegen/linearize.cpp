#include "codegen/linearize.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "codegen/affine.h"
#include "ir/evaluate.h"
#include "rules/decompose.h"
#include "rules/simplify.h"
#include "schedule/normalise.h"

namespace whit {

namespace {

// The body of one open loop (or of the kernel): code so far, and which node stands for a value computed in it.
struct Block {
  const Node* range = nullptr;
  std::vector<const Node*> code;
  std::unordered_map<const Node*, const Node*> values;
  std::unordered_set<const Node*> listed;  // the values in `code`

  void list(const Node* node) {
    code.push_back(node);
    listed.insert(node);
  }
};
using Path = std::vector<Block*>;

class Linearizer {
 public:
  Linearizer(Graph& graph, const KernelAxes& axes, const Target& target, bool fuse)
      : graph_(graph), axes_(axes), target_(target), fuse_(fuse) {
    for (const Node* node : topological_order(Sources(&axes.sink, 1))) {
      if (node->op == Op::Range && node->axis_kind() == AxisKind::vector) vector_mask_ |= uint64_t(1) << node->range_number();
      if (node->op == Op::Accumulate) add_fold(node);
    }
  }

  std::vector<const Node*> run() {
    Block top;
    std::vector<std::unique_ptr<Block>> open;
    Path path{&top};
    const Sources stores = axes_.sink->sources();
    for (size_t i = 0; i < stores.size();) {
      const std::vector<const Node*> loops = loops_of(stores[i]);
      size_t common = 0;
      while (common < loops.size() && common + 1 < path.size() && path[common + 1]->range == loops[common]) ++common;
      while (path.size() > common + 1) close(path, open);
      for (size_t k = common; k < loops.size(); ++k) enter(path, open, loops[k]);
      // Stores of one body are done after all their values: a value may read what another of them overwrites.
      size_t end = i;
      std::vector<const Node*> done;
      while (end < stores.size() && loops_of(stores[end]) == loops) done.push_back(prepare_store(path, stores[end++]));
      for (const Node* store : done) path.back()->code.push_back(store);
      i = end;
    }
    while (path.size() > 1) close(path, open);
    return std::move(top.code);
  }

 private:
  struct Fold {
    std::vector<const Node*> loops;  // its ranges that are loops, outermost first
    const Node* vector = nullptr;    // its range that is a vector
    std::vector<uint64_t> below;     // the folds its value depends on
  };

  void add_fold(const Node* node) {
    Fold fold;
    for (const Node* range : node->sources().subspan(1)) {
      if (range->axis_kind() == AxisKind::vector)
        fold.vector = range;
      else
        fold.loops.push_back(range);
    }
    std::ranges::sort(fold.loops, {}, [this](const Node* range) { return position(range); });
    fold_index_.emplace(node, folds_.size());
    folds_.emplace_back(node, std::move(fold));
  }

  size_t position(const Node* range) const { return size_t(std::ranges::find(axes_.order, range) - axes_.order.begin()); }

  std::vector<const Node*> loops_of(const Node* store) const {
    std::vector<const Node*> loops;
    for (const Node* range : axes_.order)
      if (store->open >> range->range_number() & 1) loops.push_back(range);
    return loops;
  }

  void enter(Path& path, std::vector<std::unique_ptr<Block>>& open, const Node* range) {
    emit(path, range->source(0));
    open.push_back(std::make_unique<Block>());
    open.back()->range = range;
    path.push_back(open.back().get());
  }

  void close(Path& path, std::vector<std::unique_ptr<Block>>& open) {
    Block& inner = *path.back();
    std::vector<const Node*>& code = path[path.size() - 2]->code;
    code.push_back(graph_.make(Op::Loop, {inner.range}));
    code.insert(code.end(), inner.code.begin(), inner.code.end());
    code.push_back(graph_.make(Op::EndLoop, {inner.range}));
    path.pop_back();
    open.pop_back();
  }

  // How many loops of the path a value needs: those down to the innermost it depends on.
  size_t level(const Path& path, const Node* node) const {
    uint64_t open = node->open & ~vector_mask_;
    for (size_t i = path.size(); i-- > 1;)
      if (path[i]->range->open & ~vector_mask_ & open & (uint64_t(1) << path[i]->range->range_number())) return i;
    return 0;
  }

  static bool needs_no_code(const Node* node) {
    return node->op == Op::Const || has(node->op, storage) || node->op == Op::Variable || node->op == Op::Range;
  }

  const Node* found(const Path& path, const Node* node) const {
    if (needs_no_code(node)) return node;
    const auto& values = path[level(path, node)]->values;
    const auto at = values.find(node);
    return at == values.end() ? nullptr : at->second;
  }

  const Node* emit(Path& path, const Node* root) {
    std::vector<const Node*> stack{root}, sources;
    while (!stack.empty()) {
      const Node* node = stack.back();
      if (found(path, node)) {
        stack.pop_back();
        continue;
      }
      const size_t depth = level(path, node);
      if (node->op == Op::Running) {
        Path outer(path.begin(), path.begin() + std::ptrdiff_t(depth) + 1);
        emit_running(outer, node);
        continue;
      }
      if (node->op == Op::Accumulate || node->op == Op::Stage) {
        Path outer(path.begin(), path.begin() + std::ptrdiff_t(depth) + 1);
        node->op == Op::Accumulate ? emit_folds(outer, node) : fill_stage(outer, node);
        continue;
      }
      sources.clear();
      const size_t waiting = stack.size();
      for (const Node* source : node->sources()) {
        const Node* value = found(path, source);
        if (value)
          sources.push_back(value);
        else
          stack.push_back(source);
      }
      if (stack.size() > waiting) continue;
      const Node* linear = graph_.with_sources(node, sources);
      if (linear->op != Op::Const) path[depth]->list(linear);
      path[depth]->values.emplace(node, linear);
      stack.pop_back();
    }
    return found(path, root);
  }

  // An array of the group with the value at every index of the stage's ranges. What comes after it in this block reads it there.
  void fill_stage(Path& path, const Node* stage) {
    std::vector<const Node*> loops(stage->sources().begin() + 1, stage->sources().end());
    int64_t size = 1;
    const Node* index = graph_.index(0);
    for (const Node* range : loops) {
      const int64_t count = range->source(0)->maximum;
      WHIT_ASSERT(range->axis_kind() != AxisKind::vector, "a Stage over a vector range");
      index = graph_.add(graph_.mul(index, graph_.index(count)), range);
      size *= count;
    }
    index = simplify(graph_, index);
    std::ranges::sort(loops, {}, [this](const Node* range) { return position(range); });
    const int64_t args[] = {next_local_++, size};
    const Node* array = graph_.make(Op::Local, {}, Args(args), stage->dtype);
    Block& block = *path.back();
    const Node* barrier = graph_.make(Op::Barrier, Sources{});
    for (size_t i = 1; i < path.size(); ++i) WHIT_ASSERT(path[i]->range->axis_kind() != AxisKind::local, "a Stage in a local loop");
    // In a loop the array may still be read from the time before.
    if (block.range && block.range->axis_kind() != AxisKind::parallel) block.code.push_back(barrier);
    std::vector<std::unique_ptr<Block>> open;
    for (const Node* range : loops) enter(path, open, range);
    const Node *at = emit(path, index), *value = emit(path, stage->source(0));
    path.back()->code.push_back(graph_.make(Op::Store, {array, at, value}));
    while (!open.empty()) close(path, open);
    block.code.push_back(barrier);
    block.values[stage] = array;
  }

  const Node* prepare_store(Path& path, const Node* store) {
    std::vector<const Node*> sources;
    for (const Node* source : store->sources()) sources.push_back(emit(path, source));
    return graph_.with_sources(store, sources);
  }

  bool depends(const Node* value, const Node* fold) {
    // Below is filled in on first use: most kernels have one fold.
    auto& known = below_[value];
    if (known.empty()) {
      known.resize(folds_.size() / 64 + 1);
      const Node* inner = value->source(0);
      for (const Node* node : topological_order(Sources(&inner, 1)))
        if (const auto at = fold_index_.find(node); at != fold_index_.end()) known[at->second / 64] |= uint64_t(1) << (at->second % 64);
    }
    const size_t index = fold_index_.at(fold);
    return known[index / 64] >> (index % 64) & 1;
  }

  // The lanes a fold runs in, if any: a vector range of its own or of what is outside.
  const Node* lanes_of(const Node* fold) const {
    // A value that is the same in every lane is still folded once per lane.
    if (const Node* own = folds_[fold_index_.at(fold)].second.vector) return own;
    return lanes_of_value(fold->source(0));
  }

  const Node* lanes_of_value(const Node* value) const {
    if (!(value->open & vector_mask_)) return nullptr;
    for (const Node* node : topological_order(Sources(&value, 1)))
      if (node->op == Op::Range && node->axis_kind() == AxisKind::vector && value->open >> node->range_number() & 1) return node;
    return nullptr;
  }

  // The folds that run in the same loops at the same place as this one, itself included.
  std::vector<const Node*> companions(const Path& path, const Node* fold) {
    std::vector<const Node*> group{fold};
    const Fold& own = folds_[fold_index_.at(fold)].second;
    const Node* lanes = lanes_of(fold);
    for (const auto& [other, facts] : folds_) {
      if (other == fold || facts.loops != own.loops || own.loops.empty() || lanes_of(other) != lanes) continue;
      if (!is_open(path, other) || level(path, other) != path.size() - 1 || found(path, other)) continue;
      const bool apart =
          std::ranges::none_of(group, [&, other = other](const Node* member) { return depends(member, other) || depends(other, member); });
      if (apart) group.push_back(other);
    }
    return group;
  }

  bool is_open(const Path& path, const Node* node) const {
    uint64_t open = node->open & ~vector_mask_;
    for (size_t i = 1; i < path.size(); ++i) open &= ~(uint64_t(1) << path[i]->range->range_number());
    return open == 0;
  }

  void emit_folds(Path& path, const Node* first) {
    const std::vector<const Node*> group = companions(path, first);
    const Fold& facts = folds_[fold_index_.at(first)].second;
    Block& block = *path.back();
    std::vector<const Node*> registers;
    const bool same_in_lanes = facts.vector && !(first->source(0)->open & facts.vector->open);
    if (!facts.loops.empty() || same_in_lanes)
      for (const Node* fold : group) {
        const Node* lanes = lanes_of(fold);
        const int64_t number = next_register_++;
        const Node* reg = graph_.make(Op::Register, lanes ? Sources(&lanes, 1) : Sources{}, Args(&number, 1), fold->dtype);
        registers.push_back(reg);
        block.code.push_back(graph_.make(Op::Set, {reg, graph_.constant_bits(fold->dtype, identity_of(fold->reduce_op(), fold->dtype))}));
      }
    std::vector<std::unique_ptr<Block>> open;
    for (const Node* range : facts.loops) enter(path, open, range);
    std::vector<const Node*> results;
    for (size_t i = 0; i < group.size(); ++i) {
      if (registers.empty())
        results.push_back(emit(path, group[i]->source(0)));
      else
        results.push_back(registers[i]), update(path, group[i], registers[i]);
    }
    while (!open.empty()) close(path, open);
    for (size_t i = 0; i < group.size(); ++i) {
      const Node* vector = folds_[fold_index_.at(group[i])].second.vector;
      if (vector) {
        const int64_t op = int64_t(group[i]->reduce_op());
        results[i] = graph_.make(Op::Across, {results[i], vector}, {op});
        block.list(results[i]);
      }
      block.values[group[i]] = results[i];
    }
  }

  // A register that is set before the loop over the range, and once in each iteration.
  void emit_running(Path& path, const Node* node) {
    WHIT_ASSERT(path.back()->range == node->sources().back(), "a Running inside another loop of its value");
    std::vector<const Node*> values;
    for (const Node* value : node->sources().first(node->source_count - 1)) values.push_back(emit(path, value));
    const Node* lanes = lanes_of_value(node);
    const int64_t number = next_register_++;
    const Node* reg = graph_.make(Op::Register, lanes ? Sources(&lanes, 1) : Sources{}, Args(&number, 1), node->dtype);
    const bool recurrence = node->reduce_op() == Op::MulAdd;
    const Bits start = recurrence ? bits_of_number(node->dtype, 0) : identity_of(node->reduce_op(), node->dtype);
    path[path.size() - 2]->code.push_back(graph_.make(Op::Set, {reg, graph_.constant_bits(node->dtype, start)}));
    const Node* next = recurrence ? graph_.add(graph_.mul(reg, values[0]), values[1])
                                  : decompose(graph_, graph_.make(node->reduce_op(), {reg, values[0]}), target_);
    list_here(path, next);
    path.back()->code.push_back(graph_.make(Op::Set, {reg, next}));
    path.back()->values.emplace(node, next);
  }

  // register = register op value, in the innermost loop.
  void update(Path& path, const Node* fold, const Node* reg) {
    const Node *value = fold->source(0), *next = nullptr;
    if (fuse_ && target_.fused_multiply_add && fold->reduce_op() == Op::Add && value->op == Op::Mul && is_float(fold->dtype)) {
      const Node *a = emit(path, value->source(0)), *b = emit(path, value->source(1));
      next = graph_.make(Op::MulAdd, {a, b, reg});
    } else {
      next = decompose(graph_, graph_.make(fold->reduce_op(), {reg, emit(path, value)}), target_);
    }
    list_here(path, next);
    path.back()->code.push_back(graph_.make(Op::Set, {reg, next}));
  }

  // Lists what is not there yet of an expression over linear nodes. It may read a register, so it belongs in the innermost loop, whatever
  // ranges it depends on. The expression is one op or its lowering: shallow.
  static void list_here(Path& path, const Node* node) {
    if (needs_no_code(node) || node->op == Op::Register) return;
    for (const Block* block : path)
      if (block->listed.contains(node)) return;
    for (const Node* source : node->sources()) list_here(path, source);
    path.back()->list(node);
  }

  Graph& graph_;
  const KernelAxes& axes_;
  const Target& target_;
  bool fuse_;
  uint64_t vector_mask_ = 0;
  int64_t next_register_ = 0, next_local_ = 0;
  std::vector<std::pair<const Node*, Fold>> folds_;
  std::unordered_map<const Node*, size_t> fold_index_;
  std::unordered_map<const Node*, std::vector<uint64_t>> below_;
};

}  // namespace

std::vector<const Node*> linearize(Graph& graph, const KernelAxes& axes, const Target& target, bool fuse) {
  return Linearizer(graph, axes, target, fuse).run();
}

const Node* vectorise_accesses(Graph& graph, const Node* sink) {
  const std::vector<const Node*> nodes = topological_order(Sources(&sink, 1));
  std::vector<const Node*> vectors;
  for (const Node* node : nodes)
    if (node->op == Op::Range && node->axis_kind() == AxisKind::vector) vectors.push_back(node);
  if (vectors.empty()) return sink;
  std::unordered_map<const Node*, const Node*> changed;
  std::vector<const Node*> sources;
  for (const Node* node : nodes) {
    sources.clear();
    for (const Node* source : node->sources()) {
      const auto at = changed.find(source);
      sources.push_back(at == changed.end() ? source : at->second);
    }
    const Node* result = std::ranges::equal(sources, node->sources()) ? node : graph.with_sources(node, sources);
    if (node->op == Op::Load || node->op == Op::Store)
      for (const Node* range : vectors) {
        int64_t step = 0;
        if (!(sources[1]->open >> range->range_number() & 1) || !affine(sources[1]).stride(range, step) || step != 1) continue;
        const size_t gate_at = node->op == Op::Load ? 2 : 3;
        std::vector<const Node*> parts(sources.begin(), sources.begin() + std::ptrdiff_t(gate_at));
        parts[1] = simplify(graph, replace(graph, sources[1], {{range, graph.index(0)}}));
        parts.push_back(range);
        if (sources.size() > gate_at) parts.push_back(sources[gate_at]);
        result = graph.make(node->op == Op::Load ? Op::VectorLoad : Op::VectorStore, parts, {},
                            node->op == Op::Load ? node->dtype : DType::none);
        break;
      }
    if (result != node) changed.emplace(node, result);
  }
  const auto at = changed.find(sink);
  return at == changed.end() ? sink : at->second;
}

}  // namespace whit
