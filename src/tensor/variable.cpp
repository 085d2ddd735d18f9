// Sizes that are Variables: formulas over the nodes of the tensor graph.
#include <whit/variable.h>

#include <algorithm>
#include <limits>

#include "ir/node_map.h"
#include "ir/print.h"
#include "rules/simplify.h"
#include "tensor/build.h"

namespace whit {

namespace {

Size size_of_node(NodeRef node) {
  return node->is_constant() ? Size(node->arg(0)) : Size(std::make_shared<const NodeRef>(std::move(node)));
}

NodeRef node_of(const Size& size) {
  const int64_t number = size.number();
  return size.is_number() ? make(Op::Const, {}, Args(&number, 1), DType::index) : *size.symbol();
}

// The formula in its simplest form, so that equal sizes are one node.
Size formula(Op op, const Size& a, const Size& b) {
  if (a.is_number() && b.is_number()) {
    const __int128 left = a.number(), right = b.number(), result = op == Op::Add ? left + right : left * right;
    return Size(int64_t(std::clamp<__int128>(result, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())));
  }
  Graph graph;
  NodeMap<const Node*> seen;
  const NodeRef left = node_of(a), right = node_of(b);
  const Node* result = simplify(graph, graph.make(op, {graph.import(left.get(), seen), graph.import(right.get(), seen)}));
  return size_of_node(TensorGraph::shared().import(Sources(&result, 1))[0]);
}

// "n", "n=3", or a formula of such.
std::string text_of(const Node* node) {
  if (node->op == Op::Variable) return name_of(node->arg(0));
  if (node->op == Op::Bind) return concat(name_of(node->source(0)->arg(0)), "=", node->arg(0));
  return print_expression(node);
}

constexpr int64_t kGreatest = int64_t(1) << 40;

}  // namespace

std::string Size::str() const { return is_number() ? std::to_string(number_) : text_of(symbol_->get()); }

Size operator+(const Size& a, const Size& b) { return formula(Op::Add, a, b); }
Size operator-(const Size& a, const Size& b) { return a + formula(Op::Mul, b, Size(-1)); }
Size operator*(const Size& a, const Size& b) { return formula(Op::Mul, a, b); }

Variable::Variable(std::string name, int64_t minimum, int64_t maximum, Site at)
    : name_(std::move(name)), minimum_(minimum), maximum_(maximum), size_(minimum) {
  const Call call(at);
  if (name_.empty()) refuse(ErrorKind::Value, "Variable", "the name is empty");
  if (minimum < 0 || minimum > maximum || maximum > kGreatest)
    refuse(ErrorKind::Value, "Variable", name_, " from ", minimum, " to ", maximum,
           ": sizes go from 0 up, the least before the greatest, to 2^40");
  const int64_t args[] = {name_id(name_), minimum, maximum};
  size_ = Size(std::make_shared<const NodeRef>(make(Op::Variable, {}, args, DType::index)));
}

Size Variable::bind(int64_t value, Site at) const {
  const Call call(at);
  if (value < minimum_ || value > maximum_)
    refuse(ErrorKind::Value, "bind", value, " is out of bounds: ", name_, " goes from ", minimum_, " to ", maximum_);
  return Size(std::make_shared<const NodeRef>(make(Op::Bind, {size_.symbol()->get()}, Args(&value, 1))));
}

// ---- As the operations see them -----------------------------------------------------------------------------------------------------

Dim dim_of(const Size& size) { return size.is_number() ? Dim(size.number()) : Dim((*size.symbol())->maximum, size.symbol()->get()); }

Size size_of(const Dim& dim) { return dim.symbol ? Size(std::make_shared<const NodeRef>(dim.symbol)) : Size(dim.size); }

Shape shape_of(const SizeList& sizes, std::string_view operation) {
  Shape shape;
  for (const Size& size : sizes.list()) shape.push_back(dim_of(size));
  check_sizes(shape, operation);
  return shape;
}

Sizes numbers_of(const SizeList& sizes, std::string_view operation) {
  Sizes numbers;
  for (const Size& size : sizes.list()) {
    if (!size.is_number()) refuse(ErrorKind::Shape, operation, "needs numbers, not the Variable ", size.str());
    numbers.push_back(size.number());
  }
  return numbers;
}

Size Tensor::size(int64_t axis, Site at) const {
  const Call call(at);
  const NodeRef node(whit::node_of(*this, "size"));
  return size_of(node->shape()[size_t(axis_of(axis, node->rank, "size"))]);
}

}  // namespace whit
