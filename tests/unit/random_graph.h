// Random graphs drawn from ops.def: valid nodes of every op, structural ones and symbolic sizes included.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "ir/device_id.h"
#include "ir/form.h"
#include "ir/interval.h"

namespace whit {

class RandomGraph {
 public:
  RandomGraph(Graph& graph, uint64_t seed) : graph_(graph), random_(seed) {
    for (const char* name : {"n", "m"})
      nodes_.push_back(symbols_.emplace_back(graph.make(Op::Variable, {}, {name_id(name), 1, 6}, DType::index)));
  }

  /// Adds a node of a random op; null where no nodes suit it so far.
  const Node* draw() { return draw(Op(pick(kOpCount))); }
  const Node* draw(Op op) {
    sources_.clear();
    args_.clear();
    dtype_ = DType::none;
    if (!choose(op)) return nullptr;
    const Draft draft{.op = op, .dtype = dtype_, .sources = sources_, .args = args_, .shape = {}};
    if (!form_error(draft).empty()) return nullptr;
    nodes_.push_back(graph_.make(op, sources_, args_, dtype_));
    return nodes_.back();
  }
  void grow(int count) {
    for (int i = 0; i < count; ++i) draw();
  }

  const std::vector<const Node*>& nodes() const { return nodes_; }
  size_t pick(size_t count) { return size_t(random_() % count); }

