// From a dtype to the C++ type that the interpreter keeps and computes it in.
#pragma once

#include <cstdint>
#include <whit/dtype.h>

namespace whit::interp {

/// Calls `use` with a value of the type.
template <class Use>
auto with_type(DType type, Use use) {
  switch (type) {
    case DType::boolean: return use(bool{});
    case DType::uint8: return use(uint8_t{});
    case DType::int8: return use(int8_t{});
    case DType::int16: return use(int16_t{});
    case DType::uint16: return use(uint16_t{});
    case DType::int32: return use(int32_t{});
    case DType::uint32: return use(uint32_t{});
    case DType::uint64: return use(uint64_t{});
    case DType::float64: return use(double{});
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
    case DType::float8_e4m3:
    case DType::float8_e5m2: return use(float{});
    default: return use(int64_t{});
  }
}

template <class Use>
auto with_size(size_t bytes, Use use) {
  switch (bytes) {
    case 1: return use(uint8_t{});
    case 2: return use(uint16_t{});
    case 4: return use(uint32_t{});
    default: return use(uint64_t{});
  }
}

}  // namespace whit::interp
