#include "codegen/bounds.h"

#include "base/error.h"
#include "ir/print.h"

namespace whit {

namespace {

// A report holds 0 where all is well, so an index is kept as an odd number.
const Node* reported(Graph& graph, const Node* index, DType type) {
  const Node* wide = graph.cast(index, type);
  return graph.add(graph.add(wide, wide), graph.constant(type, 1));
}
int64_t index_of_report(int64_t word) { return word >> 1; }

class Guard {
 public:
  Guard(LinearKernel& kernel, DType type) : kernel_(kernel), graph_(*kernel.graph) { guard_.type = type; }

  BoundsGuard run() {
    const std::vector<const Node*> before = std::move(kernel_.code);
    kernel_.code.clear();
    for (const Node* node : before) rewrite(node);
    if (guard_.accesses.empty()) return {};
    kernel_.params.push_back({guard_.type, false, true});
    // The size of the report is known now: its Param is put in place of the one that stood for it.
    const Node* open = report();
    guard_.elements = next_place_;
    replaced_.emplace(open, report());
    for (const Node*& node : kernel_.code) node = renewed(node);
    return std::move(guard_);
  }

 private:
  const Node* report() { return graph_.make(Op::Param, {}, {slot_, guard_.elements, kNoDevice}, guard_.type); }

  const Node* renewed(const Node* node) {
    std::vector<const Node*> sources;
    bool differs = false;
    for (const Node* source : node->sources()) {
      const Node* const* other = replaced_.find(source);
      sources.push_back(other ? *other : source);
      differs |= other != nullptr;
    }
    return differs ? graph_.with_sources(node, sources) : node;
  }

  void emit(const Node* node) {
    if (node->op != Op::Const) kernel_.code.push_back(node);
  }

  void rewrite(const Node* old) {
    const Node* node = renewed(old);
    const bool vector = node->op == Op::VectorLoad || node->op == Op::VectorStore;
    if (vector || node->op == Op::Load || node->op == Op::Store) node = guarded(node, vector);
    if (node != old) replaced_[old] = node;
    kernel_.code.push_back(node);
  }

  // The access behind the condition that it is in bounds, after code that reports where it is not.
  const Node* guarded(const Node* access, bool vector) {
    const bool store = access->op == Op::Store || access->op == Op::VectorStore;
    const Node *storage = access->source(0), *index = access->source(1);
    const size_t gate_place = 2 + size_t(store) + size_t(vector);
    const Node* gate = gate_place < access->sources().size() ? access->source(gate_place) : nullptr;
    // Consecutive elements are looked at together, unless each has a gate of its own.
    const bool together = vector && (!gate || kernel_.lanes(gate) == 1);
    const int64_t width = together ? kernel_.lanes(access->source(gate_place - 1)) : 1;
    if (vector && !together) emit(index = graph_.add(index, access->source(gate_place - 1)));
    const int64_t elements = storage->arg(1);
    const Node* inside = within(index, elements - width + 1);
    if (!inside) return access;
    const Node* outside = graph_.make(Op::Xor, {inside, graph_.boolean(true)});
    emit(outside);
    if (gate) emit(outside = graph_.both(gate, outside));
    tell(access->op, storage, index, width, outside);
    if (gate) emit(inside = graph_.both(gate, inside));
    std::vector<const Node*> sources(access->sources().begin(), access->sources().begin() + int64_t(gate_place));
    sources.push_back(inside);
    return graph_.with_sources(access, sources);
  }

  // 0 <= index < end, without what its interval proves; null if that is all.
  const Node* within(const Node* index, int64_t end) {
    const Node* above = index->minimum >= 0 ? nullptr : graph_.less(graph_.index(-1), index);
    const Node* below = index->maximum < end ? nullptr : graph_.less(index, graph_.index(end));
    for (const Node* part : {above, below})
      if (part) emit(part);
    if (above && below) emit(graph_.both(above, below));
    return above || below ? graph_.both(above, below) : nullptr;
  }

  void tell(Op op, const Node* storage, const Node* index, int64_t width, const Node* outside) {
    const Node* range = kernel_.vector_range(outside);
    if (!range) range = kernel_.vector_range(index);
    const Node* place = graph_.index(next_place_);
    if (range) emit(place = graph_.add(range, place));
    const Node *wide = graph_.cast(index, guard_.type), *word = reported(graph_, index, guard_.type);
    emit(wide);
    emit(graph_.add(wide, wide));
    emit(word);
    emit(graph_.make(Op::Store, {report(), place, word, outside}));
    const int64_t lanes = range ? kernel_.lanes(range) : 1;
    guard_.accesses.push_back(
        {op, storage->op == Op::Local, storage->arg(0), storage->arg(1), width, print_expression(index), next_place_, lanes});
    next_place_ += lanes;
  }

  LinearKernel& kernel_;
  Graph& graph_;
  const int64_t slot_ = int64_t(kernel_.params.size());
  BoundsGuard guard_;
  NodeMap<const Node*> replaced_;
  int64_t next_place_ = 0;
};

}  // namespace

BoundsGuard guard_bounds(LinearKernel& kernel, const Target& target) {
  return Guard(kernel, target.types.contains(DType::int64) ? DType::int64 : DType::int32).run();
}

std::string describe_report(const std::string& kernel, const BoundsGuard& guard, const std::vector<int64_t>& report) {
  std::string text;
  for (const GuardedAccess& access : guard.accesses)
    for (int64_t lane = 0; lane < access.lanes; ++lane) {
      const int64_t word = report[size_t(access.place + lane)];
      if (word == 0) continue;
      const int64_t first = index_of_report(word);
      text += concat(text.empty() ? "" : "\n", "kernel ", kernel, ": a ", name(access.op), " of ",
                     access.local ? "shared array " : "buffer ", access.slot, " at ", access.index, " reaches element ",
                     first < 0 ? first : first + access.width - 1, "; it has ", access.elements);
      break;
    }
  return text;
}

}  // namespace whit
