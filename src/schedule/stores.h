// Deciding which tensors are stored and which are computed where they are used (after tinygrad's rangeify, with costs for counts).
//
// Tensors are visited consumers first. Each carries its uses: from which stored tensor's loops it is read, at which place. A tensor used
// at one place is computed there. One used at several, or again and again, is stored when computing it anew costs more than writing and
// reading it. The decision depends on shapes, never on the number of threads, so that results do not either.
#pragma once

#include <unordered_map>
#include <vector>

#include "schedule/movement.h"
#include "schedule/plan.h"

namespace whit {

/// A kernel past this many operations is cut: compile time grows faster than linearly with it, and gains nothing.
inline constexpr double kMaxOperations = 400;

/// A stored tensor: the kernel that computes it runs these loops, outermost first.
struct StoredTensor {
  const Node* node;
  Place place;       ///< one range per axis (0 for an axis of size 1); of a write to a view, per axis of the value
  const Node* nest;  ///< Sink of the ranges
  /// Which stored tensors (by their place in the list) read this one, and where.
  std::vector<std::pair<size_t, Place>> readers;
  double operations = 0;  ///< of its kernel, per element
};

/// Assign(old version, value, view of the old version): the value goes to the places that the view shows.
bool is_view_write(const Node* node);
/// That, or a Scatter: its kernel goes over the elements of the value, and the rest of the storage stays as it was.
bool is_partial_write(const Node* node);

/// Which sources a node reads, as [first, last): of the old version a write only takes the storage, and sizes are no tensors.
std::pair<size_t, size_t> sources_read(const Node* node);

/// The stored tensors of a request, each after those it is computed from.
std::vector<StoredTensor> choose_stores(Graph& graph, const std::vector<const Node*>& outputs,
                                        const std::function<const Target&(DeviceId)>& target);

/// The loops of `nest` that a value at this place is computed in: those down to the innermost one it depends on.
size_t depth_of(Place place, const Node* nest);

/// The places at which a node's sources are read when it is read at `place`. A Reduce runs in the loops its place needs (`nest` cut off
/// there) and adds its own.
struct SourceUse {
  Place place;
  const Node* nest;
  const Node* valid = nullptr;  ///< of Pad and Spread: where there is an element
};
SourceUse source_use(Graph& graph, const Node* node, size_t source, Place place, const Node* nest);

}  // namespace whit
