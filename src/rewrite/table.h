// A table of rules made ready to match: laid out densely while compiling, so that at run time most rules are ruled out by a few loads
// and ANDs, and nothing of the rows' full-size patterns is left.
//
// For each root op there is a bucket of variants (a row, in one order of its commutative ops), one bit each, in table order. For each
// source slot and op of that source, a bit set says which variants are still alive; likewise for the root's type.
#pragma once

#include <array>
#include <atomic>
#include <bit>

#include "rewrite/rule.h"

namespace whit {

/// What stays of a row at run time.
struct RuleInfo {
  const char* name;
  const char* table;
  const char* text;
  Guard when;
  RewriteFunction function;
  Example example;
  Note note;
  TypeSet domain;
  uint16_t left, right;  ///< steps, as written
  uint16_t line;
};

/// One step of a pattern in eight bytes.
struct Step {
  enum Flag : uint8_t { repeat = 1, has_rest = 2, has_argument = 4, any_op = 8 };
  patterns::StepKind kind;
  uint8_t op;     ///< of an apply that isn't any_op, else an index into the table's op sets
  uint8_t types;  ///< an index into the table's type sets
  uint8_t hole;   ///< of a literal or cast on the right: where its type comes from
  uint8_t sources;
  uint8_t flags;
  uint8_t literal;  ///< an index into the table's literals, or the argument
  uint8_t size;
};
static_assert(sizeof(Step) == 8);

struct Literal {
  double number;
  int64_t integer;  ///< the number as an integer, if it is one
  bool integral;

  constexpr Literal() : Literal(0) {}
  constexpr explicit Literal(double number)
      : number(number), integer(number > -9e15 && number < 9e15 ? int64_t(number) : 0), integral(number == double(integer)) {}
  constexpr bool is(double other) const { return std::bit_cast<uint64_t>(number) == std::bit_cast<uint64_t>(other); }
  /// Whether a constant node has this number.
  bool matches(const Node* node) const {
    const Bits bits = node->arg(0);
    if (node->dtype == DType::float64) return bits == std::bit_cast<Bits>(number);
    if (is_float(node->dtype)) return bits == Bits(std::bit_cast<uint32_t>(float(number))) && double(float(number)) == number;
    return integral && bits == integer && (integer >= 0 || is_signed(node->dtype));
  }
};

/// A compiled table. Everything it points to is static.
class RuleTable {
 public:
  struct Entry {
    uint16_t rule, step;
  };
  struct Bucket {
    uint16_t first, count, words, types;  ///< `types` is the offset of the row for each dtype in `rows`
  };
  static constexpr uint8_t kNoBucket = 0xFF;
  static constexpr size_t kSlots = 3;

  const char* name;
  std::span<const RuleInfo> rules;
  const Step* steps;
  const Literal* literals;
  const OpSet* op_sets;
  const TypeSet* type_sets;
  const Entry* entries;
  const Bucket* buckets;
  const uint16_t* rows;  ///< [bucket][slot][op of the source]: offset into `words`
  const uint64_t* words;
  const uint8_t* bucket_of;     ///< by op
  std::atomic<uint64_t>* hits;  ///< by rule
  OpSet roots;

  /// What the first row that applies makes of a node; null if none does. `only` restricts to one row (for tests).
  const Node* rewrite(const Node* node, Graph& graph, bool with_relaxed, const RuleInfo** hit, const RuleInfo* only = nullptr) const;

