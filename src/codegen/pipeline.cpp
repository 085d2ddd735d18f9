#include "codegen/pipeline.h"

#include <algorithm>
#include <optional>

#include "codegen/accesses.h"
#include "codegen/choose.h"
#include "codegen/linearize.h"
#include "rewrite/trace.h"
#include "rules/decompose.h"
#include "rules/simplify.h"
#include "schedule/normalise.h"

namespace whit {

namespace {

// The arguments a kernel takes: buffers by slot and variables by number. It takes them even where simplifying leaves no use of one.
void describe_arguments(LinearKernel& kernel, const Node* sink) {
  for (const Node* node : topological_order(Sources(&sink, 1))) {
    if (node->op == Op::Variable) {
      const size_t number = size_t(variable_number(node));
      kernel.variables.resize(std::max(kernel.variables.size(), number + 1));
      kernel.variables[number] = node;
    } else if (node->op == Op::Param) {
      const size_t slot = size_t(node->arg(0));
      kernel.params.resize(std::max(kernel.params.size(), slot + 1), KernelParam{DType::none, false, false});
      kernel.params[slot].type = node->dtype;
    }
  }
}

// What the code does with them.
void describe_accesses(LinearKernel& kernel, const Node* sink) {
  for (const Node* node : topological_order(Sources(&sink, 1))) {
    if ((node->op != Op::Load && node->op != Op::Store) || node->source(0)->op != Op::Param) continue;
    KernelParam& param = kernel.params[size_t(node->source(0)->arg(0))];
    (node->op == Op::Load ? param.read : param.written) = true;
  }
}

// Groups and the arrays they share, which the code stores to.
void describe_groups(LinearKernel& kernel, const KernelAxes& axes) {
  for (const Node* range : axes.order)
    if (range->axis_kind() == AxisKind::local) kernel.group_size = range->source(0)->arg(0);
  for (const Node* node : kernel.code) {
    if (node->op != Op::Store || node->source(0)->op != Op::Local) continue;
    const Node* array = node->source(0);
    kernel.locals.resize(std::max(kernel.locals.size(), size_t(array->arg(0)) + 1));
    kernel.locals[size_t(array->arg(0))] = array;
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
  Trace trace(graph);
  std::optional<Recording> recording;
  if (options.rewrites) recording.emplace(trace);

  NodeMap<const Node*> seen;
  sink = graph.import(sink, seen);
  trace.start_pass("types");
  sink = lower_types(graph, sink, target);
  describe_arguments(kernel, sink);
  trace.start_pass("simplify");
  sink = simplify(graph, sink);
  trace.start_pass("axes");
  KernelAxes axes = axes_of(sink);
  // Who stages values has chosen how the axes are run.
  if (!sink->below.contains(Op::Stage))
    axes = options.optimize ? choose_schedule(graph, axes, target, options.why) : plain_schedule(graph, axes, target);
  trace.start_pass("decompose");
  axes.sink = decompose(graph, axes.sink, target);
  trace.start_pass("expand");
  axes = expand_unrolled(graph, axes);
  describe_accesses(kernel, axes.sink);
  const Node* whole = axes.sink;
  axes.sink = vectorise_accesses(graph, axes.sink);
  kernel.code = linearize(graph, axes, target, options.optimize);

  for (const Node* node : topological_order(Sources(&axes.sink, 1)))
    if (node->op == Op::Range && node->axis_kind() == AxisKind::vector) kernel.vector_ranges.push_back(node);
  if (!axes.order.empty() && axes.order[0]->axis_kind() == AxisKind::parallel) kernel.parallel = axes.order[0];
  describe_groups(kernel, axes);
  estimate_work(kernel, whole);
  if (options.rewrites) *options.rewrites += to_string(trace);
  return kernel;
}

}  // namespace whit
