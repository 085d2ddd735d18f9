// One kernel as a C function.
#pragma once

#include <string>
#include <vector>

#include "codegen/cstyle_expression.h"
#include "codegen/executions.h"

namespace whit {

class KernelWriter {
 public:
  KernelWriter(const LinearKernel& kernel, Prelude& prelude);
  std::string write();

 private:
  // Statements.
  void write_instruction(size_t position);
  void write_loop(size_t position);
  void write_set(size_t position);
  void write_store(size_t position);
  void write_load(size_t position);
  void open_function();
  void open_chunk();
  void open_grid();
  void define_variables();
  void define_registers();
  void define_locals();
  void line(const std::string& text);

  // Values.
  CValue read(size_t position, size_t source);
  CValue read_named(const Node* node);
  /// The gate of a Load or Store, without text if there is none.
  CValue gate_of(size_t position, size_t source);
  /// In a form that loops can read: its lanes can be taken, and no memory is read again.
  CValue with_name(const CValue& value);
  void declare(const std::string& name, const CValue& value);
  /// Makes `value` the result of the instruction: in place of its one use if it reads well there, else as a variable.
  void give(size_t position, CValue value);
  std::string next_name() { return concat_number("v"); }
  std::string concat_number(const char* stem);

  DType resolve(DType type) const { return type == DType::index ? kernel_.index_type : type; }
  static std::string memory(const Node* storage);
  /// True in code that each thread of a group runs though it counts once.
  bool runs_for_all() const { return prelude_.dialect().entry == Entry::grid && kernel_.group_size > 0 && !in_local_loop_; }
  /// "if (…) " for a store that is done under a condition.
  std::string store_condition(const CValue& gate) const;
  std::string variable(size_t index) const;

  const LinearKernel& kernel_;
  Prelude& prelude_;
  Expressions expressions_;
  Executions executions_;
  std::vector<size_t> user_;       // of a value that is read once: where
  std::vector<uint32_t> segment_;  // counts what an expression must not move across: writes, and the ends of loop bodies
  std::vector<CValue> values_;     // by position
  std::string text_;
  unsigned depth_ = 0, names_ = 0;
  bool in_local_loop_ = false;
};

}  // namespace whit
