// Files as bytes: read whole, map read-only, replace atomically. Every failure is a UserError(File) that names the path
// and what the system said. A file that write_file replaces is seen by others as the old one or the new one, never half.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whit {

using Bytes = std::span<const uint8_t>;

inline Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

/// The whole file. Pipes and /proc work too: it reads to the end, whatever size the system states.
std::vector<uint8_t> read_file(const std::string& path);
std::string read_text_file(const std::string& path);

/// A regular file mapped read-only. The bytes keep their address when the object moves. Nobody may shorten the file while
/// it is mapped: reading past its new end would end the process, as with any mapping.
class MappedFile {
 public:
  MappedFile() = default;
  static MappedFile open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  Bytes bytes() const { return {data_, size_}; }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// Replaces or creates the file with these parts one after another: a temporary file beside it, fsync, rename. Keeps the mode
/// of a file that was there, writes through a symbolic link, and writes straight into what is no regular file (/dev/stdout).
void write_file(const std::string& path, std::span<const Bytes> parts);
void write_file(const std::string& path, Bytes bytes);
void write_file(const std::string& path, std::string_view text);

/// Makes the folder and those above it, where they don't exist.
void make_directories(const std::string& path);

/// The user's cache folder of whit: $WHIT_CACHE, else $XDG_CACHE_HOME/whit, else $HOME/.cache/whit, else empty: there is
/// none. Not created here.
std::string cache_directory();

/// A fresh folder below the system's temporary folder, removed with all it holds when the object dies.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(std::string_view purpose);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// "folder/name"; just the name where the folder is empty.
std::string join_path(const std::string& folder, std::string_view name);

}  // namespace whit
