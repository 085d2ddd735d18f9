#include "rules/gradient.h"

#include <array>
#include <numeric>

#include "base/error.h"
#include "ir/node_map.h"
#include "rewrite/table.h"
#include "rules/gradient_functions.h"

namespace whit {

namespace {

// ---- The gradient column, as it is written and as it is kept ----------------------------------------------------------------------------

// The gradient column of a row: a pattern per source, or a function.
struct Column {
  patterns::Pattern of[3]{};
  uint8_t count = 0;
  gradients::Function function = nullptr;
};

constexpr patterns::Pattern entry(const patterns::Pattern& pattern) { return pattern; }
constexpr patterns::Pattern entry(patterns::Nothing) { return {}; }
template <class... Entries>
constexpr Column column(const Entries&... entries) {
  return {{entry(entries)...}, sizeof...(entries)};
}

// A row of the kept table: where the pattern of each source starts, or kNone.
constexpr uint16_t kNone = 0xFFFF;
struct Row {
  uint16_t start[3] = {kNone, kNone, kNone};
  gradients::Function function = nullptr;
};

constexpr size_t kMaxSteps = 512, kMaxLiterals = 32;
struct Table {
  std::array<Row, kOpCount> rows{};
  std::array<Step, kMaxSteps> steps{};
  std::array<Literal, kMaxLiterals> literals{};
  size_t row_count = 0, step_count = 0, literal_count = 0;
};

constexpr void emit(Table& table, const patterns::Pattern::Step& from) {
  if (table.step_count == kMaxSteps) throw "the gradients have too many steps";
  Step& step = table.steps[table.step_count++];
  step = {.kind = from.kind,
          .op = uint8_t(from.op),
          .types = 0,
          .hole = from.hole,
          .sources = from.sources,
          .flags = 0,
          .literal = 0,
          .size = from.size};
  if (from.kind != patterns::StepKind::literal) return;
  step.literal = compile::find_or_add(table.literals, table.literal_count, Literal(from.number),
                                      [](const Literal& a, const Literal& b) { return a.is(b.number); });
}

constexpr void add(Table& table, const OpInfo& op, const Column& column) {
  Row& row = table.rows[table.row_count++];
  row.function = column.function;
  if (column.count && int(column.count) != int(op.arity)) throw "a gradient has one pattern for each source, or `nothing`";
  uint32_t bound = 1u << patterns::out.id | 1u << patterns::dy.id;
  for (unsigned k = 0; k < column.count; ++k) bound |= 1u << k;
  for (unsigned k = 0; k < column.count; ++k) {
    if (column.of[k].size == 0) continue;
    const patterns::Pattern ready = patterns::right_side(column.of[k], bound);
    row.start[k] = uint16_t(table.step_count);
    for (size_t i = 0; i < ready.size; ++i) emit(table, ready.steps[i]);
  }
}

consteval Table make_table() {
  using namespace patterns;
  Table table;
#define GRADIENT(...) column(__VA_ARGS__)
#define BY(f) \
  Column { .function = gradients::f }
#define NO_GRADIENT \
  Column {}
#define OP(id, arity, traits, meaning, spelling, gradient) add(table, info(Op::id), gradient);
#include "ir/ops.def"
#undef OP
#undef NO_GRADIENT
#undef BY
#undef GRADIENT
  return table;
}

constexpr Table kTable = make_table();

// ---- One node ---------------------------------------------------------------------------------------------------------------------------

const Node* from_pattern(Graph& graph, const Node* node, const Node* dy, uint16_t start) {
  Match match{};
  match.root = node;
  for (size_t i = 0; i < node->source_count; ++i) match.at[i] = node->source(i);
  match.at[patterns::out.id] = node;
  match.at[patterns::dy.id] = dy;
  const Step* step = kTable.steps.data() + start;
  return build(step, kTable.literals.data(), match, dy->dtype, graph);
}

// A scalar source stretches to the shape of the others, so what it gets is a sum; a constant gradient stretches to its source.
const Node* fit(Graph& graph, const Node* value, const Node* source) {
  if (value->rank == source->rank) return value;
  if (source->rank) return gradients::filled(graph, value, source->shape());
  std::vector<int64_t> axes(value->rank);
  std::iota(axes.begin(), axes.end(), 0);
  return gradients::reshaped(graph, gradients::summed(graph, value, axes), {});
}

}  // namespace

const Node* gradients::of_source(Graph& graph, const Node* node, const Node* dy, size_t source) {
  const Row& row = kTable.rows[size_t(node->op)];
  const Node* value = row.function ? row.function(graph, node, dy, source) : from_pattern(graph, node, dy, row.start[source]);
  return value ? fit(graph, value, node->source(source)) : nullptr;
}

bool passes_gradient(const Node* node, size_t source) {
  if (!is_float(node->dtype) || !is_float(node->source(source)->dtype)) return false;
  const Row& row = kTable.rows[size_t(node->op)];
  return row.function ? source < 2 : source < 3 && row.start[source] != kNone;
}

std::vector<const Node*> gradient(Graph& graph, const Node* output, const Node* seed, std::span<const Node* const> targets) {
  WHIT_ASSERT(seed->dtype == output->dtype && std::ranges::equal(seed->shape(), output->shape()), "the seed is ", name(seed->dtype),
              to_string(seed->shape()), ", the output ", name(output->dtype), to_string(output->shape()));
  const std::vector<const Node*> order = topological_order(Sources(&output, 1));
  // Only what lies between the output and a target takes part.
  NodeTable<uint8_t> leads_to_target;
  for (const Node* target : targets)
    if (is_float(target->dtype)) leads_to_target[target] = true;
  for (const Node* node : order)
    for (size_t k = 0; k < node->source_count && !leads_to_target.get(node); ++k)
      if (passes_gradient(node, k) && leads_to_target.get(node->source(k))) leads_to_target[node] = true;

  NodeTable<const Node*> total;
  if (leads_to_target.get(output)) total[output] = seed;
  for (size_t i = order.size(); i-- > 0;) {
    const Node* node = order[i];
    const Node* dy = total.get(node);
    if (!dy) continue;
    for (size_t k = 0; k < node->source_count; ++k) {
      const Node* source = node->source(k);
      if (!leads_to_target.get(source) || !passes_gradient(node, k)) continue;
      const Node* part = gradients::of_source(graph, node, dy, k);
      if (!part) continue;
      const Node*& sum = total[source];
      sum = sum ? graph.add(sum, part) : part;
    }
  }
  std::vector<const Node*> result;
  for (const Node* target : targets) result.push_back(total.get(target));
  return result;
}

}  // namespace whit
