// The text form of graphs: golden tests, bug reports and the viewer use it. What must hold: parse(graph, print(roots)) gives the same
// roots, as pointers where they are in `graph` already. The grammar stands in ir/parse.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace whit {

/// All nodes below the roots, one a line, sources before users; a last line names the roots unless the root is the last node.
std::string print(Sources roots);

/// Appends a node as `print` shows it, from its op to its args, with its sources under the names that `source_name` appends.
using SourceName = std::function<void(std::string& out, const Node* source)>;
void append_node(std::string& out, const Node* node, const SourceName& source_name);

/// A node on one line in the notation of C, for messages and index expressions. Cut off beyond `limit` characters.
std::string print_expression(const Node* node, size_t limit = 240);

/// A value as it reads back to the same bits: "1.5", "-0.0", "nan", "true", "255".
std::string print_value(DType type, Bits bits);

std::string_view name(AxisKind kind);
bool axis_kind_of_name(std::string_view name, AxisKind& kind);

/// Text in double quotes, with everything but printable ASCII escaped.
std::string quoted(std::string_view text);

}  // namespace whit
