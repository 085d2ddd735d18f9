// CHECK=bounds,kernels,nan: whit looks over its own work while it runs, on any device.
#pragma once

#include <string>
#include <vector>

#include "codegen/bounds.h"
#include "engine/device.h"
#include "rules/spec.h"

namespace whit {

struct Checks {
  bool bounds = false;   ///< every access of every kernel is within its buffer
  bool kernels = false;  ///< graphs and code hold what rules/spec.h says of their level
  bool nan = false;      ///< no kernel makes a NaN or an infinity

  bool any() const { return bounds || kernels || nan; }
  /// What plans and kernels made under these checks are kept apart by.
  uint64_t key() const { return uint64_t(bounds) << 1 | uint64_t(kernels) << 2; }
};

/// What CHECK asks for, read anew. A word that is no check is a UserError, but in an
/// unprefixed CHECK where no word is one: that is another program's.
Checks checks_wanted();

/// Throws an InternalError if the graph or code breaks its level.
void check_level(Level level, Sources roots, const std::string& what);

/// One launch that is looked over. Made before it, told of its end; keeps what it is given until then.
class WatchedLaunch {
 public:
  WatchedLaunch(const Checks& checks, const std::string& kernel, const Node* sink, DeviceId device, const BoundsGuard& guard);

  /// Before the launch: adds the buffer that a guarded kernel reports to, and remembers what a partial write leaves as it was.
  void start(std::vector<void*>& memory, std::vector<size_t>& offsets);
  /// After it: throws an InternalError for an access out of bounds, a UserError for a NaN or an infinity.
  void finish();

 private:
  std::vector<char> contents(const Node* param) const;
  void check_report() const;
  void check_output(const Node* store) const;

  const Checks checks_;
  const std::string& kernel_;
  const Node* sink_;
  DeviceId device_;
  const BoundsGuard& guard_;
  StorageRef report_;
  std::vector<void*> memory_;
  std::vector<size_t> offsets_;
  std::vector<std::pair<const Node*, std::vector<char>>> before_;  ///< by Store
};

}  // namespace whit
