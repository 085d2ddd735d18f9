// What a tensor is, and reading its values.
#include <memory>
#include <span>
#include <whit/device.h>

#include "ir/device_id.h"
#include "tensor/build.h"

namespace whit {

namespace {

int64_t value_of(const Dim& dim, std::string_view operation) {
  try {
    return bound_size(dim);
  } catch (const UserError& error) {
    refuse(error.kind(), operation, error.what());
  }
}

}  // namespace

Sizes Tensor::shape(Site at) const {
  const Call call(at);
  const NodeRef node(node_of(*this, "shape"));
  Sizes sizes;
  for (const Dim& dim : node->shape()) sizes.push_back(value_of(dim, "shape"));
  return sizes;
}

int64_t Tensor::shape(int64_t axis, Site at) const {
  const Call call(at);
  const Node* node = node_of(*this, "shape");
  return value_of(node->shape()[size_t(axis_of(axis, node->rank, "shape"))], "shape");
}

int64_t Tensor::ndim() const { return node_of(*this, "ndim")->rank; }
int64_t Tensor::numel(Site at) const { return product(shape(at)); }
DType Tensor::dtype() const { return node_of(*this, "dtype")->dtype; }

std::string Tensor::device() const {
  const DeviceId device = node_of(*this, "device")->device;
  return device_name(device == kNoDevice ? default_device() : device);
}

bool Tensor::is_realized() const { return whit::is_realized(node_of(*this, "is_realized")); }

// ---- Computing and reading ----------------------------------------------------------------------------------------------------------

namespace {

// Realises, and says in what goes wrong where it was asked for.
void run(std::span<Handle* const> handles) {
  try {
    realize(handles);
  } catch (const UserError& error) {
    refuse(error.kind(), "realize", error.what());
  }
}

// Whether the tensor has to stay what it is, with a value beside: a view of a tensor that someone holds, which can be written through it.
// If nobody does, the view lets its base go, and with it what the base was computed from.
bool shows_another(const Tensor& tensor) {
  if (!is_view(tensor)) return false;
  Handle& handle = *tensor.handle();
  Shown& shown = *tensor.shown();
  handle.base = nullptr;
  const bool held = shown.base.use_count() > 1;
  if (held)
    handle.base = shown.base;
  else
    shown.base = nullptr;
  return held;
}

}  // namespace

void compute(const Tensor& tensor) {
  Handle& handle = *tensor.handle();
  const NodeRef node = handle.node();
  if (is_realized(node.get())) return;
  Handle beside(node);
  Handle* const target = shows_another(tensor) || has_unset_leaf(node.get()) ? &beside : &handle;
  run(std::span(&target, 1));
}

Tensor& Tensor::realize(Site at) {
  whit::realize(std::vector<Tensor>{*this}, at);
  return *this;
}

void realize(const std::vector<Tensor>& tensors, Site at) {
  const Call call(at);
  std::vector<Handle*> handles;
  std::vector<std::unique_ptr<Handle>> beside;
  for (const Tensor& tensor : tensors) {
    node_of(tensor, "realize");
    Handle& handle = *tensor.handle();
    handles.push_back(shows_another(tensor) ? beside.emplace_back(std::make_unique<Handle>(handle.node())).get() : &handle);
  }
  run(handles);
}

void Tensor::copy_to(void* destination, size_t bytes, Site at) const {
  const Call call(at);
  const size_t needed = size_t(numel()) * item_size(dtype());
  if (bytes != needed) refuse(ErrorKind::Value, "copy_to", "the destination has ", bytes, " bytes, ", text(*this), " needs ", needed);
  if (needed == 0) return;
  compute(*this);
  read_back(handle_->node().get(), destination);
}

void Tensor::read_as(DType type, void* destination, Site at) const {
  const Call call(at);
  const DType from = dtype();
  const size_t count = size_t(numel());
  if (from == type || (from == DType::boolean && type == DType::uint8)) return copy_to(destination, count * item_size(from));
  std::vector<std::byte> bytes(count * item_size(from));
  copy_to(bytes.data(), bytes.size());
  for (size_t i = 0; i < count; ++i)
    store_element(type, static_cast<std::byte*>(destination) + i * item_size(type),
                  convert(from, type, load_element(from, &bytes[i * item_size(from)])));
}

void Tensor::read_item(DType type, void* destination, Site at) const {
  const Call call(at);
  if (numel() != 1)
    refuse(ErrorKind::Shape, "item", "a tensor of shape ", text(shape()), " has ", numel(),
           " elements, not one; index or reduce it first, or use to_vector");
  read_as(type, destination, at);
}

// ---- Devices ------------------------------------------------------------------------------------------------------------------------

std::string Device::get_default() { return device_name(default_device()); }

void Device::set_default(const std::string& name, Site at) {
  const Call call(at);
  try {
    set_default_device(name);
  } catch (const UserError& error) {
    refuse(error.kind(), "Device::set_default", error.what());
  }
}

}  // namespace whit
