#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace whit {
namespace {

[[noreturn]] void fail_system(const char* what, const std::string& path, int error) {
  fail(ErrorKind::File, "cannot ", what, " '", path, "': ", std::generic_category().message(error));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

  /// False where the system reports a late write error, as network file systems do.
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

int open_retrying(const std::string& path, int flags, mode_t mode = 0) {
  int number;
  do number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (number < 0 && errno == EINTR);
  return number;
}

/// The system would silently use the part before a zero byte.
void check_name(const std::string& path) {
  if (path.find('\0') != std::string::npos) fail(ErrorKind::File, "a file name holds a zero byte: '", path.c_str(), "…'");
}

/// What an open file is. A folder opens without complaint, so it is refused here.
struct stat status_of(const Descriptor& file, const std::string& path) {
  struct stat status;
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) fail_system("open", path, errno);
  if (S_ISDIR(status.st_mode)) fail_system("read", path, EISDIR);
  return status;
}

template <class Buffer>
Buffer read_whole(const std::string& path) {
  check_name(path);
  Descriptor file(open_retrying(path, O_RDONLY));
  const struct stat status = status_of(file, path);
  Buffer content;
  // One byte more than stated, so that the usual file ends without growing the buffer.
  content.resize(std::max<size_t>(4096, status.st_size > 0 ? static_cast<size_t>(status.st_size) + 1 : 0));
  size_t size = 0;
  for (;;) {
    if (size == content.size()) content.resize(size * 2);
    ssize_t count = ::read(file.number(), content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system("read", path, errno);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  content.resize(size);
  return content;
}

/// Returns 0 or the errno of the write that failed.
int write_parts(int number, std::span<const Bytes> parts) {
  for (Bytes part : parts) {
    while (!part.empty()) {
      ssize_t count = ::write(number, part.data(), part.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      part = part.subspan(static_cast<size_t>(count));
    }
  }
  return 0;
}

void write_in_place(const std::string& path, std::span<const Bytes> parts) {
  Descriptor file(open_retrying(path, O_WRONLY));
  if (!file.is_open()) fail_system("write", path, errno);
  if (int error = write_parts(file.number(), parts)) fail_system("write", path, error);
}

/// Creates a file that nobody else has, beside `path`, and sets its name. A killed process may have left one behind, and in a
/// container the next process has the same id: so a taken name means trying the next one.
int create_temporary(const std::string& path, std::string& name) {
  static std::atomic<unsigned> counter{0};
  int number;
  do {
    name = concat(path, ".", ::getpid(), ".", counter.fetch_add(1, std::memory_order_relaxed), ".tmp");
    number = open_retrying(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
  } while (number < 0 && errno == EEXIST);
  return number;
}

/// Returns 0 or an errno. fsync before the rename: otherwise a crash may leave the new name on an empty file.
int write_and_sync(Descriptor& file, std::span<const Bytes> parts) {
  if (int error = write_parts(file.number(), parts)) return error;
  // EINVAL: a file system that has no fsync.
  if (::fsync(file.number()) != 0 && errno != EINVAL) return errno;
  return file.close() ? 0 : errno;
}

/// Makes the rename itself last. Best effort: the data is safe, and some file systems refuse to sync a folder.
void sync_folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  Descriptor descriptor(open_retrying(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY));
  if (descriptor.is_open()) (void)::fsync(descriptor.number());
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::vector<uint8_t> read_file(const std::string& path) { return read_whole<std::vector<uint8_t>>(path); }

std::string read_text_file(const std::string& path) { return read_whole<std::string>(path); }

MappedFile MappedFile::open(const std::string& path) {
  check_name(path);
  Descriptor file(open_retrying(path, O_RDONLY));
  const struct stat status = status_of(file, path);
  if (!S_ISREG(status.st_mode)) fail(ErrorKind::File, "cannot map '", path, "': it is no regular file");
  MappedFile mapped;
  mapped.size_ = static_cast<size_t>(status.st_size);
  if (mapped.size_ == 0) return mapped;  // the system refuses to map nothing
  void* address = ::mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) fail_system("map", path, errno);
  mapped.data_ = static_cast<const uint8_t*>(address);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), size_);
}

void write_file(const std::string& path, std::span<const Bytes> parts) {
  check_name(path);
  struct stat status;
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_system("write", path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_in_place(path, parts);

  // rename would replace a link by a file; the link's target is what the user wants changed.
  std::error_code ignored;
  std::string target = path;
  if (exists && std::filesystem::is_symlink(path, ignored)) {
    std::string resolved = std::filesystem::canonical(path, ignored).string();
    if (!resolved.empty()) target = resolved;
  }
  std::string temporary;
  Descriptor file(create_temporary(target, temporary));
  if (!file.is_open()) fail_system("write", path, errno);
  // A private file stays private. Best effort: some file systems have no modes.
  if (exists) (void)::fchmod(file.number(), status.st_mode & 0777);
  int error = write_and_sync(file, parts);
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail_system("write", path, error);
  }
  sync_folder_of(target);
}

void write_file(const std::string& path, Bytes bytes) { write_file(path, std::span<const Bytes>(&bytes, 1)); }

void write_file(const std::string& path, std::string_view text) { write_file(path, bytes_of(text)); }

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(ErrorKind::File, "cannot make the folder '", path, "': ", error.message());
}

std::string cache_directory() {
  if (std::string own = environment("WHIT_CACHE"); !own.empty()) return own;
  // The XDG specification tells programs to ignore a relative path here.
  if (std::string shared = environment("XDG_CACHE_HOME"); shared.starts_with('/')) return join_path(shared, "whit");
  if (std::string home = environment("HOME"); !home.empty()) return join_path(home, ".cache/whit");
  return "";
}

TemporaryDirectory::TemporaryDirectory(std::string_view purpose) {
  std::string parent = environment("TMPDIR");
  path_ = join_path(parent.empty() ? "/tmp" : parent, concat("whit-", purpose, "-XXXXXX"));
  if (::mkdtemp(path_.data()) == nullptr) fail_system("make the temporary folder", path_, errno);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string join_path(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return concat(folder, folder.back() == '/' ? "" : "/", name);
}

}  // namespace whit
