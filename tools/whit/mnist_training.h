// Training the net of models/mnist.h on the digits, and testing it: the work of `whit mnist`, without its options and its text.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "io/mnist.h"
#include "models/mnist.h"

namespace whit::tool {

struct TrainingPlan {
  int64_t steps = 70, batch = 512;
  uint64_t seed = 0;
};

struct TrainingFigures {
  std::vector<float> losses;    ///< by step
  std::vector<double> seconds;  ///< by step
  double first_loss_after = 0;  ///< seconds since the process was started
  int64_t kernels = 0;          ///< launches in the last step
};

/// Told after each batch how far it is and, in a few words, how well it goes.
using Watcher = std::function<void(int64_t done, std::string_view news)>;

/// Trains with Adam on images drawn with replacement. The weights, the batches and so the losses are the same on every device and with
/// any number of threads, up to rounding.
TrainingFigures train(const models::MnistNet& net, const MnistData& data, const TrainingPlan& plan, const Watcher& watch);

/// The share of the first `count` test images whose digit the net tells.
double test_accuracy(const models::MnistNet& net, const MnistData& data, int64_t count, const Watcher& watch);

}  // namespace whit::tool
