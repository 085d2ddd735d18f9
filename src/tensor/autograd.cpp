// Gradients: which tensors get one, and the way through an arena graph in which the rules work.
#include <algorithm>
#include <unordered_map>

#include "engine/registry.h"
#include "ir/node_map.h"
#include "rules/gradient.h"
#include "tensor/build.h"

namespace whit {

namespace {

// The nodes that a gradient of `output` reaches, sources before users.
std::vector<const Node*> reached_nodes(const Node* output) {
  std::vector<const Node*> order;
  NodeSet seen;
  struct Frame {
    const Node* node;
    size_t next;
  };
  std::vector<Frame> stack;
  const auto visit = [&](const Node* node) {
    if (is_float(node->dtype) && seen.insert(node)) stack.push_back({node, 0});
  };
  visit(output);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.node->sources().size()) {
      order.push_back(top.node);
      stack.pop_back();
    } else {
      const size_t k = top.next++;
      if (passes_gradient(top.node, k)) visit(top.node->source(k));
    }
  }
  return order;
}

// Handles that live only because views show parts of them: each view holds its base twice, by its handle and by what it shows.
class HiddenBases {
 public:
  HiddenBases() {
    for_each_live_handle([&](Handle& handle) {
      if (handle.base) ++views_[handle.base.get()];
    });
    for_each_live_handle([&](Handle& handle) {
      if (handle.base && handle.base.use_count() == 2 * views_[handle.base.get()]) hidden_.push_back(handle.base.get());
    });
  }
  bool contains(const Handle* handle) const { return std::ranges::find(hidden_, handle) != hidden_.end(); }

 private:
  std::unordered_map<const Handle*, long> views_;
  std::vector<const Handle*> hidden_;
};

using Handles = std::vector<Handle*>;

// Storage, or what was made of nothing, like random numbers: not the result of an operation on other tensors.
bool may_be_leaf(const Node* node) { return has_storage(node) || !node->below.contains(Op::Buffer); }

// Of the unset tensors, those with no other one and no excluded one below them.
Handles lowest(const std::vector<const Node*>& order, const std::unordered_map<const Node*, Handles>& unset, const NodeSet& excluded) {
  NodeMap<bool> above;  // a tensor lies strictly below
  Handles leaves, shared_constants;
  for (const Node* node : order) {
    bool is_above = false;
    for (size_t k = 0; k < node->sources().size(); ++k)
      if (const bool* below = above.find(node->source(k)); below && passes_gradient(node, k))
        is_above |= *below || unset.contains(node->source(k)) || excluded.contains(node->source(k));
    above.emplace(node, is_above);
    const auto here = unset.find(node);
    if (here == unset.end() || is_above) continue;
    // Equal constants are one node: it can't be told which of the tensors a formula was written with.
    const bool ambiguous = here->second.size() > 1 && !has_storage(node);
    Handles& list = ambiguous ? shared_constants : leaves;
    list.insert(list.end(), here->second.begin(), here->second.end());
  }
  if (leaves.empty() && !shared_constants.empty())
    refuse(
        ErrorKind::Value, "backward", shared_constants.size(),
        " tensors stand for one constant, so that their gradients can't be told apart; call requires_grad_() on them before they are used");
  return leaves;
}

// The tensors into whose `grad` backward adds.
Handles leaves_of(const Node* output) {
  const std::vector<const Node*> order = reached_nodes(output);
  NodeSet reached;
  for (const Node* node : order) reached.insert(node);
  Handles required;
  std::unordered_map<const Node*, Handles> unset;
  NodeSet excluded;  // what is made of these is the result of an operation, though it may hold no storage either
  const HiddenBases hidden;
  for_each_live_handle([&](Handle& handle) {
    const NodeRef node = handle.node();
    if (!node || !is_float(node->dtype) || !reached.contains(node.get())) return;
    if (handle.requires_grad == Handle::Gradient::yes)
      required.push_back(&handle);
    else if (handle.requires_grad == Handle::Gradient::no)
      excluded.insert(node.get());
    else if (handle.requires_grad == Handle::Gradient::unset && may_be_leaf(node.get()) && !hidden.contains(&handle))
      unset[node.get()].push_back(&handle);
  });
  return required.empty() ? lowest(order, unset, excluded) : required;
}

// What to start from: ones, or what the caller gave.
NodeRef seed_of(const Tensor& output, const Tensor& gradient, std::string_view operation) {
  const Node* node = node_of(output, operation);
  if (!is_float(node->dtype)) refuse(ErrorKind::Type, operation, "only floats have gradients, not ", name(node->dtype), "; cast before");
  const Shape sizes = shape_of(node);
  if (!gradient.defined()) {
    if (is_symbolic(sizes) || element_count(sizes) != 1)
      refuse(ErrorKind::Shape, operation, "the tensor has shape ", text(ShapeView(sizes)),
             ", and only one of a single element can do without a gradient to start from; reduce it, as by sum(), or give a gradient of "
             "its shape");
    return expand(TensorGraph::shared().constant(node->dtype, 1), sizes);
  }
  if (shape_of(node_of(gradient, operation)) != sizes)
    refuse(ErrorKind::Shape, operation, "the gradient ", text(gradient), " has to have the tensor's shape ", text(ShapeView(sizes)));
  return cast(NodeRef(node_of(gradient, operation)), node->dtype);
}

