// `whit bench`: times workloads, each in the way of the scripts that time other frameworks: the first call apart, then the best and
// the median of warm ones.
#include <whit/device.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "process.h"
#include "workloads.h"

namespace whit::tool {

namespace {

constexpr double kBudget = 20;  // seconds that the warm calls of one workload may take together

struct Timing {
  double cold = 0, best = 0, median = 0;
  size_t calls = 0;
  double work = 0;      ///< of one call
  int64_t kernels = 0;  ///< launches of one call
  int64_t peak_bytes = 0;
};

Timing measure(const Workload& workload) {
  const std::string before = Device::get_default();
  if (!workload.device.empty()) Device::set_default(workload.device);
  reset_peak_memory();
  Timing timing;
  {
    const std::function<Sample()> call = workload.prepare();
    timing.cold = call().seconds;
    std::vector<double> seconds;
    const double end = seconds_since_start() + kBudget;
    while (seconds.empty() || (seconds.size() < size_t(workload.repeats) && seconds_since_start() < end)) {
      const Sample sample = call();
      seconds.push_back(sample.seconds);
      timing.work = sample.work;
      timing.kernels = sample.kernels;
    }
    std::ranges::sort(seconds);
    timing.best = seconds.front();
    timing.median = seconds[seconds.size() / 2];
    timing.calls = seconds.size();
  }
  timing.peak_bytes = peak_memory();
  Device::set_default(before);
  return timing;
}

double rate_of(const Workload& workload, const Timing& timing) { return timing.work / timing.best / workload.rate.unit; }

double rounded(double value, double digits) { return std::round(value * digits) / digits; }

void print_json(const Workload& workload, const Timing& timing) {
  nlohmann::ordered_json line{{"workload", workload.name},
                              {"cold", rounded(timing.cold, 1e6)},
                              {"best", rounded(timing.best, 1e7)},
                              {"median", rounded(timing.median, 1e7)},
                              {"n", timing.calls}};
  if (workload.rate.name) line[workload.rate.name] = rounded(rate_of(workload, timing), 100);
  if (timing.kernels) line["kernels"] = timing.kernels;
  line["peak_mb"] = rounded(double(timing.peak_bytes) / 1e6, 10);
  std::cout << line.dump() << std::endl;
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

void print_row(const Workload& workload, const Timing& timing) {
  char rate[48] = "";
  if (workload.rate.name) std::snprintf(rate, sizeof rate, "%.4g %s", rate_of(workload, timing), workload.rate.text);
  std::printf("%-18s %10s %10s %10s %4zu %8lld %8.0f  %s\n", workload.name.c_str(), time_text(timing.cold).c_str(),
              time_text(timing.best).c_str(), time_text(timing.median).c_str(), timing.calls, static_cast<long long>(timing.kernels),
              double(timing.peak_bytes) / 1e6, rate);
  std::fflush(stdout);
}

void print_list(const std::vector<Workload>& workloads) {
  for (const Workload& workload : workloads) std::printf("%-18s %s\n", workload.name.c_str(), workload.description.c_str());
}

// Those named, in the order in which they are named; all, if none is.
std::vector<Workload> chosen(const std::vector<Workload>& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<Workload> result;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &Workload::name);
    if (found == all.end()) {
      std::string known;
      for (const Workload& workload : all) known += " " + workload.name;
      throw CLI::ValidationError("there is no workload \"" + name + "\"; known are:" + known);
    }
    result.push_back(*found);
  }
  return result;
}

}  // namespace

void add_bench(CLI::App& program) {
  CLI::App* command = program.add_subcommand("bench", "Time workloads: the first call (cold), then the best and the median of warm ones");
  struct Options {
    bool json = false, list = false;
    std::vector<std::string> names;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "one JSON object a line, times in seconds");
  command->add_flag("--list", options->list, "say what the workloads are and run none");
  command->add_option("workloads", options->names, "which to run; all unless given");
  command->callback([options] {
    const std::vector<Workload> workloads = chosen(all_workloads(), options->names);
    if (options->list) return print_list(workloads);
    if (!options->json)
      std::printf("%-18s %10s %10s %10s %4s %8s %8s  %s\n", "workload", "cold", "best", "median", "n", "kernels", "peak MB", "rate");
    for (const Workload& workload : workloads) (options->json ? print_json : print_row)(workload, measure(workload));
  });
}

}  // namespace whit::tool
