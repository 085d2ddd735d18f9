#include "mnist_training.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "engine/handle.h"
#include "process.h"

namespace whit::tool {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kPixels = MnistData::kSide * MnistData::kSide;
constexpr int64_t kTestBatch = 500;

std::string worded(const char* word, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%s %.4f", word, value);
  return text;
}

struct Batch {
  Tensor images, labels;
};

// Pixels travel as bytes and become floats on the device, so that a batch is a quarter of the size to carry.
Batch make_batch(std::vector<uint8_t> pixels, std::vector<uint8_t> labels) {
  const int64_t count = int64_t(labels.size());
  const Tensor bytes(std::move(pixels), {count, 1, MnistData::kSide, MnistData::kSide});
  return {bytes.to_float() / 255, Tensor(std::move(labels), {count})};
}

// Images drawn at random with replacement: the same ones on every machine.
class Batches {
 public:
  Batches(const MnistData& data, const TrainingPlan& plan) : data_(data), size_(size_t(plan.batch)), random_(plan.seed) {}

  Batch next() {
    std::vector<uint8_t> pixels(size_ * kPixels), labels(size_);
    for (size_t i = 0; i < size_; ++i) {
      const size_t image = random_() % data_.train_labels.size();
      labels[i] = data_.train_labels[image];
      std::memcpy(&pixels[i * kPixels], &data_.train_images[image * kPixels], kPixels);
    }
    return make_batch(std::move(pixels), std::move(labels));
  }

 private:
  const MnistData& data_;
  size_t size_;
  std::mt19937_64 random_;
};

Batch test_batch(const MnistData& data, int64_t first, int64_t count) {
  const Bytes pixels = data.test_images.subspan(size_t(first * kPixels), size_t(count * kPixels));
  const Bytes labels = data.test_labels.subspan(size_t(first), size_t(count));
  return make_batch({pixels.begin(), pixels.end()}, {labels.begin(), labels.end()});
}

}  // namespace

TrainingFigures train(const models::MnistNet& net, const MnistData& data, const TrainingPlan& plan, const Watcher& watch) {
  const Train training;
  nn::Adam optimizer(nn::parameters(net), {.learning_rate = 1e-3});
  Batches batches(data, plan);
  TrainingFigures figures;
  for (int64_t step = 0; step < plan.steps; ++step) {
    const Clock::time_point start = Clock::now();
    const int64_t launches = counters().kernels;
    const Batch batch = batches.next();
    optimizer.zero_grad();
    Tensor loss = net(batch.images).cross_entropy(batch.labels);
    loss.backward();
    optimizer.step({loss});
    figures.losses.push_back(loss.item());
    figures.kernels = counters().kernels - launches;
    figures.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    if (step == 0) figures.first_loss_after = seconds_since_start();
    watch(step + 1, worded("loss", figures.losses.back()));
  }
  return figures;
}

double test_accuracy(const models::MnistNet& net, const MnistData& data, int64_t count, const Watcher& watch) {
  const Train testing(false);
  int64_t right = 0;
  for (int64_t done = 0; done < count;) {
    const int64_t size = std::min(kTestBatch, count - done);
    const Batch batch = test_batch(data, done, size);
    right += (net(batch.images).argmax(1) == batch.labels).sum().item<int64_t>();
    done += size;
    watch(done, worded("accuracy", double(right) / double(done)));
  }
  return double(right) / double(count);
}

}  // namespace whit::tool
