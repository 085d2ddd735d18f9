// All live Handles of the process.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "engine/handle.h"

namespace whit {

/// A Handle that stays alive while this does, if it is shared; one that is not lies on the stack of a call that waits for its realisation.
struct LiveHandle {
  Handle* handle;
  std::shared_ptr<Handle> keep;
  NodeRef node;
};

class HandleRegistry {
 public:
  static HandleRegistry& shared();

  void add(Handle& handle);
  void remove(Handle& handle);

  /// The handles alive now and their nodes. One that its last owner is letting go of is not among them.
  std::vector<LiveHandle> live();
  /// Calls `visit` for each handle while none can be made, moved on or dropped.
  void visit(const std::function<void(Handle&)>& visit);

  /// Guards the list and the node of every handle. Recursive, since who visits handles asks for their nodes.
  std::recursive_mutex mutex;

 private:
  Handle* first_ = nullptr;
};

/// Calls `visit` for every live handle.
void for_each_live_handle(const std::function<void(Handle&)>& visit);

}  // namespace whit
