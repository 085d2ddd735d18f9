// Writing, and copies: which storage a tensor has.
#include <algorithm>
#include <array>

#include "engine/device.h"
#include "tensor/build.h"

namespace whit {

bool has_storage(const Node* node) {
  while (node->op == Op::Reshape) node = node->source(0);
  return node->op == Op::Buffer || node->op == Op::Assign;
}

namespace {

NodeRef assign_node(const Node* old, const NodeRef& value, const Node* written = nullptr) {
  const int64_t serial = TensorGraph::shared().next_serial();
  return written ? make(Op::Assign, {old, value.get(), written}, Args(&serial, 1)) : make(Op::Assign, {old, value.get()}, Args(&serial, 1));
}

using Steps = std::vector<Shown::Step>;

NodeRef replay(const Steps& steps, NodeRef node) {
  std::vector<const Node*> sources;
  for (const Shown::Step& step : steps) {
    sources.assign(1, node.get());
    for (const NodeRef& size : step.sizes) sources.push_back(size.get());
    NodeRef moved = TensorGraph::shared().make(step.op, sources, step.args);
    if (step.op == Op::Reshape && is_realized(node.get())) attach(moved.get(), storage_of(node.get()));
    node = std::move(moved);
  }
  return node;
}

// Puts the elements of a window with one place, `stride` apart, back where they were, with zeros between.
NodeRef spread_out(const NodeRef& node, size_t axis, int64_t stride, int64_t size) {
  const Sizes sizes = sizes_of(node.get());
  Sizes apart = sizes, gaps(2 * (sizes.size() + 1), 0), merged = sizes, bounds;
  apart.insert(apart.begin() + int64_t(axis) + 1, 1);
  gaps[2 * (axis + 1) + 1] = stride - 1;
  merged[axis] = sizes[axis] * stride;
  NodeRef result = reshape(make(Op::Pad, {reshape(node, apart).get()}, gaps), merged);
  // The last element may have fewer places behind it than a stride, or more.
  for (size_t i = 0; i < merged.size(); ++i) bounds.insert(bounds.end(), {0, i == axis ? std::min(size, merged[i]) : merged[i]});
  result = make(Op::Shrink, {result.get()}, bounds);
  if (merged[axis] >= size) return result;
  Sizes behind(2 * sizes.size(), 0);
  behind[2 * axis + 1] = size - merged[axis];
  return make(Op::Pad, {result.get()}, behind);
}

NodeRef undo(const Shown::Step& step, const NodeRef& node) {
  switch (step.op) {
    case Op::Reshape: return reshape(node, step.from);
    case Op::Flip: return make(Op::Flip, {node.get()}, step.args);
    case Op::Permute: {
      Sizes back(step.args.size());
      for (size_t i = 0; i < back.size(); ++i) back[size_t(step.args[i])] = int64_t(i);
      return make(Op::Permute, {node.get()}, back);
    }
    case Op::Shrink: {
      Sizes padding;
      for (size_t i = 0; i < step.from.size(); ++i)
        padding.insert(padding.end(), {step.args[2 * i], step.from[i].size - step.args[2 * i] - step.args[2 * i + 1]});
      return make(Op::Pad, {node.get()}, padding);
    }
    default: return spread_out(node, size_t(step.args[0]), step.args[3], step.from[size_t(step.args[0])].size);  // Window
  }
}

// A value of the view's shape in zeros of the base's.
NodeRef undo(const Steps& steps, NodeRef node) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) node = undo(*step, node);
  return node;
}

void check_writable(const Steps& steps) {
  for (const Shown::Step& step : steps)
    if (step.op == Op::Expand)
      refuse(ErrorKind::Value, "assign", "the tensor was made by expand, so that several of its elements are one; write to a clone");
}

// `old` with `value` where the view shows it, as a new value.
NodeRef merged(const Steps& steps, const NodeRef& value, const NodeRef& old) {
  const NodeRef everywhere = expand(TensorGraph::shared().constant(DType::boolean, 1), sizes_of(value.get()));
  const NodeRef written = undo(steps, everywhere), placed = undo(steps, value);
  return make(Op::Where, {written.get(), placed.get(), old.get()});
}

// A write to a part of storage.
NodeRef write_storage(NodeRef old, Steps steps, const NodeRef& value) {
  // The storage seen in another shape is the same storage.
  const Shape shape = shape_of(old.get());
  while (!steps.empty() && steps[0].op == Op::Reshape) {
    old = replay({steps[0]}, std::move(old));
    steps.erase(steps.begin());
  }
  const NodeRef place = replay(steps, old);
  return reshape(place == old ? assign_node(old.get(), value) : assign_node(old.get(), value, place.get()), shape);
}

