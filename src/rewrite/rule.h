// One rewrite rule: a row of a constexpr table. Its constructor refuses, while compiling, whatever could not work.
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "ir/pattern.h"
#include "rewrite/random.h"

namespace whit {

/// What a left pattern has bound.
struct Match {
  const Node* root;
  const Node* at[patterns::kMaxHoles];

  const Node* operator[](const patterns::Hole& hole) const { return at[hole.id]; }
  /// The value of an integer or bool constant.
  int64_t integer(const patterns::Hole& hole) const { return at[hole.id]->arg(0); }
};

/// A further condition on a match. Guards build nothing.
using Guard = bool (*)(const Match&);
/// A right side that has to be computed; null says that the row does not apply after all.
using RewriteFunction = const Node* (*)(const Match&, Graph&);
/// Makes a random graph that a function row is for; the tests run the row on it.
using Example = const Node* (*)(Random&, Graph&);

/// What is unusual about a row.
struct Note {
  const char* relaxed = nullptr;
  const char* grows = nullptr;
  constexpr friend Note operator|(Note a, Note b) { return {a.relaxed ? a.relaxed : b.relaxed, a.grows ? a.grows : b.grows}; }
};
/// May change a float result, in the way it says: off unless asked for, and listed in docs/numerics.md.
constexpr Note relaxed(const char* change) { return {.relaxed = change}; }
/// The result may cost more than what it replaces; says why that cannot go on for ever.
constexpr Note grows(const char* reason) { return {.grows = reason}; }

namespace patterns {

// Where a literal or cast on the right takes its type from: the hole with this number, or one of these.
inline constexpr uint8_t kTypeOfRoot = 0xFE, kTypeBool = 0xFD, kNoType = 0xFF;

constexpr TypeSet types_of_op(Op op, TypeSet types) {
  if (has(op, floating)) types = types & floats;
  if (has(op, integral)) types = types & exact;
  return types;
}

/// Whether some dtype of the set has this number.
constexpr bool representable(double number, TypeSet types) {
  if (!(types & floats).empty()) return true;
  if (number != double(int64_t(number))) return false;
  if (number < 0) return !(types & (signed_ints | indices)).empty();
  return !(types & integers).empty() || (number <= 1 && types.contains(DType::boolean));
}

/// Throws if no node can match the step at `at`, given that it must have one of `allowed`; `operands` is what the sources of a compare
/// must have.
constexpr void check_can_match(const Pattern& pattern, size_t at, TypeSet allowed, TypeSet operands = anything) {
  const Pattern::Step& step = pattern.steps[at];
  TypeSet types = step.types & allowed;
  const bool single = step.kind == StepKind::apply && step.ops == OpSet(step.op);
  if (single && !has(step.op, compares)) types = types_of_op(step.op, types);
  if (single && has(step.op, compares)) types = types & bools;
  if (types.empty() || step.ops.empty()) throw "the left side can never match: no type fits a place in it";
  if (step.kind == StepKind::literal && !representable(step.number, types))
    throw "the left side can never match: no type of its domain has this literal";
  if (step.kind != StepKind::apply) return;
  bool all_constant = step.sources > 0;
  for (size_t k = 0; k < step.sources; ++k) all_constant = all_constant && pattern.constant_at(pattern.source_at(at, k));
  const OpSet inexact = OpSet::of(Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Pow, Op::Bitcast);
  if (single && has(step.op, alu) && all_constant && !inexact.contains(step.op))
    throw "the left side can never match: an op on constants folds when it is built";
  if (single && has(step.op, commutes) && pattern.constant_at(at + 1) && !pattern.constant_at(pattern.source_at(at, 1)))
    throw "the left side can never match: a constant stands on the right of a commutative op";
  for (size_t k = 0; k < step.sources; ++k) {
    TypeSet source = anything;
    if (single && step.op == Op::Where && k == 0)
      source = bools;
    else if (single && has(step.op, compares))
      source = operands;
    else if (single && has(step.op, alu) && !has(step.op, typed))
      source = types;
    check_can_match(pattern, pattern.source_at(at, k), source);
  }
}

constexpr uint32_t holes_of(const Pattern& pattern) {
  uint32_t holes = 0;
  for (size_t i = 0; i < pattern.size; ++i)
    if (pattern.steps[i].kind == StepKind::hole) holes |= 1u << pattern.steps[i].hole;
  return holes;
}

/// What tells the type of the value at a step, looking only below it.
constexpr uint8_t type_from_below(const Pattern& pattern, size_t at) {
  const Pattern::Step& step = pattern.steps[at];
  if (step.kind == StepKind::hole) return step.hole;
  if (step.kind == StepKind::literal || step.op == Op::Cast) return kNoType;
  if (has(step.op, compares)) return kTypeBool;
  for (size_t k = step.op == Op::Where ? 1 : 0; k < step.sources; ++k)
    if (const uint8_t from = type_from_below(pattern, pattern.source_at(at, k)); from != kNoType) return from;
  return kNoType;
}

/// Notes in every literal and cast of a right side where its type comes from.
constexpr void settle_types(Pattern& pattern, size_t at, uint8_t place) {
  Pattern::Step& step = pattern.steps[at];
  if (step.kind == StepKind::hole) return;
  if (step.kind == StepKind::literal || step.op == Op::Cast) {
    if (place == kNoType) throw "nothing on the right side tells the type of a literal or cast";
    step.hole = place;
    if (step.kind == StepKind::literal) return;
  }
  if (step.ops != OpSet(step.op) || step.has_rest || !has(step.op, alu) || step.op == Op::Bitcast)
    throw "the right side builds elementwise ops only; write a function";
  uint8_t below = place;
  if (has(step.op, compares) || step.op == Op::Cast) {
    below = kNoType;
    for (size_t k = 0; k < step.sources && below == kNoType; ++k) below = type_from_below(pattern, pattern.source_at(at, k));
  }
  for (size_t k = 0; k < step.sources; ++k)
    settle_types(pattern, pattern.source_at(at, k), step.op == Op::Where && k == 0 ? kTypeBool : below);
}

/// A right side made ready to build: checked against the holes that are bound where it is used.
constexpr Pattern right_side(Pattern pattern, uint32_t bound) {
  if (holes_of(pattern) & ~bound) throw "the right side uses a hole the left side never binds";
  settle_types(pattern, 0, kTypeOfRoot);
  return pattern;
}

}  // namespace patterns

/// One row. `domain` is the set of types it holds for: of the root's value, or for a comparison of its operands.
struct Rule {
  const char* name;
  TypeSet domain;
  patterns::Pattern left, right{};
  Guard when = nullptr;
  bool computed = false;  ///< the right side is a function: g++ under sanitizers cannot compare it with null while compiling
  RewriteFunction function = nullptr;
  const char* text = nullptr;  ///< what a function does, in one line
  Example example = nullptr;
  Note note{};
  int line;

