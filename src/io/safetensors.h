// The safetensors file format as bytes: eight bytes of header size, a JSON header of names, dtypes, shapes and byte ranges,
// then the data. What SafetensorsFile opens is checked as a whole first, so whoever reads an entry need not check again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace whit {

/// One tensor in a file. Invariant: end - begin is the product of the shape times the size of the dtype.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  ///< the format's own name, "F32"
  std::vector<int64_t> shape;
  size_t begin = 0, end = 0;  ///< byte range, counted from the start of the data
};

/// A parsed header. The entries are in the order of their data and cover it without gap or overlap; names are unique.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  std::vector<size_t> by_name;  ///< indices of the entries, sorted by name
  std::map<std::string, std::string> metadata;
  size_t data_begin = 0;  ///< where the data starts in the file
};

/// Bytes of one value, or nothing for a dtype the format doesn't have.
std::optional<size_t> safetensors_item_size(std::string_view dtype);

/// Reads and checks the header of a file given as bytes. `name` is the file that errors speak of; all are UserError(File).
SafetensorsHeader parse_safetensors_header(Bytes file, const std::string& name);

/// An open file, mapped: opening costs the header only, and data is read when touched.
class SafetensorsFile {
 public:
  static SafetensorsFile open(const std::string& path);

  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

  /// The entry of that name, or null.
  const SafetensorsEntry* find(std::string_view name) const;

  /// The data of one of this file's entries: little-endian, row-major, and aligned to no more than a byte.
  Bytes bytes(const SafetensorsEntry& entry) const;

 private:
  MappedFile file_;
  SafetensorsHeader header_;
};

/// One tensor to be written; the bytes are little-endian and row-major.
struct SafetensorsTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  Bytes bytes;
};

/// Writes a file, atomically and with the layout of the reference implementation: wide dtypes first, names in order, the data
/// aligned to 8 bytes. Equal content makes equal bytes. A tensor the format can't hold is a UserError(Value).
void write_safetensors(const std::string& path, std::vector<SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace whit
