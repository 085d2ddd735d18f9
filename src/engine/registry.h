// All live Handles of the process.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "engine/handle.h"

namespace whit {

class HandleRegistry {
 public:
  static HandleRegistry& shared();

  void add(Handle& handle);
  void remove(Handle& handle);

  /// The handles alive now. What they hold may change once the lock is given up; the pointers are good while the realise lock is held by
  /// the caller and no other thread drops one of them.
  std::vector<Handle*> handles();

  std::mutex mutex;  ///< guards the list and the node of every handle

 private:
  Handle* first_ = nullptr;
};

/// Calls `visit` for every live handle.
void for_each_live_handle(const std::function<void(Handle&)>& visit);

}  // namespace whit
