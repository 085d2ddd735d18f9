// Ops, their traits and sets of ops: the first columns of ops.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whit {

enum class Op : uint8_t {
#define OP(id, ...) id,
#include "ir/ops.def"
#undef OP
};

/// What is true of an op wherever it stands; the rewriter, the code generator and the tests go by these.
enum Trait : uint32_t {
  leaf = 1,             // no tensor sources
  alu = 1 << 1,         // elementwise arithmetic
  commutes = 1 << 2,    // x∘y = y∘x
  associates = 1 << 3,  // (x∘y)∘z = x∘(y∘z), on integers and bool
  idempotent = 1 << 4,  // x∘x = x
  compares = 1 << 5,    // gives bool
  floating = 1 << 6,    // floats only
  integral = 1 << 7,    // integers and bool only
  lowered = 1 << 8,     // no backend has to supply it: rules/decompose.cpp has its lowering
  typed = 1 << 9,       // the result's type is chosen by whoever builds it
  movement = 1 << 10,   // rearranges elements
  reduces = 1 << 11,    // folds axes or ranges
  structure = 1 << 12,  // tensors and storage
  storage = 1 << 13,    // names memory
  loop = 1 << 14,
  memory = 1 << 15,
  linear = 1 << 16,  // stands only in linear code
};

struct OpInfo {
  std::string_view name;
  int8_t arity;  // -1: varies
  uint32_t traits;
  std::string_view spelling;
};

inline constexpr OpInfo kOps[] = {
#define OP(id, arity, traits, meaning, spelling, gradient) {#id, arity, traits, spelling},
#include "ir/ops.def"
#undef OP
};
inline constexpr size_t kOpCount = sizeof kOps / sizeof *kOps;
static_assert(kOpCount <= 128, "an OpSet is two words");

constexpr const OpInfo& info(Op op) { return kOps[size_t(op)]; }
constexpr std::string_view name(Op op) { return info(op).name; }
constexpr bool has(Op op, uint32_t traits) { return (info(op).traits & traits) != 0; }

/// A set of ops.
struct OpSet {
  uint64_t words[2] = {0, 0};

  constexpr OpSet() = default;
  constexpr OpSet(Op op) { words[size_t(op) / 64] = uint64_t(1) << (size_t(op) % 64); }
  template <class... Ops>
  static constexpr OpSet of(Ops... ops) {
    OpSet set;
    ((set = set | OpSet(ops)), ...);
    return set;
  }
  static constexpr OpSet all() {
    OpSet set;
    for (size_t i = 0; i < kOpCount; ++i) set = set | OpSet(Op(i));
    return set;
  }
  /// The ops that have any of these traits.
  static constexpr OpSet with(uint32_t traits) {
    OpSet set;
    for (size_t i = 0; i < kOpCount; ++i)
      if (has(Op(i), traits)) set = set | OpSet(Op(i));
    return set;
  }
  constexpr bool contains(Op op) const { return (words[size_t(op) / 64] >> (size_t(op) % 64)) & 1; }
  constexpr bool intersects(OpSet other) const { return ((words[0] & other.words[0]) | (words[1] & other.words[1])) != 0; }
  constexpr bool empty() const { return (words[0] | words[1]) == 0; }
  friend constexpr OpSet operator|(OpSet a, OpSet b) {
    a.words[0] |= b.words[0];
    a.words[1] |= b.words[1];
    return a;
  }
  friend constexpr bool operator==(OpSet a, OpSet b) = default;
};

/// The op with this name; false if there is none.
bool op_of_name(std::string_view name, Op& op);

}  // namespace whit