 private:
  bool match(const Step*& step, const Node* node, Match& match) const;
};

/// Builds the right side that starts at `step`.
const Node* build(const Step*& step, const Literal* literals, const Match& match, DType root, Graph& graph);

namespace compile {

// Room for any one table while it is compiled; the exact sizes come out of that.
inline constexpr size_t kMaxRules = 160, kMaxTableSteps = 6000, kMaxEntries = 2200, kMaxWords = 4000, kMaxSets = 120, kMaxBucket = 512;

struct Draft {
  std::array<RuleInfo, kMaxRules> rules{};
  std::array<Step, kMaxTableSteps> steps{};
  std::array<Literal, 200> literals{};
  std::array<OpSet, kMaxSets> op_sets{};
  std::array<TypeSet, kMaxSets> type_sets{};
  std::array<RuleTable::Entry, kMaxEntries> entries{};
  std::array<RuleTable::Bucket, kOpCount> buckets{};
  std::array<uint16_t, kOpCount * RuleTable::kSlots * kOpCount + kOpCount * kDTypeCount> rows{};
  std::array<uint64_t, kMaxWords> words{};
  std::array<uint8_t, kOpCount> bucket_of{};
  OpSet roots;
  size_t rule_count = 0, step_count = 0, literal_count = 0, op_set_count = 0, type_set_count = 0, entry_count = 0, bucket_count = 0,
         row_count = 0, word_count = 0;
};

template <class List, class Value, class Same>
constexpr uint8_t find_or_add(List& list, size_t& count, const Value& value, Same same) {
  for (size_t i = 0; i < count; ++i)
    if (same(list[i], value)) return uint8_t(i);
  if (count == list.size()) throw "a rule table has too many distinct literals or sets";
  list[count] = value;
  return uint8_t(count++);
}

/// Writes the subtree at `at` in the order of sources that `order` chooses (a bit per op that swaps).
constexpr void emit(Draft& draft, const patterns::Pattern& pattern, size_t at, unsigned& order, uint32_t& bound) {
  const patterns::Pattern::Step& from = pattern.steps[at];
  if (draft.step_count == kMaxTableSteps) throw "a rule table has too many steps: split it";
  Step& step = draft.steps[draft.step_count++];
  step.kind = from.kind;
  step.hole = from.hole;
  step.sources = from.sources;
  step.size = from.size;
  step.types = find_or_add(draft.type_sets, draft.type_set_count, from.types, [](TypeSet a, TypeSet b) { return a == b; });
  const bool single = from.kind == patterns::StepKind::apply && from.ops == OpSet(from.op);
  step.op = single ? uint8_t(from.op) : find_or_add(draft.op_sets, draft.op_set_count, from.ops, [](OpSet a, OpSet b) { return a == b; });
  step.flags = uint8_t((single ? 0 : Step::any_op) | (from.has_rest ? Step::has_rest : 0) | (from.argument >= 0 ? Step::has_argument : 0));
  if (from.argument >= 0) step.literal = uint8_t(from.argument);
  if (from.kind == patterns::StepKind::literal)
    step.literal = find_or_add(draft.literals, draft.literal_count, Literal(from.number),
                               [](const Literal& a, const Literal& b) { return a.is(b.number); });
  if (from.kind == patterns::StepKind::hole) {
    if ((bound >> from.hole) & 1) step.flags |= Step::repeat;
    bound |= 1u << from.hole;
  }
  bool swapped = false;
  if (pattern.swaps_at(at)) {
    swapped = order & 1;
    order >>= 1;
  }
  for (size_t k = 0; k < from.sources; ++k) emit(draft, pattern, pattern.source_at(at, swapped ? 1 - k : k), order, bound);
}

/// How many of the ops of a pattern swap: it has 2 to that power variants.
constexpr unsigned swaps_in(const patterns::Pattern& pattern) {
  unsigned count = 0;
  for (size_t i = 0; i < pattern.size; ++i) count += pattern.swaps_at(i);
  if (count > 5) throw "a pattern with so many commutative ops has too many variants";
  return count;
}

constexpr uint16_t emit_side(Draft& draft, const patterns::Pattern& pattern, unsigned order) {
  const size_t first = draft.step_count;
  uint32_t bound = 0;
  emit(draft, pattern, 0, order, bound);
  return uint16_t(first);
}

/// The alive rows of one bucket in one slot: `sets[v]` is what variant v asks of it.
template <class Set, class Value>
constexpr void emit_rows(Draft& draft, size_t offset, size_t values, const Set* sets, size_t count, size_t word_count, Set everything) {
  const size_t base = draft.word_count;
  const auto new_row = [&]() {
    if (draft.word_count + word_count > kMaxWords) throw "a rule table has too many variants: split it";
    draft.word_count += word_count;
    return draft.word_count - word_count;
  };
  new_row();  // for values no variant names
  Set named;
  for (size_t v = 0; v < count; ++v) {
    if (sets[v] == everything)
      draft.words[base + v / 64] |= uint64_t(1) << (v % 64);
    else
      named = named | sets[v];
  }
  for (size_t value = 0; value < values; ++value) {
    size_t row = base;
    if (named.contains(Value(value))) {
      row = new_row();
      for (size_t v = 0; v < count; ++v)
        if (sets[v].contains(Value(value))) draft.words[row + v / 64] |= uint64_t(1) << (v % 64);
      for (size_t earlier = base; earlier < row; earlier += word_count) {
        bool equal = true;
        for (size_t i = 0; i < word_count && equal; ++i) equal = draft.words[earlier + i] == draft.words[row + i];
        if (!equal) continue;
        for (size_t i = 0; i < word_count; ++i) draft.words[row + i] = 0;
        draft.word_count = row;
        row = earlier;
        break;
      }
    }
    draft.rows[offset + value] = uint16_t(row);
  }
}

/// A row's variants, before they are sorted into buckets.
struct Variant {
  OpSet roots, slots[RuleTable::kSlots];
  TypeSet types;
  RuleTable::Entry entry;
};

struct Scratch {
  OpSet slots[RuleTable::kSlots][kMaxBucket]{};
  TypeSet types[kMaxBucket]{};
};

constexpr void emit_bucket(Draft& draft, Scratch& scratch, Op root, const Variant* variants, size_t variant_count) {
  const size_t first = draft.entry_count;
  for (size_t v = 0; v < variant_count; ++v) {
    if (!variants[v].roots.contains(root)) continue;
    const size_t at = draft.entry_count - first;
    if (at == kMaxBucket || draft.entry_count == kMaxEntries) throw "a rule table has too many variants: split it";
    for (size_t k = 0; k < RuleTable::kSlots; ++k) scratch.slots[k][at] = variants[v].slots[k];
    scratch.types[at] = variants[v].types;
    draft.entries[draft.entry_count++] = variants[v].entry;
  }
  const size_t count = draft.entry_count - first;
  draft.bucket_of[size_t(root)] = RuleTable::kNoBucket;
  if (count == 0) return;
  const size_t words = (count + 63) / 64, bucket = draft.bucket_count++;
  draft.bucket_of[size_t(root)] = uint8_t(bucket);
  draft.roots = draft.roots | OpSet(root);
  draft.buckets[bucket] = {uint16_t(first), uint16_t(count), uint16_t(words), uint16_t(draft.row_count)};
  emit_rows<TypeSet, DType>(draft, draft.row_count, kDTypeCount, scratch.types, count, words, patterns::anything);
  draft.row_count += kDTypeCount;
  for (size_t k = 0; k < RuleTable::kSlots; ++k, draft.row_count += kOpCount)
    emit_rows<OpSet, Op>(draft, draft.row_count, kOpCount, scratch.slots[k], count, words, OpSet::all());
}

template <size_t N>
consteval Draft compile(const Rule (&rows)[N], const char* name) {
  static_assert(N <= kMaxRules, "a rule table has too many rows: split it");
  Draft draft;
  // Index 0 of the sets is "everything", which matching can skip.
  draft.op_sets[draft.op_set_count++] = OpSet::all();
  draft.type_sets[draft.type_set_count++] = patterns::anything;
  Variant variants[kMaxEntries]{};
  size_t variant_count = 0;
  for (size_t i = 0; i < N; ++i) {
    const Rule& row = rows[i];
    for (size_t j = 0; j < i; ++j)
      if (std::string_view(rows[j].name) == row.name) throw "two rows of a table have one name";
    RuleInfo& info = draft.rules[draft.rule_count++];
    info = {row.name, name, row.text, row.when, row.function, row.example, row.note, row.domain, 0, 0, uint16_t(row.line)};
    info.left = uint16_t(draft.step_count);
    for (unsigned order = 0; order < 1u << swaps_in(row.left); ++order) {
      if (variant_count == kMaxEntries) throw "a rule table has too many variants: split it";
      Variant& variant = variants[variant_count++];
      variant.roots = row.left.steps[0].ops;
      variant.types = row.domain;
      variant.entry = {uint16_t(i), emit_side(draft, row.left, order)};
      const bool swapped = row.left.swaps_at(0) && (order & 1);
      for (size_t k = 0; k < RuleTable::kSlots; ++k)
        variant.slots[k] = k < row.left.steps[0].sources ? row.left.steps[row.left.source_at(0, swapped ? 1 - k : k)].ops : OpSet::all();
    }
    if (!row.computed) {
      info.right = uint16_t(draft.step_count);
      // A right side is built as it is written: no order to choose.
      emit_side(draft, row.right, 0);
    }
  }
  Scratch scratch;
  for (size_t op = 0; op < kOpCount; ++op) emit_bucket(draft, scratch, Op(op), variants, variant_count);
  return draft;
}

/// The draft at its exact sizes.
template <const auto& Rows, const auto& Name>
struct Compiled {
  static constexpr Draft draft = compile(Rows, Name);
  template <class T, size_t N, class Array>
  static consteval std::array<T, N> take(const Array& from) {
    std::array<T, N> result{};
    for (size_t i = 0; i < N; ++i) result[i] = from[i];
    return result;
  }
  static constexpr auto rules = take<RuleInfo, draft.rule_count>(draft.rules);
  static constexpr auto steps = take<Step, draft.step_count>(draft.steps);
  static constexpr auto literals = take<Literal, draft.literal_count + 1>(draft.literals);
  static constexpr auto op_sets = take<OpSet, draft.op_set_count>(draft.op_sets);
  static constexpr auto type_sets = take<TypeSet, draft.type_set_count>(draft.type_sets);
  static constexpr auto entries = take<RuleTable::Entry, draft.entry_count>(draft.entries);
  static constexpr auto buckets = take<RuleTable::Bucket, draft.bucket_count>(draft.buckets);
  static constexpr auto rows = take<uint16_t, draft.row_count>(draft.rows);
  static constexpr auto words = take<uint64_t, draft.word_count>(draft.words);
  static constexpr auto bucket_of = take<uint8_t, kOpCount>(draft.bucket_of);
  static inline constinit std::array<std::atomic<uint64_t>, draft.rule_count> hits{};
};

}  // namespace compile

/// The table of these rows: `constinit const RuleTable fold_rules = rule_table<kRows, kName>();`
template <const auto& Rows, const auto& Name>
consteval RuleTable rule_table() {
  using Parts = compile::Compiled<Rows, Name>;
  RuleTable table{};
  table.name = Name;
  table.rules = Parts::rules;
  table.steps = Parts::steps.data();
  table.literals = Parts::literals.data();
  table.op_sets = Parts::op_sets.data();
  table.type_sets = Parts::type_sets.data();
  table.entries = Parts::entries.data();
  table.buckets = Parts::buckets.data();
  table.rows = Parts::rows.data();
  table.words = Parts::words.data();
  table.bucket_of = Parts::bucket_of.data();
  table.hits = Parts::hits.data();
  table.roots = Parts::draft.roots;
  return table;
}

}  // namespace whit
