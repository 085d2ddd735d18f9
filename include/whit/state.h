// The tensors of a model by name: training them, saving them and loading them.
#pragma once

#include <map>
#include <string>
#include <vector>
#include <whit/fields.h>

namespace whit::nn {

/// Tensors by name ("layers.0.weight"), in the order of the names.
using StateDict = std::map<std::string, Tensor>;

/// All tensors of a model (see fields.h), each once, in the order of its fields: what an optimizer is given. It trains the floats among
/// them that don't have requires_grad false.
template <class Model>
std::vector<Tensor> parameters(const Model& model) {
  std::vector<Tensor> tensors;
  detail::visit_tensors(model, "", [&](const std::string&, const Tensor& tensor) {
    for (const Tensor& known : tensors)
      if (known.handle() == tensor.handle()) return;
    tensors.push_back(tensor);
  });
  return tensors;
}

/// The tensors of a model by name; they are those of the model, not copies.
template <class Model>
StateDict state_dict(const Model& model) {
  StateDict dict;
  detail::visit_tensors(model, "", [&](const std::string& name, const Tensor& tensor) { dict.emplace(name, tensor); });
  return dict;
}

/// Gives the tensors in `into` the values of those of the same name in `from`, in their own dtype and on their own device. Names that are
/// missing or (`strict`) have no place, and other shapes, are a UserError(Value) that names them all; then nothing is changed.
void load_state_dict(const StateDict& into, const StateDict& from, bool strict = true, Site at = {});

template <class Model>
requires(!std::is_convertible_v<const Model&, const StateDict&>) void load_state_dict(const Model& model, const StateDict& from,
                                                                                      bool strict = true, Site at = {}) {
  load_state_dict(state_dict(model), from, strict, at);
}

/// Writes tensors in the safetensors format; equal tensors make equal files. A file there is replaced only once all is written.
void safe_save(const StateDict& tensors, const std::string& path, const std::map<std::string, std::string>& metadata = {}, Site at = {});

/// Reads a safetensors file; what is wrong with it is a UserError(File). "" is the default device.
StateDict safe_load(const std::string& path, const std::string& device = "", Site at = {});

}  // namespace whit::nn
