// Linear code: the form of a kernel that every backend takes, from the interpreter to the GPU.
//
// `code` is a list of nodes to execute in order. What must hold:
//  * Only these ops occur: Const, Param, Local, Variable, Range (as a value), alu ops the target supplies, Load, Store, VectorLoad,
//    VectorStore, Register, Set, Across, Loop, EndLoop, Barrier. A node's sources stand earlier in the list, in a loop that is still open;
//    a node may stand more than once (executed again in another loop) and each time has its own value.
//  * Const, Param, Local, Variable, Register and vector Ranges need no execution: they may be used unlisted. A Range of another kind is
//    the counter of its open Loop; it counts from 0 to size-1, except that the parallel one counts from the launch's `begin` to `end - 1`.
//  * With a `group_size` every launch index is a work group of that many threads, and a Loop over a local range (all have that size) runs
//    once for each thread. A local loop holds no other one and no Barrier. What stands outside of them is run by every thread alike, but
//    its Stores are done by the first one only. A device without groups runs a local Loop as any other, so the group goes from phase to
//    phase: a Register set in a local loop is not read after it, and memory that one thread writes is read by another only in a later
//    phase, past a Barrier; likewise, what was read is written by another only past a Barrier.
//  * A Local is an array that a group shares, of any content at first; Load and Store take it in place of a Param. A Barrier makes what
//    was written there before it known to the whole group; what is written to a buffer no other thread reads.
//  * Every value is a scalar, or has one lane per element of the one vector Range it depends on (`lanes`). A scalar used with lanes is
//    broadcast. A vector Range as a value is 0, 1, … lanes-1.
//  * A Register is a variable: reading it gives what was last Set. Across(value, range) folds lanes into a scalar.
//  * Load with a scalar index is a scalar. With lanes in the index it gathers. VectorLoad reads lanes consecutive elements from the index
//    of lane 0 on, of any alignment. With a gate (a bool; scalar or lanes) nothing is read where it is false, and the value is 0 there.
//    Store and VectorStore likewise; with a false gate nothing is written.
//  * The index type has 64 bits, or 32 where `index_type` says that every index fits.
//  * Bool is stored as one byte, 0 or 1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace whit {

/// One buffer argument of a kernel, by slot.
struct KernelParam {
  DType type;
  bool read = false, written = false;
};

struct LinearKernel {
  std::string name;              ///< a C identifier, unique within one compile call
  std::shared_ptr<Graph> graph;  ///< owns the nodes
  std::vector<const Node*> code;
  const Node* parallel = nullptr;  ///< the range that the launch index runs over; null: one launch index, 0
  int64_t group_size = 0;          ///< threads of a work group; 0: there is no local range
  std::vector<const Node*> vector_ranges;
  std::vector<const Node*> locals;     ///< the Local nodes, by number
  std::vector<KernelParam> params;     ///< `buffers[slot]` of the entry
  std::vector<const Node*> variables;  ///< Variable nodes; `variables[i]` of the entry holds the value's Bits
  DType index_type = DType::int64;
  double flops = 0, bytes = 0;  ///< estimates for one launch, by upper bounds

  /// The vector range that a value of this kernel has lanes over, or null for a scalar.
  const Node* vector_range(const Node* node) const;
  int64_t lanes(const Node* node) const {
    const Node* range = vector_range(node);
    return range ? range->source(0)->arg(0) : 1;
  }
};

/// The kernel as text, one instruction a line, indented by loops.
std::string to_string(const LinearKernel& kernel);

}  // namespace whit
