// Sources and args of a movement node being put together: symbolic sizes become further sources.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace whit {

class SizeArgs {
 public:
  explicit SizeArgs(const Node* value) : sources_{value} {}
  SizeArgs(const Node* value, ShapeView shape) : SizeArgs(value) {
    for (const Dim& size : shape) add(size);
  }
  SizeArgs& add(const Dim& size) {
    args_.push_back(size.symbol ? kSymbolArg + int64_t(sources_.size()) : size.size);
    if (size.symbol) sources_.push_back(size.symbol);
    return *this;
  }
  const Node* make(Graph& graph, Op op) const { return graph.make(op, sources_, args_); }
  NodeRef make(Op op) const { return TensorGraph::shared().make(op, sources_, args_); }

 private:
  std::vector<const Node*> sources_;
  std::vector<int64_t> args_;
};

}  // namespace whit
