// A training loop by hand: a small net learns which points of a square lie in a ring. Prints:
//
//   step   0: loss 0.68
//   step 100: loss 0.05
//   step 200: loss 0.02
//   right for more than 95 % of the points: yes
#include <whit/nn.h>
#include <whit/whit.h>

#include <cstdio>

namespace nn = whit::nn;
using whit::Tensor;

// A model is a plain struct of layers; its parameters are found without naming them.
struct Net {
  nn::Linear hidden1{2, 64}, hidden2{64, 64}, out{64, 1};
  Tensor operator()(const Tensor& points) const { return out(hidden2(hidden1(points).relu()).relu()).squeeze(1); }
};

int main() {
  Tensor::manual_seed(1);
  const Tensor points = Tensor::uniform({512, 2}, -1, 1).realize();
  const Tensor radius = points.square().sum(1).sqrt();
  const Tensor in_ring = ((radius > 0.4) & (radius < 0.8)).to_float().realize();

  const Net net;
  nn::Adam optimizer(nn::parameters(net), {.learning_rate = 0.01});
  for (int step = 0; step <= 200; ++step) {
    optimizer.zero_grad();
    Tensor loss = net(points).binary_crossentropy_logits(in_ring);
    loss.backward();
    // Computes the new weights, and the loss beside them, in one plan. From the second step on the plan is there already.
    optimizer.step({loss});
    if (step % 100 == 0) std::printf("step %3d: loss %.2f\n", step, double(loss.item()));
  }

  const Tensor right = (net(points) > 0) == (in_ring > 0);
  const bool learned = right.to_float().mean().item() > 0.95;
  std::printf("right for more than 95 %% of the points: %s\n", learned ? "yes" : "no");
  return learned ? 0 : 1;
}
