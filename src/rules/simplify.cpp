#include "rules/simplify.h"

#include <chrono>

#include "rewrite/driver.h"
#include "rules/index_functions.h"
#include "rules/tables.h"

namespace whit {

const Node* simplify(Graph& graph, const Node* root) { return rewrite(graph, root, simplify_rules()); }

std::vector<const Node*> simplify(Graph& graph, Sources roots) { return rewrite(graph, roots, simplify_rules()); }

const Node* simplify_kernel(Graph& graph, const Node* root) { return rewrite(graph, root, kernel_rules()); }

std::vector<const Node*> simplify_tensor(Graph& graph, Sources roots) { return rewrite(graph, roots, tensor_rules()); }

RewriteBenchmark rewrite_benchmark(size_t graphs) {
  constexpr size_t kExpressions = 1000;  // to a graph: as many as a large kernel has
  RewriteBenchmark result{};
  for (size_t part = 0; part < graphs; ++part) {
    Graph graph;
    Random random(part);
    std::vector<const Node*> roots;
    for (size_t i = 0; i < kExpressions; ++i) roots.push_back(index_rewrites::random_index(random, graph, 12));
    const auto start = std::chrono::steady_clock::now();
    Rewriter rewriter(graph, simplify_rules());
    rewriter(roots);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    result.expressions += kExpressions;
    result.visits += rewriter.counts().visits;
    result.rewrites += rewriter.counts().rewrites;
    result.seconds += taken.count();
  }
  return result;
}

}  // namespace whit
