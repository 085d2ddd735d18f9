// `whit mnist`: trains a small conv net on the MNIST digits, tests it, and says how long that took.
#include <whit/device.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "commands.h"
#include "engine/device.h"
#include "engine/handle.h"
#include "mnist_training.h"
#include "process.h"

namespace whit::tool {

namespace {

// The reference interpreter needs minutes for what a compiler's code does in a second.
constexpr int64_t kInterpreterTestImages = 64;

struct MnistOptions {
  std::string data, device;
  TrainingPlan plan;
  int64_t test_images = -1;  ///< -1: as many as is reasonable on the device
  bool json = false;
};

struct MnistReport {
  std::string device;
  TrainingFigures training;
  int64_t test_images = 0;
  double accuracy = 0, seconds = 0;

  /// Of the steps after the first, which compiles.
  double step_seconds() const {
    std::vector<double> warm(training.seconds.begin() + (training.seconds.size() > 1 ? 1 : 0), training.seconds.end());
    std::ranges::nth_element(warm, warm.begin() + std::ptrdiff_t(warm.size() / 2));
    return warm[warm.size() / 2];
  }
};

int64_t test_image_count(const MnistOptions& options, const std::string& device, const MnistData& data) {
  const int64_t all = int64_t(data.test_labels.size());
  if (options.test_images >= 0) return std::min(options.test_images, all);
  return device.starts_with("CPU:INTERP") ? kInterpreterTestImages : all;
}

MnistReport run_mnist(const MnistOptions& options) {
  if (!options.device.empty()) set_default_device(device_name(open_device_of("--device", options.device)));
  MnistReport report;
  report.device = Device::get_default();
  const MnistData data = load_mnist(options.data, [](const std::string& note) { std::cerr << "whit: " << note << std::endl; });
  Tensor::manual_seed(options.plan.seed);
  const models::MnistNet net;
  {
    Progress progress(options.plan.steps, "train");
    report.training = train(net, data, options.plan, [&](int64_t done, std::string_view news) { progress.update(done, news); });
  }
  for (const double seconds : report.training.seconds) report.seconds += seconds;
  report.test_images = test_image_count(options, report.device, data);
  if (report.test_images == 0) return report;
  Progress progress(report.test_images, "test");
  report.accuracy = test_accuracy(net, data, report.test_images, [&](int64_t done, std::string_view news) { progress.update(done, news); });
  return report;
}

void print_json(const MnistReport& report, const TrainingPlan& plan) {
  const nlohmann::ordered_json line{{"workload", "mnist"},
                                    {"device", report.device},
                                    {"steps", plan.steps},
                                    {"batch", plan.batch},
                                    {"seed", plan.seed},
                                    {"test_images", report.test_images},
                                    {"test_accuracy", report.test_images ? nlohmann::json(report.accuracy) : nlohmann::json()},
                                    {"cold_s", report.training.first_loss_after},
                                    {"train_s", report.seconds},
                                    {"step_s", report.step_seconds()},
                                    {"images_per_s", double(plan.batch) / report.step_seconds()},
                                    {"kernels", report.training.kernels},
                                    {"peak_mb", double(peak_memory()) / 1e6},
                                    {"losses", report.training.losses}};
  std::cout << line.dump() << '\n';
}

void print_text(const MnistReport& report, const TrainingPlan& plan) {
  const TrainingFigures& training = report.training;
  std::printf("%lld steps of %lld images in %.2f s on %s; the first loss came %.2f s after the start\n", static_cast<long long>(plan.steps),
              static_cast<long long>(plan.batch), report.seconds, report.device.c_str(), training.first_loss_after);
  std::printf("%.0f images/s: %.1f ms and %lld kernels a step; peak memory %.0f MB\n", double(plan.batch) / report.step_seconds(),
              report.step_seconds() * 1e3, static_cast<long long>(training.kernels), double(peak_memory()) / 1e6);
  std::printf("last loss %.4f", double(training.losses.back()));
  if (report.test_images)
    std::printf(", test accuracy %.2f %% of %lld images", report.accuracy * 100, static_cast<long long>(report.test_images));
  std::printf("\n");
}

void add_options(CLI::App& command, MnistOptions& options) {
  command.add_option("--data", options.data, "folder of the MNIST files; without it $WHIT_DATA, the cache and a download are tried");
  command.add_option("--device", options.device, "device to train on, as `whit devices` names it");
  command.add_option("--steps", options.plan.steps, "training steps")
      ->capture_default_str()
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  command.add_option("--batch", options.plan.batch, "images a step")
      ->capture_default_str()
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24));
  command.add_option("--seed", options.plan.seed, "of the initial weights and the batches")->capture_default_str();
  command.add_option("--test-images", options.test_images, "how many images to test on; all 10000 (64 on CPU:INTERP) unless given")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 40));
  command.add_flag("--json", options.json, "print the figures as one line of JSON");
}

}  // namespace

void add_mnist(CLI::App& program) {
  CLI::App* command = program.add_subcommand("mnist", "Train a small conv net on the MNIST digits");
  auto options = std::make_shared<MnistOptions>();
  add_options(*command, *options);
  command->callback([options] {
    const MnistReport report = run_mnist(*options);
    (options->json ? print_json : print_text)(report, options->plan);
  });
}

}  // namespace whit::tool
