#include "codegen/llvm_kernel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace whit {

namespace {

// Room for "value, %label": a constant of 20 characters, and a block's name with its number.
constexpr std::string_view kHole = "                                        ";

bool is_vector_range(const Node* node) { return node->op == Op::Range && node->axis_kind() == AxisKind::vector; }

// Sources that are no values: what a node names rather than uses.
bool is_name(const Node* source) { return has(source->op, storage) || is_vector_range(source); }

}  // namespace

void LlvmKernel::write(const LinearKernel& kernel) {
  kernel_ = &kernel;
  ++written_;
  text_.start_function();
  registers_.clear();
  changed_.clear();
  wide_constants_.clear();
  loop_count_ = branch_count_ = 0;
  block_ = {};
  vector_open_ = 0;
  wide_lanes_ = 1;
  for (const Node* range : kernel.vector_ranges) {
    vector_open_ |= range->open;
    if (wide_lanes_ == 1) wide_lanes_ = uint32_t(range->source(0)->arg(0));
  }
  survey();
  write_entry();
  for (const Node* node : kernel.code) execute(node);
  WHIT_ASSERT(loops_.empty(), kernel.name, " leaves a loop open");
  text_.line("ret void");
  text_.put("}\n\n");
}

// ---- Before writing -----------------------------------------------------------------------------------------------------------------

LlvmKernel::Slot& LlvmKernel::slot(const Node* node) {
  if (node->id >= slots_.size()) slots_.resize(std::max<size_t>(node->id + 1, slots_.size() * 2));
  Slot& slot = slots_[node->id];
  if (slot.kernel != written_) {
    slot = Slot{};
    slot.kernel = written_;
  }
  return slot;
}

size_t LlvmKernel::register_of(const Node* node) {
  Slot& known = slot(node);
  if (!known.defined) {
    known.defined = true;
    known.value.payload = int64_t(registers_.size());
    registers_.push_back(constant_of(node, lanes_of(node)));
  }
  return size_t(known.value.payload);
}

void LlvmKernel::survey_operands(const Node* node) {
  if (lanes_of(node) != wide_lanes_) return;
  for (const Node* source : node->sources()) {
    if (is_name(source) || source->op == Op::Register || lanes_of(source) != 1) continue;
    if ((node->op == Op::VectorLoad || node->op == Op::VectorStore) && source == node->source(1)) continue;
    Slot& found = slot(source);
    if (source->op == Op::Const && !found.wide) wide_constants_.push_back(source);
    found.wide = true;
  }
}

// Splats are written once, beside the scalar, so that one stands outside the loops that its scalar stands outside of; and a loop's phis
// come before its body. Both ask for a look ahead.
void LlvmKernel::survey() {
  std::vector<size_t> open;
  for (const Node* node : kernel_->code) {
    if (node->op == Op::Loop) {
      open.push_back(changed_.size());
      changed_.emplace_back();
    } else if (node->op == Op::EndLoop) {
      WHIT_ASSERT(!open.empty(), kernel_->name, " closes a loop that isn't open");
      open.pop_back();
    } else if (node->op == Op::Set) {
      const size_t reg = register_of(node->source(0));
      for (const size_t loop : open)
        if (std::ranges::find(changed_[loop], reg) == changed_[loop].end()) changed_[loop].push_back(reg);
    }
    if (wide_lanes_ > 1) survey_operands(node);
  }
}

// ---- Operands -----------------------------------------------------------------------------------------------------------------------

LlvmType LlvmKernel::type_of(DType type, uint32_t lanes) const {
  switch (item_size(type)) {
    case 1: return {type == DType::boolean ? LlvmWord::i1 : LlvmWord::i8, lanes};
    case 2: return {LlvmWord::i16, lanes};
    case 4: return {type == DType::float32 ? LlvmWord::f32 : LlvmWord::i32, lanes};
    default: return {type == DType::float64 ? LlvmWord::f64 : LlvmWord::i64, lanes};
  }
}

// A scalar index has the width of an address, whatever fits, so that no address needs an extension. Lanes have 32 bits where their values
// fit: a register holds twice as many.
LlvmType LlvmKernel::type_of(const Node* node, uint32_t lanes) const {
  if (node->dtype != DType::index || lanes == 1) return type_of(node->dtype, lanes);
  constexpr int64_t least = std::numeric_limits<int32_t>::min(), greatest = std::numeric_limits<int32_t>::max();
  const bool fits = kernel_->index_type == DType::int32 || (node->minimum >= least && node->maximum <= greatest);
  return {fits ? LlvmWord::i32 : LlvmWord::i64, lanes};
}

