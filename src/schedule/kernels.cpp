// From stored tensors to kernels and the order they run in.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "rules/simplify.h"
#include "schedule/groups.h"
#include "schedule/lower.h"
#include "schedule/normalise.h"
#include "schedule/order.h"
#include "schedule/plan.h"
#include "schedule/prepare.h"

namespace whit {

namespace {

// A kernel over plan buffers, or a copy between devices, before its place in the order is known.
struct StepDraft {
  const Node* sink = nullptr;  // null: a copy of buffer `from` to buffer `to`
  int from = -1;
  std::vector<int> to;              // the plan buffers it writes
  std::vector<const Node*> reads;   // the stored nodes and Params whose value it reads
  std::vector<const Node*> writes;  // the stored nodes it computes, none for a step towards one
  int after = -1;                   // a draft that must come first
  DeviceId device = kNoDevice;
};

class Builder {
 public:
  explicit Builder(PlanRequest& request) : request_(request), graph_(*request.graph) {
    plan_.graph = request.graph;
    plan_.buffers = request.inputs;
    plan_.inputs = request.inputs.size();
  }

  /// False if the steps cannot be ordered; the request then allows less.
  bool run(const std::vector<const Node*>& outputs) {
    const std::vector<StoredTensor> stores = choose_stores(graph_, stored(outputs), [this](DeviceId device) -> const Target& {
      return request_.target(device == kNoDevice ? request_.device : device);
    });
    for (const StoredTensor& store : stores) place(store.node);
    const size_t buffers = request_.group_stores ? request_.target(request_.device).max_buffers : 0;
    for (const std::vector<size_t>& group : group_stores(stores, buffers))
      if (group.size() == 1 || !build_group(stores, group))
        for (const size_t i : group) build(stores[i]);
    if (!order()) return false;
    for (const Node* output : outputs) {
      const int buffer = output->op == Op::Param ? int(output->arg(0)) : buffer_of_.at(output);
      plan_.outputs.push_back({buffer, in_place_.contains(output)});
      PlanBuffer::Kind& kind = plan_.buffers[size_t(buffer)].kind;
      if (kind == PlanBuffer::Kind::temporary) kind = PlanBuffer::Kind::output;
    }
    plan_memory(plan_);
    return true;
  }

  Plan& plan() { return plan_; }

 private:
  static std::vector<const Node*> stored(const std::vector<const Node*>& outputs) {
    std::vector<const Node*> nodes;
    for (const Node* output : outputs)
      if (output->op != Op::Param) nodes.push_back(output);
    return nodes;
  }

  // The Param at the bottom of a chain of writes, or null when the chain does not start at storage.
  static const Node* written_param(const Node* node) {
    while (node->op == Op::Assign) node = node->source(0);
    return node->op == Op::Param ? node : nullptr;
  }

  bool continues_fresh_write(const Node* node) const {
    const Node* old = node->source(0);
    return request_.chain_writes && old->op == Op::Assign && buffer_of_.contains(old) && !in_place_.contains(old);
  }

  DeviceId device_of(const Node* node) const { return node->device == kNoDevice ? request_.device : node->device; }

  // Chooses the buffer a stored node's value goes to.
  void place(const Node* node) {
    int buffer = -1;
    if (node->op == Op::Assign) {
      const Node* param = written_param(node);
      if (param && request_.writable[size_t(param->arg(0))]) {
        buffer = int(param->arg(0));
        in_place_.insert(node);
      } else if (continues_fresh_write(node)) {
        buffer = buffer_of_.at(node->source(0));
      }
    }
    if (buffer < 0) buffer = new_buffer(node->dtype, element_count(node->shape()), device_of(node));
    buffer_of_[node] = buffer;
    storage_[node] = param_of(buffer);
  }

  int new_buffer(DType type, int64_t elements, DeviceId device) {
    plan_.buffers.push_back({type, elements, device, PlanBuffer::Kind::temporary});
    return int(plan_.buffers.size() - 1);
  }

  const Node* param_of(int buffer) {
    const PlanBuffer& b = plan_.buffers[size_t(buffer)];
    const int64_t args[] = {buffer, b.elements, b.device};
    return graph_.make(Op::Param, Sources{}, args, b.type);
  }

