// Element types, their sizes and names, and the promotion lattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace whit {

/// The type of one element. `index` is the compiler's own integer for loop counters and addresses: it never overflows (intervals
/// prove it) and takes a machine width last; no tensor has it.
enum class DType : uint8_t {
  none,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float8_e4m3,
  float8_e5m2,
  float16,
  bfloat16,
  float32,
  float64,
  index,
};

inline constexpr size_t kDTypeCount = size_t(DType::index) + 1;

/// One row per type: name, bytes, and what kind of number it is.
struct DTypeInfo {
  std::string_view name;
  uint8_t size;
  bool is_float, is_signed, is_integer;
};

inline constexpr DTypeInfo kDTypes[kDTypeCount] = {
    {"none", 0, false, false, false},  {"bool", 1, false, false, false},      {"int8", 1, false, true, true},
    {"uint8", 1, false, false, true},  {"int16", 2, false, true, true},       {"uint16", 2, false, false, true},
    {"int32", 4, false, true, true},   {"uint32", 4, false, false, true},     {"int64", 8, false, true, true},
    {"uint64", 8, false, false, true}, {"float8_e4m3", 1, true, true, false}, {"float8_e5m2", 1, true, true, false},
    {"float16", 2, true, true, false}, {"bfloat16", 2, true, true, false},    {"float32", 4, true, true, false},
    {"float64", 8, true, true, false}, {"index", 8, false, true, true},
};

constexpr const DTypeInfo& info(DType type) { return kDTypes[size_t(type)]; }
constexpr std::string_view name(DType type) { return info(type).name; }
constexpr size_t item_size(DType type) { return info(type).size; }
constexpr bool is_float(DType type) { return info(type).is_float; }
constexpr bool is_integer(DType type) { return info(type).is_integer; }  ///< false for bool
constexpr bool is_signed(DType type) { return info(type).is_signed; }
constexpr bool is_narrow_float(DType type) { return is_float(type) && item_size(type) < 4; }
constexpr unsigned bit_width(DType type) { return type == DType::boolean ? 1 : unsigned(item_size(type)) * 8; }

/// The least type that both convert to: bool < (u)int8 < … < (u)int64 < fp8 < {float16, bfloat16} < float32 < float64. Mixed signs go
/// to the next wider signed type; int64 with uint64, like two different fp8 or 16-bit floats, goes to the next float type.
DType promote(DType a, DType b);
/// The same for several, in whatever order they stand. Folding `promote` over them would depend on the order, because some pairs
/// (int64 and uint64; two different fp8 or 16-bit floats) go further up than a third type beside them asks for.
DType promote(std::span<const DType> types);

/// The type a sum of `type` is accumulated and returned in: bool and small signed integers in int32, small unsigned ones in uint32;
/// floats keep their type (16-bit ones are accumulated in float32 and rounded once).
DType sum_type(DType type);

/// The type with this name (as in kDTypes), or DType::none.
DType dtype_of_name(std::string_view name);

}  // namespace whit
