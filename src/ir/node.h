// The one node type of every graph: an immutable, hash-consed micro-op.
//
// What must hold: within one graph, equal nodes (op, dtype, sources, args) are one node, so equality is `==` on the pointer. Everything
// but `attachment` and `references` is fixed when the node is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>
#include <whit/dtype.h>

#include "ir/number.h"
#include "ir/op.h"

namespace whit {

struct Node;

/// A device as an IR fact: a small number given out by ir/device_id.h; kNoDevice fits any.
using DeviceId = int16_t;
inline constexpr DeviceId kNoDevice = -1;

/// The size of one axis: a constant, or a symbolic integer node and its upper bound.
struct Dim {
  int64_t size = 0;              ///< the value, or the upper bound of `symbol`
  const Node* symbol = nullptr;  ///< an index node, alive as long as the node whose shape it is in

  Dim() = default;
  Dim(int64_t size) : size(size) {}
  Dim(int64_t size, const Node* symbol) : size(size), symbol(symbol) {}
  bool is(int64_t value) const { return !symbol && size == value; }
  friend bool operator==(const Dim& a, const Dim& b) = default;
};
using Shape = std::vector<Dim>;
using ShapeView = std::span<const Dim>;

/// What a node can hold beside its meaning: the storage in which its value lies. Counted, because several nodes may share one.
class Attachment {
 public:
  virtual ~Attachment() = default;
  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  uint32_t use_count() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint32_t> count_{0};
};

/// How a range is run. Scheduling retags ranges; the code generator goes by the tag.
enum class AxisKind : int8_t {
  loop,      // one after the other
  parallel,  // any order, on any thread: the launch index
  local,     // a thread of a work group
  reduce,    // closed by an Accumulate
  vector,    // the lanes of a vector
  unroll,    // written out
  sequence,  // in order, on one thread: a Running goes from each iteration to the next
};

/// In args of movement ops a symbolic size stands as `kSymbolArg + k`, where k is the source that gives it.
inline constexpr int64_t kSymbolArg = std::numeric_limits<int64_t>::min();
constexpr bool is_symbol_arg(int64_t arg) { return arg < kSymbolArg + 1024; }

struct Node {
  uint64_t hash;
  OpSet below;               ///< the ops of the subgraph, this one included
  int64_t minimum, maximum;  ///< for bool, integers and index: the interval of the value
  uint64_t open;             ///< the numbers of the ranges the value depends on and no Accumulate has closed
  mutable std::atomic<Attachment*> attachment;
  mutable std::atomic<uint32_t> references;  ///< unused in an arena
  uint32_t id;                               ///< unique within the graph, rising in the order of creation
  uint32_t source_count;
  uint16_t arg_count;
  uint16_t rank;
  Op op;
  DType dtype;
  DeviceId device;

  std::span<const Node* const> sources() const { return {reinterpret_cast<const Node* const*>(this + 1), source_count}; }
  const Node* source(size_t i) const { return sources()[i]; }
  std::span<const int64_t> args() const { return {reinterpret_cast<const int64_t*>(sources().data() + source_count), arg_count}; }
  int64_t arg(size_t i) const { return args()[i]; }
  ShapeView shape() const { return {reinterpret_cast<const Dim*>(args().data() + arg_count), rank}; }

  bool is_constant() const { return op == Op::Const; }
  /// True for a constant of this number, whatever the dtype; 0 does not match -0.0.
  bool is_constant(double value) const {
    return op == Op::Const && dtype != DType::none && arg(0) == bits_of_number(dtype, value) && float_of_bits(dtype, arg(0)) == value;
  }
  double number() const { return float_of_bits(dtype, arg(0)); }

  // Readings of args by op.
  uint32_t range_number() const { return uint32_t(arg(0)); }
  AxisKind axis_kind() const { return AxisKind(arg(1)); }
  Op reduce_op() const { return Op(arg(0)); }  ///< of Reduce, Scan, Accumulate, Running, Across
};

/// The number of elements, by upper bounds.
int64_t element_count(ShapeView shape);
bool is_symbolic(ShapeView shape);
/// "(2, 3)"; a symbolic size by its text.
std::string to_string(ShapeView shape);

}  // namespace whit
