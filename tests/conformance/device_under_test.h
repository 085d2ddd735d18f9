// Running tensor graphs on the backend that the test run is for, beside the reference evaluator.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/device.h"
#include "engine/handle.h"
#include "ir/graph.h"
#include "ir/interpret_tensor.h"
#include "ir/node_map.h"
#include "ir/print.h"
#include "runtime/backend.h"

namespace whit {

/// The device that a backend serves, given by its file in src/backends ("opencl") or as `whit devices` names it ("CL", "CPU:LLVM").
inline std::string device_of_backend(const std::string& wanted) {
  std::string choices;
  const std::vector<Backend*> backends = registered_backends();
  for (size_t i = 0; i < backends.size(); ++i) {
    const std::string compiler(backends[i]->compiler), file(registered_names()[i]);
    const std::string device = std::string(backends[i]->device) + (compiler.empty() ? "" : ":") + compiler;
    if (wanted == file || wanted == device) return device;
    choices += (choices.empty() ? "" : ", ") + file + " (" + device + ")";
  }
  throw std::invalid_argument("WHIT_TEST_BACKEND=" + wanted + ": there is no such backend; there are " + choices);
}

/// The device that WHIT_TEST_BACKEND names; CPU:LLVM where it is not set.
inline std::string device_under_test() {
  const char* backend = std::getenv("WHIT_TEST_BACKEND");
  return device_of_backend(backend ? backend : "llvm");
}

/// Opens it, or says why it cannot be.
inline std::string reason_to_skip() {
  if (device_under_test() == "NULL") return "the null backend computes nothing";
  try {
    open_device(device_under_test());
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// A tensor graph whose Buffers hold known values.
class Trial {
 public:
  explicit Trial(uint64_t seed) : random(seed), device_(open_device(device_under_test())) {}

  NodeRef make(Op op, std::initializer_list<NodeRef> sources, std::vector<int64_t> args = {}, DType type = DType::none) {
    std::vector<const Node*> nodes;
    for (const NodeRef& source : sources) nodes.push_back(source.get());
    return TensorGraph::shared().make(op, nodes, args, type);
  }

  /// A stored tensor of this shape with these values.
  NodeRef store(DType type, const std::vector<int64_t>& shape, const std::vector<Bits>& values) {
    std::vector<char> bytes(values.size() * item_size(type) + 1);
    for (size_t i = 0; i < values.size(); ++i) store_element(type, bytes.data() + i * item_size(type), values[i]);
    const NodeRef flat = buffer_of_host(type, int64_t(values.size()), device_, bytes.data());
    inputs_.emplace(flat.get(), TensorValue{{int64_t(values.size())}, values});
    kept_.push_back(flat);
    return shape.size() == 1 ? flat : make(Op::Reshape, {flat}, shape);
  }

  TensorValue reference(const NodeRef& node) const { return evaluate_tensor(node.get(), inputs_); }

  std::vector<Bits> computed(const NodeRef& node) const { return computed(std::vector<NodeRef>{node})[0]; }

  /// All in one plan: compilers that are started once per plan would take most of the time.
  std::vector<std::vector<Bits>> computed(const std::vector<NodeRef>& nodes) const {
    std::deque<Handle> handles;
    std::vector<Handle*> pointers;
    for (const NodeRef& node : nodes) pointers.push_back(&handles.emplace_back(node));
    realize(pointers);
    std::vector<std::vector<Bits>> results;
    for (const Handle& handle : handles) results.push_back(read(handle.node()));
    return results;
  }

  static std::vector<Bits> read(const NodeRef& result) {
    const DType type = result->dtype;
    std::vector<char> bytes(size_t(element_count(result->shape())) * item_size(type) + 1);
    read_back(result.get(), bytes.data());
    std::vector<Bits> values(size_t(element_count(result->shape())));
    for (size_t i = 0; i < values.size(); ++i) values[i] = load_element(type, bytes.data() + i * item_size(type));
    return values;
  }

  std::mt19937_64 random;
  size_t pick(size_t count) { return size_t(random() % count); }

 private:
  DeviceId device_;
  TensorInputs inputs_;
  std::vector<NodeRef> kept_;
};

/// Equal, both NaN, or no further apart than `relative` of their size (or `absolute`).
inline bool agrees(DType type, Bits a, Bits b, double relative, double absolute) {
  if (!is_float(type)) return a == b;
  const double x = float_of_bits(type, a), y = float_of_bits(type, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == y) return true;
  return std::fabs(x - y) <= absolute + relative * std::max(std::fabs(x), std::fabs(y));
}

}  // namespace whit
