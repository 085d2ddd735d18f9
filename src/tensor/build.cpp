#include "tensor/build.h"

#include <algorithm>
#include <array>

#include "engine/device.h"
#include "ir/device_id.h"
#include "ir/size_args.h"

namespace whit {

namespace {

// Of types without destructors: the destructors of statics call too, after those of the main thread.
thread_local Site current_site(nullptr, 0);
thread_local bool in_call = false;
thread_local std::string_view current_operation;

}  // namespace

Call::Call(Site site, const char* composed) : outermost_(!in_call) {
  if (!outermost_) return;
  if (composed) current_operation = composed;
  in_call = true;
  current_site = site;
}

Call::~Call() {
  if (!outermost_) return;
  in_call = false;
  current_site = Site(nullptr, 0);
  current_operation = {};
}

std::string call_site() { return current_site.file ? concat(current_site.file, ":", current_site.line) : std::string(); }
std::string_view call_operation() { return current_operation; }

std::string text(std::span<const int64_t> sizes) {
  std::string out = "(";
  for (size_t i = 0; i < sizes.size(); ++i) out += concat(i ? ", " : "", sizes[i]);
  return out + (sizes.size() == 1 ? ",)" : ")");
}

std::string text(std::span<const Size> sizes) {
  std::string out = "(";
  for (size_t i = 0; i < sizes.size(); ++i) out += concat(i ? ", " : "", sizes[i].str());
  return out + (sizes.size() == 1 ? ",)" : ")");
}

std::string text(ShapeView shape) {
  std::vector<Size> sizes;
  for (const Dim& dim : shape) sizes.push_back(size_of(dim));
  return text(std::span<const Size>(sizes));
}

std::string text(const Tensor& tensor) { return concat(text(node_of(tensor, "text")->shape()), " ", name(tensor.dtype())); }

// ---- Nodes --------------------------------------------------------------------------------------------------------------------------

const Node* node_of(const Tensor& tensor, std::string_view operation) {
  if (!tensor.defined()) refuse(ErrorKind::Value, operation, "the tensor holds nothing (it was only declared); assign one to it first");
  return tensor.handle()->node().get();
}

Tensor tensor_of(NodeRef node) {
  auto handle = std::make_shared<Handle>(std::move(node));
  handle->site = call_site();
  return Tensor(std::move(handle));
}

Sizes sizes_of(const Node* node) {
  Sizes sizes;
  for (const Dim& dim : node->shape()) {
    if (dim.symbol)
      refuse(ErrorKind::Shape, size_of(dim).str(), "a tensor of shape ", text(node->shape()),
             " has a size that is a Variable, and the operation needs numbers; shrink it to a number first");
    sizes.push_back(dim.size);
  }
  return sizes;
}

NodeRef cast(NodeRef node, DType type) { return node->dtype == type ? node : make(Op::Cast, {node.get()}, {}, type); }

NodeRef subtract(const NodeRef& a, const NodeRef& b) { return make(Op::Add, {a.get(), make(Op::Neg, {b.get()}).get()}); }

NodeRef not_node(const NodeRef& node) { return make(Op::Xor, {node.get(), TensorGraph::shared().constant(DType::boolean, 1).get()}); }

NodeRef where_node(const NodeRef& condition, const NodeRef& yes, const NodeRef& no) {
  return make(Op::Where, {condition.get(), yes.get(), no.get()});
}

NodeRef zero(DType type) { return TensorGraph::shared().constant(type, 0); }

NodeRef reshape(NodeRef node, const Shape& shape) {
  if (std::ranges::equal(node->shape(), shape)) return node;
  NodeRef result = SizeArgs(node.get(), shape).make(Op::Reshape);
  if (Storage* storage = storage_of(node.get())) attach(result.get(), storage);
  return result;
}

NodeRef reduce(NodeRef node, Op op, const std::vector<int64_t>& axes) {
  if (axes.empty()) return node;
  std::vector<int64_t> args{int64_t(op)};
  args.insert(args.end(), axes.begin(), axes.end());
  return make(Op::Reduce, {node.get()}, args);
}

NodeRef expand(NodeRef node, const Shape& shape) {
  Shape sizes = shape_of(node.get());
  if (sizes == shape) return node;
  sizes.insert(sizes.begin(), shape.size() - sizes.size(), Dim(1));
  node = reshape(std::move(node), sizes);
  return sizes == shape ? node : SizeArgs(node.get(), shape).make(Op::Expand);
}

NodeRef iota(const Dim& size, DType type) {
  const int64_t arg = size.symbol ? kSymbolArg : size.size;
  return cast(size.symbol ? make(Op::Iota, {size.symbol}, Args(&arg, 1)) : make(Op::Iota, {}, Args(&arg, 1)), type);
}

NodeRef places(const Shape& shape, int64_t axis, DType type) {
  Shape line(shape.size(), Dim(1));
  line[size_t(axis)] = shape[size_t(axis)];
  return cast(expand(reshape(iota(shape[size_t(axis)], DType::index), line), shape), type);
}

// ---- Arguments ----------------------------------------------------------------------------------------------------------------------

int64_t axis_of(int64_t axis, int64_t rank, std::string_view operation, bool at_scalar) {
  const int64_t axes = rank == 0 && at_scalar ? 1 : rank;
  if (axis < -axes || axis >= axes) {
    if (axes == 0) refuse(ErrorKind::Index, operation, "there is no axis ", axis, " in a scalar (ndim 0)");
    refuse(ErrorKind::Index, operation, "axis ", axis, " is out of range: a tensor with ndim ", rank, " has the axes ", -axes, " to ",
           axes - 1);
  }
  return axis < 0 ? axis + axes : axis;
}

std::vector<int64_t> axes_of(const Axes& axes, int64_t rank, std::string_view operation) {
  std::vector<int64_t> result;
  for (const int64_t axis : axes.list()) result.push_back(axis_of(axis, rank, operation, true));
  std::ranges::sort(result);
  if (const auto twice = std::ranges::adjacent_find(result); twice != result.end())
    refuse(ErrorKind::Value, operation, "axis ", *twice, " is given twice");
  if (rank == 0) return {};
  if (result.empty())
    for (int64_t i = 0; i < rank; ++i) result.push_back(i);
  return result;
}

int64_t product(std::span<const int64_t> sizes) {
  int64_t result = 1;
  for (const int64_t size : sizes) result *= size;  // check_sizes has seen that they don't overflow, the zeros among them left out
  return result;
}

void check_sizes(const Sizes& shape, std::string_view operation) {
  const Shape dims(shape.begin(), shape.end());
  check_sizes(ShapeView(dims), operation);
}

void check_sizes(ShapeView shape, std::string_view operation) {
  int64_t count = 1;
  for (const Dim& dim : shape) {
    const int64_t least = dim.symbol ? dim.symbol->minimum : dim.size;
    if (least < 0)
      refuse(ErrorKind::Shape, operation, "size ", size_of(dim).str(), " in ", text(shape), dim.symbol ? " may be" : " is", " negative");
    if (dim.size > 0 && (__builtin_mul_overflow(count, dim.size, &count) || count > kMostElements))
      refuse(ErrorKind::Shape, operation, "a tensor of shape ", text(shape), " would have more than 2^59 elements");
  }
}

// ---- Broadcasting and types ---------------------------------------------------------------------------------------------------------

Shape broadcast(const Shape& a, const Shape& b, std::string_view operation) {
  Shape result = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  const size_t lead = result.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& size = result[lead + i];
    if (size == shorter[i] || shorter[i].is(1)) continue;
    if (!size.is(1))
      refuse(ErrorKind::Shape, operation, "the shapes ", text(ShapeView(a)), " and ", text(ShapeView(b)),
             " don't broadcast: counted from the last axis, sizes must be equal or 1, not ", size_of(size).str(), " and ",
             size_of(shorter[i]).str(), "; reshape, expand or slice one of them");
    size = shorter[i];
  }
  check_sizes(result, operation);
  return result;
}

