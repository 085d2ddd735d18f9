#include "ir/print.h"

#include <algorithm>

#include "ir/device_id.h"
#include "ir/form.h"
#include "ir/node_map.h"

namespace whit {

namespace {

void append_size(std::string& out, const Node* node, int64_t arg, const SourceName& source_name) {
  if (!is_symbol_arg(arg)) {
    out += std::to_string(arg);
    return;
  }
  // A source that stands twice is told by its place.
  const size_t k = size_t(arg - kSymbolArg), first = node->op == Op::Iota ? 0 : 1;
  const Sources before = node->sources().first(k).subspan(std::min(first, k));
  if (std::ranges::find(before, node->source(k)) == before.end())
    source_name(out, node->source(k));
  else
    (out += '$') += std::to_string(k);
}

void append_arg(std::string& out, const Node* node, size_t i, const SourceName& source_name) {
  const int64_t arg = node->arg(i);
  switch (arg_kind(node->op, i)) {
    case ArgKind::number: out += std::to_string(arg); break;
    case ArgKind::size: append_size(out, node, arg, source_name); break;
    case ArgKind::value: out += print_value(node->dtype, arg); break;
    case ArgKind::op: out += name(Op(arg)); break;
    case ArgKind::axis_kind: out += name(AxisKind(arg)); break;
    case ArgKind::name: out += quoted(name_of(arg)); break;
    case ArgKind::device: out += arg == kNoDevice ? "any" : quoted(device_name(DeviceId(arg))); break;
  }
}

}  // namespace

void append_node(std::string& out, const Node* node, const SourceName& source_name) {
  out += name(node->op);
  if (node->dtype != DType::none) (out += ' ') += name(node->dtype);
  for (size_t i = 0; i < node->sources().size(); ++i) {
    out += i ? ", " : " (";
    source_name(out, node->source(i));
  }
  if (!node->sources().empty()) out += ')';
  const bool bare = node->op == Op::Const;
  for (size_t i = 0; i < node->args().size(); ++i) {
    out += i ? ", " : bare ? " " : " [";
    append_arg(out, node, i, source_name);
  }
  if (!node->args().empty() && !bare) out += ']';
}

std::string print(Sources roots) {
  std::string out;
  NodeMap<uint32_t> numbers;
  const SourceName name_node = [&](std::string& text, const Node* node) { (text += '%') += std::to_string(*numbers.find(node)); };
  const std::vector<const Node*> order = topological_order(roots);
  numbers.reserve(order.size());
  for (const Node* node : order) {
    numbers.emplace(node, uint32_t(numbers.size()));
    name_node(out, node);
    out += " = ";
    append_node(out, node, name_node);
    if (node->rank) (out += " : ") += to_string(node->shape());
    out += '\n';
  }
  if (order.empty() || (roots.size() == 1 && roots[0] == order.back())) return out;
  for (size_t i = 0; i < roots.size(); ++i) {
    out += i ? ", " : "return ";
    name_node(out, roots[i]);
  }
  return out += '\n';
}

}  // namespace whit
