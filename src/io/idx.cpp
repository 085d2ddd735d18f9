#include "io/idx.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace whit {
namespace {

constexpr size_t kMagicSize = 4;

bool is_known(uint8_t type) { return type == 0x08 || type == 0x09 || (type >= 0x0b && type <= 0x0e); }

/// Needs four bytes at `bytes`.
uint32_t load_big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

/// Reads the sizes, checking that the number of bytes they make can be counted at all; returns that number.
size_t read_shape(std::span<const uint8_t> file, const std::string& name, size_t rank, IdxArray& array) {
  size_t size = item_size(array.type);
  // Zero sizes are left out of the product, so that what follows can multiply any of them without overflow.
  size_t product = size;
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t offset = kMagicSize + 4 * axis;
    const uint32_t length = load_big_endian(file.data() + offset);
    if (length != 0 && product > size_t{INT64_MAX} / length)
      fail(ErrorKind::File, "IDX file '", name, "': size ", length, " of axis ", axis, " at offset ", offset, " makes the array too large");
    if (length != 0) product *= length;
    size *= length;
    array.shape.push_back(length);
  }
  return size;
}

}  // namespace

size_t item_size(IdxType type) {
  switch (type) {
    case IdxType::UInt8:
    case IdxType::Int8: return 1;
    case IdxType::Int16: return 2;
    case IdxType::Int32:
    case IdxType::Float32: return 4;
    case IdxType::Float64: return 8;
  }
  fail(ErrorKind::Value, "no IDX type has the number ", static_cast<int>(type));
}

IdxArray parse_idx(std::span<const uint8_t> file, const std::string& name) {
  if (file.size() < kMagicSize)
    fail(ErrorKind::File, "IDX file '", name, "' is truncated: ", file.size(), " bytes, and its header alone needs ", kMagicSize);
  if (file[0] != 0 || file[1] != 0) fail(ErrorKind::File, "'", name, "' is no IDX file: bytes 0 and 1 are not zero");
  if (!is_known(file[2])) fail(ErrorKind::File, "IDX file '", name, "': unknown type ", int{file[2]}, " at offset 2");
  IdxArray array;
  array.type = static_cast<IdxType>(file[2]);
  const size_t rank = file[3], begin = kMagicSize + 4 * rank;
  if (file.size() < begin)
    fail(ErrorKind::File, "IDX file '", name, "' is truncated at offset ", file.size(), ": the sizes of ", rank, " axes end at ", begin);
  const size_t size = read_shape(file, name, rank, array);
  const size_t present = file.size() - begin;
  if (present < size)
    fail(ErrorKind::File, "IDX file '", name, "' is truncated at offset ", file.size(), ": ", size, " bytes of values from offset ", begin,
         " on are promised, ", size - present, " are missing");
  if (present > size)
    fail(ErrorKind::File, "IDX file '", name, "': ", present - size, " bytes at offset ", begin + size, " follow the last value");
  array.bytes = file.subspan(begin);
  return array;
}

std::vector<uint8_t> native_values(const IdxArray& array) {
  std::vector<uint8_t> values(array.bytes.begin(), array.bytes.end());
  const auto size = static_cast<std::ptrdiff_t>(item_size(array.type));
  if (std::endian::native == std::endian::little && size > 1)
    for (auto at = values.begin(); at != values.end(); at += size) std::reverse(at, at + size);
  return values;
}

}  // namespace whit
