#include "rules/document.h"

#include "base/error.h"
#include "rules/decompose.h"
#include "rules/spec.h"
#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;

constexpr const char* kHoles[kMaxHoles] = {"x", "y", "z", "w", "p", "q", "c0", "c1", "c2", "r", "?", "out", "dy", "?", "?", "?"};
constexpr TypeSet kHoleTypes[kMaxHoles] = {anything, anything, anything, anything, bools, bools};

std::string number_text(double number) {
  if (number == double(int64_t(number))) return number == 0 && std::bit_cast<uint64_t>(number) ? "-0.0" : std::to_string(int64_t(number));
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

const char* infix(Op op) {
  switch (op) {
    case Op::Add: return " + ";
    case Op::Mul: return " * ";
    case Op::Divide: return " / ";
    case Op::Remainder: return " % ";
    case Op::And: return " & ";
    case Op::Or: return " | ";
    case Op::Xor: return " ^ ";
    case Op::Shl: return " << ";
    case Op::Shr: return " >> ";
    case Op::Less: return " < ";
    case Op::NotEqual: return " != ";
    default: return nullptr;
  }
}

std::string lower_case(std::string_view name) {
  std::string text;
  for (const char c : name) text += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return text;
}

// Writes a pattern from its steps.
class Writer {
 public:
  explicit Writer(const RuleTable& table) : table_(table) {}

  std::string write(const Step*& step, bool inner) {
    const Step& s = *step++;
    if (s.kind == StepKind::literal) return number_text(table_.literals[s.literal].number);
    if (s.kind == StepKind::hole) return hole(s);
    if (s.flags & Step::any_op) return call(step, s, any_of(table_.op_sets[s.op]));
    const Op op = Op(s.op);
    if (op == Op::Neg) return "-" + write(step, true);
    if (op == Op::Xor && step[step->size].kind == StepKind::literal && table_.literals[step[step->size].literal].is(1) &&
        table_.type_sets[s.types] == bools) {
      const std::string negated = write(step, true);
      ++step;
      return "!" + negated;
    }
    const char* sign = infix(op);
    if (!sign)
      return call(step, s,
                  (s.flags & Step::has_argument) ? concat(lower_case(name(op)), " by ", name(Op(s.literal))) : lower_case(name(op)));
    const std::string left = write(step, true), right = write(step, true);
    return inner ? "(" + left + sign + right + ")" : left + sign + right;
  }

 private:
  std::string hole(const Step& s) const {
    const TypeSet types = table_.type_sets[s.types];
    const std::string only = types == kHoleTypes[s.hole] || types == anything ? "" : ": " + types_text(types);
    return kHoles[s.hole] + only;
  }
  // The ops of a small set by name.
  static std::string any_of(OpSet ops) {
    std::string text;
    size_t count = 0;
    for (size_t i = 0; i < kOpCount; ++i)
      if (ops.contains(Op(i))) text += concat(count++ ? "/" : "", lower_case(name(Op(i))));
    return count <= 7 ? text : "any";
  }
  std::string call(const Step*& step, const Step& s, const std::string& name) {
    std::string text = name + "(";
    for (unsigned k = 0; k < s.sources; ++k) text += (k ? ", " : "") + write(step, false);
    if (s.flags & Step::has_rest) text += s.sources ? ", …" : "…";
    return text + ")";
  }

  const RuleTable& table_;
};

std::string text_from(const RuleTable& table, uint16_t first) {
  const Step* step = table.steps + first;
  return Writer(table).write(step, false);
}

// A cell of a table: a bar would end it.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}
std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string note_text(const RuleInfo& rule) {
  std::string text = rule.when ? "guarded" : "";
  if (rule.note.relaxed) text += text.empty() ? "relaxed" : ", relaxed";
  if (rule.note.grows) text += concat(text.empty() ? "" : "; ", "may grow: ", rule.note.grows);
  return text;
}

struct OpRow {
  const char *name, *traits, *meaning, *gradient;
};
constexpr OpRow kOpRows[] = {
#define OP(id, arity, traits, meaning, spelling, gradient) {#id, #traits, #meaning, #gradient},
#include "ir/ops.def"
#undef OP
};

std::string gradient_text(std::string_view column) {
  if (column == "NO_GRADIENT") return "none";
  const size_t open = column.find('(');
  const std::string_view inside = column.substr(open + 1, column.size() - open - 2);
  return column.starts_with("BY") ? concat("function ", code(inside)) : code(inside);
}

}  // namespace