  consteval Rule(const char* name, TypeSet domain, const patterns::Pattern& left, const patterns::Pattern& right, Guard when = nullptr,
                 Note note = {}, int line = __builtin_LINE())
      : name(name),
        domain(domain),
        left(left),
        right(patterns::right_side(right, patterns::holes_of(left))),
        when(when),
        note(note),
        line(line) {
    check();
    if (same(left, right)) throw "the two sides are the same";
  }
  consteval Rule(const char* name, TypeSet domain, const patterns::Pattern& left, const patterns::Pattern& right, Note note,
                 int line = __builtin_LINE())
      : Rule(name, domain, left, right, nullptr, note, line) {}
  consteval Rule(const char* name, TypeSet domain, const patterns::Pattern& left, RewriteFunction function, const char* text,
                 Example example, Note note = {}, int line = __builtin_LINE())
      : name(name), domain(domain), left(left), computed(true), function(function), text(text), example(example), note(note), line(line) {
    check();
    if (!*text) throw "a function row says in one line what it does";
  }

 private:
  constexpr void check() const {
    using namespace patterns;
    const Pattern::Step& root = left.steps[0];
    if (root.kind != StepKind::apply) throw "a rule must start at a known op";
    if (domain.empty()) throw "a rule holds for at least one type";
    const bool comparison = root.ops == OpSet(root.op) && has(root.op, compares);
    check_can_match(left, 0, comparison ? bools : domain, comparison ? domain : anything);
    for (size_t i = 0; i < left.size; ++i)
      for (size_t j = 0; j < i; ++j)
        if (left.steps[i].kind == StepKind::hole && left.steps[j].kind == StepKind::hole && left.steps[i].hole == left.steps[j].hole &&
            (left.steps[i].types & left.steps[j].types).empty())
          throw "the left side can never match: no type fits a place in it";
  }
  static constexpr bool same(const patterns::Pattern& a, const patterns::Pattern& b) {
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; ++i)
      if (a.steps[i].kind != b.steps[i].kind || a.steps[i].ops != b.steps[i].ops || a.steps[i].hole != b.steps[i].hole ||
          a.steps[i].number != b.steps[i].number)
        return false;
    return true;
  }
};

}  // namespace whit
