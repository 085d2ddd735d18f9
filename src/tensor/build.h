// What the files of this folder share: Tensors as nodes, errors that name the call, and the rules of broadcasting and of literals.
#pragma once

#include <span>
#include <string_view>
#include <vector>
#include <whit/tensor.h>

#include "base/error.h"
#include "engine/handle.h"
#include "ir/graph.h"

namespace whit {

/// The site of the outermost public call that runs on this thread, as "file:line", or "".
std::string call_site();
/// The composed operation that is the outermost call of this thread, or empty.
std::string_view call_operation();

/// Throws a UserError that starts with the caller's line: "main.cpp:7: add: …".
template <class... Parts>
[[noreturn]] void refuse(ErrorKind kind, std::string_view operation, const Parts&... parts) {
  const std::string site = call_site();
  const std::string_view outer = call_operation() == operation ? "" : call_operation();
  throw UserError(kind, concat(site, site.empty() ? "" : ": ", outer, outer.empty() ? "" : ": ", operation, ": ", parts...));
}

/// "(2, 3)"
std::string text(std::span<const int64_t> sizes);
std::string text(ShapeView shape);  ///< "(2, n=3)"
std::string text(std::span<const Size> sizes);
std::string text(const Tensor& tensor);  ///< "(2, 3) float32"

// ---- Nodes ----

/// The node a tensor stands for; a UserError(Value) if it holds nothing.
const Node* node_of(const Tensor& tensor, std::string_view operation);
Tensor tensor_of(NodeRef node);
/// The sizes, all of them numbers: where one is a Variable, a UserError(Shape).
Sizes sizes_of(const Node* node);
inline Shape shape_of(const Node* node) { return {node->shape().begin(), node->shape().end()}; }
inline Shape shape_of(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }

inline NodeRef make(Op op, std::initializer_list<const Node*> sources, Args args = {}, DType type = DType::none) {
  return TensorGraph::shared().make(op, Sources(sources.begin(), sources.size()), args, type);
}
NodeRef cast(NodeRef node, DType type);
NodeRef subtract(const NodeRef& a, const NodeRef& b);
NodeRef not_node(const NodeRef& node);
NodeRef where_node(const NodeRef& condition, const NodeRef& yes, const NodeRef& no);
NodeRef zero(DType type);
/// In the storage of `node` where that has its value.
NodeRef reshape(NodeRef node, const Shape& shape);
inline NodeRef reshape(NodeRef node, const Sizes& shape) { return reshape(std::move(node), shape_of(shape)); }
NodeRef reduce(NodeRef node, Op op, const std::vector<int64_t>& axes);  ///< keeps the axes with size 1
/// Adds axes in front and stretches those of size 1. The shapes fit.
NodeRef expand(NodeRef node, const Shape& shape);
inline NodeRef expand(NodeRef node, const Sizes& shape) { return expand(std::move(node), shape_of(shape)); }
NodeRef iota(const Dim& size, DType type);
/// The place of each element along an axis. Stretched before it is cast: what is computed in the full shape is never stored for its own
/// sake, and can disappear together with a sum.
NodeRef places(const Shape& shape, int64_t axis, DType type);
inline NodeRef places(const Sizes& shape, int64_t axis, DType type) { return places(shape_of(shape), axis, type); }
/// The integer type that places along an axis of this size are compared in.
inline DType place_type(int64_t size) { return size < INT32_MAX ? DType::int32 : DType::int64; }

/// A buffer, seen in any shape, or what a write has made of one: it can be written in place. All else is a value that is replaced.
bool has_storage(const Node* node);
/// Whether a live tensor that may yet get a gradient has its storage below `node`, on a path that passes gradients.
bool has_unset_leaf(const Node* node);

/// Computes the value without changing what the tensor refers to, so that gradients still find their way: reading is no `realize`.
void compute(const Tensor& tensor);

// ---- Arguments ----

/// `axis` counted from the front; a UserError(Index) if there is no such axis. A scalar has the axes 0 and -1 (`at_scalar`).
int64_t axis_of(int64_t axis, int64_t rank, std::string_view operation, bool at_scalar = false);
/// The axes of a reduction in rising order: all of them if none is given.
std::vector<int64_t> axes_of(const Axes& axes, int64_t rank, std::string_view operation);
int64_t product(std::span<const int64_t> sizes);
/// So many that neither they nor their bytes, nor twice as many, overflow 64 bits.
inline constexpr int64_t kMostElements = int64_t(1) << 59;
/// The sizes of an argument, which hold the nodes of those that are Variables. A UserError(Shape) if one is or may be negative.
Dim dim_of(const Size& size);
Shape shape_of(const SizeList& sizes, std::string_view operation);
/// Numbers, with an error as of `sizes_of` for a Variable.
Sizes numbers_of(const SizeList& sizes, std::string_view operation);
Size size_of(const Dim& dim);
/// Refuses negative sizes and shapes with more elements than that, an axis of size 0 left out.
void check_sizes(ShapeView shape, std::string_view operation);
void check_sizes(const Sizes& shape, std::string_view operation);

// ---- Broadcasting and types ----

/// The shape both broadcast to; a UserError(Shape) if there is none.
Shape broadcast(const Shape& a, const Shape& b, std::string_view operation);
Sizes broadcast(const Sizes& a, const Sizes& b, std::string_view operation);
/// The type in which the operands meet.
DType common_type(std::initializer_list<const Operand*> operands, std::string_view operation);
DType type_of(const Scalar& scalar);
/// The constant; a UserError(Value) if an integer doesn't fit an integer type.
NodeRef literal(const Scalar& scalar, DType type, std::string_view operation);
/// The operand as a node of this type; literals are 0-d.
NodeRef operand_node(const Operand& operand, DType type, std::string_view operation);
/// Brings nodes to one shape, leaving 0-d ones as they are, and checks that their devices agree.
void stretch(std::span<NodeRef> nodes, std::string_view operation);

/// The two sides of a binary operation in one type and shape, and the line it was written on.
struct Operands {
  NodeRef a, b;
};
Operands meet(const Operand& a, const Operand& b, std::string_view operation, DType type);
Operands meet(const Operand& a, const Operand& b, std::string_view operation);
inline Site site_of(const Operand& a, const Operand& b) { return a.tensor ? a.site : b.site; }

/// The node on a device asked for by name; "" leaves it.
NodeRef on_device(NodeRef node, const std::string& device, std::string_view operation);
void check_devices(std::span<const NodeRef> nodes, std::string_view operation);

// ---- Views ----

/// What a view shows: another tensor (null once the view has a value of its own and nobody holds that one), by these movement ops.
struct Shown {
  struct Step {
    Op op;
    std::vector<int64_t> args;
    std::vector<NodeRef> sizes;  ///< the node's sources past the first, which args name
    Shape from;                  ///< the shape it is applied to
    std::vector<NodeRef> kept;   ///< what `from` names
  };
  std::shared_ptr<Handle> base;
  std::vector<Step> steps;
};

inline bool is_view(const Tensor& tensor) { return tensor.shown() && tensor.shown()->base; }

/// The result of a movement op on `source`: a tensor through which `source` can be written.
Tensor view_of(const Tensor& source, NodeRef node);

}  // namespace whit
