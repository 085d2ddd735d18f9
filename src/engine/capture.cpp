#include "engine/capture.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "engine/handle.h"
#include "ir/node_map.h"
#include "ir/size_args.h"
#include "schedule/normalise.h"

namespace whit {

namespace {

class Capturer {
 public:
  Capturer(Capture& result, DeviceId device) : result_(result), graph_(*result.request.graph) { result_.request.device = device; }

  void run(const std::vector<const Node*>& roots) {
    include(roots);
    for (const Node* root : roots) result_.request.outputs.push_back(*copies_.find(root));
  }

 private:
  // Copies these nodes and what they are computed from.
  void include(Sources roots) {
    std::vector<const Node*> sources;
    for (const Node* node : topological_order(roots, computed_from)) {
      if (copies_.find(node)) continue;
      sources.clear();
      for (const Node* source : computed_from(node)) sources.push_back(*copies_.find(source));
      const Node* made = copy(node, sources);
      copies_.emplace(node, made);
    }
  }
  const Node* copy_of(const Node* node) {
    include(Sources(&node, 1));
    return *copies_.find(node);
  }

  const Node* copy(const Node* node, std::vector<const Node*>& sources) {
    if (is_realized(node)) return param(node);
    if (node->op == Op::Detach) return sources[0];
    if (node->op == Op::Variable) refuse_unbound(node);
    if (node->op == Op::Bind) {
      const Node* variable = numbered_variable(graph_, int(result_.variables.size()), node->source(0));
      result_.variables.push_back(node->arg(0));
      return variable;
    }
    if (node->op != Op::Assign) return graph_.make(node->op, sources, node->args(), node->dtype);
    if (node->sources().size() == 3) sources.push_back(written_view(node, sources[0]));
    // The serial of a write keeps twins apart in the tensor graph; in a plan a write is known by what it follows.
    const int64_t write = result_.request.outputs.size() + copies_.size();
    return graph_.make(Op::Assign, sources, Args(&write, 1), node->dtype);
  }

  // The movement ops that lead from the old version to the view, on the copy of the old version. A node among them may have a value in
  // storage, from a reader of an equal view: that is a copy, and writing to it would not reach the old version.
  const Node* written_view(const Node* assign, const Node* old) {
    std::vector<const Node*> steps;
    for (const Node* step = assign->source(2); step != assign->source(0); step = step->source(0)) steps.push_back(step);
    std::vector<const Node*> sources;
    for (; !steps.empty(); steps.pop_back()) {
      sources.assign(1, old);
      for (const Node* size : steps.back()->sources().subspan(1)) sources.push_back(copy_of(size));
      old = graph_.make(steps.back()->op, sources, steps.back()->args());
    }
    return old;
  }

  const Node* param(const Node* node) {
    Storage* storage = storage_of(node);
    const int64_t elements = element_count(node->shape());
    auto [slot, added] = slots_.try_emplace(storage, int64_t(result_.inputs.size()));
    if (added) {
      result_.inputs.emplace_back(storage);
      result_.request.inputs.push_back({node->dtype, elements, storage->device_id(), PlanBuffer::Kind::input});
    }
    const int64_t args[] = {slot->second, elements, storage->device_id()};
    const Node* flat = graph_.make(Op::Param, Sources{}, args, node->dtype);
    if (node->shape().size() == 1 && !is_symbolic(node->shape())) return flat;
    SizeArgs sizes(flat);
    for (const Dim& dim : node->shape()) sizes.add(dim.symbol ? Dim(dim.size, copy_of(dim.symbol)) : dim);
    return sizes.make(graph_, Op::Reshape);
  }

  Capture& result_;
  Graph& graph_;
  NodeMap<const Node*> copies_;
  std::unordered_map<Storage*, int64_t> slots_;
};

}  // namespace

Sources computed_from(const Node* node) {
  if (is_realized(node) || node->op == Op::Bind) return {};
  return node->op == Op::Assign ? node->sources().first(2) : node->sources();
}

Capture capture(const std::vector<const Node*>& roots, DeviceId device) {
  Capture result;
  result.request.graph = std::make_shared<Graph>();
  result.request.target = [](DeviceId id) -> const Target& { return whit::device(id).target(); };
  Capturer(result, device).run(roots);
  result.request.writable.assign(result.inputs.size(), false);
  return result;
}

void settle_key(Capture& c) {
  // Hashes of nodes are structural, so those of the roots tell the whole graph.
  for (const uint64_t seed : {uint64_t(0x1234567), uint64_t(0x89ABCDEF)}) {
    uint64_t h = mix(seed, uint64_t(c.request.device));
    for (const Node* output : c.request.outputs) h = mix(h ^ seed, output->hash);
    for (size_t i = 0; i < c.inputs.size(); ++i) h = mix(h, uint64_t(c.request.writable[i]) << 1 | 1);
    (seed == 0x1234567 ? c.key.low : c.key.high) = h;
  }
}

}  // namespace whit
