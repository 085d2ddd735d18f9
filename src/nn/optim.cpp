#include <algorithm>
#include <cmath>
#include <whit/optim.h>

#include "tensor/build.h"

namespace whit::nn {

namespace {

DType state_type(const Tensor& parameter) { return parameter.dtype() == DType::float64 ? DType::float64 : DType::float32; }

// Zeros in storage from the start: the first step then has the plan of all others.
Tensor stored_zeros(const Tensor& parameter) {
  const DType type = state_type(parameter);
  const int64_t count = parameter.numel();
  const std::vector<std::byte> bytes(size_t(count) * item_size(type));
  return Tensor::from_blob(bytes.data(), parameter.shape(), {.dtype = type, .device = parameter.device()});
}

}  // namespace

Optimizer::Optimizer(const std::vector<Tensor>& tensors, double rate, size_t moments, Site at)
    : learning_rate(rate), moment_count_(moments), serial_(TensorGraph::shared().next_serial()) {
  const Call call(at);
  std::vector<const Handle*> known;
  for (Tensor tensor : tensors) {
    node_of(tensor, "Optimizer");
    if (std::ranges::find(known, tensor.handle().get()) != known.end()) continue;
    known.push_back(tensor.handle().get());
    const bool trained = is_float(tensor.dtype()) && tensor.requires_grad() != false;
    if (trained) tensor.requires_grad_();
    (trained ? parameters_ : others_).push_back(tensor);
  }
  if (parameters_.empty()) refuse(ErrorKind::Value, "Optimizer", "none of the ", tensors.size(), " tensors it is given can be trained");
  states_.resize(parameters_.size());
  // Initial values are drawn now, before anything is computed from them: then all steps, the first one too, share one plan.
  realize(parameters_);
}

void Optimizer::zero_grad() {
  for (Tensor& parameter : parameters_) parameter.zero_grad();
}

Tensor Optimizer::number(const char* name, double value, const Tensor& like) const {
  const DType type = like.dtype();
  const int64_t variable_args[] = {name_id(concat(name, " of optimizer ", serial_)), 0, 0}, bits = bits_of_float(type, value);
  const NodeRef variable = make(Op::Variable, {}, variable_args, type);
  return tensor_of(make(Op::Bind, {variable.get()}, Args(&bits, 1)));
}

void Optimizer::step(const std::vector<Tensor>& also, Site at) {
  const Call call(at);
  std::vector<Tensor> all = parameters_;
  all.insert(all.end(), others_.begin(), others_.end());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Tensor parameter = parameters_[i];
    if (!parameter.has_grad()) continue;
    State& state = states_[i];
    while (state.moments.size() < moment_count_) state.moments.push_back(stored_zeros(parameter));
    const DType type = state_type(parameter);
    Update update{parameter.detach().cast(type), parameter.grad().detach().cast(type), state.moments, ++state.steps};
    parameter.assign(updated(update).cast(parameter.dtype()));
    all.insert(all.end(), state.moments.begin(), state.moments.end());
  }
  all.insert(all.end(), also.begin(), also.end());
  realize(all);
}

// ---- SGD ----------------------------------------------------------------------------------------------------------------------------

SGD::SGD(const std::vector<Tensor>& tensors, SGDOptions options, Site at)
    : Optimizer(tensors, options.learning_rate, options.momentum != 0 ? 1 : 0, at), options_(options) {
  const Call call(at);
  if (options.nesterov && options.momentum == 0) refuse(ErrorKind::Value, "SGD", "nesterov needs a momentum");
}

Tensor SGD::updated(Update& update) {
  Tensor direction = update.gradient;
  if (options_.weight_decay != 0) direction = direction + options_.weight_decay * update.value;
  if (options_.momentum != 0) {
    Tensor& moment = update.moments[0];
    moment.assign(options_.momentum * moment + direction);
    direction = options_.nesterov ? direction + options_.momentum * moment : moment;
  }
  return update.value - number("learning rate", learning_rate, update.value) * direction;
}

// ---- Adam ---------------------------------------------------------------------------------------------------------------------------

Adam::Adam(const std::vector<Tensor>& tensors, AdamOptions options, bool decoupled, Site at)
    : Optimizer(tensors, options.learning_rate, 2, at), options_(options), decoupled_(decoupled) {}

AdamW::AdamW(const std::vector<Tensor>& tensors, AdamWOptions options, Site at)
    : Adam(tensors, {options.learning_rate, options.beta1, options.beta2, options.eps, options.weight_decay}, true, at) {}

Tensor Adam::updated(Update& update) {
  const AdamOptions& o = options_;
  Tensor value = update.value, gradient = update.gradient;
  if (o.weight_decay != 0 && decoupled_) value = value * number("decay", 1 - learning_rate * o.weight_decay, value);
  if (o.weight_decay != 0 && !decoupled_) gradient = gradient + o.weight_decay * value;
  Tensor &mean = update.moments[0], &square = update.moments[1];
  mean.assign(o.beta1 * mean + (1 - o.beta1) * gradient);
  square.assign(o.beta2 * square + (1 - o.beta2) * gradient.square());
  const double bias1 = 1 - std::pow(o.beta1, double(update.step)), bias2 = 1 - std::pow(o.beta2, double(update.step));
  const Tensor rate = number("rate", learning_rate / bias1, value), scale = number("scale", 1 / std::sqrt(bias2), value);
  return value - rate * mean / (square.sqrt() * scale + o.eps);
}

}  // namespace whit::nn
