#include <whit/state.h>

#include "tensor/build.h"

namespace whit::nn {

namespace {

// What is wrong with loading `from` into `into`, one line each.
std::string problems_of(const StateDict& into, const StateDict& from, bool strict) {
  std::string problems;
  for (const auto& [name, tensor] : into) {
    const auto found = from.find(name);
    if (found == from.end())
      problems += strict ? concat("\n  missing: ", name, " ", text(tensor)) : "";
    else if (!found->second.defined())
      problems += concat("\n  holds nothing: ", name);
    else if (found->second.shape() != tensor.shape())
      problems +=
          concat("\n  shape: ", name, " is ", text(tensor.shape()), " in the model, ", text(found->second.shape()), " in what is loaded");
  }
  for (const auto& [name, tensor] : from)
    if (strict && !into.contains(name)) problems += concat("\n  unexpected: ", name);
  return problems;
}

}  // namespace

void load_state_dict(const StateDict& into, const StateDict& from, bool strict, Site at) {
  const Call call(at);
  if (const std::string problems = problems_of(into, from, strict); !problems.empty())
    refuse(ErrorKind::Value, "load_state_dict", "what is loaded doesn't fit the model; nothing was changed:", problems);
  // All new values are there before the first one is assigned.
  std::vector<std::pair<Tensor, Tensor>> pairs;
  std::vector<Tensor> values, tensors;
  for (const auto& [name, tensor] : into) {
    const auto found = from.find(name);
    if (found == from.end()) continue;
    values.push_back(found->second.detach().cast(tensor.dtype()).to(tensor.device()));
    tensors.push_back(tensor);
  }
  realize(values);
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].assign(values[i]);
  realize(tensors);
}

}  // namespace whit::nn
