#include "schedule/normalise.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace whit {

namespace {

constexpr size_t kMaxRanges = 64;

std::vector<const Node*> ranges_in_order(const std::vector<const Node*>& nodes) {
  std::vector<const Node*> ranges;
  for (const Node* node : nodes)
    if (node->op == Op::Range) ranges.push_back(node);
  std::ranges::stable_sort(ranges, [](const Node* a, const Node* b) {
    const auto depth = [](const Node* range) {
      return range->axis_kind() == AxisKind::reduce ? 2 : range->axis_kind() == AxisKind::sequence ? 1 : 0;
    };
    return depth(a) != depth(b) ? depth(a) < depth(b) : a->arg(0) < b->arg(0);
  });
  WHIT_ASSERT(ranges.size() <= kMaxRanges, "a kernel with ", ranges.size(), " ranges");
  return ranges;
}

}  // namespace

const Node* numbered_variable(Graph& graph, int k, const Node* like) {
  const int64_t args[] = {name_id(concat("v", k)), like->arg(1), like->arg(2)};
  return graph.make(Op::Variable, Sources{}, args, like->dtype);
}

int variable_number(const Node* variable) { return std::stoi(name_of(variable->arg(0)).substr(1)); }

const Node* replace(Graph& graph, const Node* root, const std::vector<std::pair<const Node*, const Node*>>& pairs) {
  std::unordered_map<const Node*, const Node*> changed;
  for (const auto& [from, to] : pairs)
    if (from != to) changed.emplace(from, to);
  if (changed.empty()) return root;
  std::vector<const Node*> sources;
  for (const Node* node : topological_order(Sources(&root, 1))) {
    if (changed.contains(node)) continue;
    sources.clear();
    bool differs = false;
    for (const Node* source : node->sources()) {
      const auto found = changed.find(source);
      sources.push_back(found == changed.end() ? source : found->second);
      differs |= found != changed.end();
    }
    if (differs) changed.emplace(node, graph.with_sources(node, sources));
  }
  const auto found = changed.find(root);
  return found == changed.end() ? root : found->second;
}

NormalKernel normalise(Graph& graph, const Node* sink) {
  NormalKernel kernel{nullptr, {}, {}};
  const std::vector<const Node*> nodes = topological_order(Sources(&sink, 1));
  std::vector<std::pair<const Node*, const Node*>> pairs;
  for (const Node* node : nodes) {
    if (node->op == Op::Param) {
      const int64_t args[] = {int64_t(kernel.buffers.size()), node->arg(1), node->arg(2)};
      kernel.buffers.push_back(int(node->arg(0)));
      pairs.emplace_back(node, graph.make(Op::Param, Sources{}, args, node->dtype));
    } else if (node->op == Op::Variable) {
      pairs.emplace_back(node, numbered_variable(graph, int(kernel.variables.size()), node));
      kernel.variables.push_back(variable_number(node));
    }
  }
  sink = replace(graph, sink, pairs);
  // Ranges in a second step: their sizes may hold variables just renamed.
  pairs.clear();
  int64_t number = 0;
  for (const Node* range : ranges_in_order(topological_order(Sources(&sink, 1))))
    pairs.emplace_back(range, graph.range(number++, range->source(0), range->axis_kind()));
  kernel.sink = replace(graph, sink, pairs);
  return kernel;
}

}  // namespace whit
