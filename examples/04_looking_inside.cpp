// What becomes of an expression: its graph, the kernel cut from it, and the code of that. Prints:
//
//   == a tensor
//   Tensor(shape=(), dtype=float32, device=NULL, op=Reduce, not computed)
//   == its graph
//   %0 = Param float32 [0, 1024, "NULL"] : (1024,)
//   %1 = Const float32 1.0
//   %2 = Add float32 (%0, %1) : (1024,)
//   %3 = Param float32 [1, 1024, "NULL"] : (1024,)
//   %4 = Mul float32 (%2, %3) : (1024,)
//   %5 = Reduce float32 (%4) [Add, 0] : (1,)
//   %6 = Reshape float32 (%5)
//   ...
//
// Any program shows this when it runs with DEBUG=1 (plans and times), 2 (a line for each kernel), 3 (its loop schedule), 4 (its source),
// 5 (graphs) or 6 (every rewrite). Here the stages are called one by one, through headers that aren't installed.
#include <whit/whit.h>

#include <iostream>

#include "codegen/pipeline.h"
#include "engine/capture.h"
#include "engine/device.h"
#include "engine/handle.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace whit;

int main() {
  Device::set_default("NULL");  // compiles for an imagined machine and runs nothing, so this prints the same everywhere
  const Tensor x = Tensor::empty({1024}), y = Tensor::empty({1024});
  const Tensor dot = ((x + 1) * y).sum();
  std::cout << "== a tensor\n" << dot << '\n';

  // Storage is taken out: the same work on other data is the same graph, and finds the plan made for this one.
  const NodeRef node = dot.handle()->node();
  const Capture captured = capture({node.get()}, default_device());
  const std::string graph_text = print(captured.request.outputs);
  std::cout << "== its graph\n" << graph_text;

  // Shapes become loops, and indices into flat memory.
  const Plan plan = make_plan(captured.request);
  std::cout << "== its kernel\n" << print(Sources(&plan.kernels[0], 1));

  // The loops are split for registers and vector lanes (x8: eight at once), and the graph becomes a list of instructions.
  const LinearKernel code = lower_kernel(plan.kernels[0], device(plan.kernel_devices[0]).target(), "dot");
  const std::string code_text = to_string(code);
  std::cout << "== its code\n" << code_text;

  // The text of a graph reads back to the same nodes.
  const bool same = parse(*captured.request.graph, graph_text) == captured.request.outputs;
  return same && plan.kernels.size() == 1 && code_text.find("VectorLoad") != std::string::npos ? 0 : 1;
}
