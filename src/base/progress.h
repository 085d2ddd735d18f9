// A progress bar on stderr: one line redrawn on a terminal, plain lines now and then in a pipe or a log. It never throws,
// because a failing display must not end the work it displays.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace whit {

class Progress {
 public:
  /// `total` is the number of steps, 0 where it isn't known. `file_descriptor` is where it writes; 2 is stderr.
  explicit Progress(int64_t total, std::string label = "", int file_descriptor = 2) noexcept;

  /// Leaves the last state standing on a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` steps are behind us. Cheap enough for every step of a loop: it writes at most ten times a second on a terminal and
  /// every few seconds elsewhere. `extra` is shown at the end of the line.
  void update(int64_t done, std::string_view extra = "") noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  void draw(Clock::time_point now, bool last);

  const int64_t total_;
  std::string label_;
  std::string extra_;
  const int file_descriptor_;
  const bool terminal_;
  const Clock::time_point start_;
  Clock::time_point next_;
  int64_t done_ = 0;
  bool drawn_ = false;
  bool ended_ = false;  ///< a log already has the line of the end
};

/// One line of the bar: "train  35/70 [=====>    ]  50% 12.3/s 3s left  loss 0.31". `width` columns at most; 0: no limit, no bar.
std::string progress_line(std::string_view label, int64_t done, int64_t total, double seconds, std::string_view extra, int width);

}  // namespace whit
