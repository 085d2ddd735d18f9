#include "engine/device.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <map>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/settings.h"
#include "engine/counters.h"
#include "engine/handle.h"

namespace whit {

namespace {

// A name taken apart: "CPU:LLVM", "CL:1", "llvm".
struct Request {
  std::string kind, compiler;
  int index = 0;
};

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return text;
}

[[noreturn]] void no_such_device(const std::string& name) {
  std::string here, missing;
  for (const DeviceStatus& status : device_statuses()) {
    std::string& list = status.reason.empty() ? here : missing;
    list += (list.empty() ? "" : ", ") + status.name;
  }
  fail(ErrorKind::Device, "there is no device \"", name, "\"; there are ", here, ", each with an index (CPU:1)",
       missing.empty() ? "" : "; known but not available here, for which `whit devices` gives the reason: ", missing);
}

Request parse_name(const std::string& name) {
  Request request;
  std::string rest = upper(name);
  for (const Backend* backend : registered_backends())
    if (rest == backend->compiler && !rest.empty()) return {std::string(backend->device), rest, 0};
  const size_t colon = rest.find(':');
  request.kind = rest.substr(0, colon);
  while (rest.find(':') != std::string::npos) {
    rest = rest.substr(rest.find(':') + 1);
    const std::string part = rest.substr(0, rest.find(':'));
    const bool digits = !part.empty() && part.size() <= 4 && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c); });
    if (digits)
      request.index = std::stoi(part);
    else if (request.compiler.empty() && !part.empty())
      request.compiler = part;
    else
      no_such_device(name);
  }
  return request;
}

// The backend that serves a request: the one named, else the best that is available.
Backend* find_backend(const Request& request, const std::string& name) {
  std::vector<Backend*> fitting;
  for (Backend* backend : registered_backends())
    if (backend->device == request.kind && (request.compiler.empty() || request.compiler == backend->compiler)) fitting.push_back(backend);
  if (fitting.empty()) no_such_device(name);
  std::ranges::sort(fitting, {}, &Backend::rank);
  std::string reasons;
  for (Backend* backend : fitting) {
    const std::string reason = backend->unavailable();
    if (reason.empty()) return backend;
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  fail(ErrorKind::Device, "device \"", name, "\" is not available: ", reasons, ". `whit devices` lists what is");
}

struct Devices {
  std::mutex mutex;
  std::map<DeviceId, std::unique_ptr<OpenDevice>> open;
  std::map<std::string, DeviceId> by_name;
  std::optional<DeviceId> standard;
};
Devices& devices() {
  static Devices* all = new Devices;  // never destroyed: storage may outlive any order of destruction
  return *all;
}

std::string canonical(const Request& request, const Backend& backend) {
  // The best compiler of a device needs no name.
  std::string name = request.kind;
  if (!request.compiler.empty() && &backend != find_backend({request.kind, "", 0}, request.kind)) name += ":" + request.compiler;
  if (request.index) name += ":" + std::to_string(request.index);
  return name;
}

}  // namespace

DeviceId open_device(const std::string& name) {
  Devices& all = devices();
  {
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.by_name.find(name); found != all.by_name.end()) return found->second;
  }
  const Request request = parse_name(name);
  Backend* backend = find_backend(request, name);
  const std::string full = canonical(request, *backend);
  const DeviceId id = device_id(full);
  const std::lock_guard lock(all.mutex);
  if (!all.open.contains(id)) all.open[id] = backend->open(request.index);
  all.by_name[name] = all.by_name[full] = id;
  return id;
}

DeviceId open_device_of(const std::string& source, const std::string& name) {
  try {
    return open_device(name);
  } catch (const UserError& error) {
    fail(error.kind(), source, "=", name, ": ", error.what());
  }
}

OpenDevice& device(DeviceId id) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.open.find(id);
  WHIT_ASSERT(found != all.open.end(), "device ", device_name(id), " is not open");
  return *found->second;
}

DeviceId default_device() {
  Devices& all = devices();
  {
    const std::lock_guard lock(all.mutex);
    if (all.standard) return *all.standard;
  }
  const std::string wanted = text_setting("DEV");
  const DeviceId id = wanted.empty() ? open_device("CPU") : open_device_of(setting_source("DEV"), wanted);
  const std::lock_guard lock(all.mutex);
  all.standard = id;
  return id;
}

void set_default_device(const std::string& name) {
  const DeviceId id = open_device(name);
  const std::lock_guard lock(devices().mutex);
  devices().standard = id;
}

std::vector<DeviceStatus> device_statuses() {
  std::vector<Backend*> all = registered_backends();
  std::ranges::stable_sort(
      all, [](const Backend* a, const Backend* b) { return a->device != b->device ? a->device < b->device : a->rank < b->rank; });
  std::vector<DeviceStatus> statuses;
  bool chosen = false;
  for (Backend* backend : all) {
    DeviceStatus status;
    status.name = std::string(backend->device) + (backend->compiler.empty() ? "" : ":") + std::string(backend->compiler);
    status.description = backend->description;
    status.reason = backend->unavailable();
    if (!chosen && backend->device == "CPU" && status.reason.empty()) chosen = status.is_default = true;
    statuses.push_back(std::move(status));
  }
  return statuses;
}

// ---- Storage ------------------------------------------------------------------------------------------------------------------------

Storage::Storage(DeviceId device, int64_t bytes) : device_(device), bytes_(bytes) {}

Storage::Storage(DeviceId device, int64_t bytes, void* memory, std::shared_ptr<const void> owner)
    : device_(device), bytes_(bytes), memory_(memory), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (!memory_ || owner_) return;
  device(device_).free(memory_, size_t(bytes_));
  count_bytes(-bytes_);
}

void* Storage::memory() {
  if (!memory_ && bytes_ > 0) {
    memory_ = device(device_).alloc(size_t(bytes_));
    count_bytes(bytes_);
  }
  return memory_;
}

void attach(const Node* node, Storage* storage) {
  Attachment* none = nullptr;
  storage->retain();
  if (!node->attachment.compare_exchange_strong(none, storage, std::memory_order_acq_rel)) storage->release();
}

NodeRef buffer_node(DType type, int64_t elements, Storage* storage) {
  TensorGraph& graph = TensorGraph::shared();
  const NodeRef node = graph.make(Op::Buffer, {}, {graph.next_serial(), elements, storage->device_id()}, type);
  attach(node.get(), storage);
  return node;
}

}  // namespace whit
