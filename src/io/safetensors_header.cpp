// Reading the JSON header of a safetensors file: as events, never as a tree, so that neither its size nor its depth can hurt.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "io/safetensors.h"

namespace whit {
namespace {

constexpr size_t kSizeBytes = 8;                  // the header's size, little-endian, opens the file
constexpr uint64_t kMaxHeaderSize = 100'000'000;  // the reference implementation's limit
constexpr int kMaxDepth = 64;                     // of values that are skipped; the format itself needs three levels

/// A name from the file, fit for a message: the file may hold megabytes of control characters.
std::string shown(std::string_view name) {
  constexpr size_t kShown = 80;
  std::string text(name.substr(0, kShown));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return concat("'", text, name.size() > kShown ? "…" : "", "'");
}

template <class... Parts>
[[noreturn]] void refuse_file(const std::string& file, const Parts&... parts) {
  fail(ErrorKind::File, "invalid safetensors file '", file, "': ", parts...);
}

template <class... Parts>
[[noreturn]] void refuse_truncated(const std::string& file, const Parts&... parts) {
  fail(ErrorKind::File, "truncated safetensors file '", file, "': ", parts...);
}

/// Takes nlohmann's events. Each callback either moves on or throws; `place_` says which object or array it is in.
class HeaderReader {
 public:
  HeaderReader(const std::string& file, SafetensorsHeader& header) : file_(file), header_(header) {}

  bool null() {
    // The reference implementation takes null for "no metadata".
    if (place_ == Place::Header && is_metadata_) return true;
    return scalar("null");
  }
  bool boolean(bool) { return scalar("a boolean"); }
  bool number_integer(int64_t) { return scalar("a negative number"); }
  bool number_float(double, const std::string&) { return scalar("a number that is no integer below 2^64"); }
  bool binary(std::vector<uint8_t>&) { return scalar("binary data"); }

