// Reading graphs from their text form. A text is a list of lines; blanks and everything from # to the end of a line are skipped:
//
//     %0 = Variable index ["n", 1, 16]
//     %1 = Buffer float32 [7, 48, "CPU"] : (48,)
//     %2 = Reshape float32 (%1, %0) [%0, 3] : (n, 3)
//     %3 = Const float32 -0.5
//     %4 = Reduce float32 (%2) [Add, 0] : (1, 3)
//     return %4, %3
//
// A line names a node (letters, digits and _), its op, dtype, sources, args and shape. What the op has none of is left out; dtype and
// shape may be left out where they follow, and are checked where they stand. Args are numbers, or by op: the value of a Const (without
// brackets) or Bind, names and devices in quotes (no device is `any`), ops, kinds of ranges, and symbolic sizes as the source that
// gives them (`$k` is source k, for a source that is given twice). Without a `return` the last node is the one root.
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace whit {

/// The roots of a text, made in the graph. Throws UserError with line and column for any text that is not the form of a graph.
std::vector<const Node*> parse(Graph& graph, std::string_view text);

}  // namespace whit
