#include "ir/number.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace whit {

namespace {

// The shape of a narrow float format; `saturates` says that it has no infinity.
struct Format {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;
};

constexpr Format format_of(DType type) {
  switch (type) {
    case DType::float8_e4m3: return {4, 3, 7, false};
    case DType::float8_e5m2: return {5, 2, 15, true};
    case DType::float16: return {5, 10, 15, true};
    default: return {8, 7, 127, true};  // bfloat16
  }
}

template <class T>
T saturate(double value) {
  if (value != value) return 0;
  constexpr double low = double(std::numeric_limits<T>::min());
  constexpr double beyond = std::numeric_limits<T>::is_signed ? -low : 2.0 * (double(std::numeric_limits<T>::max() / 2) + 1.0);
  if (value <= low) return std::numeric_limits<T>::min();
  if (value >= beyond) return std::numeric_limits<T>::max();
  return T(value);
}

Bits float_to_integer(DType type, double value) {
  switch (type) {
    case DType::int8: return saturate<int8_t>(value);
    case DType::uint8: return saturate<uint8_t>(value);
    case DType::int16: return saturate<int16_t>(value);
    case DType::uint16: return saturate<uint16_t>(value);
    case DType::int32: return saturate<int32_t>(value);
    case DType::uint32: return saturate<uint32_t>(value);
    case DType::uint64: return Bits(saturate<uint64_t>(value));
    default: return saturate<int64_t>(value);
  }
}

}  // namespace

uint16_t encode_narrow(DType type, float value) {
  const Format format = format_of(type);
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 31) << (format.exponent_bits + format.mantissa_bits);
  const uint32_t top = (1u << format.exponent_bits) - 1;
  const uint32_t infinity = top << format.mantissa_bits;
  const uint32_t not_a_number =
      format.has_infinity ? infinity | (1u << (format.mantissa_bits - 1)) : infinity | ((1u << format.mantissa_bits) - 1);
  const uint32_t beyond = format.has_infinity ? infinity : not_a_number;
  if (value != value) return uint16_t(sign | not_a_number);
  const int exponent = int((bits >> 23) & 255);
  if (exponent == 255) return uint16_t(sign | beyond);
  // The significand as an integer with 23 fraction bits; subnormals of float32 have no hidden bit.
  uint64_t significand = (bits & 0x7fffff) | (exponent ? 0x800000u : 0u);
  int target = (exponent ? exponent : 1) - 127 + format.bias;
  int drop = 23 - format.mantissa_bits;
  if (target < 1) {
    drop += 1 - target;
    target = 1;
  }
  if (drop > 40) return uint16_t(sign);
  const uint64_t half = drop > 0 ? uint64_t(1) << (drop - 1) : 0;
  uint64_t kept = significand >> drop;
  const uint64_t rest = significand & ((uint64_t(1) << drop) - 1);
  if (rest > half || (rest == half && half && (kept & 1))) ++kept;
  // A carry out of the significand moves into the exponent by plain addition.
  uint64_t encoded = kept >= (uint64_t(1) << format.mantissa_bits) ? (uint64_t(target - 1) << format.mantissa_bits) + kept : kept;
  if (encoded >= (format.has_infinity ? infinity : not_a_number)) encoded = beyond;
  return uint16_t(sign | encoded);
}

float decode_narrow(DType type, uint16_t encoding) {
  const Format format = format_of(type);
  const int total = format.exponent_bits + format.mantissa_bits;
  const float sign = (encoding >> total) & 1 ? -1.0f : 1.0f;
  const int exponent = (encoding >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const int mantissa = encoding & ((1 << format.mantissa_bits) - 1);
  const bool top = exponent == (1 << format.exponent_bits) - 1;
  if (top && format.has_infinity) return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  if (top && mantissa == (1 << format.mantissa_bits) - 1) return std::numeric_limits<float>::quiet_NaN();
  const int hidden = exponent ? 1 << format.mantissa_bits : 0;
  return sign * std::ldexp(float(hidden + mantissa), (exponent ? exponent : 1) - format.bias - format.mantissa_bits);
}

float round_to(DType type, float value) { return is_narrow_float(type) ? decode_narrow(type, encode_narrow(type, value)) : value; }

Bits bits_of_float(DType type, double value) {
  if (type == DType::float64)
    return value != value ? std::bit_cast<Bits>(std::numeric_limits<double>::quiet_NaN()) : std::bit_cast<Bits>(value);
  float narrow = round_to(type, float(value));
  if (narrow != narrow) narrow = std::numeric_limits<float>::quiet_NaN();
  return Bits(std::bit_cast<uint32_t>(narrow));
}

Bits bits_of_integer(DType type, int64_t value) {
  switch (type) {
    case DType::boolean: return value != 0;
    case DType::int8: return int8_t(value);
    case DType::uint8: return uint8_t(value);
    case DType::int16: return int16_t(value);
    case DType::uint16: return uint16_t(value);
    case DType::int32: return int32_t(value);
    case DType::uint32: return uint32_t(value);
    default: return value;
  }
}

Bits canonical(DType type, Bits bits) {
  return is_float(type) ? bits_of_float(type, float_of_bits(type, bits)) : bits_of_integer(type, bits);
}

Bits bits_of_number(DType type, double value) {
  if (is_float(type)) return bits_of_float(type, value);
  return type == DType::boolean ? value != 0 : float_to_integer(type, value);
}

double float_of_bits(DType type, Bits bits) {
  if (type == DType::float64) return std::bit_cast<double>(bits);
  if (is_float(type)) return std::bit_cast<float>(uint32_t(bits));
  return type == DType::uint64 ? double(uint64_t(bits)) : double(bits);
}

Bits convert(DType from, DType to, Bits bits) {
  if (from == to) return bits;
  if (is_float(from)) return bits_of_number(to, float_of_bits(from, bits));
  if (!is_float(to)) return bits_of_integer(to, bits);
  if (to == DType::float64) return bits_of_float(to, float_of_bits(from, bits));
  // One rounding from the integer to float32, then one to the narrow format, as the backends do.
  const float single = from == DType::uint64 ? float(uint64_t(bits)) : float(bits);
  return bits_of_float(to, single);
}

Bits load_element(DType type, const void* address) {
  const auto read = [address]<class T>(T) {
    T value;
    std::memcpy(&value, address, sizeof value);
    return value;
  };
  switch (type) {
    case DType::boolean: return read(uint8_t{}) != 0;
    case DType::int8: return read(int8_t{});
    case DType::uint8: return read(uint8_t{});
    case DType::int16: return read(int16_t{});
    case DType::uint16: return read(uint16_t{});
    case DType::int32: return read(int32_t{});
    case DType::uint32: return read(uint32_t{});
    case DType::float8_e4m3:
    case DType::float8_e5m2: return bits_of_float(type, decode_narrow(type, read(uint8_t{})));
    case DType::float16:
    case DType::bfloat16: return bits_of_float(type, decode_narrow(type, read(uint16_t{})));
    case DType::float32: return bits_of_float(type, read(float{}));
    case DType::float64: return bits_of_float(type, read(double{}));
    default: return read(int64_t{});
  }
}

void store_element(DType type, void* address, Bits bits) {
  if (is_narrow_float(type)) bits = encode_narrow(type, std::bit_cast<float>(uint32_t(bits)));
  std::memcpy(address, &bits, item_size(type));  // little endian: the low bytes are the element
}

Bits reinterpret(DType from, DType to, Bits bits) {
  int64_t memory = 0;
  store_element(from, &memory, bits);
  return load_element(to, &memory);
}

}  // namespace whit
