// From handles to values: which storage may be written in place, what else has to be computed before that, and what every handle refers
// to afterwards.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "base/error.h"
#include "engine/capture.h"
#include "engine/handle.h"
#include "engine/plan_cache.h"
#include "engine/registry.h"
#include "ir/interpret_tensor.h"
#include "ir/node_map.h"
#include "ir/size_args.h"

namespace whit {

namespace {

// One realisation at a time: storage is handed from version to version.
std::mutex& realize_mutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

// Answers "is there a node for which `hit` holds at or below this one?" for many nodes of overlapping graphs, each visited once.
template <class Hit>
class Below {
 public:
  explicit Below(Hit hit) : hit_(std::move(hit)) {}

  bool operator()(const Node* root) {
    std::vector<const Node*> stack{root};
    while (!stack.empty()) {
      const Node* node = stack.back();
      if (known_.find(node)) {
        stack.pop_back();
        continue;
      }
      bool found = hit_(node), ready = true;
      if (!found)
        for (const Node* source : node->sources()) {
          const bool* below = known_.find(source);
          if (!below) {
            stack.push_back(source);
            ready = false;
          } else if (*below) {
            found = true;
          }
        }
      if (!found && !ready) continue;
      known_.emplace(node, found);  // left on the stack: it is taken off when it is seen to be known
    }
    return *known_.find(root);
  }

 private:
  Hit hit_;
  NodeMap<bool> known_;
};

// A Variable without a value that the node is computed from, or null.
const Node* unbound_variable(const Node* root) {
  if (!root->below.contains(Op::Variable)) return nullptr;
  const std::vector<const Node*> nodes = topological_order(Sources(&root, 1), computed_from);
  const auto found = std::ranges::find(nodes, Op::Variable, &Node::op);
  return found == nodes.end() ? nullptr : *found;
}

class Realization {
 public:
  explicit Realization(std::span<Handle* const> handles) {
    for (Handle* handle : handles) add(handle);
  }

  void run() {
    if (targets_.empty()) return;
    for (const Target& target : targets_) check_sizes(target.node.get());
    find_writes();
    if (!written_.empty()) add_readers();
    std::vector<const Node*> roots;
    for (const Target& target : targets_) roots.push_back(target.node.get());
    Capture captured = capture(roots, device_of(roots));
    settle_writable(captured);
    const auto plan = plan_for(captured);
    std::vector<StorageRef> outputs(plan->plan.buffers.size());
    for (size_t b = 0; b < outputs.size(); ++b)
      if (plan->plan.buffers[b].kind == PlanBuffer::Kind::output)
        outputs[b] = StorageRef(new Storage(plan->plan.buffers[b].device, plan->plan.buffers[b].bytes()));
    run_plan(*plan, captured.inputs, outputs, captured.variables);
    finish(captured, plan->plan, outputs);
  }

 private:
  struct Target {
    NodeRef node;
    std::vector<Handle*> handles;
  };

  void add(Handle* handle) {
    NodeRef node = handle->node();
    if (is_realized(node.get()) || node->op == Op::Bind) return;
    const auto found = std::ranges::find(targets_, node, &Target::node);
    if (found == targets_.end())
      targets_.push_back({std::move(node), {handle}});
    else if (std::ranges::find(found->handles, handle) == found->handles.end())
      found->handles.push_back(handle);
  }

  // A Variable has one value in all that a tensor is computed from.
  static void check_sizes(const Node* root) {
    if (!root->below.contains(Op::Bind)) return;
    NodeMap<int64_t> values;
    for (const Node* node : topological_order(Sources(&root, 1), computed_from)) {
      if (node->op != Op::Bind || node->dtype != DType::index) continue;
      const int64_t* known = values.find(node->source(0));
      if (known && *known != node->arg(0))
        fail(ErrorKind::Value, "the Variable ", name_of(node->source(0)->arg(0)), " has the values ", *known, " and ", node->arg(0),
             " in what one tensor is computed from; realize what uses the one before the other is used");
      if (!known) values.emplace(node->source(0), node->arg(0));
    }
  }