 private:
  template <class Suits>
  const Node* find(Suits suits) {
    const size_t start = pick(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (const Node* node = nodes_[(start + i) % nodes_.size()]; suits(node)) return node;
    return nullptr;
  }
  template <class Suits>
  bool add(Suits suits) {
    const Node* node = find(suits);
    if (node) sources_.push_back(node);
    return node != nullptr;
  }
  static bool has_value(const Node* node) { return node->dtype != DType::none; }
  static bool is_index(const Node* node) { return node->rank == 0 && is_integer(node->dtype) && node->dtype != DType::uint64; }
  static bool is_storage(const Node* node) { return has(node->op, storage) || node->op == Op::Stage; }
  static auto is_op(Op op) {
    return [op](const Node* node) { return node->op == op; };
  }

  DType any_type() { return DType(1 + pick(kDTypeCount - 1)); }
  int64_t any_device() {
    static const std::array<DeviceId, 3> devices = {kNoDevice, device_id("CPU"), device_id("CL:1")};
    return devices[pick(devices.size())];
  }
  Bits any_bits(DType type) {
    static constexpr int64_t edges[] = {
        0, 1, -1, 2, 127, -128, 1 << 30, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    static constexpr double numbers[] = {0.0,
                                         -0.0,
                                         1.0,
                                         -1.5,
                                         0.1,
                                         1e-40,
                                         1e30,
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity(),
                                         std::numeric_limits<double>::quiet_NaN()};
    if (pick(2)) return canonical(type, int64_t(random_()));
    return is_float(type) ? bits_of_float(type, numbers[pick(std::size(numbers))]) : bits_of_integer(type, edges[pick(std::size(edges))]);
  }

  // A size as an arg: a number, or a symbol that becomes a source (sometimes once more than needed).
  int64_t size_arg(int64_t number, bool symbolic) {
    if (!symbolic) return number;
    const Node* symbol = symbols_[pick(symbols_.size())];
    const auto first = sources_.begin() + 1, known = std::find(first, sources_.end(), symbol);
    if (known != sources_.end() && pick(3)) return kSymbolArg + (known - sources_.begin());
    sources_.push_back(symbol);
    return kSymbolArg + int64_t(sources_.size()) - 1;
  }

  bool choose(Op op) {
    if (has(op, alu)) return choose_elementwise(op);
    if (has(op, movement)) return add(has_value) && choose_movement(op, sources_[0]->shape());
    if (has(op, leaf)) return choose_leaf(op);
    return has(op, structure | reduces) || op == Op::Across ? choose_structure(op) : choose_kernel(op);
  }

  bool choose_leaf(Op op) {
    static constexpr const char* names[] = {"n", "start_pos", "a \"b\" \\ #(%0", "\n\xc3\xa9", ""};
    if (op == Op::Bind) {
      if (!add(is_op(Op::Variable))) return false;
      const Node* variable = sources_[0];
      args_ = {is_float(variable->dtype) ? any_bits(variable->dtype)
                                         : variable->arg(1) + int64_t(pick(size_t(variable->arg(2)) - size_t(variable->arg(1)) + 1))};
      return true;
    }
    if (op == Op::Iota) {
      const bool symbolic = pick(2) != 0;
      if (symbolic) sources_.push_back(symbols_[0]);
      args_ = {symbolic ? kSymbolArg : int64_t(pick(9))};
      return true;
    }
    dtype_ = any_type();
    if (op == Op::Const)
      args_ = {any_bits(dtype_)};
    else if (op == Op::Variable)
      args_ = {name_id(names[pick(std::size(names))]), int64_t(pick(2)), int64_t(1 + pick(7) * (dtype_ != DType::boolean))};
    else
      args_ = {int64_t(pick(6)), std::array<int64_t, 4>{12, 24, 1, 0}[pick(4)], any_device()};
    return true;
  }

  bool choose_elementwise(Op op) {
    if (has(op, typed)) dtype_ = any_type();
    if (op == Op::Where && !add([](const Node* node) { return node->dtype == DType::boolean; })) return false;
    const size_t first = sources_.size();
    const auto suits = [&](const Node* node) {
      if (!has_value(node) || (has(op, floating) && !is_float(node->dtype)) || (has(op, integral) && is_float(node->dtype))) return false;
      if (op == Op::Threefry && node->dtype != DType::uint64) return false;
      if (op == Op::Bitcast && item_size(node->dtype) != item_size(dtype_)) return false;
      if (sources_.size() > first && node->dtype != sources_[first]->dtype) return false;
      return std::ranges::all_of(
          sources_, [&](const Node* other) { return !other->rank || !node->rank || std::ranges::equal(other->shape(), node->shape()); });
    };
    while (sources_.size() < size_t(info(op).arity))
      if (!add(suits)) return false;
    return true;
  }

  bool choose_movement(Op op, ShapeView shape) {
    std::vector<int64_t> axes(shape.size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = int64_t(i);
    std::ranges::shuffle(axes, random_);
    switch (op) {
      case Op::Reshape:
        if (pick(4) == 0)
          args_ = {size_arg(0, true), size_arg(0, true), int64_t(pick(4))};
        else if (pick(3) == 0)
          args_.assign(axes.size() == 1 ? 2 : 1, 1);
        else if (element_count(shape) % 6 == 0)
          args_ = {2, element_count(shape) / 6, 3};
        else
          args_ = {element_count(shape)};
        if (args_.size() == 2) args_ = {1, element_count(shape)};
        return true;
      case Op::Permute: args_ = axes; return true;
      case Op::Flip:
        axes.resize(pick(axes.size() + 1));
        args_ = axes;
        return true;
      case Op::Expand:
        for (const Dim& dim : shape)
          args_.push_back(dim.symbol ? 0 : dim.size != 1 || pick(2) ? dim.size : size_arg(int64_t(pick(5)), pick(2)));
        return true;
      case Op::Pad:
        for (size_t i = 0; i < 2 * shape.size(); ++i) args_.push_back(shape[i / 2].symbol ? 0 : int64_t(pick(3)));
        return true;
      case Op::Shrink:
        for (const Dim& dim : shape) {
          const int64_t offset = int64_t(pick(size_t(dim.size) + 1));
          args_.push_back(pick(4) ? offset : size_arg(0, true));
          args_.push_back(size_arg(int64_t(pick(size_t(dim.size - offset) + 1)), pick(4) == 0));
        }
        return true;
      default:
        if (axes.size() < 2) return false;
        args_ = {axes[0], axes[1], int64_t(1 + pick(op == Op::Window ? 3 : 12)), int64_t(1 + pick(2)), int64_t(pick(3))};
        return true;
    }
  }

  Op any_fold() { return std::array{Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or, Op::Xor}[pick(7)]; }

  bool choose_structure(Op op) {
    if (op == Op::Sink) {
      for (size_t i = pick(5); i > 0; --i) sources_.push_back(nodes_[pick(nodes_.size())]);
      return true;
    }
    if (!add(has_value)) return false;
    const Node* value = sources_[0];
    if (op == Op::Order) return is_integer(value->dtype) && !is_signed(value->dtype) && value->rank > 0 && !is_symbolic(value->shape());
    if (op == Op::Copy || op == Op::Assign) args_ = {op == Op::Copy ? any_device() : int64_t(pick(100))};
    if (op == Op::Assign) {
      const auto alike = [&](const Node* node) { return node->dtype == value->dtype && std::ranges::equal(node->shape(), value->shape()); };
      return add(alike) && (pick(2) || add(alike));
    }
    if (op == Op::Scatter) {
      args_ = {pick(2) ? int64_t(Op::Assign) : int64_t(any_fold()), int64_t(pick(value->rank + 1))};
      const auto fits = [&](const Node* node) {
        if (node->rank != value->rank) return false;
        for (size_t i = 0; i < value->rank; ++i)
          if (int64_t(i) != args_[1] && !(node->shape()[i] == value->shape()[i])) return false;
        return true;
      };
      if (args_[1] == value->rank || !add([&](const Node* node) { return node->dtype == value->dtype && fits(node); })) return false;
      const Node* written = sources_[1];
      return add([&](const Node* node) { return is_integer(node->dtype) && std::ranges::equal(node->shape(), written->shape()); });
    }
    if (op == Op::Scan) {
      args_ = {int64_t(any_fold()), int64_t(pick(value->rank + 1))};
      return args_[1] < value->rank;
    }
    if (op != Op::Reduce && op != Op::Accumulate && op != Op::Across) return true;
    args_ = {int64_t(any_fold())};
    if (op == Op::Across) return add(is_op(Op::Range));
    for (size_t i = op == Op::Accumulate ? pick(3) : 0; i > 0; --i)
      if (!add(is_op(Op::Range))) return false;
    for (size_t i = 0; op == Op::Reduce && i < value->rank; ++i)
      if (pick(2)) args_.push_back(int64_t(i));
    return true;
  }

  bool choose_kernel(Op op) {
    const auto is_bool = [](const Node* node) { return node->dtype == DType::boolean; };
    switch (op) {
      case Op::Range: args_ = {int64_t(pick(64)), int64_t(pick(7))}; return add(is_index);
      case Op::Running: args_ = {int64_t(any_fold())}; return add(has_value) && add(is_op(Op::Range));
      case Op::Stage: return add(has_value) && (pick(2) || add(is_op(Op::Range)));
      case Op::Local:
        dtype_ = any_type();
        args_ = {int64_t(pick(3)), int64_t(pick(20))};
        return true;
      case Op::Register:
        dtype_ = any_type();
        args_ = {int64_t(pick(3))};
        return pick(2) || add(is_op(Op::Range));
      case Op::Set: return add(is_op(Op::Register)) && add([&](const Node* node) { return node->dtype == sources_[0]->dtype; });
      case Op::Loop:
      case Op::EndLoop: return add(is_op(Op::Range));
      case Op::Barrier: return true;
      default: break;
    }
    if (!add(is_storage) || !add(is_index)) return false;
    const bool stores = op == Op::Store || op == Op::VectorStore;
    if (stores && !add([&](const Node* node) { return node->dtype == sources_[0]->dtype; })) return false;
    if (op != Op::Load && op != Op::Store && !add(is_op(Op::Range))) return false;
    return pick(2) || add(is_bool);
  }

  Graph& graph_;
  std::mt19937_64 random_;
  std::vector<const Node*> symbols_, nodes_, sources_;
  std::vector<int64_t> args_;
  DType dtype_ = DType::none;
};

}  // namespace whit
