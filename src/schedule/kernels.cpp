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
#include "schedule/sort.h"

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
    kept_.insert(outputs.begin(), outputs.end());
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

  // The storage a write writes to: a Param or another write. A Reshape of it is the same storage.
  static const Node* written(const Node* assign) {
    const Node* old = assign->source(0);
    while (old->op == Op::Reshape) old = old->source(0);
    return old;
  }

  // Whether a write may go to the storage of the version before it, which nothing then can be read from any more.
  bool may_overwrite(const Node* write, const Node* old) {
    if (kept_.contains(old)) return false;
    if (write->op == Op::Scatter && (old->op == Op::Param || in_place_.contains(old)))
      return false;  // it is no new version of a handle's storage
    if (old->op == Op::Param ? !request_.writable[size_t(old->arg(0))] : !in_place_.contains(old) && !request_.chain_writes) return false;
    return kept_.insert(old).second;
  }

  DeviceId device_of(const Node* node) const { return node->device == kNoDevice ? request_.device : node->device; }

  // Chooses the buffer a stored node's value goes to.
  void place(const Node* node) {
    int buffer = -1;
    const Node* old = node->op == Op::Assign || node->op == Op::Scatter ? written(node) : nullptr;
    if (old && may_overwrite(node, old)) {
      buffer = old->op == Op::Param ? int(old->arg(0)) : buffer_of_.at(old);
      overwrites_.insert(node);
      if (old->op == Op::Param || in_place_.contains(old)) in_place_.insert(node);
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
    if (node->op == Op::Order) return build_sort(node);
    int first = -1;
    if (is_partial_write(node) && !overwrites_.contains(node)) first = build_old_version(node);
    const ShapeView shape = node->op == Op::Assign || node->op == Op::Scatter ? node->source(1)->shape() : node->shape();
    if (element_count(shape) == 0) return;
    if (node->op == Op::Scatter) return build_scatter(store, first);
    TensorLowering lowering(graph_, storage_);
    const Node* value = lowering.value(node, store.place, store.nest);
    const Node *param = storage_.at(node), *index = written_index(store);
    StepDraft draft{.to = {buffer}, .reads = lowering.reads(), .writes = {node}, .after = first, .device = device_of(node)};
    if (overwrites_.contains(node) && reads_elsewhere(value, param, index)) {
      // Written at once it would read what it has overwritten: the value is finished elsewhere first.
      const int aside = new_buffer(node->dtype, element_count(shape), device_of(node));
      const Node* place = flat_index(graph_, shape, store.place.tuple);
      drafts_.push_back({.sink = store_sink({store_of(param_of(aside), place, value)}),
                         .to = {aside},
                         .reads = draft.reads,
                         .writes = {},
                         .device = device_of(node)});
      value = graph_.make(Op::Load, {param_of(aside), place});
      draft.reads.clear();
      draft.after = int(drafts_.size() - 1);
    }
    draft.sink = store_sink({store_of(param, index, value)});
    drafts_.push_back(std::move(draft));
  }

  // In a loop along the axis, in order: what is at the place, by the op with the value, goes back to the place.
  void build_scatter(const StoredTensor& store, int first) {
    const Node *node = store.node, *param = storage_.at(node);
    const size_t axis = size_t(node->arg(1));
    TensorLowering lowering(graph_, storage_);
    const Node* value = lowering.operand(node->source(1), store.place, store.nest);
    const Node* at = graph_.cast(lowering.operand(node->source(2), store.place, store.nest), DType::index);
    StepDraft draft{.to = {buffer_of_.at(node)}, .reads = lowering.reads(), .writes = {node}, .after = first, .device = device_of(node)};
    for (const Node** part : {&value, &at})
      if (reads_elsewhere(*part, param, graph_.range(63, param->arg(1), AxisKind::loop))) *part = set_aside(store, *part, draft);
    std::vector<const Node*> tuple(store.place.tuple->sources().begin(), store.place.tuple->sources().end());
    tuple[axis] = at;
    const Node* place = flat_index(graph_, node->shape(), graph_.make(Op::Sink, tuple));
    const Node* inside = graph_.both(graph_.less(graph_.index(-1), at), graph_.less(at, size_node(graph_, node->shape()[axis])));
    if (node->reduce_op() != Op::Assign) value = graph_.make(node->reduce_op(), {graph_.make(Op::Load, {param, place, inside}), value});
    draft.sink = store_sink({graph_.make(Op::Store, {param, place, value, inside})});
    drafts_.push_back(std::move(draft));
  }

  void build_sort(const Node* node) {
    const Node* keys = written(node);
    const int64_t size = node->shape().back().size;
    const auto temporary = [&](DType type, int64_t elements) { return param_of(new_buffer(type, elements, device_of(node))); };
    int after = -1;
    for (const Node* sink : sorting_kernels(graph_, keys->op == Op::Param ? keys : storage_.at(keys), storage_.at(node),
                                            element_count(node->shape()) / size, size, temporary)) {
      StepDraft draft{.sink = sink, .to = {}, .reads = {}, .writes = {}, .after = after, .device = device_of(node)};
      for (const Node* below : topological_order(Sources(&sink, 1)))
        if (below->op == Op::Param && int(below->arg(0)) == int((keys->op == Op::Param ? keys : storage_.at(keys))->arg(0)))
          draft.reads.assign(1, keys);
      after = int(drafts_.size());
      drafts_.push_back(std::move(draft));
    }
    drafts_.back().to.push_back(buffer_of_.at(node));
    drafts_.back().writes.push_back(node);
  }

  // A value that a write would spoil while it is read is finished before, in a buffer of its own.
  const Node* set_aside(const StoredTensor& store, const Node* value, StepDraft& draft) {
    const int aside = new_buffer(value->dtype, element_count(store.node->source(1)->shape()), draft.device);
    const Node* place = flat_index(graph_, store.node->source(1)->shape(), store.place.tuple);
    StepDraft before{.to = {aside}, .reads = draft.reads, .writes = {}, .after = draft.after, .device = draft.device};
    before.sink = store_sink({store_of(param_of(aside), place, value)});
    drafts_.push_back(std::move(before));
    draft.after = int(drafts_.size() - 1);
    return graph_.make(Op::Load, {param_of(aside), place});
  }

  // A write to a part of storage that has to stay as it is starts from a copy. Gives the number of the draft.
  int build_old_version(const Node* node) {
    const Node *old = written(node), *from = old->op == Op::Param ? old : storage_.at(old);
    const Node* index = graph_.range(0, element_count(node->shape()), AxisKind::loop);
    StepDraft copy{.to = {buffer_of_.at(node)}, .reads = {old}, .writes = {}, .device = device_of(node)};
    if (element_count(node->source(1)->shape()) == 0) copy.writes.push_back(node);
    copy.sink = store_sink({store_of(storage_.at(node), index, graph_.make(Op::Load, {from, index}))});
    drafts_.push_back(std::move(copy));
    return int(drafts_.size() - 1);
  }

  // Where in its storage a tensor's element at its place lies. The value of a write to a view moves as the view does.
  const Node* written_index(const StoredTensor& store) {
    const Node* node = store.node;
    if (!is_view_write(node)) return flat_index(graph_, node->shape(), store.place.tuple);
    Place place = store.place;
    const Node* step = node->source(2);
    // Rewriting may have left out the old version's own Reshape: it lies somewhere on the way down to the storage, or nowhere.
    for (; step != node->source(0) && has(step->op, movement); step = step->source(0)) {
      const Node* valid = nullptr;
      place = source_place(graph_, step, place, valid);
    }
    return flat_index(graph_, step->shape(), place.tuple);
  }

  // One kernel for several stored tensors; false if a write over an old version would spoil what another of them reads.
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
        if (overwrites_.contains(stores[group[i]].node) &&
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

  const Node* store_of(const Node* param, const Node* index, const Node* value) { return graph_.make(Op::Store, {param, index, value}); }
  const Node* store_sink(const std::vector<const Node*>& stores) { return simplify_kernel(graph_, graph_.make(Op::Sink, stores)); }

  // True if the value reads the storage it will be written to at a place where another element of it may be written.
  static bool reads_elsewhere(const Node* value, const Node* param, const Node* index) {
    for (const Node* node : topological_order(Sources(&value, 1))) {
      if (node->op != Op::Load || node->source(0) != param) continue;
      const Node* read = node->source(1);
      const bool apart = read->maximum < index->minimum || index->maximum < read->minimum;
      if (!apart && (read != index || node->sources().size() > 2)) return true;
    }
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
  std::set<const Node*> kept_;        // storage that no write may go to: it is read afterwards, or another write has it
  std::set<const Node*> overwrites_;  // writes that go to the storage of the version before
  std::set<const Node*> in_place_;    // those of them where that is an input's
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
    step.buffers.erase(std::unique(step.buffers.begin(), step.buffers.end()), step.buffers.end());
    // A new version of the same storage comes after the old version's writer and all its readers.
    for (size_t w = 0; w < draft.writes.size(); ++w) {
      if (!overwrites_.contains(draft.writes[w])) continue;
      const Node* old = written(draft.writes[w]);
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
      request_.writable[size_t(buffer_of_.at(node))] = false;
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
