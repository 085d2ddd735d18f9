// What a Tensor refers to: a mutable place that holds a node of the TensorGraph, and how such places are computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace whit {

/// A Tensor copied by assignment shares its Handle. Every live Handle is in a process-wide registry, so that a write can first compute
/// what still reads the old version. One thread at a time may use a Handle.
class Handle : public std::enable_shared_from_this<Handle> {
 public:
  explicit Handle(NodeRef node);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  NodeRef node() const;
  void set_node(NodeRef node);

  enum class Gradient : int8_t { unset, no, yes };
  Gradient requires_grad = Gradient::unset;
  std::shared_ptr<Handle> grad;
  /// For a view made by movement ops on a Handle: that Handle, so that writing through the view can write its base.
  std::shared_ptr<Handle> base;
  /// Where the outermost public call that made this node was, "file:line", or empty.
  std::string site;

 private:
  friend class HandleRegistry;
  NodeRef node_;
  Handle *previous_ = nullptr, *next_ = nullptr;
};

/// Computes what these handles stand for: afterwards each one's node has its value in storage (`is_realized`). A handle with no
/// gradient history (no leaf that requires one) then refers to a plain Buffer; the others keep their expression beside the value.
/// Writes (Assign nodes) among them are done; live handles that read an overwritten version are computed first, in the same plan.
void realize(std::span<Handle* const> handles);

/// True when the node's value lies in storage: nothing has to be computed to read it.
bool is_realized(const Node* node);

/// A Buffer of this shape whose storage is not yet filled, on a device (allocated at its first use).
NodeRef empty_buffer(DType type, int64_t elements, DeviceId device);
/// A Buffer on the CPU that holds a copy of these bytes or, when `owner` is given and the address is aligned to 64 bytes, the bytes
/// themselves, kept alive by `owner`; on another device, a copy there.
NodeRef buffer_of_host(DType type, int64_t elements, DeviceId device, const void* data, std::shared_ptr<const void> owner = nullptr);

/// What a size is with the values its Variables are bound to. Throws UserError(Value) if one has none.
int64_t bound_size(const Dim& dim);
[[noreturn]] void refuse_unbound(const Node* variable);

/// Copies the value of a realised node, row-major and of its bound sizes, to host memory.
void read_back(const Node* node, void* destination);

/// The device a name stands for, canonical ("cpu" → CPU, "llvm" → CPU:LLVM), opened if it is not yet. Throws UserError(Device) with the
/// reason when it is not there.
DeviceId open_device(const std::string& name);
/// DEV, or the device set, or CPU.
DeviceId default_device();
void set_default_device(const std::string& name);

/// What has happened in this process so far; reset by nobody, so take differences.
struct Counters {
  int64_t kernels = 0;  ///< launches
  int64_t plans_built = 0, plans_found = 0;
  int64_t kernels_compiled = 0;
  int64_t bytes_in_use = 0, bytes_peak = 0;  ///< storage held by tensors and plans
  double flops = 0, bytes_moved = 0;         ///< estimated, of launches
};
Counters counters();

}  // namespace whit
