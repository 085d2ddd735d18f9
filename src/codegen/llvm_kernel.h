// One kernel on its way to LLVM IR: the class behind codegen/llvm_writer.h, whose parts lie in three files: blocks, loops and registers
// (llvm_kernel.cpp), arithmetic (llvm_alu.cpp, llvm_cast.cpp) and memory (llvm_memory.cpp).
//
// What must hold: a value is written where its node stands in the code, so it dominates all its uses. Registers become SSA values while
// they are written: a loop that sets one starts with a phi for it.
#pragma once

#include "codegen/linear.h"
#include "codegen/llvm_text.h"

namespace whit {

class LlvmKernel {
 public:
  explicit LlvmKernel(LlvmText& text) : text_(text) {}
  /// Appends the kernel's function. May be called for one kernel after another.
  void write(const LinearKernel& kernel);

 private:
  /// What is known of a node while its kernel is written; out of date unless `kernel` is the one being written.
  struct Slot {
    uint32_t kernel = 0;
    bool defined = false;
    bool wide = false;  ///< some user has lanes, this node has not: a splat is kept beside its value
    LlvmValue value, splat;
  };
  /// A phi whose second value is known only when its loop closes: `hole` is where that goes in the text.
  struct Phi {
    LlvmValue value, initial;
    size_t hole;
  };
  /// What a node was before it was executed again in an inner loop, after which it is that again.
  struct Outer {
    const Node* node;
    LlvmValue value, splat;
  };
  struct Loop {
    size_t outer = 0;  ///< how many of `outer_` are older
    uint32_t number = 0;
    bool guarded = false;  ///< may run no time at all: what follows is reached past it, too
    LlvmLabel before;
    LlvmValue limit;
    Phi counter;
    std::vector<std::pair<size_t, Phi>> registers;
  };

  // Blocks, loops and registers.
  void survey();
  void survey_operands(const Node* node);
  void write_entry();
  void write_variable(size_t i);
  void execute(const Node* node);
  void open_loop(const Node* range);
  void close_loop();
  Phi open_phi(const LlvmValue& initial, LlvmLabel before);
  void close_phi(const Phi& phi, LlvmValue last);
  void start_block(LlvmLabel label);
  size_t register_of(const Node* node);

  // Operands.
  uint32_t lanes_of(const Node* node) const { return node->open & vector_open_ ? uint32_t(kernel_->lanes(node)) : 1; }
  LlvmType type_of(DType type, uint32_t lanes) const;
  LlvmType type_of(const Node* node, uint32_t lanes) const;
  LlvmType type_of(const Node* node) const { return type_of(node, lanes_of(node)); }
  LlvmValue constant_of(const Node* node, uint32_t lanes) const;  ///< 0 for what is no constant
  LlvmValue value_of(const Node* node);
  LlvmValue operand(const Node* node, uint32_t lanes);
  LlvmValue splat(LlvmValue value, LlvmType type);
  Slot& slot(const Node* node);
  void define_node(const Node* node, LlvmValue value);

  // Arithmetic.
  LlvmValue alu(const Node* node);
  LlvmValue apply(Op op, DType type, const LlvmValue* v);
  LlvmValue apply_float(Op op, const LlvmValue* v);
  LlvmValue apply_integer(Op op, DType type, const LlvmValue* v);
  LlvmValue apply_boolean(Op op, const LlvmValue* v);
  LlvmValue extremum(Op op, DType type, const LlvmValue& a, const LlvmValue& b);
  LlvmValue division(const Node* node, const LlvmValue& a, const LlvmValue& b);
  LlvmValue divide_as_floats(const LlvmValue& a, const LlvmValue& b, bool sign);
  LlvmValue shift(const Node* node, const LlvmValue& a, const LlvmValue& b);
  LlvmValue binary(std::string_view word, const LlvmValue& a, const LlvmValue& b);
  LlvmValue compare(std::string_view word, const LlvmValue& a, const LlvmValue& b);
  LlvmValue select(const LlvmValue& condition, const LlvmValue& a, const LlvmValue& b);
  LlvmValue across(const Node* node);
  LlvmValue extract(const LlvmValue& vector, uint32_t lane);

  // Conversions.
  LlvmValue cast(const Node* node);
  LlvmValue bitcast(const Node* node);
  LlvmValue convert(std::string_view word, const LlvmValue& value, LlvmWord to);
  LlvmValue resize(const LlvmValue& value, LlvmWord to, bool keep_sign);
  LlvmValue to_boolean(const LlvmValue& value);
  LlvmValue float_to_integer(const LlvmValue& value, LlvmWord to, bool keep_sign);

  // Memory.
  LlvmValue load(const Node* node);
  void store(const Node* node);
  LlvmValue load_scalar(const Node* node);
  LlvmValue load_vector(const Node* node, uint32_t lanes);
  LlvmValue gather(const Node* node, uint32_t lanes);
  void store_scalar(const Node* node);
  void store_vector(const Node* node, uint32_t lanes);
  void scatter(const Node* node, uint32_t lanes);
  LlvmType memory_type(const Node* storage, uint32_t lanes) const;
  LlvmValue to_memory(const LlvmValue& value);
  LlvmValue from_memory(DType type, const LlvmValue& value);
  LlvmValue index_of(const Node* index, uint32_t lanes);
  LlvmValue address(const Node* storage, const LlvmValue& index, LlvmType access, bool inbounds);
  std::string_view facts(const Node* storage) const;

  LlvmText& text_;
  const LinearKernel* kernel_ = nullptr;
  uint32_t written_ = 0;  ///< kernels so far: what Slot::kernel is compared with
  std::vector<Slot> slots_;
  uint64_t vector_open_ = 0;                  ///< the numbers of the vector ranges
  uint32_t wide_lanes_ = 1;                   ///< the lanes that splats are kept for
  std::vector<LlvmValue> registers_;          ///< what each holds; its Slot's payload is its place here
  std::vector<std::vector<size_t>> changed_;  ///< by loop, in the order they open: the registers set inside
  std::vector<const Node*> wide_constants_;
  std::vector<Outer> outer_;
  std::vector<Loop> loops_;  ///< open ones; without a counter where no loop is needed, since it would run once
  uint32_t loop_count_ = 0, branch_count_ = 0;
  LlvmLabel block_;  ///< the block being written
};

}  // namespace whit