  void build(const StoredTensor& store) {
    const Node* node = store.node;
    const int buffer = buffer_of_.at(node);
    if (element_count(node->shape()) == 0) return;
    if (node->op == Op::Copy) return build_copy(node);
    TensorLowering lowering(graph_, storage_);
    const Node* value = lowering.value(node, store.place, store.nest);
    const Node* param = storage_.at(node);
    const Node* index = flat_index(graph_, node->shape(), store.place.tuple);
    StepDraft draft{.to = {buffer}, .reads = lowering.reads(), .writes = {node}, .device = device_of(node)};
    if (node->op == Op::Assign && node->sources().size() == 3) return build_view_write(store, std::move(draft));
    if (in_place_.contains(node) && reads_elsewhere(value, param, index)) {
      // Written in place it would read what it has overwritten: the value is finished elsewhere first.
      const int aside = new_buffer(node->dtype, element_count(node->shape()), device_of(node));
      StepDraft first{.to = {aside}, .reads = draft.reads, .writes = {}, .device = device_of(node)};
      first.sink = store_sink({store_of(param_of(aside), index, value)});
      drafts_.push_back(std::move(first));
      value = graph_.make(Op::Load, {param_of(aside), index});
      draft.reads.clear();
      draft.after = int(drafts_.size() - 1);
    }
    draft.sink = store_sink({store_of(param, index, value)});
    drafts_.push_back(std::move(draft));
  }

  // One kernel for several stored tensors; false if a write in place would spoil what another of them reads.
  bool build_group(const std::vector<StoredTensor>& stores, const std::vector<size_t>& group) {
    TensorLowering lowering(graph_, storage_);
    StepDraft draft;
    std::vector<const Node*> statements;
    for (const size_t i : group) {
      const StoredTensor& store = stores[i];
      if (element_count(store.node->shape()) == 0) return false;
      const Node* value = lowering.value(store.node, store.place, store.nest);
      lowering.share(store.node, store.place, value);
      statements.push_back(store_of(storage_.at(store.node), flat_index(graph_, store.node->shape(), store.place.tuple), value));
      draft.to.push_back(buffer_of_.at(store.node));
      draft.writes.push_back(store.node);
      draft.device = device_of(store.node);
    }
    for (size_t i = 0; i < group.size(); ++i)
      for (const Node* statement : statements)
        if (in_place_.contains(stores[group[i]].node) &&
            reads_elsewhere(statement->source(2), statements[i]->source(0), statements[i]->source(1)))
          return false;
    draft.reads = lowering.reads();
    draft.sink = store_sink(statements);
    drafts_.push_back(std::move(draft));
    return true;
  }

  void build_copy(const Node* node) {
    const Node* source = node->source(0);
    const int from = source->op == Op::Param ? int(source->arg(0)) : buffer_of_.at(source);
    drafts_.push_back({.from = from, .to = {buffer_of_.at(node)}, .reads = {source}, .writes = {node}, .device = device_of(node)});
  }

  // Assign(old version, value, view of the old version): stores the value at the places the view shows.
  void build_view_write(const StoredTensor& store, StepDraft draft) {
    const Node* node = store.node;
    const Node *old = node->source(0), *value = node->source(1), *view = node->source(2), *param = storage_.at(node);
    if (!in_place_.contains(node) && !continues_fresh_write(node)) {
      TensorLowering whole(graph_, storage_);
      const Node* kept = whole.value(old, store.place, store.nest);
      StepDraft copy{.to = draft.to, .reads = whole.reads(), .writes = {}, .device = device_of(node)};
      if (old->op == Op::Param || storage_.contains(old)) copy.reads.assign(1, old);
      copy.sink = store_sink({store_of(param, flat_index(graph_, node->shape(), store.place.tuple),
                                       old->op == Op::Param || storage_.contains(old) ? read_of(old, store) : kept)});
      drafts_.push_back(std::move(copy));
      draft.after = int(drafts_.size() - 1);
    }
    if (element_count(view->shape()) == 0) return;
    std::vector<const Node*> place_index, nest;
    for (const Dim& dim : view->shape()) {
      place_index.push_back(dim.is(1) ? graph_.index(0) : graph_.range(int64_t(nest.size()), size_node(graph_, dim), AxisKind::loop));
      if (!dim.is(1)) nest.push_back(place_index.back());
    }
    Place place{graph_.make(Op::Sink, place_index), nullptr};
    TensorLowering lowering(graph_, storage_);
    const Node* written = lowering.value(value, place, graph_.make(Op::Sink, nest));
    if (const auto found = storage_.find(value); found != storage_.end()) {
      written = graph_.make(Op::Load, {found->second, flat_index(graph_, value->shape(), place.tuple)});
      draft.reads.assign(1, value);
    } else {
      draft.reads = lowering.reads();
    }
    for (const Node* step = view; step != old; step = step->source(0)) {
      const Node* valid = nullptr;
      place = source_place(graph_, step, place, valid);
    }
    draft.sink = store_sink({store_of(param, flat_index(graph_, old->shape(), place.tuple), written)});
    drafts_.push_back(std::move(draft));
  }

  const Node* read_of(const Node* node, const StoredTensor& store) {
    const Node* param = node->op == Op::Param ? node : storage_.at(node);
    return graph_.make(Op::Load, {param, flat_index(graph_, node->shape(), store.place.tuple)});
  }

