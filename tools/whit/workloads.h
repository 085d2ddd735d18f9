// The workloads of `whit bench`: named pieces of work, the same ones that the scripts which measure other frameworks do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include <whit/tensor.h>

namespace whit::tool {

/// One timed call.
struct Sample {
  double seconds = 0;
  double work = 0;      ///< operations, bytes or visits done, for the rate
  int64_t kernels = 0;  ///< launches
};

/// How the speed of a workload is given beside its time: `work` a second in `unit`s, under the name that the JSON line has.
struct Rate {
  const char* name = nullptr;
  const char* text = "";
  double unit = 1;
};
inline constexpr Rate kGflops{"gflops", "GFLOPS", 1e9}, kGigabytes{"gbs", "GB/s", 1e9}, kVisits{"visits_per_s", "visits/s", 1};

struct Workload {
  std::string name, description;
  Rate rate;
  int repeats = 7;     ///< warm calls, fewer where they take long
  std::string device;  ///< where it runs, whatever the default device is; empty: there
  /// Makes the inputs and gives the call, which also does what each call needs and isn't timed.
  std::function<std::function<Sample()>()> prepare;
};

/// All workloads, in the order in which they are listed.
std::vector<Workload> all_workloads();
std::vector<Workload> training_workloads();
std::vector<Workload> compiler_workloads();
std::vector<Workload> operator_workloads();

/// Times something that does so much work.
Sample timed(const std::function<void()>& call, double work = 0);

/// Numbers near a normal distribution, in storage on the default device. Drawn on the host, so that no kernel is compiled for them: the
/// first call of a workload pays for all it needs.
Tensor random_input(const Sizes& shape);
/// Computes a tensor and waits until it is there.
void finish(Tensor tensor);

}  // namespace whit::tool
