#include "process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace whit::tool {

namespace {

using Clock = std::chrono::steady_clock;
const Clock::time_point g_loaded = Clock::now();  // when the program's own initialisers ran

double since_loaded() { return std::chrono::duration<double>(Clock::now() - g_loaded).count(); }

// How long before `g_loaded` this process was made, to hundredths of a second; 0 where /proc doesn't tell.
double loading_time() {
  std::ifstream file("/proc/self/stat"), uptime("/proc/uptime");
  std::string text, field;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));  // the name before it may hold spaces
  for (int i = 3; i <= 21; ++i) fields >> field;
  double ticks = 0, now = 0;
  if (!(fields >> ticks) || !(uptime >> now)) return 0;
  const double loading = now - ticks / double(sysconf(_SC_CLK_TCK)) - since_loaded();
  return loading > 0 && loading < 10 ? loading : 0;  // in a container the two may count from different zeros
}

}  // namespace

double seconds_since_start() {
  static const double loading = loading_time();
  return loading + since_loaded();
}

int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t(usage.ru_maxrss) * 1024 : 0;
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace whit::tool
