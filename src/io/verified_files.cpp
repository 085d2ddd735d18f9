#include "io/verified_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace whit {
namespace {

constexpr size_t kMaxLines = 64;

std::string line_of(const std::string& state, std::string_view sha256) { return concat(sha256, " ", state); }

}  // namespace

VerifiedFiles::VerifiedFiles(std::string list) : list_(std::move(list)) {
  if (list_.empty()) return;
  std::string text;
  try {
    text = read_text_file(list_);
  } catch (const UserError&) {
    return;  // not written yet
  }
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines_.push_back(text.substr(begin, end - begin));
}

std::string VerifiedFiles::state_of(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return "";
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error).time_since_epoch().count();
  // Anyone can set the time of writing, but not st_ctime; that one has portable names for whole seconds only.
  const auto text = [](auto number) { return std::to_string(number); };
  return concat(text(status.st_dev), " ", text(status.st_ino), " ", text(status.st_size), " ", text(written), " ", text(status.st_ctime));
}

bool VerifiedFiles::holds(const std::string& state, std::string_view sha256) const {
  return !state.empty() && std::ranges::find(lines_, line_of(state, sha256)) != lines_.end();
}

void VerifiedFiles::add(const std::string& state, std::string_view sha256) {
  if (state.empty() || holds(state, sha256)) return;
  lines_.push_back(line_of(state, sha256));
  if (lines_.size() > kMaxLines) lines_.erase(lines_.begin());
  changed_ = true;
}

void VerifiedFiles::save() noexcept {
  if (!changed_ || list_.empty()) return;
  try {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    make_directories(list_.substr(0, list_.find_last_of('/')));
    write_file(list_, text);
    changed_ = false;
  } catch (...) {
  }
}

}  // namespace whit