// A new buffer that is given this value.
NodeRef stored(const NodeRef& value) {
  const DeviceId device = value->device == kNoDevice ? default_device() : value->device;
  const NodeRef buffer = reshape(empty_buffer(value->dtype, element_count(value->shape()), device), shape_of(value.get()));
  return assign_node(buffer.get(), value);
}

// Writes through a view: the base gets a new version, and the view shows that one.
void write_view(Handle& view, const Shown& shown, const NodeRef& value) {
  check_writable(shown.steps);
  NodeRef old = shown.base->node();
  // A part whose place or size is a Variable has no form as a value in zeros: the base is stored first.
  const bool symbolic =
      std::ranges::any_of(shown.steps, [](const Shown::Step& step) { return !step.sizes.empty() || is_symbolic(step.from); });
  if (symbolic && !has_storage(old.get())) old = stored(old);
  shown.base->set_node(has_storage(old.get()) ? write_storage(old, shown.steps, value) : merged(shown.steps, value, old));
  view.set_node(replay(shown.steps, shown.base->node()));
}

}  // namespace

Tensor& Tensor::assign(const Operand& value) {
  const Call call(value.site);
  const NodeRef old(node_of(*this, "assign"));
  const Operand self(*this);
  const DType type = common_type({&self, &value}, "assign");
  if (type != dtype())
    refuse(ErrorKind::Type, "assign", value.tensor ? name(value.tensor->dtype()) : name(type_of(value.scalar)),
           " values don't fit a tensor of ", name(dtype()), "; cast them");
  NodeRef node = operand_node(value, type, "assign");
  const std::array<NodeRef, 2> both{old, node};
  check_devices(both, "assign");
  const Shape sizes = shape_of(old.get()), from = shape_of(node.get());
  if (from.size() > sizes.size() || broadcast(sizes, from, "assign") != sizes)
    refuse(ErrorKind::Shape, "assign", "a value of shape ", text(ShapeView(from)), " doesn't broadcast to the tensor's ",
           text(ShapeView(sizes)));
  if (!is_symbolic(sizes) && element_count(sizes) == 0) return *this;
  node = whit::expand(std::move(node), sizes);
  if (is_view(*this))
    write_view(*handle_, *shown_, node);
  else
    handle_->set_node(has_storage(old.get()) ? assign_node(old.get(), node) : node);
  return *this;
}

Tensor& Tensor::operator=(const Operand& value) && {
  const Call call(value.site);
  node_of(*this, "assign");
  if (!is_view(*this) && handle_.use_count() == 1)
    refuse(ErrorKind::Value, "assign",
           "the value would be lost, since the left side is a copy that nothing else holds; write t.set({index}, ",
           "value) for an index of tensors");
  return assign(value);
}

Tensor Tensor::clone(Site at) const {
  const Call call(at);
  return tensor_of(stored(NodeRef(node_of(*this, "clone"))));
}

Tensor Tensor::contiguous(Site at) const {
  const Call call(at);
  return tensor_of(make(Op::Contiguous, {node_of(*this, "contiguous")}));
}

Tensor Tensor::detach(Site at) const {
  const Call call(at);
  Tensor result = tensor_of(make(Op::Detach, {node_of(*this, "detach")}));
  result.handle_->requires_grad = Handle::Gradient::no;
  return result;
}

Tensor Tensor::to(const std::string& device, Site at) const {
  const Call call(at);
  return tensor_of(on_device(NodeRef(node_of(*this, "to")), device, "to"));
}

std::optional<bool> Tensor::requires_grad() const {
  node_of(*this, "requires_grad");
  if (handle_->requires_grad == Handle::Gradient::unset) return std::nullopt;
  return handle_->requires_grad == Handle::Gradient::yes;
}

Tensor& Tensor::requires_grad_(std::optional<bool> value, Site at) {
  const Call call(at);
  const NodeRef node(node_of(*this, "requires_grad_"));
  if (value == true && !is_float(node->dtype))
    refuse(ErrorKind::Type, "requires_grad_", "only floats have gradients, not ", name(node->dtype), "; cast first");
  handle_->requires_grad = !value ? Handle::Gradient::unset : *value ? Handle::Gradient::yes : Handle::Gradient::no;
  // Expressions that are equal are one node; a tensor with a gradient of its own has to be told apart.
  if (value == true && !is_view(*this) && !has_storage(node.get())) handle_->set_node(stored(node));
  return *this;
}

}  // namespace whit
