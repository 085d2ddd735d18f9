// Numbers as the IR keeps them: 64 bits whose reading depends on the dtype, and the narrow float formats.
#pragma once

#include <bit>
#include <cstdint>
#include <whit/dtype.h>

namespace whit {

/// The bits of one value. Integers are kept sign- or zero-extended to 64 bits, bool as 0 or 1, float64 as its bits, every other float as
/// the bits of the equal float32: equal values of one dtype have equal bits, except that -0.0 and 0.0 differ and NaNs are one.
using Bits = int64_t;

/// Float32 rounded to the nearest value of a narrow format (ties to even) and back.
float round_to(DType type, float value);

/// The storage encoding of a narrow float, and the value an encoding stands for.
uint16_t encode_narrow(DType type, float value);
float decode_narrow(DType type, uint16_t encoding);

Bits bits_of_float(DType type, double value);     ///< rounded to `type`, a float type
Bits bits_of_integer(DType type, int64_t value);  ///< wrapped to `type`, an integer type or bool (then: value != 0)
Bits bits_of_number(DType type, double value);    ///< any type; out of range and NaN as Cast does

/// The bits of a value whose bits were put together by other means: wrapped, and with the one NaN.
Bits canonical(DType type, Bits bits);

/// The value as a double: exact for every type but 64-bit integers beyond 2^53.
double float_of_bits(DType type, Bits bits);

/// The value after Cast from one type to the other.
Bits convert(DType from, DType to, Bits bits);

/// The value whose storage has the same bytes (Bitcast); both types have the same size.
Bits reinterpret(DType from, DType to, Bits bits);

/// One element as it lies in memory.
Bits load_element(DType type, const void* address);
void store_element(DType type, void* address, Bits bits);

}  // namespace whit
