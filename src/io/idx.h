// IDX, the format of the MNIST files: two zero bytes, a type byte, a rank byte, `rank` big-endian 32-bit sizes, then the
// values, big-endian, last axis fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace whit {

/// The type byte.
enum class IdxType : uint8_t { UInt8 = 0x08, Int8 = 0x09, Int16 = 0x0b, Int32 = 0x0c, Float32 = 0x0d, Float64 = 0x0e };

/// Bytes of one value.
size_t item_size(IdxType type);

/// A parsed file. Invariant: bytes.size() is the product of the shape times the item size.
struct IdxArray {
  IdxType type = IdxType::UInt8;
  std::vector<int64_t> shape;
  std::span<const uint8_t> bytes;  ///< big-endian values inside the file's bytes, which must outlive this
};

/// Reads the header and checks that the file holds exactly the values it promises; otherwise UserError(File) with `name`, the
/// file, and the offset.
IdxArray parse_idx(std::span<const uint8_t> file, const std::string& name);

/// The values in this machine's byte order.
std::vector<uint8_t> native_values(const IdxArray& array);

}  // namespace whit
