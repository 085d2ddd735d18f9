#include "codegen/pipeline.h"

#include <algorithm>

#include "codegen/accesses.h"
#include "codegen/choose.h"
#include "codegen/linearize.h"
#include "rules/decompose.h"
#include "rules/simplify.h"
#include "schedule/normalise.h"

namespace whit {

namespace {

// The arguments a kernel takes: buffers by slot and variables by number.
void describe_arguments(LinearKernel& kernel, const Node* sink) {
  for (const Node* node : topological_order(Sources(&sink, 1))) {
    if (node->op == Op::Variable) {
      const size_t number = size_t(variable_number(node));
      kernel.variables.resize(std::max(kernel.variables.size(), number + 1));
      kernel.variables[number] = node;
    }
    if (node->op != Op::Load && node->op != Op::Store) continue;
    const Node* param = node->source(0);
    const size_t slot = size_t(param->arg(0));
    kernel.params.resize(std::max(kernel.params.size(), slot + 1), KernelParam{DType::none, false, false});
    kernel.params[slot].type = param->dtype;
    (node->op == Op::Load ? kernel.params[slot].read : kernel.params[slot].written) = true;
  }
}

// How often each instruction runs, by the loops around it.
void estimate_work(LinearKernel& kernel, const Node* sink) {
  double times = 1;
  std::vector<double> outer;
  for (const Node* node : kernel.code) {
    if (node->op == Op::Loop) {
      outer.push_back(times);
      times *= double(std::max<int64_t>(0, node->source(0)->source(0)->maximum));
    } else if (node->op == Op::EndLoop) {
      times = outer.back();
      outer.pop_back();
    } else if (has(node->op, alu) && node->dtype != DType::index && node->dtype != DType::boolean) {
      kernel.flops += times * double(kernel.lanes(node)) * (node->op == Op::MulAdd ? 2 : 1);
    }
  }
  for (const Node* node : topological_order(Sources(&sink, 1)))
    if (node->op == Op::Param) kernel.bytes += double(node->arg(1)) * double(item_size(node->dtype));
}

}  // namespace

LinearKernel lower_kernel(const Node* sink, const Target& target, const std::string& name, const LowerOptions& options) {
  LinearKernel kernel;
  kernel.name = name;
  kernel.graph = std::make_shared<Graph>();
  Graph& graph = *kernel.graph;

  NodeMap<const Node*> seen;
  sink = graph.import(sink, seen);
  sink = lower_types(graph, sink, target);
  sink = simplify(graph, sink);
  Axes axes = axes_of(sink);
  axes = options.optimize ? choose_schedule(graph, axes, target, options.why) : plain_schedule(graph, axes, target);
  axes.sink = decompose(graph, axes.sink, target);
  axes = expand_unrolled(graph, axes);
  describe_arguments(kernel, axes.sink);
  const Node* whole = axes.sink;
  axes.sink = vectorise_accesses(graph, axes.sink);
  kernel.code = linearize(graph, axes, target, options.optimize);

  for (const Node* node : topological_order(Sources(&axes.sink, 1)))
    if (node->op == Op::Range && node->axis_kind() == AxisKind::vector) kernel.vector_ranges.push_back(node);
  if (!axes.order.empty() && axes.order[0]->axis_kind() == AxisKind::parallel) kernel.parallel = axes.order[0];
  estimate_work(kernel, whole);
  return kernel;
}

}  // namespace whit