LlvmValue LlvmKernel::constant_of(const Node* node, uint32_t lanes) const {
  const Bits bits = node->op == Op::Const ? node->arg(0) : 0;
  const bool encoded = is_narrow_float(node->dtype);
  return llvm_constant(type_of(node, lanes), encoded ? encode_narrow(node->dtype, std::bit_cast<float>(uint32_t(bits))) : bits);
}

LlvmValue LlvmKernel::value_of(const Node* node) {
  switch (node->op) {
    case Op::Const: return constant_of(node, 1);
    case Op::Register: return registers_[register_of(node)];
    case Op::Range:
      if (is_vector_range(node)) return {type_of(node), lanes_of(node) > 1 ? LlvmValue::steps : LlvmValue::constant, 0};
      break;
    default: break;
  }
  const Slot& found = slot(node);
  WHIT_ASSERT(found.defined, kernel_->name, " uses ", name(node->op), " before it is executed");
  return found.value;
}

LlvmValue LlvmKernel::splat(LlvmValue value, LlvmType type) {
  value = resize(value, type.word, true);  // an index whose lanes are narrower
  if (value.is_zero()) return llvm_constant(type, 0);
  const LlvmValue first = text_.define(type, "insertelement ", type, " poison, ", Typed{value}, ", i64 0");
  return text_.define(type, "shufflevector ", Typed{first}, ", ", type, " poison, <", type.lanes, " x i32> zeroinitializer");
}

LlvmValue LlvmKernel::operand(const Node* node, uint32_t lanes) {
  const LlvmValue value = value_of(node);
  if (value.type.lanes == lanes) return value;
  WHIT_ASSERT(value.type.lanes == 1, kernel_->name, ": ", name(node->op), " has ", value.type.lanes, " lanes where ", lanes, " are wanted");
  if (lanes == wide_lanes_ && node->op != Op::Register && slot(node).wide) return slot(node).splat;
  return splat(value, type_of(node, lanes));
}

void LlvmKernel::define_node(const Node* node, LlvmValue value) {
  Slot& defined = slot(node);
  if (defined.defined && !loops_.empty()) outer_.push_back({node, defined.value, defined.splat});
  defined.defined = true;
  defined.value = value;
  if (defined.wide) defined.splat = splat(value, type_of(node, wide_lanes_));
}

// ---- Blocks -------------------------------------------------------------------------------------------------------------------------

void LlvmKernel::write_variable(size_t i) {
  const Node* variable = kernel_->variables[i];
  const LlvmValue pointer = text_.define({}, "getelementptr inbounds i64, i64* %variables, i64 ", i);
  LlvmValue value = text_.define({}, "load i64, i64* ", pointer, ", align 8, !invariant.load !0");
  const LlvmType type = type_of(variable, 1);
  if (type.word == LlvmWord::i1)
    value = to_boolean(value);
  else if (bit_width(type.word) < 64)
    value = convert("trunc", value, type.word == LlvmWord::f32 ? LlvmWord::i32 : type.word);
  if (is_float(type.word)) value = convert("bitcast", value, type.word);
  define_node(variable, value);
}

void LlvmKernel::write_entry() {
  text_.put("define void @", kernel_->name, "(i8** %buffers, i64* %variables, i64 %begin, i64 %end) #0 {\n");
  start_block({});
  for (size_t i = 0; i < kernel_->params.size(); ++i) {
    const LlvmType bytes{LlvmWord::i8};
    const LlvmValue pointer = text_.define({}, "getelementptr inbounds i8*, i8** %buffers, i64 ", i);
    const LlvmValue buffer = text_.define({}, "load i8*, i8** ", pointer, ", align 8, !invariant.load !0");
    LlvmType element = type_of(kernel_->params[i].type, 1);
    if (element.word == LlvmWord::i1) element = bytes;
    text_.line("%buffer", i, " = bitcast i8* ", buffer, " to ", PointerTo{element});
  }
  for (const Node* array : kernel_->locals) {
    const LlvmType element = memory_type(array, 1);
    text_.line("%local", array->arg(0), " = alloca ", element, ", i64 ", std::max<int64_t>(array->arg(1), 1), ", align 64");
  }
  for (size_t i = 0; i < kernel_->variables.size(); ++i) write_variable(i);
  for (const Node* constant : wide_constants_) define_node(constant, constant_of(constant, 1));
}

void LlvmKernel::start_block(LlvmLabel label) {
  text_.put(label, ":\n");
  block_ = label;
}

LlvmKernel::Phi LlvmKernel::open_phi(const LlvmValue& initial, LlvmLabel before) {
  const LlvmType type = initial.type;
  const LlvmValue value = text_.define(type, "phi ", type, " [ ", initial, ", %", before, " ], [ ", kHole, " ]");
  return {value, initial, text_.text.size() - kHole.size() - 3};
}

