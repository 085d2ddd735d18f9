// Loads and stores as LLVM IR.
#include "base/error.h"
#include "codegen/llvm_kernel.h"

namespace whit {

namespace {

// Where the gate stands among the sources, behind what each op needs.
const Node* gate_of(const Node* node) {
  const size_t place = node->op == Op::Load ? 2 : node->op == Op::VectorStore ? 4 : 3;
  return node->source_count > place ? node->source(place) : nullptr;
}

unsigned item_bytes(LlvmType type) { return bit_width(type.word) / 8; }

}  // namespace

LlvmType LlvmKernel::memory_type(const Node* storage, uint32_t lanes) const {
  const LlvmType type = type_of(storage->dtype, lanes);
  return type.word == LlvmWord::i1 ? type.with(LlvmWord::i8) : type;
}

LlvmValue LlvmKernel::to_memory(const LlvmValue& value) {
  return value.type.word == LlvmWord::i1 ? resize(value, LlvmWord::i8, false) : value;
}

LlvmValue LlvmKernel::from_memory(DType type, const LlvmValue& value) { return type == DType::boolean ? to_boolean(value) : value; }

// An index of another type than index, whose sign LLVM would take for granted, is extended by hand.
LlvmValue LlvmKernel::index_of(const Node* index, uint32_t lanes) {
  const LlvmValue value = operand(index, lanes);
  return index->dtype == DType::index ? value : resize(value, LlvmWord::i64, is_signed(index->dtype));
}

LlvmValue LlvmKernel::address(const Node* storage, const LlvmValue& index, LlvmType access, bool inbounds) {
  const LlvmType element{access.word};
  const std::string_view word = inbounds ? "getelementptr inbounds " : "getelementptr ";
  const LlvmValue pointer = text_.define(access, word, element, ", ", PointerTo{element}, storage->op == Op::Local ? " %local" : " %buffer",
                                         storage->arg(0), ", ", Typed{index});
  if (access.lanes == 1 || index.type.lanes > 1) return pointer;
  return text_.define(access, "bitcast ", PointerTo{element}, ' ', pointer, " to ", PointerTo{access});
}

// What a kernel only reads stays as it is while the kernel runs, for different slots never overlap.
std::string_view LlvmKernel::facts(const Node* storage) const {
  if (storage->op == Op::Local) return "";
  return kernel_->params[size_t(storage->arg(0))].written ? "" : ", !invariant.load !0";
}

// ---- Loads --------------------------------------------------------------------------------------------------------------------------

LlvmValue LlvmKernel::load(const Node* node) {
  const uint32_t lanes = lanes_of(node);
  if (lanes == 1) return load_scalar(node);
  return node->op == Op::VectorLoad ? load_vector(node, lanes) : gather(node, lanes);
}

// A gated load reads element 0 instead and drops it: no branch.
LlvmValue LlvmKernel::load_scalar(const Node* node) {
  const Node *storage = node->source(0), *gate = gate_of(node);
  const LlvmType type = memory_type(storage, 1);
  LlvmValue index = index_of(node->source(1), 1), condition;
  if (gate) {
    if (storage->arg(1) < 1) return constant_of(node, 1);  // there is no element 0
    condition = operand(gate, 1);
    index = select(condition, index, llvm_constant(index.type, 0));
  }
  const LlvmValue pointer = address(storage, index, type, true);
  const LlvmValue value =
      text_.define(type, "load ", type, ", ", PointerTo{type}, ' ', pointer, ", align ", item_bytes(type), facts(storage));
  return from_memory(storage->dtype, gate ? select(condition, value, llvm_constant(type, 0)) : value);
}

LlvmValue LlvmKernel::load_vector(const Node* node, uint32_t lanes) {
  const Node *storage = node->source(0), *gate = gate_of(node);
  const LlvmType type = memory_type(storage, lanes);
  const LlvmValue pointer = address(storage, index_of(node->source(1), 1), type, !gate);
  if (!gate)
    return from_memory(storage->dtype, text_.define(type, "load ", type, ", ", PointerTo{type}, ' ', pointer, ", align ", item_bytes(type),
                                                    facts(storage)));
  const LlvmValue mask = operand(gate, lanes), nothing = llvm_constant(type, 0);
  return from_memory(storage->dtype,
                     text_.define(type, "call ", type, ' ', IntrinsicName{LlvmIntrinsic::masked_load, type}, '(', PointerTo{type}, ' ',
                                  pointer, ", i32 ", item_bytes(type), ", ", Typed{mask}, ", ", Typed{nothing}, ')'));
}

LlvmValue LlvmKernel::gather(const Node* node, uint32_t lanes) {
  const Node *storage = node->source(0), *gate = gate_of(node);
  const LlvmType type = memory_type(storage, lanes);
  const LlvmValue pointers = address(storage, index_of(node->source(1), lanes), type, !gate);
  const LlvmValue mask = gate ? operand(gate, lanes) : llvm_constant(type.with(LlvmWord::i1), 1), nothing = llvm_constant(type, 0);
  return from_memory(storage->dtype, text_.define(type, "call ", type, ' ', IntrinsicName{LlvmIntrinsic::masked_gather, type}, "(<", lanes,
                                                  " x ", PointerTo{{type.word}}, "> ", pointers, ", i32 ", item_bytes(type), ", ",
                                                  Typed{mask}, ", ", Typed{nothing}, ')'));
}

// ---- Stores -------------------------------------------------------------------------------------------------------------------------

void LlvmKernel::store(const Node* node) {
  const uint32_t lanes = lanes_of(node);
  if (lanes == 1) return store_scalar(node);
  node->op == Op::VectorStore ? store_vector(node, lanes) : scatter(node, lanes);
}

void LlvmKernel::store_scalar(const Node* node) {
  const Node *storage = node->source(0), *gate = gate_of(node);
  const LlvmType type = memory_type(storage, 1);
  const uint32_t branch = branch_count_;
  if (gate) {
    ++branch_count_;
    text_.line("br i1 ", operand(gate, 1), ", label %", LlvmLabel{"store", branch}, ", label %", LlvmLabel{"stored", branch});
    start_block({"store", branch});
  }
  const LlvmValue value = to_memory(operand(node->source(2), 1));
  const LlvmValue pointer = address(storage, index_of(node->source(1), 1), type, true);
  text_.line("store ", Typed{value}, ", ", PointerTo{type}, ' ', pointer, ", align ", item_bytes(type));
  if (!gate) return;
  text_.line("br label %", LlvmLabel{"stored", branch});
  start_block({"stored", branch});
}

void LlvmKernel::store_vector(const Node* node, uint32_t lanes) {
  const Node *storage = node->source(0), *gate = gate_of(node);
  const LlvmType type = memory_type(storage, lanes);
  const LlvmValue value = to_memory(operand(node->source(2), lanes));
  const LlvmValue pointer = address(storage, index_of(node->source(1), 1), type, !gate);
  if (!gate) return text_.line("store ", Typed{value}, ", ", PointerTo{type}, ' ', pointer, ", align ", item_bytes(type));
  const LlvmValue mask = operand(gate, lanes);
  text_.line("call void ", IntrinsicName{LlvmIntrinsic::masked_store, type}, '(', Typed{value}, ", ", PointerTo{type}, ' ', pointer,
             ", i32 ", item_bytes(type), ", ", Typed{mask}, ')');
}

// Lanes that meet in one element are written in their order, as a loop would.
void LlvmKernel::scatter(const Node* node, uint32_t lanes) {
  const Node *storage = node->source(0), *gate = gate_of(node);
  const LlvmType type = memory_type(storage, lanes);
  const LlvmValue value = to_memory(operand(node->source(2), lanes));
  const LlvmValue pointers = address(storage, index_of(node->source(1), lanes), type, !gate);
  const LlvmValue mask = gate ? operand(gate, lanes) : llvm_constant(type.with(LlvmWord::i1), 1);
  text_.line("call void ", IntrinsicName{LlvmIntrinsic::masked_scatter, type}, '(', Typed{value}, ", <", lanes, " x ",
             PointerTo{{type.word}}, "> ", pointers, ", i32 ", item_bytes(type), ", ", Typed{mask}, ')');
}

}  // namespace whit
