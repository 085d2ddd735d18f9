// Cutting a tensor graph off from its storage, so that equal work is equal whatever it works on.
#pragma once

#include <memory>
#include <vector>

#include "engine/device.h"
#include "ir/graph.h"
#include "schedule/plan.h"

namespace whit {

/// The graph below some tensor nodes with storage and bound values taken out.
struct Capture {
  PlanRequest request;
  std::vector<StorageRef> inputs;  ///< by input slot
  std::vector<int64_t> variables;  ///< values of the plan's variables, as Bits
  StructuralHash key;              ///< of the graph, the outputs and what is writable
};

/// What has to be there for a node to be computed: nothing below one that is realised. The view that an Assign writes is not read: it only
/// names a place.
Sources computed_from(const Node* node);

/// Captures roots, which are not realised. What is realised below them becomes a Param: one per storage.
Capture capture(const std::vector<const Node*>& roots, DeviceId device);

/// Completes the key when `request.writable` is settled.
void settle_key(Capture& capture);

}  // namespace whit
