// Narrow floats as words and as float32: decoding, encoding and rounding, exactly as ir/number.cpp defines them.
#include <bit>
#include <cmath>

#include "rules/decompose_value.h"

namespace whit {

namespace {

struct Narrow {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;

  int drop() const { return 23 - mantissa_bits; }
  int64_t magnitude_mask() const { return (int64_t(1) << (exponent_bits + mantissa_bits)) - 1; }
  int64_t infinity() const { return ((int64_t(1) << exponent_bits) - 1) << mantissa_bits; }
  int64_t not_a_number() const { return has_infinity ? infinity() | (int64_t(1) << (mantissa_bits - 1)) : magnitude_mask(); }
  int64_t beyond() const { return has_infinity ? infinity() : not_a_number(); }
  int sign_shift() const { return 31 - exponent_bits - mantissa_bits; }
  /// The least normal number.
  double least_normal() const { return std::ldexp(1.0, 1 - bias); }
  /// Adding this to a number below the least normal one rounds it to the spacing of subnormals.
  double rounder() const { return std::ldexp(1.0, 23 + 1 - bias - mantissa_bits); }
  /// The greatest float32 that rounds to a finite number, of a format with infinity.
  double last_finite() const { return std::nextafter(float(std::ldexp(2.0 - std::ldexp(0.5, -mantissa_bits), bias)), 0.0f); }
  bool wide() const { return exponent_bits == 8; }  // bfloat16 has the exponents of float32
};

Narrow narrow_of(DType type) {
  switch (type) {
    case DType::float8_e4m3: return {4, 3, 7, false};
    case DType::float8_e5m2: return {5, 2, 15, true};
    case DType::float16: return {5, 10, 15, true};
    case DType::bfloat16: return {8, 7, 127, true};
    default: WHIT_ASSERT(false, name(type), " is no narrow float");
  }
  return {};
}

Value value_of(Graph& graph, const Node* node) { return whit::value_of(graph, node, {}); }

/// The word plus `offset`, plus what rounds it to a multiple of 2^drop, ties to even, when the bits below are then dropped.
Value rounded_up(const Value& bits, int drop, int64_t offset = 0) {
  return bits + (((bits >> drop) & 1) + ((int64_t(1) << (drop - 1)) - 1 + offset));
}

}  // namespace

DType word_of(DType narrow) { return item_size(narrow) == 1 ? DType::uint8 : DType::uint16; }

const Node* decode(Graph& graph, const Node* word_node, DType type) {
  const Narrow narrow = narrow_of(type);
  const Value word = cast(value_of(graph, word_node), DType::uint32);
  if (narrow.wide()) return bitcast(word << narrow.drop(), DType::float32).node;
  const Value magnitude = word & narrow.magnitude_mask();
  // The fields moved into those of float32 are a float32 whose exponent has the wrong bias; a product mends that, subnormals too.
  const Value moved = bitcast(magnitude << narrow.drop(), DType::float32);
  const Value number = bitcast(moved * std::ldexp(1.0, 127 - narrow.bias), DType::uint32);
  const int64_t special = narrow.has_infinity ? narrow.infinity() : narrow.not_a_number();
  // Infinity keeps its zero mantissa and a NaN its other one.
  const Value exceptional = narrow.has_infinity ? number | 0x7f800000 : number.constant(0x7fc00000);
  const Value unsigned_bits = where(magnitude < special, number, exceptional);
  const Value sign = (word ^ magnitude) << narrow.sign_shift();
  return bitcast(unsigned_bits | sign, DType::float32).node;
}

const Node* encode(Graph& graph, const Node* node, DType type) {
  const Narrow narrow = narrow_of(type);
  const Value value = value_of(graph, node), bits = bitcast(value, DType::uint32);
  if (narrow.wide()) {
    const Value kept = rounded_up(bits, narrow.drop()) >> narrow.drop();
    return cast(where(value != value, narrow.not_a_number(), kept), word_of(type)).node;
  }
  const Value magnitude = bits & 0x7fffffff, sign = (bits ^ magnitude) >> narrow.sign_shift();
  const Value absolute = bitcast(magnitude, DType::float32);
  const Value normal = rounded_up(magnitude, narrow.drop(), (int64_t(narrow.bias) - 127) << 23) >> narrow.drop();
  const Value small = bitcast(absolute + narrow.rounder(), DType::uint32) - std::bit_cast<uint32_t>(float(narrow.rounder()));
  const Value number = where(absolute < narrow.least_normal(), small, where(normal < narrow.beyond(), normal, narrow.beyond()));
  const Value encoded = narrow.has_infinity ? where(value != value, narrow.not_a_number(), number) : number;
  return cast(encoded | sign, word_of(type)).node;
}

const Node* round_to_narrow(Graph& graph, const Node* node, DType type) {
  const Narrow narrow = narrow_of(type);
  const Value value = value_of(graph, node), bits = bitcast(value, DType::uint32);
  if (narrow.wide()) {
    const Value rounded = rounded_up(bits, narrow.drop()) & -(int64_t(1) << narrow.drop());
    return where(value != value, value, bitcast(rounded, DType::float32)).node;
  }
  // Adding and taking off a power of two as many binades above the number as there are digits to drop rounds it. Infinity and NaN stay.
  const Value magnitude = bits & 0x7fffffff, sign = bits ^ magnitude, absolute = bitcast(magnitude, DType::float32);
  const Value above = bitcast((magnitude & 0x7f800000) + (int64_t(narrow.drop()) << 23), DType::float32);
  const Value rounder = where(absolute < narrow.least_normal(), above.constant(narrow.rounder()), above);
  const Value rounded = absolute + rounder - rounder;
  const Value limited =
      narrow.has_infinity ? where(narrow.last_finite() < absolute, INFINITY, rounded) : where(rounded < 480, rounded, NAN);
  return bitcast(bitcast(limited, DType::uint32) | sign, DType::float32).node;
}

}  // namespace whit
