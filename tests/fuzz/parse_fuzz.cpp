// Any bytes as the text of a graph: they are read or refused, and what was read prints and reads back to the same nodes.
#include <whit/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ir/parse.h"
#include "ir/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whit;
  Graph graph;
  std::vector<const Node*> roots;
  try {
    roots = parse(graph, {reinterpret_cast<const char*>(data), size});
  } catch (const UserError&) {
    return 0;
  }
  if (parse(graph, print(roots)) != roots) std::abort();
  for (const Node* root : roots)
    if (print_expression(root, 100).size() > 103) std::abort();
  return 0;
}
