// Movement ops as index arithmetic: which element of the source an element of the result is (after tinygrad's rangeify).
#pragma once

#include "ir/graph.h"

namespace whit {

/// Where a value is looked at: one index per axis, and the condition under which the place exists (null: always). A tuple is a Sink node
/// of index nodes, so that equal places are equal pointers.
struct Place {
  const Node* tuple = nullptr;
  const Node* gate = nullptr;
  friend bool operator==(const Place&, const Place&) = default;
};

/// The place in a movement op's source that it shows at `place`. For Pad and Spread, `valid` is set to the condition beside place.gate
/// under which there is such an element (the value is 0 elsewhere), null if there always is one.
Place source_place(Graph& graph, const Node* movement, Place place, const Node*& valid);

/// The row-major position of a place in storage of this shape, laid out by upper bounds.
const Node* flat_index(Graph& graph, ShapeView shape, const Node* tuple);

/// The size of an axis as a node.
const Node* size_node(Graph& graph, const Dim& dim);

}  // namespace whit
