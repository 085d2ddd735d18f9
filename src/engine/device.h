// Devices by name, opened once, and storage on them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/device_id.h"
#include "ir/graph.h"
#include "ir/node.h"
#include "runtime/backend.h"

namespace whit {

/// The opened device of a number given out by open_device().
OpenDevice& device(DeviceId id);

/// open_device for a name that was given in a variable or an option, which an error then starts with.
DeviceId open_device_of(const std::string& source, const std::string& name);

/// One line per backend: whether it is there, and if not why.
struct DeviceStatus {
  std::string name;  ///< as one may write it: "CPU:LLVM", "CL"
  std::string description;
  std::string reason;  ///< empty if available
  bool is_default = false;
};
std::vector<DeviceStatus> device_statuses();

/// Memory on a device that nodes and plans refer to. Allocated at its first use; freed with its last reference.
class Storage final : public Attachment {
 public:
  Storage(DeviceId device, int64_t bytes);
  /// Memory that belongs to the caller, kept alive by `owner`.
  Storage(DeviceId device, int64_t bytes, void* memory, std::shared_ptr<const void> owner);
  ~Storage() override;

  DeviceId device_id() const { return device_; }
  int64_t bytes() const { return bytes_; }
  void* memory();

 private:
  DeviceId device_;
  int64_t bytes_;
  void* memory_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// A counted reference to a Storage.
class StorageRef {
 public:
  StorageRef() = default;
  explicit StorageRef(Storage* storage) : storage_(storage) {
    if (storage_) storage_->retain();
  }
  StorageRef(const StorageRef& other) : StorageRef(other.storage_) {}
  StorageRef(StorageRef&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageRef& operator=(StorageRef other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageRef() {
    if (storage_) storage_->release();
  }
  Storage* get() const { return storage_; }
  Storage* operator->() const { return storage_; }
  explicit operator bool() const { return storage_ != nullptr; }

 private:
  Storage* storage_ = nullptr;
};

/// The storage a node's value lies in, or null.
inline Storage* storage_of(const Node* node) { return static_cast<Storage*>(node->attachment.load(std::memory_order_acquire)); }
/// Attaches storage to a node that has none; one that has keeps its own.
void attach(const Node* node, Storage* storage);
/// A Buffer node with a new serial over this storage.
NodeRef buffer_node(DType type, int64_t elements, Storage* storage);

}  // namespace whit