  // The storages that Assigns below the targets would overwrite.
  void find_writes() {
    std::vector<const Node*> roots;
    for (const Target& target : targets_) roots.push_back(target.node.get());
    for (const Node* node : topological_order(roots, computed_from)) {
      if (node->op != Op::Assign || is_realized(node)) continue;
      Storage* storage = storage_of(node->source(0));
      if (storage && std::ranges::find(written_, storage) == written_.end()) written_.push_back(storage);
    }
  }

  bool is_written(const Node* node) const {
    Storage* storage = storage_of(node);
    return storage && std::ranges::find(written_, storage) != written_.end();
  }

  // Live handles that read an overwritten version are computed in the same plan; those whose value is one keep it from being overwritten.
  void add_readers() {
    Below reads([this](const Node* node) { return is_written(node); });
    for (LiveHandle& live : HandleRegistry::shared().live()) {
      const NodeRef& node = live.node;
      if (is_written(node.get())) {
        kept_.push_back(storage_of(node.get()));
        continue;
      }
      if (!reads(node.get())) continue;
      if (unbound_variable(node.get())) {  // what can't be computed yet keeps what it reads
        kept_ = written_;
        continue;
      }
      add(live.handle);
      readers_.push_back(live.handle);
      alive_.push_back(std::move(live.keep));
    }
  }

  // Where what names no device is computed: with the rest.
  static DeviceId device_of(const std::vector<const Node*>& roots) {
    for (const Node* root : roots)
      if (root->device != kNoDevice) return root->device;
    return default_device();
  }

  void settle_writable(Capture& captured) const {
    for (size_t i = 0; i < captured.inputs.size(); ++i) {
      Storage* storage = captured.inputs[i].get();
      captured.request.writable[i] =
          std::ranges::find(written_, storage) != written_.end() && std::ranges::find(kept_, storage) == kept_.end();
    }
  }

  void finish(const Capture& captured, const Plan& plan, const std::vector<StorageRef>& outputs) {
    std::vector<Storage*> overwritten;
    for (const PlanOutput& output : plan.outputs)
      if (output.in_place) overwritten.push_back(captured.inputs[size_t(output.buffer)].get());
    Below overwrites([&](const Node* node) {
      Storage* storage = storage_of(node);
      return storage && std::ranges::find(overwritten, storage) != overwritten.end();
    });
    const std::vector<const Node*> leaves = gradient_leaves();
    Below has_history([&](const Node* node) { return std::ranges::find(leaves, node) != leaves.end(); });
    for (size_t i = 0; i < targets_.size(); ++i) {
      const int buffer = plan.outputs[i].buffer;
      Storage* storage = outputs[size_t(buffer)] ? outputs[size_t(buffer)].get() : captured.inputs[size_t(buffer)].get();
      settle(targets_[i], storage, !overwrites(targets_[i].node.get()) && !leaves.empty() && has_history(targets_[i].node.get()));
    }
    // A history that holds an overwritten version would give wrong gradients: it ends here.
    for (Handle* handle : readers_)
      if (const NodeRef node = handle->node(); node->op != Op::Buffer && is_realized(node.get()) && overwrites(node.get()))
        cut(*handle, node.get(), storage_of(node.get()));
  }

  static std::vector<const Node*> gradient_leaves() {
    std::vector<const Node*> leaves;
    for_each_live_handle([&](Handle& handle) {
      if (handle.requires_grad == Handle::Gradient::yes) leaves.push_back(handle.node().get());
    });
    return leaves;
  }

  static void settle(const Target& target, Storage* storage, bool keep_history) {
    const Node* node = target.node.get();
    attach(node, storage);
    if (keep_history && node->op != Op::Assign) return;
    for (Handle* handle : target.handles) cut(*handle, node, storage);
  }

  static void cut(Handle& handle, const Node* node, Storage* storage) {
    const NodeRef flat = buffer_node(node->dtype, element_count(node->shape()), storage);
    handle.set_node(shaped(flat, node->shape()));
  }

