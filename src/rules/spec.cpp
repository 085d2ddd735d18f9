#include "rules/spec.h"

#include <algorithm>

#include "base/error.h"
#include "ir/print.h"

namespace whit {

namespace {

bool always(const Node*, const SpecFacts&) { return true; }
bool is_scalar(const Node* node) { return node->rank == 0; }
bool all_scalar(const Node* node, const SpecFacts&) { return is_scalar(node) && std::ranges::all_of(node->sources(), is_scalar); }
bool is_range(const Node* node) { return node->op == Op::Range; }
bool is_storage(const Node* node) { return node->op == Op::Param || node->op == Op::Stage || node->op == Op::Local; }

bool sink_of_stores(const Node* node, const SpecFacts&) {
  return std::ranges::all_of(node->sources(), [](const Node* source) { return source->op == Op::Store; });
}

// Storage, an index, and for a store its value; then at most a gate.
bool is_access(const Node* node, const SpecFacts&) {
  return is_storage(node->source(0)) && node->source(1)->dtype == DType::index &&
         std::ranges::all_of(node->sources().subspan(1), is_scalar);
}
bool is_store(const Node* node, const SpecFacts& facts) { return is_access(node, facts) && (facts.closed_below & node->open) == 0; }

bool closes_ranges(const Node* node, const SpecFacts&) {
  const auto ranges = node->sources().subspan(1);
  if (!is_scalar(node->source(0)) || !std::ranges::all_of(ranges, is_range)) return false;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (std::ranges::count(ranges, ranges[i]) != 1) return false;
  return true;
}

bool is_settled(const Node* node, const SpecFacts&) {
  return node->dtype != DType::none &&
         std::ranges::none_of(node->sources(), [](const Node* source) { return source->dtype == DType::none; });
}

constexpr OpSet kArithmetic = OpSet::with(alu);

// clang-format off
constexpr SpecRow kTensor[] = {
    {"leaf", OpSet::of(Op::Const, Op::Buffer, Op::Param, Op::Variable, Op::Bind, Op::Iota), "data, numbers and sizes", always},
    {"arithmetic", kArithmetic, "elementwise, on values", is_settled},
    {"movement", OpSet::with(movement), "of a value", is_settled},
    {"reduction", Op::Reduce, "over axes of a value", is_settled},
    {"structure", OpSet::of(Op::Scan, Op::Scatter, Op::Order, Op::Contiguous, Op::Detach, Op::Copy, Op::Assign), "of values", is_settled},
    {"sink", Op::Sink, "several results", always},
};

constexpr SpecRow kKernel[] = {
    {"sink", Op::Sink, "a Sink of Stores", sink_of_stores},
    {"store", Op::Store, "a scalar to an index of storage, in loops that no reduction below it closes", is_store},
    {"load", Op::Load, "from an index of a Param or Stage", is_access},
    {"accumulate", Op::Accumulate, "a scalar, folded over ranges, each named once", closes_ranges},
    {"running", Op::Running, "scalars, over a sequence range", all_scalar},
    {"stage", Op::Stage, "a scalar, kept over ranges, each named once", closes_ranges},
    {"range", Op::Range, "counts to a scalar size", all_scalar},
    {"arithmetic", kArithmetic, "on scalars", all_scalar},
    {"leaf", OpSet::of(Op::Const, Op::Param, Op::Variable), "numbers, sizes and storage", always},
};

constexpr SpecRow kLinear[] = {
    {"leaf", OpSet::of(Op::Const, Op::Param, Op::Local, Op::Variable, Op::Range), "numbers, sizes, storage and counters", always},
    {"arithmetic", kArithmetic, "on scalars or lanes", all_scalar},
    {"access", OpSet::of(Op::Load, Op::Store, Op::VectorLoad, Op::VectorStore), "an index of a Param or Local", [](const Node* node, const SpecFacts&) { return has(node->source(0)->op, storage); }},
    {"register", OpSet::of(Op::Register, Op::Set, Op::Across), "variables of the kernel", always},
    {"control", OpSet::of(Op::Loop, Op::EndLoop, Op::Barrier), "loops and barriers", always},
};
// clang-format on

std::string explain(const Node* node, const char* row, const std::string& requirement) {
  return concat(print_expression(node), ": ", name(node->op), row ? concat(" breaks the row \"", row, "\": ") : std::string(" "),
                requirement);
}

std::string check(Level level, const Node* node, const SpecFacts& facts) {
  for (const SpecRow& row : spec_rows(level))
    if (row.ops.contains(node->op)) return row.holds(node, facts) ? "" : explain(node, row.name, row.requirement);
  constexpr const char* names[] = {"tensor", "kernel", "linear"};
  return explain(node, nullptr, concat("may not stand at the ", names[size_t(level)], " level"));
}

std::string verify_graph(Level level, Sources roots) {
  NodeMap<SpecFacts> facts;
  for (const Node* node : topological_order(roots)) {
    SpecFacts own;
    for (const Node* source : node->sources()) own.closed_below |= facts.find(source)->closed_below;
    if (node->op == Op::Accumulate || node->op == Op::Stage)
      for (const Node* range : node->sources().subspan(1)) own.closed_below |= range->open;
    facts[node] = own;
    if (std::string error = check(level, node, own); !error.empty()) return error;
  }
  return "";
}

// What has one value, or is one place, wherever it is named: it need not stand in the code.
constexpr OpSet kListedByName = OpSet::of(Op::Const, Op::Param, Op::Local, Op::Variable, Op::Register);

// Code is read in order: what stands in a loop is known until the loop ends.
class CodeReader {
 public:
  std::string read(const Node* node) {
    if (std::string error = check(Level::linear, node, {}); !error.empty()) return error;
    if (node->op == Op::EndLoop) return end(node);
    for (const Node* source : node->sources())
      if (std::string error = known(node, source); !error.empty()) return error;
    if (node->op == Op::Loop)
      loops_.push_back({node->source(0), defined_.size()});
    else
      define(node);
    return "";
  }
  std::string finish() const { return loops_.empty() ? "" : explain(loops_.back().range, nullptr, "has a loop that does not end"); }

