#include "ir/device_id.h"

#include <deque>
#include <limits>
#include <mutex>

#include "base/error.h"

namespace whit {

namespace {
struct Names {
  std::mutex mutex;
  std::deque<std::string> names;  // a deque: references stay valid as it grows
};
Names& registry() {
  static Names* names = new Names;  // never destroyed, like the TensorGraph
  return *names;
}
}  // namespace

DeviceId device_id(std::string_view name) {
  Names& all = registry();
  const std::lock_guard lock(all.mutex);
  for (size_t i = 0; i < all.names.size(); ++i)
    if (all.names[i] == name) return DeviceId(i);
  if (all.names.size() > size_t(std::numeric_limits<DeviceId>::max()))
    fail(ErrorKind::Device, "too many devices: no number is left for ", name);
  all.names.emplace_back(name);
  return DeviceId(all.names.size() - 1);
}

const std::string& device_name(DeviceId id) {
  static const std::string& none = *new std::string("any");
  Names& all = registry();
  const std::lock_guard lock(all.mutex);
  return id < 0 || size_t(id) >= all.names.size() ? none : all.names[size_t(id)];
}

}  // namespace whit
