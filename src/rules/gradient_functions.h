// The rules that the gradient column of ops.def names as BY(f): those of ops with arguments. Each gives the gradient of one source of a
// node whose own gradient is `dy`, or null if there is none.
#pragma once

#include "ir/graph.h"

namespace whit::gradients {

using Function = const Node* (*)(Graph& graph, const Node* node, const Node* dy, size_t source);

const Node* cast(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* reshape(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* permute(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* expand(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* pad(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* shrink(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* flip(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* window(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* spread(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* reduce(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* scatter(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* scan(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* pass(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* copy(Graph& graph, const Node* node, const Node* dy, size_t source);
const Node* assign(Graph& graph, const Node* node, const Node* dy, size_t source);

/// What the row of the node's op gives: the gradient of one source, whose shape and dtype it has.
const Node* of_source(Graph& graph, const Node* node, const Node* dy, size_t source);

// What the rules are built of. Shapes may have symbolic sizes, whose nodes are in `graph`.

const Node* reshaped(Graph& graph, const Node* value, ShapeView shape);
const Node* expanded(Graph& graph, const Node* value, ShapeView shape);
/// A value of no or the same shape, stretched to this shape.
const Node* filled(Graph& graph, const Node* value, ShapeView shape);
/// The sum over axes, kept with size 1. 8- and 16-bit floats are added in float32 and rounded once.
const Node* summed(Graph& graph, const Node* value, std::span<const int64_t> axes);
/// The type in which many values of a float type are added up.
DType accumulation_type(DType type);

}  // namespace whit::gradients
