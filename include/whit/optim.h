// Optimizers: what `loss.backward(); optimizer.step();` does to the parameters.
#pragma once

#include <memory>
#include <vector>
#include <whit/tensor.h>

namespace whit::nn {

/// What all optimizers share. The floats among the tensors it is given that don't have requires_grad false are its parameters and get
/// requires_grad true and are realised; the others (running statistics) are only computed along with each step, so that what they are
/// made of is let go.
class Optimizer {
 public:
  double learning_rate;  ///< may be changed between steps: no new code is made for that

  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  const std::vector<Tensor>& parameters() const { return parameters_; }

  /// Forgets the gradients.
  void zero_grad();

  /// Moves every parameter that has a gradient, and computes all of them, in one plan together with the tensors in `also` (the loss).
  void step(const std::vector<Tensor>& also = {}, Site at = {});

 protected:
  Optimizer(const std::vector<Tensor>& tensors, double learning_rate, size_t moments, Site at);

  /// One parameter as its update sees it: in float32 unless it is float64. `moments` start as zeros; assigning to them gives the next ones.
  struct Update {
    Tensor value, gradient;
    std::vector<Tensor>& moments;
    int64_t step;  ///< counts from 1
  };
  virtual Tensor updated(Update& update) = 0;

  /// A number that may differ from step to step, as a tensor that no plan depends on. Each name stands for one number in a step.
  Tensor number(const char* name, double value, const Tensor& like) const;

 private:
  struct State {
    int64_t steps = 0;
    std::vector<Tensor> moments;
  };
  std::vector<Tensor> parameters_, others_;
  std::vector<State> states_;
  size_t moment_count_;
  int64_t serial_;
};

struct SGDOptions {
  double learning_rate = 0.001;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

/// Stochastic gradient descent, as PyTorch's SGD without dampening.
class SGD : public Optimizer {
 public:
  explicit SGD(const std::vector<Tensor>& tensors, SGDOptions options = {}, Site at = {});

 private:
  Tensor updated(Update& update) override;
  SGDOptions options_;
};

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
};

/// Adam; weight decay is added to the gradient.
class Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<Tensor>& tensors, AdamOptions options = {}, Site at = {}) : Adam(tensors, options, false, at) {}

 protected:
  Adam(const std::vector<Tensor>& tensors, AdamOptions options, bool decoupled, Site at);

 private:
  Tensor updated(Update& update) override;
  AdamOptions options_;
  bool decoupled_;
};

struct AdamWOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

/// Adam whose weight decay shrinks the parameters themselves.
class AdamW : public Adam {
 public:
  explicit AdamW(const std::vector<Tensor>& tensors, AdamWOptions options = {}, Site at = {});
};

}  // namespace whit::nn