void LlvmKernel::close_phi(const Phi& phi, LlvmValue last) {
  LlvmText filling;
  filling.put(last, ", %", block_);
  WHIT_ASSERT(filling.text.size() <= kHole.size(), filling.text);
  std::memcpy(text_.text.data() + phi.hole, filling.text.data(), filling.text.size());
}

void LlvmKernel::open_loop(const Node* range) {
  const Node* size = range->source(0);
  const std::vector<size_t>& changed = changed_[loop_count_];
  Loop& loop = loops_.emplace_back();
  loop.number = loop_count_++;
  loop.outer = outer_.size();
  if (size->is_constant() && size->arg(0) == 1) return define_node(range, llvm_constant({}, 0));

  const bool parallel = range == kernel_->parallel;
  const LlvmValue start = parallel ? LlvmValue{{}, LlvmValue::begin, 0} : llvm_constant({}, 0);
  loop.limit = parallel ? LlvmValue{{}, LlvmValue::end, 0} : operand(size, 1);
  loop.guarded = parallel || size->minimum < 1;
  loop.before = block_;
  const LlvmLabel body{"loop", loop.number};
  if (loop.guarded) {
    const LlvmValue any = compare("icmp slt", start, loop.limit);
    text_.line("br i1 ", any, ", label %", body, ", label %", LlvmLabel{"done", loop.number});
  } else {
    text_.line("br label %", body);
  }
  start_block(body);
  loop.counter = open_phi(start, loop.before);
  for (const size_t reg : changed) {
    const Phi phi = open_phi(registers_[reg], loop.before);
    registers_[reg] = phi.value;
    loop.registers.emplace_back(reg, phi);
  }
  define_node(range, loop.counter.value);
}

// The test stands at the end: a loop that runs is entered by falling into it, and its body is one block to the optimiser.
void LlvmKernel::close_loop() {
  WHIT_ASSERT(!loops_.empty(), kernel_->name);
  const Loop loop = std::move(loops_.back());
  loops_.pop_back();
  for (; outer_.size() > loop.outer; outer_.pop_back()) {
    slot(outer_.back().node).value = outer_.back().value;
    slot(outer_.back().node).splat = outer_.back().splat;
  }
  if (loop.counter.hole == 0) return;
  for (const auto& [reg, phi] : loop.registers) {
    LlvmValue& value = registers_[reg];  // a constant of many lanes is too long for the hole
    if (value.kind != LlvmValue::instruction && value.type.lanes > 1)
      value = text_.define(value.type, "bitcast ", Typed{value}, " to ", value.type);
  }
  const LlvmValue next = text_.define({}, "add nuw nsw i64 ", loop.counter.value, ", 1");
  const LlvmValue again = compare("icmp slt", next, loop.limit);
  close_phi(loop.counter, next);
  for (const auto& [reg, phi] : loop.registers) close_phi(phi, registers_[reg]);
  const LlvmLabel last = block_, done{"done", loop.number};
  text_.line("br i1 ", again, ", label %", LlvmLabel{"loop", loop.number}, ", label %", done);
  start_block(done);
  if (!loop.guarded) return;
  for (const auto& [reg, phi] : loop.registers) {
    LlvmValue& value = registers_[reg];
    value = text_.define(value.type, "phi ", value.type, " [ ", phi.initial, ", %", loop.before, " ], [ ", value, ", %", last, " ]");
  }
}

// ---- Code ---------------------------------------------------------------------------------------------------------------------------

void LlvmKernel::execute(const Node* node) {
  if (has(node->op, whit::alu)) return define_node(node, alu(node));
  switch (node->op) {
    case Op::Const:
    case Op::Param:
    case Op::Local:
    case Op::Variable:
    case Op::Range:
    case Op::Register:
    case Op::Barrier: return;  // nothing to do; a chunk of the launch runs on one thread, so it has no one to wait for
    case Op::Loop: return open_loop(node->source(0));
    case Op::EndLoop: return close_loop();
    case Op::Set: {
      const Node* reg = node->source(0);
      registers_[register_of(reg)] = resize(operand(node->source(1), lanes_of(reg)), type_of(reg).word, true);
      return;
    }
    case Op::Across: return define_node(node, across(node));
    case Op::Load:
    case Op::VectorLoad: return define_node(node, load(node));
    case Op::Store:
    case Op::VectorStore: return store(node);
    default: WHIT_ASSERT(false, kernel_->name, " holds ", name(node->op), ", which is no linear code");
  }
}

}  // namespace whit
