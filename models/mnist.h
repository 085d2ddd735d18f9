// The net that `whit mnist` trains, and that `whit bench` times: two blocks of two convolutions, then a linear layer.
#pragma once

#include <array>
#include <whit/nn.h>

namespace whit::models {

/// From images (N, 1, 28, 28), pixels in [0, 1], to the logits of ten digits.
struct MnistNet {
  // Within 70 steps the weights move faster than an average over ten batches follows, which is what the usual momentum of 0.1 gives. Of 24
  // such trainings with PyTorch, 98.0 % of the test digits were right on average and 97.2 % at worst with 0.1, 98.2 % and 98.0 % with 0.7
  // as with 1: a batch of 512 tells the statistics well enough.
  static constexpr nn::BatchNormOptions kNorm{.momentum = 0.9};

  nn::Conv2d conv1{1, 32, 5}, conv2{32, 32, 5};
  nn::BatchNorm norm1{32, kNorm};
  nn::Conv2d conv3{32, 64, 3}, conv4{64, 64, 3};
  nn::BatchNorm norm2{64, kNorm};
  nn::Linear out{576, 10};

  static constexpr std::array field_names{"conv1", "conv2", "norm1", "conv3", "conv4", "norm2", "out"};

  Tensor operator()(const Tensor& images) const {
    const Tensor half = norm1(conv2(conv1(images).relu()).relu()).max_pool2d();   // (N, 32, 10, 10)
    const Tensor quarter = norm2(conv4(conv3(half).relu()).relu()).max_pool2d();  // (N, 64, 3, 3)
    return out(quarter.flatten(1));
  }
};

}  // namespace whit::models
