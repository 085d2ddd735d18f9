// Remembers which files had which checksum, so that a start needn't read 55 MB to find them as they were. A file is known by
// device, inode, size and times of its last change: any write to it, or another file in its place, makes it unknown again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whit {

class VerifiedFiles {
 public:
  /// `list` is the file the memory is kept in; empty for none. A missing or damaged list only costs checking again.
  explicit VerifiedFiles(std::string list);

  /// The state of a file, to be taken *before* its content is checked; empty where there is no such file.
  static std::string state_of(const std::string& path);

  bool holds(const std::string& state, std::string_view sha256) const;
  void add(const std::string& state, std::string_view sha256);

  /// Writes the list if it has changed. Best effort: where it can't be written, the next start checks again.
  void save() noexcept;

 private:
  std::string list_;
  std::vector<std::string> lines_;  ///< "<sha256> <state>", oldest first
  bool changed_ = false;
};

}  // namespace whit
