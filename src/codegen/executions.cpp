#include "codegen/executions.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace whit {

namespace {

// The latest execution of each node in the loops that are open, with what to restore when a loop ends.
class Scopes {
 public:
  static constexpr int32_t kNone = -2;

  void open() { starts_.push_back(undo_.size()); }
  void close() {
    WHIT_ASSERT(!starts_.empty(), "an EndLoop without its Loop");
    for (; undo_.size() > starts_.back(); undo_.pop_back()) latest_[undo_.back().node] = undo_.back().position;
    starts_.pop_back();
  }
  void set(const Node* node, int32_t position) {
    undo_.push_back({node, find(node)});
    latest_[node] = position;
  }
  int32_t find(const Node* node) const {
    const auto found = latest_.find(node);
    return found == latest_.end() ? kNone : found->second;
  }
  bool all_closed() const { return starts_.empty(); }

 private:
  struct Change {
    const Node* node;
    int32_t position;
  };
  std::unordered_map<const Node*, int32_t> latest_;
  std::vector<Change> undo_;
  std::vector<size_t> starts_;
};

}  // namespace

Executions::Executions(const LinearKernel& kernel) : uses_(kernel.code.size()), with_lanes_(kernel.code.size()) {
  Scopes scopes;
  for (size_t position = 0; position < kernel.code.size(); ++position) {
    const Node* node = kernel.code[position];
    first_.push_back(uint32_t(sources_.size()));
    const bool with_lanes = lanes_of_work(kernel, node) > 1;
    const auto read = [&](const Node* source, bool by_lane) {
      const int32_t from = is_named(source->op) ? kNamed : scopes.find(source);
      WHIT_ASSERT(from != Scopes::kNone, kernel.name, ": instruction ", position, " (", name(node->op), ") reads a ", name(source->op),
                  " that is not computed before it");
      sources_.push_back(from);
      if (from < 0) return;
      ++uses_[size_t(from)];
      if (by_lane) with_lanes_[size_t(from)] = true;
    };
    if (node->op == Op::Loop) {
      read(node->source(0)->source(0), false);
      scopes.open();
    } else if (node->op == Op::EndLoop) {
      scopes.close();
    } else if (!is_named(node->op)) {
      const bool consecutive = node->op == Op::VectorLoad || node->op == Op::VectorStore;
      for (size_t k = 0; k < node->source_count; ++k) read(node->source(k), with_lanes && !(consecutive && k == 1));
      scopes.set(node, int32_t(position));
    }
  }
  first_.push_back(uint32_t(sources_.size()));
  WHIT_ASSERT(scopes.all_closed(), kernel.name, ": a Loop without its EndLoop");
}

int64_t lanes_of_work(const LinearKernel& kernel, const Node* node) {
  if (node->op == Op::Across) return kernel.lanes(node->source(1));
  int64_t lanes = kernel.lanes(node);
  if (node->op == Op::Loop || node->op == Op::EndLoop) return 1;
  for (const Node* source : node->sources()) lanes = std::max(lanes, kernel.lanes(source));
  return lanes;
}

}  // namespace whit
