#include "engine/handle.h"

#include "engine/registry.h"

namespace whit {

Handle::Handle(NodeRef node) : node_(std::move(node)) { HandleRegistry::shared().add(*this); }
Handle::~Handle() { HandleRegistry::shared().remove(*this); }

NodeRef Handle::node() const {
  const std::lock_guard lock(HandleRegistry::shared().mutex);
  return node_;
}

void Handle::set_node(NodeRef node) {
  {
    const std::lock_guard lock(HandleRegistry::shared().mutex);
    std::swap(node_, node);
  }
  // The old node is let go here, outside the lock: freeing a deep graph takes time.
}

HandleRegistry& HandleRegistry::shared() {
  static HandleRegistry* registry = new HandleRegistry;  // never destroyed: static Tensors may outlive any order of destruction
  return *registry;
}

void HandleRegistry::add(Handle& handle) {
  const std::lock_guard lock(mutex);
  handle.next_ = first_;
  if (first_) first_->previous_ = &handle;
  first_ = &handle;
}

void HandleRegistry::remove(Handle& handle) {
  const std::lock_guard lock(mutex);
  (handle.previous_ ? handle.previous_->next_ : first_) = handle.next_;
  if (handle.next_) handle.next_->previous_ = handle.previous_;
}

std::vector<Handle*> HandleRegistry::handles() {
  const std::lock_guard lock(mutex);
  std::vector<Handle*> all;
  for (Handle* handle = first_; handle; handle = handle->next_) all.push_back(handle);
  return all;
}

void for_each_live_handle(const std::function<void(Handle&)>& visit) {
  for (Handle* handle : HandleRegistry::shared().handles()) visit(*handle);
}

}  // namespace whit
