#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/error.h"

namespace whit {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kPlainInterval = std::chrono::seconds(5);
constexpr int kBarWidth = 24;

std::string duration(double seconds) {
  if (!(seconds < 1e9)) return "?";
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return concat(whole, "s");
  if (whole < 3600) return concat(whole / 60, "m", whole % 60, "s");
  return concat(whole / 3600, "h", whole % 3600 / 60, "m");
}

/// Three digits are all that a moving number needs.
std::string rate_text(double rate) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  for (; rate >= 1000 && unit + 1 < std::size(kUnits); ++unit) rate /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, rate < 10 ? "%.2f%s/s" : rate < 100 ? "%.1f%s/s" : "%.0f%s/s", rate, kUnits[unit]);
  return text;
}

std::string bar(double share) {
  const int filled = static_cast<int>(share * kBarWidth);
  std::string text(static_cast<size_t>(filled), '=');
  if (filled < kBarWidth) text += '>';
  text.resize(kBarWidth, ' ');
  return concat("[", text, "]");
}

/// Cuts to `width` columns, each code point counted as one, and drops what would end or spoil the line.
std::string one_line(std::string text, int width) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (width <= 0) return text;
  int columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (starts_character && ++columns > width) return text.substr(0, i);
  }
  return text;
}

int terminal_width(int file_descriptor) {
  struct winsize size {};
  if (::ioctl(file_descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

/// A display that can't be written is no error.
void write_quietly(int file_descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t count = ::write(file_descriptor, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace

std::string progress_line(std::string_view label, int64_t done, int64_t total, double seconds, std::string_view extra, int width) {
  std::string line = label.empty() ? "" : concat(label, "  ");
  line += std::to_string(done);
  if (total > 0) {
    const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    line += concat("/", total, " ", width > 0 ? bar(share) + " " : "", static_cast<int>(share * 100), "%");
  }
  if (done > 0 && seconds > 0) {
    const double rate = static_cast<double>(done) / seconds;
    line += concat(" ", rate_text(rate));
    if (done < total) line += concat(" ", duration(static_cast<double>(total - done) / rate), " left");
    if (done >= total) line += concat(" in ", duration(seconds));
  }
  if (!extra.empty()) line += concat("  ", extra);
  return one_line(std::move(line), width);
}

Progress::Progress(int64_t total, std::string label, int file_descriptor) noexcept
    : total_(total),
      label_(std::move(label)),
      file_descriptor_(file_descriptor),
      terminal_(::isatty(file_descriptor) == 1),
      start_(Clock::now()),
      // Short work stays silent in a log; a terminal shows the bar at once.
      next_(terminal_ ? start_ : start_ + kPlainInterval) {}

Progress::~Progress() {
  try {
    if ((drawn_ || done_ > 0) && !ended_) draw(Clock::now(), true);
  } catch (...) {
  }
}

void Progress::update(int64_t done, std::string_view extra) noexcept {
  try {
    done_ = done;
    const auto now = Clock::now();
    extra_ = extra;
    if (now >= next_) draw(now, false);
  } catch (...) {
  }
}

void Progress::draw(Clock::time_point now, bool last) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // The last column stays free: some terminals wrap as soon as it is written.
  const int width = terminal_ ? std::max(1, terminal_width(file_descriptor_) - 1) : 0;
  std::string line = progress_line(label_, done_, total_, seconds, extra_, width);
  constexpr const char* kEraseToEnd = "\x1b[K";
  if (terminal_) line = concat("\r", line, kEraseToEnd);
  if (last || !terminal_) line += '\n';
  write_quietly(file_descriptor_, line);
  drawn_ = true;
  ended_ = !terminal_ && done_ >= total_ && total_ > 0;
  next_ = now + (terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainInterval));
}

}  // namespace whit
