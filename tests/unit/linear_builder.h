// Linear kernels made by hand, for tests of what executes them.
#pragma once

#include <initializer_list>

#include "codegen/linear.h"

namespace whit {

/// Appends to a kernel's code; each function gives the node it appended.
class LinearBuilder {
 public:
  LinearKernel kernel;
  Graph& graph;

  explicit LinearBuilder(std::string name) : graph(*(kernel.graph = std::make_shared<Graph>())) { kernel.name = std::move(name); }

  const Node* param(DType type, int64_t size, bool read, bool written) {
    const int64_t slot = int64_t(kernel.params.size());
    kernel.params.push_back({type, read, written});
    return graph.make(Op::Param, {}, {slot, size, kNoDevice}, type);
  }
  const Node* input(DType type, int64_t size) { return param(type, size, true, false); }
  const Node* output(DType type, int64_t size) { return param(type, size, false, true); }
  /// An array that a group shares.
  const Node* local(DType type, int64_t size) {
    kernel.locals.push_back(graph.make(Op::Local, {}, {int64_t(kernel.locals.size()), size}, type));
    return kernel.locals.back();
  }
  const Node* variable(const std::string& name, DType type, int64_t least, int64_t greatest) {
    kernel.variables.push_back(graph.make(Op::Variable, {}, {name_id(name), least, greatest}, type));
    return kernel.variables.back();
  }

  const Node* push(const Node* node) {
    kernel.code.push_back(node);
    return node;
  }
  const Node* make(Op op, std::initializer_list<const Node*> sources, std::initializer_list<int64_t> args = {}, DType type = DType::none) {
    return push(graph.make(op, sources, args, type));
  }

  /// Opens a loop over a new range.
  const Node* loop(int64_t size, AxisKind kind = AxisKind::loop) { return loop(graph.index(size), kind); }
  const Node* loop(const Node* size, AxisKind kind = AxisKind::loop) {
    const Node* range = graph.range(next_range_++, size, kind);
    if (kind == AxisKind::parallel) kernel.parallel = range;
    if (kind == AxisKind::local) kernel.group_size = size->arg(0);
    make(Op::Loop, {range});
    return range;
  }
  void barrier() { push(graph.make(Op::Barrier, Sources{})); }
  void end(const Node* range) { make(Op::EndLoop, {range}); }
  const Node* vector(int64_t lanes) {
    kernel.vector_ranges.push_back(graph.range(next_range_++, lanes, AxisKind::vector));
    return kernel.vector_ranges.back();
  }
  const Node* reg(int64_t number, DType type, const Node* lanes = nullptr) {
    return lanes ? make(Op::Register, {lanes}, {number}, type) : make(Op::Register, {}, {number}, type);
  }
  void set(const Node* reg, const Node* value) { make(Op::Set, {reg, value}); }

  const Node* add(const Node* a, const Node* b) { return make(Op::Add, {a, b}); }
  const Node* mul(const Node* a, const Node* b) { return make(Op::Mul, {a, b}); }
  const Node* less(const Node* a, const Node* b) { return make(Op::Less, {a, b}); }
  const Node* index(int64_t value) { return graph.index(value); }
  /// a*factor + offset
  const Node* scale(const Node* a, int64_t factor, const Node* offset) { return add(mul(a, index(factor)), offset); }

  const Node* load(const Node* storage, const Node* index, const Node* gate = nullptr) {
    return gate ? make(Op::Load, {storage, index, gate}) : make(Op::Load, {storage, index});
  }
  void store(const Node* storage, const Node* index, const Node* value, const Node* gate = nullptr) {
    gate ? make(Op::Store, {storage, index, value, gate}) : make(Op::Store, {storage, index, value});
  }
  const Node* load(const Node* storage, const Node* index, const Node* lanes, const Node* gate) {
    return gate ? make(Op::VectorLoad, {storage, index, lanes, gate}) : make(Op::VectorLoad, {storage, index, lanes});
  }
  void store(const Node* storage, const Node* index, const Node* value, const Node* lanes, const Node* gate) {
    gate ? make(Op::VectorStore, {storage, index, value, lanes, gate}) : make(Op::VectorStore, {storage, index, value, lanes});
  }

 private:
  int64_t next_range_ = 0;
};

}  // namespace whit