Sizes broadcast(const Sizes& a, const Sizes& b, std::string_view operation) {
  Sizes sizes;
  for (const Dim& dim : broadcast(shape_of(a), shape_of(b), operation)) sizes.push_back(dim.size);
  return sizes;
}

DType type_of(const Scalar& scalar) {
  switch (scalar.kind) {
    case Scalar::Kind::boolean: return DType::boolean;
    case Scalar::Kind::floating: return DType::float32;
    case Scalar::Kind::integer: break;
  }
  if (scalar.beyond_int64) return DType::uint64;
  return scalar.integer >= INT32_MIN && scalar.integer <= INT32_MAX ? DType::int32 : DType::int64;
}

DType common_type(std::initializer_list<const Operand*> operands, std::string_view operation) {
  DType type = DType::none, alone = DType::none;
  bool has_float = false, has_integer = false;
  for (const Operand* operand : operands) {
    if (operand->tensor) {
      type = promote(type, node_of(*operand->tensor, operation)->dtype);
      continue;
    }
    has_float |= operand->scalar.kind == Scalar::Kind::floating;
    has_integer |= operand->scalar.kind == Scalar::Kind::integer;
    alone = promote(alone, type_of(operand->scalar));
  }
  if (type == DType::none) return alone;
  if (has_float && !is_float(type)) return DType::float32;
  if (has_integer && type == DType::boolean) return alone;
  return type;
}

