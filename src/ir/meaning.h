// The functions that the `meaning` column of ops.def is written in, over any arithmetic type.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace whit::meaning {

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

// Integer arithmetic goes through the unsigned type, where wrapping is defined; `promoted` avoids the trap of uint16 * uint16 in int.
template <class T>
using Wide = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), int32_t, T>>;

template <class T>
T none(T) {
  return T{};
}
template <class T>
T add(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a + b;
  else
    return T(Wide<T>(a) + Wide<T>(b));
}
template <class T>
T multiply(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a * b;
  else
    return T(Wide<T>(a) * Wide<T>(b));
}
template <class T>
T negate(T a) {
  if constexpr (kIsFloat<T>)
    return -a;
  else
    return T(Wide<T>(0) - Wide<T>(a));
}
template <class T>
T quotient(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return negate(a);
    return T(a / b);
  }
}
template <class T>
T remainder(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return T(a % b);
  }
}
template <class T>
T maximum(T a, T b) {
  if constexpr (kIsFloat<T>)
    if (a != a) return a;
  return a > b || b != b ? (b != b ? b : a) : b;
}
template <class T>
T minimum(T a, T b) {
  if constexpr (kIsFloat<T>)
    if (a != a) return a;
  return a < b || b != b ? (b != b ? b : a) : b;
}
template <class T>
T bit_and(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else
    return T(a & b);
}
template <class T>
T bit_or(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else
    return T(a | b);
}
template <class T>
T bit_xor(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else
    return T(a ^ b);
}
template <class T>
bool within_width(T count) {
  return count >= T(0) && uint64_t(count) < uint64_t(std::numeric_limits<T>::digits + std::is_signed_v<T>);
}
template <class T>
T shift_left(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else
    return within_width(b) ? T(Wide<T>(a) << b) : T(0);
}
template <class T>
T shift_right(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else
    return within_width(b) ? T(a >> b) : (std::is_signed_v<T> && a < T(0) ? T(-1) : T(0));
}
template <class T>
T square_root(T a) {
  if constexpr (kIsFloat<T>)
    return std::sqrt(a);
  else
    return T{};
}
template <class T>
T truncate(T a) {
  if constexpr (kIsFloat<T>)
    return std::trunc(a);
  else
    return a;
}
template <class T>
T exp(T a) {
  return T(std::exp(a));
}
template <class T>
T exp2(T a) {
  return T(std::exp2(a));
}
template <class T>
T log(T a) {
  return T(std::log(a));
}
template <class T>
T log2(T a) {
  return T(std::log2(a));
}
template <class T>
T sin(T a) {
  return T(std::sin(a));
}
template <class T>
T cos(T a) {
  return T(std::cos(a));
}
template <class T>
T power(T a, T b) {
  return T(std::pow(a, b));
}
template <class T>
T fused(T a, T b, T c) {
  if constexpr (kIsFloat<T>)
    return std::fma(a, b, c);
  else
    return add(multiply(a, b), c);
}

/// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11). Counter and key are
/// each two 32-bit words, the low word first.
inline uint64_t threefry2x32(uint64_t counter, uint64_t key) {
  constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {uint32_t(key), uint32_t(key >> 32), uint32_t(key) ^ uint32_t(key >> 32) ^ 0x1BD11BDAu};
  uint32_t x0 = uint32_t(counter) + keys[0], x1 = uint32_t(counter >> 32) + keys[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (const unsigned rotation : rotations[group % 2]) {
      x0 += x1;
      x1 = (x1 << rotation) | (x1 >> (32 - rotation));
      x1 ^= x0;
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + group + 1;
  }
  return uint64_t(x1) << 32 | x0;
}
template <class T>
T threefry(T a, T b) {
  if constexpr (kIsFloat<T>)
    return T{};
  else
    return T(threefry2x32(uint64_t(a), uint64_t(b)));
}

}  // namespace whit::meaning