 private:
  struct OpenLoop {
    const Node* range;
    size_t first;  // what is defined in it starts here
  };

  std::string end(const Node* node) {
    if (loops_.empty() || loops_.back().range != node->source(0)) return explain(node, nullptr, "does not end the innermost loop");
    for (; defined_.size() > loops_.back().first; defined_.pop_back()) --*times_.find(defined_.back());
    loops_.pop_back();
    return "";
  }
  void define(const Node* node) {
    defined_.push_back(node);
    ++times_[node];
  }

  std::string known(const Node* user, const Node* source) {
    if (kListedByName.contains(source->op)) return "";
    if (source->op == Op::Range) {
      const bool open = source->axis_kind() == AxisKind::vector || user->op == Op::Loop ||
                        std::ranges::any_of(loops_, [&](const OpenLoop& loop) { return loop.range == source; });
      return open ? "" : explain(user, nullptr, "uses the counter of a loop that is not open");
    }
    if (const uint32_t* times = times_.find(source); times && *times > 0) return "";
    return explain(user, nullptr, concat("uses ", print_expression(source), " before it stands in the code"));
  }

  std::vector<const Node*> defined_;
  NodeMap<uint32_t> times_;  // how often a node stands in defined_
  std::vector<OpenLoop> loops_;
};

}  // namespace

std::span<const SpecRow> spec_rows(Level level) {
  switch (level) {
    case Level::tensor: return kTensor;
    case Level::kernel: return kKernel;
    default: return kLinear;
  }
}

std::string verify(Level level, Sources roots) {
  if (level != Level::linear) return verify_graph(level, roots);
  CodeReader reader;
  for (const Node* node : roots)
    if (std::string error = reader.read(node); !error.empty()) return error;
  return reader.finish();
}

}  // namespace whit