NodeRef literal(const Scalar& scalar, DType type, std::string_view operation) {
  if (scalar.kind == Scalar::Kind::floating || is_float(type) || type == DType::boolean)
    return TensorGraph::shared().constant(type, scalar.real);
  const bool fits = scalar.beyond_int64
                        ? type == DType::uint64
                        : bits_of_integer(type, scalar.integer) == scalar.integer && (is_signed(type) || scalar.integer >= 0);
  if (!fits)
    refuse(ErrorKind::Value, operation, "the literal ", scalar.integer, " doesn't fit ", name(type),
           "; cast the tensor to a wider type first");
  return make(Op::Const, {}, Args(&scalar.integer, 1), type);
}

NodeRef operand_node(const Operand& operand, DType type, std::string_view operation) {
  return operand.tensor ? cast(NodeRef(node_of(*operand.tensor, operation)), type) : literal(operand.scalar, type, operation);
}

void check_devices(std::span<const NodeRef> nodes, std::string_view operation) {
  DeviceId device = kNoDevice;
  for (const NodeRef& node : nodes) {
    if (node->device == kNoDevice || node->device == device) continue;
    if (device != kNoDevice)
      refuse(ErrorKind::Device, operation, "one tensor is on ", device_name(device), ", another on ", device_name(node->device),
             "; move one with to(\"", device_name(device), "\")");
    device = node->device;
  }
}

void stretch(std::span<NodeRef> nodes, std::string_view operation) {
  check_devices(nodes, operation);
  Shape shape;
  for (const NodeRef& node : nodes) shape = broadcast(shape, shape_of(node.get()), operation);
  for (NodeRef& node : nodes)
    if (node->rank > 0) node = expand(std::move(node), shape);
}

Operands meet(const Operand& a, const Operand& b, std::string_view operation, DType type) {
  std::array<NodeRef, 2> nodes{operand_node(a, type, operation), operand_node(b, type, operation)};
  stretch(nodes, operation);
  return {nodes[0], nodes[1]};
}

Operands meet(const Operand& a, const Operand& b, std::string_view operation) {
  return meet(a, b, operation, common_type({&a, &b}, operation));
}

NodeRef on_device(NodeRef node, const std::string& device, std::string_view operation) {
  if (device.empty()) return node;
  DeviceId id = kNoDevice;
  try {
    id = open_device(device);
  } catch (const UserError& error) {
    refuse(error.kind(), operation, error.what());
  }
  const DeviceId from = node->device == kNoDevice ? default_device() : node->device;
  const int64_t arg = id;
  return id == from ? node : make(Op::Copy, {node.get()}, Args(&arg, 1));
}

// ---- Views --------------------------------------------------------------------------------------------------------------------------

Tensor view_of(const Tensor& source, NodeRef node) {
  const NodeRef origin = source.handle()->node();
  auto shown = std::make_shared<Shown>();
  if (is_view(source))
    *shown = *source.shown();
  else
    shown->base = source.handle();
  std::vector<Shown::Step> steps;
  for (const Node* step = node.get(); step != origin.get(); step = step->source(0)) {
    steps.push_back({step->op, {step->args().begin(), step->args().end()}, {}, shape_of(step->source(0)), {}});
    for (const Node* size : step->sources().subspan(1)) steps.back().sizes.emplace_back(size);
    for (const Dim& dim : steps.back().from)
      if (dim.symbol) steps.back().kept.emplace_back(dim.symbol);
  }
  shown->steps.insert(shown->steps.end(), steps.rbegin(), steps.rend());
  auto handle = std::make_shared<Handle>(std::move(node));
  handle->base = shown->base;
  handle->site = call_site();
  return Tensor(std::move(handle), std::move(shown));
}

}  // namespace whit