std::string types_text(TypeSet types) {
  if (types == anything) return "any";
  struct Class {
    TypeSet set;
    const char* name;
  };
  constexpr Class classes[] = {{ints, "int"},      {signed_ints, "signed int"}, {unsigned_ints, "unsigned int"},
                               {indices, "index"}, {floats, "float"},           {bools, "bool"}};
  std::string text;
  const auto add = [&](std::string_view name) { text += concat(text.empty() ? "" : ", ", name); };
  for (const auto& [set, name] : classes)
    if ((types & set) == set) {
      add(name);
      types = types & ~set;
    }
  for (size_t i = 1; i < kDTypeCount; ++i)
    if (types.contains(DType(i))) add(name(DType(i)));
  return text;
}

std::string left_text(const RuleTable& table, const RuleInfo& rule) { return text_from(table, rule.left); }
std::string right_text(const RuleTable& table, const RuleInfo& rule) { return rule.function ? rule.text : text_from(table, rule.right); }

std::span<const RuleTable* const> rule_tables() {
  static constexpr const RuleTable* tables[] = {&fold_rules,     &algebra_rules, &boolean_rules,  &cast_rules,     &index_rules,
                                                &validity_rules, &reduce_rules,  &movement_rules, &decompose_rules};
  return tables;
}

std::string rules_markdown() {
  std::string text =
      "# Rewrite rules\n\nPrinted from the tables in `src/rules` by `whit docs`; do not edit.\n\n"
      "`x y z w` stand for any node, `p q` for a condition, `c0 c1 c2` for constants; the same name twice is the same node. A commutative "
      "op matches in "
      "either order. A rule holds for the types named; a guarded one under a further condition. `relaxed` rules may change a float result "
      "and are off by default.\n";
  for (const RuleTable* table : rule_tables()) {
    text += concat("\n## ", table->name, "\n\n| rule | from | to | for | |\n|---|---|---|---|---|\n");
    for (const RuleInfo& rule : table->rules)
      text += concat("| ", rule.name, " | ", code(left_text(*table, rule)), " | ",
                     rule.function ? cell(right_text(*table, rule)) : code(right_text(*table, rule)), " | ", types_text(rule.domain), " | ",
                     cell(note_text(rule)), " |\n");
  }
  text += "\n# What may stand where\n";
  constexpr std::pair<Level, const char*> levels[] = {
      {Level::tensor, "Tensors"}, {Level::kernel, "Kernels"}, {Level::linear, "Linear code"}};
  for (const auto& [level, title] : levels) {
    text += concat("\n## ", title, "\n\n| row | ops | |\n|---|---|---|\n");
    for (const SpecRow& row : spec_rows(level)) {
      std::string ops;
      for (size_t i = 0; i < kOpCount; ++i)
        if (row.ops.contains(Op(i))) ops += concat(ops.empty() ? "" : " ", name(Op(i)));
      text += concat("| ", row.name, " | ", ops, " | ", row.requirement, " |\n");
    }
  }
  return text;
}

std::string relaxed_markdown() {
  std::string text = "| row | may change |\n|---|---|\n";
  for (const RuleTable* table : rule_tables())
    for (const RuleInfo& rule : table->rules)
      if (rule.note.relaxed)
        text += concat("| `", table->name, ".", rule.name, "`: ", code(left_text(*table, rule)),
                       rule.function ? concat(": ", cell(right_text(*table, rule))) : concat(" → ", code(right_text(*table, rule))), " | ",
                       cell(rule.note.relaxed), " |\n");
  return text;
}

std::string with_relaxed(const std::string& page) {
  constexpr std::string_view begin = "<!-- printed by `whit docs` -->\n", end = "<!-- end -->\n";
  const size_t first = page.find(begin), last = page.find(end);
  if (first == std::string::npos || last == std::string::npos || last < first)
    fail(ErrorKind::Value, "the page has no place for the relaxed rules: a line ", begin.substr(0, begin.size() - 1),
         " and below it a line ", end.substr(0, end.size() - 1));
  return concat(page.substr(0, first + begin.size()), relaxed_markdown(), page.substr(last));
}

std::string ops_markdown() {
  std::string text =
      "# Ops\n\nPrinted from `src/ir/ops.def`, which also says what each op means in every case, by `whit docs`; do not edit.\n\n"
      "In the meaning, `a b c` are the values of the sources; in the spelling, `$0 $1 $2` are the sources in C; in the gradient, `x y z` "
      "are the sources, "
      "`out` the result and `dy` its gradient, one entry for each source.\n\n| op | sources | traits | meaning | C | gradient "
      "|\n|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& op = kOps[i];
    const OpRow& row = kOpRows[i];
    const bool has_meaning = std::string_view(row.meaning) != "none(a)";
    text += concat("| ", row.name, " | ", op.arity < 0 ? "any" : std::to_string(op.arity), " | ", cell(row.traits), " | ",
                   has_meaning ? code(row.meaning) : "", " | ", code(op.spelling), " | ", gradient_text(row.gradient), " |\n");
  }
  return text;
}

}  // namespace whit