// The gradients of `output` with respect to the targets; null where it doesn't depend on one.
std::vector<NodeRef> gradients(const Node* output, const NodeRef& seed, const std::vector<const Node*>& targets) {
  Graph graph;
  NodeMap<const Node*> seen;
  const Node* copy = graph.import(output, seen);
  const Node* start = graph.import(seed.get(), seen);
  std::vector<const Node*> copies;
  for (const Node* target : targets) copies.push_back(graph.import(target, seen));
  const std::vector<const Node*> found = gradient(graph, copy, start, copies);
  std::vector<const Node*> present;
  for (const Node* node : found)
    if (node) present.push_back(node);
  const std::vector<NodeRef> imported = TensorGraph::shared().import(present);
  std::vector<NodeRef> result;
  size_t next = 0;
  for (const Node* node : found) result.push_back(node ? imported[next++] : NodeRef());
  return result;
}

std::shared_ptr<Handle> gradient_handle(NodeRef node) {
  auto handle = std::make_shared<Handle>(std::move(node));
  handle->requires_grad = Handle::Gradient::no;
  handle->site = call_site();
  return handle;
}

}  // namespace

Tensor& Tensor::backward(const Tensor& gradient, Site at) {
  const Call call(at);
  const NodeRef seed = seed_of(*this, gradient, "backward");
  const NodeRef output = handle_->node();
  const Handles leaves = leaves_of(output.get());
  std::vector<const Node*> targets;
  std::vector<NodeRef> keep;
  for (const Handle* leaf : leaves) targets.push_back(keep.emplace_back(leaf->node()).get());
  const std::vector<NodeRef> found = targets.empty() ? std::vector<NodeRef>() : gradients(output.get(), seed, targets);
  bool any = false;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!found[i]) continue;
    any = true;
    std::shared_ptr<Handle>& grad = leaves[i]->grad;
    if (grad)
      grad->set_node(make(Op::Add, {grad->node().get(), found[i].get()}));
    else
      grad = gradient_handle(found[i]);
  }
  if (!any)
    refuse(ErrorKind::Value, "backward",
           "the tensor depends on no float tensor that is still held and may have a gradient; was it detached, or made of integers, or "
           "does every one have requires_grad false? requires_grad_() makes a tensor count");
  return *this;
}

std::vector<Tensor> Tensor::gradient(const std::vector<Tensor>& targets, const Tensor& gradient, Site at) const {
  const Call call(at);
  const NodeRef seed = seed_of(*this, gradient, "gradient");
  std::vector<NodeRef> keep;
  std::vector<const Node*> nodes;
  for (const Tensor& target : targets) {
    nodes.push_back(keep.emplace_back(node_of(target, "gradient")).get());
    if (!is_float(nodes.back()->dtype))
      refuse(ErrorKind::Type, "gradient", "only floats have gradients, not target ", nodes.size() - 1, ", a tensor of ",
             name(nodes.back()->dtype));
  }
  std::vector<Tensor> result;
  for (NodeRef& node : gradients(node_of(*this, "gradient"), seed, nodes)) {
    if (!node)
      refuse(ErrorKind::Value, "gradient", "the tensor doesn't depend on target ", result.size(), ", ", text(targets[result.size()]),
             "; was it written to, or detached, since?");
    result.push_back(tensor_of(std::move(node)));
  }
  return result;
}

bool Tensor::has_grad() const {
  node_of(*this, "has_grad");
  return handle_->grad != nullptr;
}

Tensor Tensor::grad(Site at) const {
  const Call call(at);
  node_of(*this, "grad");
  if (!handle_->grad) refuse(ErrorKind::Value, "grad", "there is no gradient yet; call backward() on something computed from this tensor");
  return Tensor(handle_->grad);
}

void Tensor::set_grad(const Tensor& gradient) {
  node_of(*this, "set_grad");
  node_of(gradient, "set_grad");
  if (gradient.shape() != shape())
    refuse(ErrorKind::Shape, "set_grad", "the gradient ", text(gradient.shape()), " has to have the tensor's shape ", text(shape()));
  handle_->grad = gradient.handle_;
}

void Tensor::zero_grad() {
  node_of(*this, "zero_grad");
  handle_->grad = nullptr;
}

// ---- Reading keeps history ----------------------------------------------------------------------------------------------------------

bool has_unset_leaf(const Node* node) {
  NodeSet reached;
  for (const Node* each : reached_nodes(node))
    if (each != node) reached.insert(each);
  bool found = false;
  for_each_live_handle([&](Handle& handle) {
    if (found || handle.requires_grad == Handle::Gradient::no) return;
    const NodeRef held = handle.node();
    found = held && has_storage(held.get()) && reached.contains(held.get());
  });
  return found;
}

}  // namespace whit
