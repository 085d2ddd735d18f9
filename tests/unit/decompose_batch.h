// Evaluates an expression for many values of its leaves at once, and measures errors in units in the last place.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "ir/evaluate.h"
#include "ir/graph.h"

namespace whit {

/// A scalar input of an expression: slot k of the inputs.
inline const Node* input(Graph& graph, DType type, int64_t slot = 0) {
  return graph.make(Op::Load, {graph.make(Op::Param, {}, {slot, 1, kNoDevice}, type), graph.index(0)});
}

/// The value of a node, given those of its sources.
inline Bits evaluate_node(const Node* node, std::span<const Bits> operands) {
  if (node->op == Op::Const) return node->arg(0);
  const DType type = node->source(node->op == Op::Where ? 1 : 0)->dtype;
  if (node->op == Op::Cast) return convert(type, node->dtype, operands[0]);
  if (node->op == Op::Bitcast) return reinterpret(type, node->dtype, operands[0]);
  return evaluate(node->op, type, operands);
}

/// The root's value for each row of inputs: inputs[slot][row].
inline std::vector<Bits> evaluate_batch(const Node* root, const std::vector<std::vector<Bits>>& inputs) {
  const std::vector<const Node*> order = topological_order(Sources(&root, 1));
  NodeMap<size_t> place;
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<std::vector<size_t>> sources(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i]->op != Op::Load)
      for (const Node* source : order[i]->sources()) sources[i].push_back(place[source]);
  std::vector<Bits> values(order.size()), result;
  for (size_t row = 0; row < inputs[0].size(); ++row) {
    for (size_t i = 0; i < order.size(); ++i) {
      const Node* node = order[i];
      Bits operands[3]{};
      for (size_t k = 0; k < sources[i].size(); ++k) operands[k] = values[sources[i][k]];
      if (node->op == Op::Load)
        values[i] = inputs[size_t(node->source(0)->arg(0))][row];
      else if (node->op != Op::Param)
        values[i] = evaluate_node(node, std::span(operands, sources[i].size()));
    }
    result.push_back(values.back());
  }
  return result;
}

inline constexpr double kWrong = 1e30;

/// How far a result is from the true value, in units of the last place that the true value has in the type.
inline double error_in_ulps(DType type, double result, long double truth) {
  const int digits = type == DType::float32 ? 24 : 53, least = type == DType::float32 ? -149 : -1074;
  const long double overflow = std::ldexp(1.0L, type == DType::float32 ? 128 : 1024);
  if (truth != truth || result != result) return (truth != truth) == (result != result) ? 0 : kWrong;
  if (std::signbit(truth) != std::signbit(result)) return kWrong;
  const bool beyond = std::fabs(truth) >= overflow - std::ldexp(overflow, -digits - 1);
  if (beyond && std::isinf(result)) return 0;
  if (std::isinf(truth)) return kWrong;
  const long double finite = std::isinf(result) ? std::copysign(overflow, truth) : result;
  if (truth == 0) return finite == 0 ? 0 : kWrong;
  return double(std::fabs(finite - truth) / std::ldexp(1.0L, std::max(std::ilogb(truth) + 1 - digits, least)));
}

}  // namespace whit