  const Node* store_of(const Node* param, const Node* index, const Node* value) { return graph_.make(Op::Store, {param, index, value}); }
  const Node* store_sink(const std::vector<const Node*>& stores) { return simplify_kernel(graph_, graph_.make(Op::Sink, stores)); }

  // True if the value reads the storage it will be written to at another place than the one written.
  static bool reads_elsewhere(const Node* value, const Node* param, const Node* index) {
    for (const Node* node : topological_order(Sources(&value, 1)))
      if (node->op == Op::Load && node->source(0) == param && (node->source(1) != index || node->sources().size() > 2)) return true;
    return false;
  }

  bool order();
  std::vector<StepNeeds> needs() const;
  void emit(const StepDraft& draft);

  PlanRequest& request_;
  Graph& graph_;
  Plan plan_;
  std::unordered_map<const Node*, int> buffer_of_;
  std::unordered_map<const Node*, const Node*> storage_;
  std::set<const Node*> in_place_;
  std::vector<StepDraft> drafts_;
  std::unordered_map<const Node*, int> kernel_number_;
};

std::vector<StepNeeds> Builder::needs() const {
  std::unordered_map<const Node*, std::vector<int>> writers, readers;
  for (size_t i = 0; i < drafts_.size(); ++i) {
    for (const Node* node : drafts_[i].writes) writers[node].push_back(int(i));
    for (const Node* node : drafts_[i].reads) readers[node].push_back(int(i));
  }
  std::vector<StepNeeds> steps(drafts_.size());
  for (size_t i = 0; i < drafts_.size(); ++i) {
    const StepDraft& draft = drafts_[i];
    StepNeeds& step = steps[i];
    if (draft.after >= 0) step.after.push_back(draft.after);
    for (const Node* node : draft.reads) {
      if (const auto found = writers.find(node); found != writers.end())
        step.after.insert(step.after.end(), found->second.begin(), found->second.end());
      step.buffers.push_back(node->op == Op::Param ? int(node->arg(0)) : buffer_of_.at(node));
    }
    step.buffers.insert(step.buffers.end(), draft.to.begin(), draft.to.end());
    if (draft.from >= 0) step.buffers.push_back(draft.from);
    std::ranges::sort(step.buffers);
    step.buffers.erase(std::ranges::unique(step.buffers).begin(), step.buffers.end());
    // A new version of the same storage comes after the old version's writer and all its readers.
    for (size_t w = 0; w < draft.writes.size(); ++w) {
      if (draft.writes[w]->op != Op::Assign) continue;
      const Node* old = draft.writes[w]->source(0);
      const int old_buffer = old->op == Op::Param ? int(old->arg(0)) : buffer_of_.contains(old) ? buffer_of_.at(old) : -1;
      if (old_buffer != draft.to[w]) continue;
      for (const auto* lists : {&writers, &readers})
        if (const auto found = lists->find(old); found != lists->end())
          for (const int other : found->second)
            if (other != int(i)) step.after.push_back(other);
    }
  }
  return steps;
}

bool Builder::order() {
  std::vector<int> cycle;
  const std::vector<int> sequence = order_steps(needs(), plan_.buffers, cycle);
  for (const int left : cycle)
    for (const Node* node : drafts_[size_t(left)].writes) {
      if (!in_place_.contains(node)) continue;
      request_.writable[size_t(written_param(node)->arg(0))] = false;
      return false;
    }
  if (!cycle.empty() && (request_.chain_writes || request_.group_stores)) {
    (request_.chain_writes ? request_.chain_writes : request_.group_stores) = false;
    return false;
  }
  WHIT_ASSERT(cycle.empty(), "the steps of a plan wait for each other");
  for (const int i : sequence) emit(drafts_[size_t(i)]);
  return true;
}

void Builder::emit(const StepDraft& draft) {
  if (!draft.sink) {
    plan_.steps.push_back({-1, {draft.from, draft.to[0]}, {}, draft.device});
    return;
  }
  NormalKernel kernel = normalise(graph_, draft.sink);
  const auto [found, added] = kernel_number_.emplace(kernel.sink, int(plan_.kernels.size()));
  if (added) {
    plan_.kernels.push_back(kernel.sink);
    plan_.kernel_devices.push_back(draft.device);
  }
  plan_.steps.push_back({found->second, std::move(kernel.buffers), std::move(kernel.variables), draft.device});
}

}  // namespace

Plan make_plan(PlanRequest request) {
  const std::vector<const Node*> outputs = prepare_tensors(*request.graph, request.outputs);
  while (true) {
    Builder builder(request);
    if (builder.run(outputs)) return std::move(builder.plan());
  }
}

}  // namespace whit
