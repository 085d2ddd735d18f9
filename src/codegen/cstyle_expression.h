// Elementwise ops as C expressions, on scalars and on vectors, with the guards that ops.def asks for.
#pragma once

#include <span>
#include <string>

#include "codegen/cstyle_prelude.h"
#include "ir/node.h"

namespace whit {

/// A piece of C that can stand as an operand, and how its value is represented.
struct CValue {
  std::string text;
  DType type = DType::none;  ///< a C type: never index
  int64_t lanes = 1;
  /// Bool with lanes is a vector of signed integers of this many bytes, -1 for true. 0: not such a mask.
  unsigned mask_bytes = 0;

  bool is_mask() const { return mask_bytes != 0; }
};

/// One op without its node: what its spelling depends on.
struct Form {
  Op op;
  DType from, type;       ///< of the sources (of the last two for Where) and of the result
  bool exact = false;     ///< no overflow can happen: the index type
  bool in_range = false;  ///< intervals prove that a divisor or shift count needs no guard
};
Form form_of(const Node* node, DType index_type);

class Expressions {
 public:
  explicit Expressions(Prelude& prelude) : prelude_(prelude) {}

  CValue constant(DType type, Bits bits);
  /// The op on operands that all have `lanes` lanes; only the condition of a Where may be a scalar beside vectors.
  CValue apply(const Form& form, std::span<const CValue> operands, int64_t lanes);

  CValue broadcast(const CValue& value, int64_t lanes);
  /// A mask in another width.
  CValue with_mask(const CValue& value, unsigned bytes);
  /// Folds lanes to a scalar.
  CValue across(Op op, const CValue& value);

  /// The C type of a value, or of one lane of it.
  std::string type_of(const CValue& value);
  static DType lane_type(const CValue& value) { return value.is_mask() ? integer_of_size(value.mask_bytes, true) : value.type; }

 private:
  CValue bool_op(Op op, std::span<const CValue> operands, int64_t lanes);
  CValue select(std::span<const CValue> operands, DType type, int64_t lanes);
  CValue cast(const Form& form, const CValue& value);
  CValue bitcast(const Form& form, const CValue& value);
  std::string wrapped(const Form& form, std::string_view text, std::span<const CValue> operands, int64_t lanes);
  std::string guarded(const Form& form, std::span<const CValue> operands, int64_t lanes);
  std::string saturating(DType from, DType to);
  std::string larger_or_smaller(const Form& form, std::span<const CValue> operands, int64_t lanes);
  std::string spelled(const Form& form, std::span<const CValue> operands, int64_t lanes);
  std::string by_lane(const std::string& name, std::string_view text, DType from, DType to, size_t operands, int64_t lanes);
  std::string call(const std::string& function, std::span<const CValue> operands);

  Prelude& prelude_;
};

}  // namespace whit