  // A Buffer is flat; a Reshape over it gives the shape back, and lies in the same storage.
  static NodeRef shaped(const NodeRef& flat, ShapeView shape) {
    if (shape.size() == 1 && !is_symbolic(shape)) return flat;
    NodeRef result = SizeArgs(flat.get(), shape).make(Op::Reshape);
    attach(result.get(), storage_of(flat.get()));
    return result;
  }

  std::vector<Target> targets_;
  std::vector<Storage*> written_, kept_;
  std::vector<Handle*> readers_;
  std::vector<std::shared_ptr<Handle>> alive_;  // readers, which another thread may let go of meanwhile
};

}  // namespace

bool is_realized(const Node* node) { return node->attachment.load(std::memory_order_acquire) != nullptr; }

void realize(std::span<Handle* const> handles) {
  const std::lock_guard lock(realize_mutex());
  try {
    Realization(handles).run();
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::OutOfMemory, "out of memory while a graph was scheduled and compiled; realize parts of it before");
  }
}

NodeRef empty_buffer(DType type, int64_t elements, DeviceId device) {
  const StorageRef storage(new Storage(device, elements * int64_t(item_size(type))));
  return buffer_node(type, elements, storage.get());
}

NodeRef buffer_of_host(DType type, int64_t elements, DeviceId id, const void* data, std::shared_ptr<const void> owner) {
  const int64_t bytes = elements * int64_t(item_size(type));
  const bool on_host = device_name(id).starts_with("CPU");
  if (owner && on_host && reinterpret_cast<uintptr_t>(data) % 64 == 0) {
    const StorageRef storage(new Storage(id, bytes, const_cast<void*>(data), std::move(owner)));
    return buffer_node(type, elements, storage.get());
  }
  const StorageRef storage(new Storage(id, bytes));
  if (bytes > 0) device(id).copy_in(storage->memory(), 0, data, size_t(bytes));
  return buffer_node(type, elements, storage.get());
}

void refuse_unbound(const Node* variable) {
  fail(ErrorKind::Value, "the size ", name_of(variable->arg(0)), " is a Variable without a value; use what its bind() gives");
}

int64_t bound_size(const Dim& dim) {
  if (!dim.symbol) return dim.size;
  if (const Node* variable = unbound_variable(dim.symbol)) refuse_unbound(variable);
  return evaluate_tensor(dim.symbol).values[0];
}

namespace {

// Brings the elements of a shape with bound sizes together, where they lie by its upper bounds.
void compact(ShapeView shape, const char* from, char* to, size_t item) {
  size_t run = item;  // bytes that lie together
  size_t axes = shape.size();
  while (axes > 0 && !shape[axes - 1].symbol) run *= size_t(shape[--axes].size);
  std::vector<int64_t> sizes, index(axes, 0);
  for (const Dim& dim : shape.first(axes)) sizes.push_back(bound_size(dim));
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  while (true) {
    size_t place = 0;
    for (size_t i = 0; i < axes; ++i) place = place * size_t(shape[i].size) + size_t(index[i]);
    std::memcpy(to, from + place * run, run);
    to += run;
    size_t i = axes;
    while (i > 0 && ++index[i - 1] == sizes[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace

void read_back(const Node* node, void* destination) {
  Storage* storage = storage_of(node);
  WHIT_ASSERT(storage, "reading a value that is not there");
  const size_t bytes = size_t(element_count(node->shape())) * item_size(node->dtype);
  if (bytes == 0) return;
  OpenDevice& on = device(storage->device_id());
  on.synchronize();
  if (!is_symbolic(node->shape())) return on.copy_out(destination, storage->memory(), 0, bytes);
  std::vector<char> laid_out(bytes);
  on.copy_out(laid_out.data(), storage->memory(), 0, bytes);
  compact(node->shape(), laid_out.data(), static_cast<char*>(destination), item_size(node->dtype));
}

}  // namespace whit