  bool number_unsigned(uint64_t value) {
    if (place_ == Place::Shape) {
      if (value > uint64_t{INT64_MAX}) refuse_entry("shape has a size of ", value, ", more than 2^63 - 1");
      entry_.shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (place_ == Place::Offsets) {
      if (offsets_ == 2) refuse_entry("data_offsets has more than two numbers");
      (offsets_++ == 0 ? entry_.begin : entry_.end) = static_cast<size_t>(value);
      return true;
    }
    return scalar("a number");
  }

  bool string(std::string& value) {
    if (place_ == Place::Metadata) {
      if (!header_.metadata.emplace(std::move(key_), std::move(value)).second) refuse("a metadata key appears twice");
      return true;
    }
    if (place_ == Place::Entry && field_ == Field::Dtype) {
      if (!safetensors_item_size(value)) refuse_entry("unknown dtype ", shown(value));
      entry_.dtype = std::move(value);
      return true;
    }
    return scalar("a string");
  }

  bool key(std::string& name) {
    switch (place_) {
      case Place::Header: begin_member(name); break;
      case Place::Metadata: key_ = std::move(name); break;
      case Place::Entry: begin_field(name); break;
      default: break;  // inside a skipped value
    }
    return true;
  }

  bool start_object(size_t) {
    if (place_ == Place::Outside) {
      place_ = Place::Header;
    } else if (place_ == Place::Header) {
      place_ = is_metadata_ ? Place::Metadata : Place::Entry;
    } else {
      skip_deeper("an object");
    }
    return true;
  }

  bool end_object() {
    if (place_ == Place::Entry) {
      end_entry();
      place_ = Place::Header;
    } else if (place_ == Place::Metadata) {
      place_ = Place::Header;
    } else if (place_ == Place::Skipped) {
      leave_skipped();
    }
    return true;
  }

  bool start_array(size_t) {
    if (place_ == Place::Entry && field_ == Field::Shape) {
      place_ = Place::Shape;
    } else if (place_ == Place::Entry && field_ == Field::Offsets) {
      place_ = Place::Offsets;
    } else {
      skip_deeper("an array");
    }
    return true;
  }

  bool end_array() {
    if (place_ == Place::Offsets && offsets_ != 2) refuse_entry("data_offsets has ", offsets_, " numbers, not two");
    if (place_ == Place::Skipped) {
      leave_skipped();
    } else {
      place_ = Place::Entry;
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    refuse("the header is no valid JSON at offset ", kSizeBytes + position);
  }

 private:
  enum class Place { Outside, Header, Metadata, Entry, Shape, Offsets, Skipped };
  enum class Field : unsigned { Dtype = 1, Shape = 2, Offsets = 4, Other = 0 };
  static constexpr unsigned kAllFields = 7;

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    refuse_file(file_, parts...);
  }

  template <class... Parts>
  [[noreturn]] void refuse_entry(const Parts&... parts) const {
    refuse("tensor ", shown(entry_.name), ": ", parts...);
  }

  /// A value that nothing needs: fine below an unknown key, as the reference implementation has it, and nowhere else.
  bool scalar(const char* what) const {
    if (place_ == Place::Skipped || (place_ == Place::Entry && field_ == Field::Other)) return true;
    refuse_value(what);
  }

  [[noreturn]] void refuse_value(const char* what) const {
    if (place_ == Place::Outside) refuse("the header is ", what, ", not an object");
    if (place_ == Place::Metadata || is_metadata_) refuse("the metadata holds ", what, " where text should be");
    if (place_ == Place::Header) refuse_entry("it is ", what, ", not an object");
    if (place_ == Place::Shape || field_ == Field::Shape) refuse_entry("shape holds ", what);
    if (place_ == Place::Offsets || field_ == Field::Offsets) refuse_entry("data_offsets holds ", what);
    refuse_entry("dtype is ", what);
  }

  void skip_deeper(const char* what) {
    scalar(what);
    if (++skipped_depth_ > kMaxDepth) refuse("the header is nested more than ", kMaxDepth, " levels deep");
    place_ = Place::Skipped;
  }

  void leave_skipped() {
    if (--skipped_depth_ == 0) place_ = Place::Entry;
  }

  void begin_member(std::string& name) {
    is_metadata_ = name == "__metadata__";
    if (is_metadata_ && std::exchange(metadata_seen_, true)) refuse("the header has '__metadata__' twice");
    entry_ = SafetensorsEntry{};
    entry_.name = std::move(name);
    fields_ = 0;
    offsets_ = 0;
  }

  void begin_field(const std::string& name) {
    field_ = name == "dtype" ? Field::Dtype : name == "shape" ? Field::Shape : name == "data_offsets" ? Field::Offsets : Field::Other;
    const auto bit = static_cast<unsigned>(field_);
    if ((fields_ & bit) != 0) refuse_entry(name, " is given twice");
    fields_ |= bit;
  }

  void end_entry() {
    if (fields_ != kAllFields) refuse_entry("its dtype, shape or data_offsets is missing");
    header_.entries.push_back(std::move(entry_));
  }

  const std::string& file_;
  SafetensorsHeader& header_;
  Place place_ = Place::Outside;
  Field field_ = Field::Other;
  SafetensorsEntry entry_;
  std::string key_;
  bool is_metadata_ = false, metadata_seen_ = false;
  unsigned fields_ = 0;
  int offsets_ = 0;
  int skipped_depth_ = 0;
};

/// Checks that the range is as long as shape and dtype say.
void check_size(const SafetensorsEntry& entry, const std::string& file) {
  constexpr auto kLimit = uint64_t{INT64_MAX};
  if (entry.begin > entry.end)
    refuse_file(file, "tensor ", shown(entry.name), " ends at ", entry.end, ", before its start at ", entry.begin);
  uint64_t size = *safetensors_item_size(entry.dtype);
  bool empty = false;
  // Sizes of zero are left out of the product, so that whoever computes strides from the shape can't overflow either.
  for (int64_t length : entry.shape) {
    const auto count = static_cast<uint64_t>(length);
    if (count != 0 && size > kLimit / count) refuse_file(file, "the size of tensor ", shown(entry.name), " overflows");
    if (count != 0) size *= count;
    empty |= count == 0;
  }
  if (empty) size = 0;
  if (entry.end - entry.begin != size)
    refuse_file(file, "tensor ", shown(entry.name), " needs ", size, " bytes, offsets give ", entry.end - entry.begin);
}

void check_names(SafetensorsHeader& header, const std::string& file) {
  const auto& entries = header.entries;
  auto name_of = [&](size_t index) -> const std::string& { return entries[index].name; };
  header.by_name.resize(entries.size());
  std::iota(header.by_name.begin(), header.by_name.end(), size_t{0});
  std::ranges::sort(header.by_name, {}, name_of);
  auto twin = std::ranges::adjacent_find(header.by_name, {}, name_of);
  if (twin != header.by_name.end()) refuse_file(file, "duplicate name ", shown(name_of(*twin)));
}

/// Checks that the tensors, in the order of their ranges, cover the data exactly once.
void check_cover(const std::vector<SafetensorsEntry>& entries, size_t data_size, const std::string& file) {
  size_t covered = 0;
  const SafetensorsEntry* previous = nullptr;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin < covered)
      refuse_file(file, "overlapping ranges: tensor ", shown(entry.name), " starts at ", entry.begin, ", tensor ", shown(previous->name),
                  " ends at ", covered);
    if (entry.begin > covered) refuse_file(file, entry.begin - covered, " bytes before tensor ", shown(entry.name), " belong to no tensor");
    covered = entry.end;
    previous = &entry;
  }
  if (covered < data_size) refuse_file(file, data_size - covered, " bytes after the last tensor belong to none");
  if (covered == data_size) return;
  auto cut = std::ranges::find_if(entries, [&](const SafetensorsEntry& entry) { return entry.end > data_size; });
  refuse_truncated(file, "tensor ", shown(cut->name), " ends at byte ", cut->end, " of the data, which has ", data_size, "; ",
                   covered - data_size, " bytes are missing");
}

/// The header's text, after its stated size is found to fit.
std::string_view header_text(Bytes bytes, const std::string& file) {
  if (bytes.size() < kSizeBytes) refuse_truncated(file, bytes.size(), " bytes, and the size of its header alone needs 8");
  uint64_t size = 0;
  for (size_t i = 0; i < kSizeBytes; ++i) size |= uint64_t{bytes[i]} << (8 * i);
  if (size > kMaxHeaderSize) refuse_file(file, "it states a header of ", size, " bytes, the limit is ", kMaxHeaderSize);
  if (size > bytes.size() - kSizeBytes) refuse_truncated(file, "its header of ", size, " bytes lacks ", size - (bytes.size() - kSizeBytes));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kSizeBytes, static_cast<size_t>(size));
  if (!text.starts_with('{')) refuse_file(file, "the header doesn't start with {");
  return text;
}

}  // namespace

SafetensorsHeader parse_safetensors_header(Bytes file, const std::string& name) {
  const std::string_view text = header_text(file, name);
  SafetensorsHeader header;
  header.data_begin = kSizeBytes + text.size();
  HeaderReader reader(name, header);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  for (const SafetensorsEntry& entry : header.entries) check_size(entry, name);
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) { return std::pair(entry.begin, entry.end); });
  check_names(header, name);
  check_cover(header.entries, file.size() - header.data_begin, name);
  return header;
}

}  // namespace whit
