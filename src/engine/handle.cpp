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

std::vector<LiveHandle> HandleRegistry::live() {
  std::vector<LiveHandle> all;
  visit([&](Handle& handle) {
    const std::weak_ptr<Handle> owned = handle.weak_from_this();
    std::shared_ptr<Handle> keep = owned.lock();
    const bool shared = owned.owner_before(std::weak_ptr<Handle>()) || std::weak_ptr<Handle>().owner_before(owned);
    if (keep || !shared) all.push_back({&handle, std::move(keep), handle.node_});
  });
  return all;
}

void HandleRegistry::visit(const std::function<void(Handle&)>& visit) {
  const std::lock_guard lock(mutex);
  for (Handle* handle = first_; handle; handle = handle->next_) visit(*handle);
}

void for_each_live_handle(const std::function<void(Handle&)>& visit) { HandleRegistry::shared().visit(visit); }

}  // namespace whit
