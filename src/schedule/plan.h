// What scheduling makes of a tensor graph: buffers, and kernels and copies in the order in which they run.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ir/graph.h"
#include "target/target.h"

namespace whit {

/// Storage a plan works on. The first ones are the inputs, by the slot of their Param.
struct PlanBuffer {
  DType type;
  int64_t elements;
  DeviceId device;
  enum class Kind : int8_t { input, output, temporary } kind;
  int64_t offset = 0;  ///< of a temporary: bytes into the arena of its device
  int64_t bytes() const { return elements * int64_t(item_size(type)); }
};

/// One launch, or one copy between devices.
struct PlanStep {
  int kernel = -1;             ///< into Plan::kernels, or -1 for a copy of buffers[0] to buffers[1]
  std::vector<int> buffers;    ///< plan buffer of each kernel slot
  std::vector<int> variables;  ///< plan variable of each variable of the kernel
  DeviceId device = kNoDevice;
};

/// Where an output's value lies after the plan has run.
struct PlanOutput {
  int buffer = -1;
  bool in_place = false;  ///< an Assign that wrote over the storage of its input
};

struct Plan {
  std::shared_ptr<Graph> graph;  ///< owns the kernels' nodes
  std::vector<PlanBuffer> buffers;
  size_t inputs = 0;
  std::vector<const Node*> kernels;  ///< Sinks of Stores over Ranges, Params numbered by slot, Variables by place; each once
  std::vector<DeviceId> kernel_devices;
  std::vector<PlanStep> steps;
  std::vector<PlanOutput> outputs;                   ///< in the order asked for
  std::vector<std::pair<DeviceId, int64_t>> arenas;  ///< bytes of temporaries by device
};

/// A tensor graph cut off from its storage: inputs are Params numbered from 0, bound values are Variables. Structure only, so that equal
/// graphs give equal plans.
struct PlanRequest {
  std::shared_ptr<Graph> graph;
  std::vector<const Node*> outputs;  ///< tensor nodes, none of them a plain Param
  std::vector<PlanBuffer> inputs;
  DeviceId device = kNoDevice;  ///< where tensors that name no device are computed
  std::vector<bool> writable;   ///< by input: nothing outside the plan reads it afterwards, so an Assign may write over it
  std::function<const Target&(DeviceId)> target;
  // What is given up, one after the other, where no order of the steps can have it.
  bool chain_writes = true;  ///< a write may go to the storage of the write before it
  bool group_stores = true;  ///< related outputs are computed in one kernel
};

Plan make_plan(PlanRequest request);

}  // namespace whit
