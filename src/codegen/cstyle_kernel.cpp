#include "codegen/cstyle_kernel.h"

#include <algorithm>

#include "base/error.h"

namespace whit {

namespace {

constexpr size_t kReadableLength = 90;  // a longer expression gets a name

constexpr OpSet kSegmentEnds = OpSet::of(Op::Set, Op::Store, Op::VectorStore, Op::Loop, Op::EndLoop, Op::Barrier);

bool is_identifier(const std::string& text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

}  // namespace

KernelWriter::KernelWriter(const LinearKernel& kernel, Prelude& prelude)
    : kernel_(kernel),
      prelude_(prelude),
      expressions_(prelude),
      executions_(kernel),
      user_(kernel.code.size()),
      segment_(kernel.code.size()),
      values_(kernel.code.size()) {
  uint32_t segment = 0;
  for (size_t position = 0; position < kernel.code.size(); ++position) {
    segment_[position] = segment;
    if (kSegmentEnds.contains(kernel.code[position]->op)) ++segment;
    for (const int32_t source : executions_.sources(position))
      if (source >= 0) user_[size_t(source)] = position;
  }
}

std::string KernelWriter::write() {
  open_function();
  ++depth_;
  define_variables();
  define_registers();
  define_locals();
  for (size_t position = 0; position < kernel_.code.size(); ++position) write_instruction(position);
  --depth_;
  line("}");
  return std::move(text_);
}

void KernelWriter::line(const std::string& text) { text_ += concat(std::string(2 * depth_, ' '), text, "\n"); }

std::string KernelWriter::concat_number(const char* stem) { return concat(stem, names_++); }
std::string KernelWriter::memory(const Node* storage) { return concat(storage->op == Op::Local ? "shared" : "b", storage->arg(0)); }
std::string KernelWriter::variable(size_t index) const {
  return prelude_.dialect().entry == Entry::chunk ? concat("variables[", index, "]") : concat("variable", index);
}

// ---- The function's head ------------------------------------------------------------------------------------------------------------

void KernelWriter::open_function() {
  if (prelude_.dialect().entry == Entry::chunk)
    open_chunk();
  else
    open_grid();
}

void KernelWriter::open_chunk() {
  const std::string number = prelude_.type(DType::int64);
  line(concat(prelude_.dialect().kernel, " ", kernel_.name, "(void* const* buffers, const ", number, "* variables, ", number, " begin, ",
              number, " end) {"));
  for (size_t slot = 0; slot < kernel_.params.size(); ++slot) {
    const KernelParam& param = kernel_.params[slot];
    const std::string pointer = concat(param.written ? "" : "const ", prelude_.stored(param.type), "*");
    line(concat("  ", pointer, " b", slot, " = (", pointer, ")buffers[", slot, "];"));
  }
}

void KernelWriter::open_grid() {
  const Dialect& dialect = prelude_.dialect();
  const std::string number = prelude_.type(DType::int64);
  std::string parameters, pointers;
  for (size_t slot = 0; slot < kernel_.params.size(); ++slot) {
    const KernelParam& param = kernel_.params[slot];
    const std::string pointer = concat(dialect.memory, param.written ? "" : "const ", prelude_.stored(param.type), "*");
    parameters += concat(pointer, " p", slot, ", ", number, " offset", slot, ", ");
    pointers += concat("  ", pointer, " b", slot, " = (", pointer, ")((", dialect.memory, "const char*)p", slot, " + offset", slot, ");\n");
  }
  for (size_t i = 0; i < kernel_.variables.size(); ++i) parameters += concat(number, " variable", i, ", ");
  const bool groups = kernel_.group_size > 0;
  WHIT_ASSERT(groups || kernel_.locals.empty(), kernel_.name, " shares memory in no group");
  const std::string group = groups ? fill(dialect.group_size, {std::to_string(kernel_.group_size)}) + " " : "";
  line(concat(dialect.kernel, " ", group, kernel_.name, "(", parameters, number, " count) {"));
  line(concat("  const ", number, " launch = ", groups ? dialect.group_index : dialect.launch_index, ";"));
  if (!groups) line("  if (launch >= count) return;");  // a launch has whole groups: there is no thread too many
  text_ += pointers;
}

void KernelWriter::define_variables() {
  for (size_t i = 0; i < kernel_.variables.size(); ++i) {
    const CValue value = read_named(kernel_.variables[i]);
    // Bits hold a float32 in their low half.
    const DType bits = is_float(value.type) ? integer_of_size(item_size(value.type), true) : value.type;
    const CValue raw{.text = concat("((", prelude_.type(bits), ")", variable(i), ")"), .type = bits};
    declare(value.text, is_float(value.type) ? expressions_.apply({Op::Bitcast, bits, value.type}, {&raw, 1}, 1) : raw);
  }
}

void KernelWriter::define_registers() {
  std::vector<const Node*> known;
  for (const Node* node : kernel_.code) {
    const Node* target = node->op == Op::Register ? node : node->op == Op::Set ? node->source(0) : nullptr;
    if (!target || std::ranges::find(known, target) != known.end()) continue;
    known.push_back(target);
    line(concat(expressions_.type_of(read_named(target)), " ", read_named(target).text, ";"));
  }
}

void KernelWriter::define_locals() {
  for (const Node* array : kernel_.locals)
    line(concat(prelude_.dialect().group_memory, prelude_.stored(array->dtype), " ", memory(array), "[",
                std::max<int64_t>(array->arg(1), 1), "];"));
}

// ---- Values -------------------------------------------------------------------------------------------------------------------------

CValue KernelWriter::read_named(const Node* node) {
  const int64_t lanes = kernel_.lanes(node);
  CValue value{.type = resolve(node->dtype), .lanes = lanes};
  switch (node->op) {
    case Op::Const: return expressions_.constant(value.type, node->arg(0));
    case Op::Range:
      value.text = lanes > 1                    ? prelude_.lane_numbers(value.type, lanes)
                   : kernel_.vector_range(node) ? "0"
                                                : concat("n", node->range_number());
      return value;
    case Op::Register:
      value.mask_bytes = lanes > 1 && node->dtype == DType::boolean ? 1 : 0;
      value.text = concat("r", node->id);
      return value;
    default: break;
  }
  WHIT_ASSERT(node->op == Op::Variable, name(node->op), " is not a value");
  const size_t index = size_t(std::ranges::find(kernel_.variables, node) - kernel_.variables.begin());
  WHIT_ASSERT(index < kernel_.variables.size(), "a Variable that the kernel does not list");
  value.text = concat("s", index);
  return value;
}

CValue KernelWriter::read(size_t position, size_t source) {
  const int32_t from = executions_.sources(position)[source];
  if (from >= 0) return values_[size_t(from)];
  const Node* node = kernel_.code[position];
  return read_named(node->op == Op::Loop ? node->source(0)->source(0) : node->source(source));
}

CValue KernelWriter::gate_of(size_t position, size_t source) {
  return source < kernel_.code[position]->source_count ? read(position, source) : CValue{};
}

void KernelWriter::declare(const std::string& name, const CValue& value) {
  line(concat(expressions_.type_of(value), " ", name, " = ", bare(value.text), ";"));
}

CValue KernelWriter::with_name(const CValue& value) {
  const bool reads_memory = value.text.find('[') != std::string::npos;
  if (is_identifier(value.text) || (value.lanes == 1 && !reads_memory)) return value;
  CValue named = value;
  named.text = next_name();
  declare(named.text, value);
  return named;
}

void KernelWriter::give(size_t position, CValue value) {
  const uint32_t uses = executions_.uses(position);
  if (uses == 0) return;
  const bool here = uses == 1 && segment_[user_[position]] == segment_[position] && value.text.size() <= kReadableLength;
  const bool is_register = value.text[0] == 'r';  // which may be set before the value is read
  if (!here && (!is_identifier(value.text) || is_register)) {
    const std::string name = next_name();
    declare(name, value);
    value.text = name;
  }
  values_[position] = std::move(value);
}

// ---- Instructions -------------------------------------------------------------------------------------------------------------------

void KernelWriter::write_instruction(size_t position) {
  const Node* node = kernel_.code[position];
  switch (node->op) {
    case Op::Loop: return write_loop(position);
    case Op::EndLoop:
      if (node->source(0)->axis_kind() == AxisKind::local) in_local_loop_ = false;
      --depth_;
      return line("}");
    case Op::Set: return write_set(position);
    case Op::Load:
    case Op::VectorLoad: return write_load(position);
    case Op::Store:
    case Op::VectorStore: return write_store(position);
    case Op::Across: {
      const int64_t lanes = kernel_.lanes(node->source(1));
      const CValue value = expressions_.broadcast(read(position, 0), lanes);
      return give(position, lanes == 1 ? value : expressions_.across(node->reduce_op(), value));
    }
    case Op::Barrier:
      if (!prelude_.dialect().barrier.empty()) line(std::string(prelude_.dialect().barrier));
      return;
    default: break;
  }
  if (is_named(node->op)) return;
  WHIT_ASSERT(has(node->op, alu), name(node->op), " in linear code");
  const int64_t lanes = kernel_.lanes(node);
  std::vector<CValue> operands;
  for (size_t k = 0; k < node->source_count; ++k) {
    const CValue operand = read(position, k);
    const bool scalar_condition = node->op == Op::Where && k == 0 && operand.lanes == 1;
    operands.push_back(scalar_condition ? operand : expressions_.broadcast(operand, lanes));
  }
  give(position, expressions_.apply(form_of(node, kernel_.index_type), operands, lanes));
}

void KernelWriter::write_loop(size_t position) {
  const Node* range = kernel_.code[position]->source(0);
  const std::string type = prelude_.type(kernel_.index_type), counter = concat("n", range->range_number());
  const bool grid = prelude_.dialect().entry == Entry::grid, local = range->axis_kind() == AxisKind::local;
  in_local_loop_ |= local;
  if (grid && (local || range == kernel_.parallel)) {
    line("{");
    line(concat("  const ", type, " ", counter, " = ", local ? prelude_.dialect().thread_index : "launch", ";"));
  } else if (range == kernel_.parallel) {
    line(concat("for (", type, " ", counter, " = begin; ", counter, " < end; ++", counter, ") {"));
  } else {
    line(concat("for (", type, " ", counter, " = 0; ", counter, " < ", with_name(read(position, 0)).text, "; ++", counter, ") {"));
  }
  ++depth_;
}

void KernelWriter::write_set(size_t position) {
  const CValue target = read(position, 0);
  CValue value = expressions_.broadcast(read(position, 1), target.lanes);
  if (target.is_mask()) value = expressions_.with_mask(value, target.mask_bytes);
  line(concat(target.text, " = ", bare(value.text), ";"));
}

void KernelWriter::write_load(size_t position) {
  const Node* node = kernel_.code[position];
  const bool consecutive = node->op == Op::VectorLoad;
  const int64_t lanes = consecutive ? kernel_.lanes(node->source(2)) : kernel_.lanes(node);
  CValue index = read(position, 1), gate = gate_of(position, consecutive ? 3 : 2);
  if (lanes > 1 && !consecutive) index = with_name(index);
  if (lanes > 1) gate = with_name(gate);
  CValue value{.type = resolve(node->dtype), .lanes = lanes, .mask_bytes = lanes > 1 && node->dtype == DType::boolean ? 1u : 0u};
  const std::string place = concat(memory(node->source(0)), "[", bare(index.text));
  if (lanes == 1) {
    value.text =
        gate.text.empty() ? place + "]" : concat("(", gate.text, " ? ", place, "] : ", expressions_.constant(value.type, 0).text, ")");
    return give(position, value);
  }
  const char* const sign = value.is_mask() ? "-" : "";
  const auto whole = [&] {
    const std::string text = concat(sign, prelude_.vector_load(Expressions::lane_type(value), lanes), "(&", place, "])");
    return value.is_mask() ? "(" + text + ")" : text;
  };
  if (consecutive && gate.text.empty()) {
    value.text = whole();
    return give(position, value);
  }
  value.text = next_name();
  line(concat(expressions_.type_of(value), " ", value.text, " = {};"));
  const std::string condition = gate.text.empty() ? "" : concat("if (", bare(gate.text), gate.lanes > 1 ? "[lane]" : "", ") ");
  if (consecutive && gate.lanes == 1) {
    line(concat(condition, value.text, " = ", bare(whole()), ";"));
  } else {
    line(concat("for (int lane = 0; lane < ", lanes, "; ++lane) ", condition, value.text, "[lane] = ", sign, place,
                consecutive       ? " + lane"
                : index.lanes > 1 ? "[lane]"
                                  : "",
                "];"));
  }
  give(position, value);
}

std::string KernelWriter::store_condition(const CValue& gate) const {
  const std::string first = runs_for_all() ? concat(prelude_.dialect().thread_index, " == 0") : "";
  if (gate.text.empty()) return first.empty() ? "" : concat("if (", first, ") ");
  const std::string open = gate.lanes > 1 ? bare(gate.text) + "[lane]" : bare(gate.text);
  return first.empty() ? concat("if (", open, ") ") : concat("if (", first, " && (", open, ")) ");
}

void KernelWriter::write_store(size_t position) {
  const Node* node = kernel_.code[position];
  const bool consecutive = node->op == Op::VectorStore;
  const int64_t lanes = consecutive ? kernel_.lanes(node->source(3)) : lanes_of_work(kernel_, node);
  CValue gate = gate_of(position, consecutive ? 4 : 3), index = read(position, 1), value = read(position, 2);
  const bool whole = lanes == 1 || (consecutive && gate.lanes == 1);
  if (!whole) {  // what a loop over lanes reads must not change while it stores
    gate = with_name(gate);
    index = with_name(index);
    value = with_name(value);
  }
  const std::string condition = store_condition(gate);
  const std::string place = concat(memory(node->source(0)), "[", bare(index.text));
  if (lanes == 1) return line(concat(condition, place, "] = ", bare(value.text), ";"));
  if (whole) {
    value = expressions_.broadcast(value, lanes);
    if (value.is_mask()) value = expressions_.with_mask(value, 1);
    const std::string store = prelude_.vector_store(Expressions::lane_type(value), lanes);
    return line(concat(condition, store, "(&", place, "], ", value.is_mask() ? "-" + value.text : bare(value.text), ");"));
  }
  line(concat("for (int lane = 0; lane < ", lanes, "; ++lane) ", condition, place,
              consecutive       ? " + lane"
              : index.lanes > 1 ? "[lane]"
                                : "",
              "] = ", value.is_mask() ? "-" : "", value.text, value.lanes > 1 ? "[lane]" : "", ";"));
}

}  // namespace whit
