// What a node of each op must look like: the one statement of it, which Graph::make asserts and the parser reports as the user's.
#pragma once

#include <string>

#include "ir/graph.h"

namespace whit {

/// What is wrong with a draft's op, dtype, sources and args taken together; empty if nothing is. Never fails, whatever the numbers are.
std::string form_error(const Draft& draft);

/// The size an arg of a node stands for: a number, or the source that gives it. The draft's form must be right.
Dim size_argument(const Draft& draft, int64_t arg);

/// How an arg of an op is read; the text form shows it accordingly.
enum class ArgKind : uint8_t { number, size, value, op, axis_kind, name, device };
ArgKind arg_kind(Op op, size_t position);

/// The ops that reductions fold with.
inline constexpr OpSet kFolds = OpSet::of(Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or, Op::Xor);

/// Ranges are numbered below this: `Node::open` has a bit for each.
inline constexpr int64_t kRangeLimit = 64;

}  // namespace whit
