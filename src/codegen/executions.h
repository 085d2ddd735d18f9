// Which execution of a node each instruction of linear code reads. A node may stand in the code several times, each time with its own
// value, so writers of code and the interpreter go by positions in the code instead of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/linear.h"

namespace whit {

/// True for what is not computed where it stands: it has one value (or storage) however often it is listed.
constexpr bool is_named(Op op) {
  return op == Op::Const || op == Op::Param || op == Op::Local || op == Op::Variable || op == Op::Range || op == Op::Register;
}

class Executions {
 public:
  static constexpr int32_t kNamed = -1;

  explicit Executions(const LinearKernel& kernel);

  /// The position that each source of the instruction is read from; kNamed for those that `is_named`. A Loop has one source here: the
  /// size of its range.
  std::span<const int32_t> sources(size_t position) const { return {&sources_[first_[position]], first_[position + 1] - first_[position]}; }
  /// How often the value computed at this position is read.
  uint32_t uses(size_t position) const { return uses_[position]; }
  /// True where the value computed at this position is read lane by lane; the index of consecutive
  /// elements is not.
  bool used_with_lanes(size_t position) const { return with_lanes_[position]; }

 private:
  std::vector<uint32_t> first_;
  std::vector<int32_t> sources_;
  std::vector<uint32_t> uses_;
  std::vector<bool> with_lanes_;
};

/// The lanes that an instruction works on: those of its value, or of what it stores, sets or folds.
int64_t lanes_of_work(const LinearKernel& kernel, const Node* node);

}  // namespace whit
