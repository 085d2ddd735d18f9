// What graphs may hold at each level, as rows: a verifier for tests and for CHECK. What a node of an op must look like wherever it stands
// is asserted when it is made (ir/form.h); here is what must hold of it because of where it stands.
#pragma once

#include <string>

#include "ir/graph.h"

namespace whit {

enum class Level {
  tensor,  ///< what users build: tensors, movement, reductions over axes
  kernel,  ///< Sinks of Stores: scalar expressions over ranges
  linear,  ///< code in order, as codegen/linear.h describes it
};

/// What is wrong with the graph below the roots (at the linear level: with the code), naming the node and the row; empty if nothing is.
std::string verify(Level level, Sources roots);

/// Facts a row may go by beside its node.
struct SpecFacts {
  uint64_t closed_below = 0;  ///< the ranges that reductions below the node close
};

/// Ops that may stand at a level, and what must hold of them there.
struct SpecRow {
  const char* name;
  OpSet ops;
  const char* requirement;
  bool (*holds)(const Node* node, const SpecFacts& facts);
};
/// The first row that lists an op decides; an op in no row may not stand there.
std::span<const SpecRow> spec_rows(Level level);

}  // namespace whit
