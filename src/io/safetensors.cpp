#include "io/safetensors.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace whit {
namespace {

struct Dtype {
  std::string_view name;
  size_t size;
};

/// In the reference implementation's order, from which a written file takes its layout.
constexpr Dtype kDtypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
                             {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};

/// The row of a dtype; the end where there is none.
const Dtype* find_dtype(std::string_view name) { return std::ranges::find(kDtypes, name, &Dtype::name); }

/// JSON text of a string. The format is UTF-8 throughout, so other bytes can't be stored.
std::string json_text(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::Value, "safetensors: a name or a metadata text is not valid UTF-8");
  }
}

void check_tensor(const SafetensorsTensor& tensor) {
  const Dtype* dtype = find_dtype(tensor.dtype);
  if (dtype == std::end(kDtypes))
    fail(ErrorKind::Value, "safetensors: tensor '", tensor.name, "' has the unknown dtype '", tensor.dtype, "'");
  if (tensor.name == "__metadata__")
    fail(ErrorKind::Value, "safetensors: a tensor can't be named '__metadata__', the format keeps that name");
  constexpr auto kLimit = static_cast<size_t>(std::numeric_limits<int64_t>::max());
  size_t size = dtype->size, product = size;
  for (int64_t length : tensor.shape) {
    if (length < 0) fail(ErrorKind::Value, "safetensors: tensor '", tensor.name, "' has the negative size ", length);
    const auto count = static_cast<size_t>(length);
    // The same bound as when reading, so that whatever is written can be read.
    if (count != 0 && product > kLimit / count) fail(ErrorKind::Value, "safetensors: the size of tensor '", tensor.name, "' overflows");
    if (count != 0) product *= count;
    size *= count;
  }
  if (tensor.bytes.size() != size)
    fail(ErrorKind::Value, "safetensors: tensor '", tensor.name, "' needs ", size, " bytes, ", tensor.bytes.size(), " are given");
}

void sort_and_check(std::vector<SafetensorsTensor>& tensors) {
  for (const SafetensorsTensor& tensor : tensors) check_tensor(tensor);
  std::ranges::sort(tensors, {}, &SafetensorsTensor::name);
  auto twin = std::ranges::adjacent_find(tensors, {}, &SafetensorsTensor::name);
  if (twin != tensors.end()) fail(ErrorKind::Value, "safetensors: duplicate name '", twin->name, "'");
  std::ranges::stable_sort(tensors, std::greater<>(), [](const SafetensorsTensor& tensor) { return find_dtype(tensor.dtype); });
}

std::string header_of(const std::vector<SafetensorsTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  std::string header = "{", separator;
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      header += concat(separator, json_text(key), ":", json_text(value));
      separator = ",";
    }
    header += "}";
  }
  size_t offset = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    std::string shape;
    for (int64_t length : tensor.shape) shape += concat(shape.empty() ? "" : ",", std::to_string(length));
    const size_t end = offset + tensor.bytes.size();
    // to_string, not a stream: a stream may write a user's locale into the numbers.
    header += concat(separator, json_text(tensor.name), ":{\"dtype\":\"", tensor.dtype, "\",\"shape\":[", shape, "],\"data_offsets\":[",
                     std::to_string(offset), ",", std::to_string(end), "]}");
    separator = ",";
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace

std::optional<size_t> safetensors_item_size(std::string_view dtype) {
  const Dtype* row = find_dtype(dtype);
  return row == std::end(kDtypes) ? std::nullopt : std::optional(row->size);
}

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  SafetensorsFile opened;
  opened.file_ = MappedFile::open(path);
  opened.header_ = parse_safetensors_header(opened.file_.bytes(), path);
  return opened;
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  auto name_of = [&](size_t index) -> std::string_view { return header_.entries[index].name; };
  auto at = std::ranges::lower_bound(header_.by_name, name, {}, name_of);
  return at != header_.by_name.end() && name_of(*at) == name ? &header_.entries[*at] : nullptr;
}

Bytes SafetensorsFile::bytes(const SafetensorsEntry& entry) const {
  Bytes data = file_.bytes().subspan(header_.data_begin);
  WHIT_ASSERT(entry.begin <= entry.end && entry.end <= data.size(), "an entry of another file: ", entry.name);
  return data.subspan(entry.begin, entry.end - entry.begin);
}

void write_safetensors(const std::string& path, std::vector<SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  sort_and_check(tensors);
  const std::string header = header_of(tensors, metadata);
  if (header.size() > 100'000'000) fail(ErrorKind::Value, "safetensors: a header of ", header.size(), " bytes is over the format's limit");
  std::string start;
  for (size_t i = 0; i < 8; ++i) start += static_cast<char>(header.size() >> (8 * i) & 0xff);
  start += header;
  std::vector<Bytes> parts{bytes_of(start)};
  for (const SafetensorsTensor& tensor : tensors) parts.push_back(tensor.bytes);
  write_file(path, parts);
}

}  // namespace whit
