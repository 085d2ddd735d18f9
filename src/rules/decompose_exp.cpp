// e^x and 2^x. x = n·ln2 + r with |r| ≤ ln2/2, so e^x = 2^n · p(r).
//
// n comes out of the low bits of x·log2e + 1.5·2^mantissa, which rounds it to an integer; with the exponent's bias added to that constant
// the sum's bits, shifted, are the float 2^n. The scale is applied in two factors: 2^(n-1), then 2 — so that n = bias + 1, the last before
// overflow, has a first factor — or, where the result may be subnormal, 2^(n+63), then 2^-63: only the last product rounds.
#include <cmath>

#include "rules/decompose_value.h"

namespace whit {

namespace {

// Minimax polynomials for the relative error (Remez on |r| ≤ ln2/2, coefficients rounded one by one, lowest first, and the rest fitted
// anew). Error: e^r 2^-28.2 and 2^-56.9, 2^r 2^-27.0 and 2^-55.4.
constexpr double kExp32[] = {1, 1, 0x1.fffffcp-2, 0x1.55548cp-3, 0x1.555858p-5, 0x1.123dep-7, 0x1.6ac74cp-10};
constexpr double kExp64[] = {1,
                             1,
                             0x1.000000000000ap-1,
                             0x1.5555555555547p-3,
                             0x1.5555555550ad6p-5,
                             0x1.111111111c3d6p-7,
                             0x1.6c16c1836154ap-10,
                             0x1.a01a0163e6db2p-13,
                             0x1.a0199c0af6947p-16,
                             0x1.71de8e1f12f92p-19,
                             0x1.28ac09132de01p-22,
                             0x1.aea88bd417189p-26};
constexpr double kExp2_32[] = {1, 0x1.62e432p-1, 0x1.ebfbe6p-3, 0x1.c6ada8p-5, 0x1.3b21c8p-7, 0x1.5fbfeap-10, 0x1.4c14aap-13};
constexpr double kExp2_64[] = {1,
                               0x1.62e42fefa39f3p-1,
                               0x1.ebfbdff82c599p-3,
                               0x1.c6b08d7048dc6p-5,
                               0x1.3b2ab6fba1af8p-7,
                               0x1.5d87fe7bf7478p-10,
                               0x1.4309130a33d43p-13,
                               0x1.ffcbed3f5c38ap-17,
                               0x1.62bfd21d9994ap-20,
                               0x1.b54336c0b1c77p-24,
                               0x1.e60af919a5953p-28,
                               0x1.bdfcc72dac957p-32};

struct Exponential {
  double low, high;          // beyond these the result is 0 or infinite
  double small;              // below this it may be subnormal
  double log2e;              // 1 for base 2
  double ln2_high, ln2_low;  // ln2_high·n is exact
  std::span<const double> coefficients;
};
constexpr double kLog2e = 0x1.71547652b82fep+0;
constexpr Exponential kBaseE32 = {-104, 89, -86, kLog2e, 0x1.62e4p-1, 0x1.7f7d1cp-20, kExp32};
constexpr Exponential kBaseE64 = {-746, 710, -706, kLog2e, 0x1.62e42fefap-1, 0x1.cf79abc9e3b3ap-40, kExp64};
constexpr Exponential kBase2_32 = {-151, 128, -124, 1, 1, 0, kExp2_32};
constexpr Exponential kBase2_64 = {-1076, 1024, -1020, 1, 1, 0, kExp2_64};

constexpr int kSmallShift = 64;

const Node* lower_exponential(const Value& argument, const Exponential& e) {
  const FloatFormat& format = format_of(argument);
  const Value x = clamp(argument, e.low, e.high);
  const Value small = x < e.small;
  const double rounder = std::ldexp(1.5, format.mantissa_bits) + format.bias - 1;
  const Value base = where(small, x.constant(rounder + kSmallShift), rounder);
  const bool base_two = e.log2e == 1;
  const Value shifted = base_two ? x + base : multiply_add(x, e.log2e, base);
  const Value n = shifted - base;
  const Value r = base_two ? x - n : multiply_add(n, -e.ln2_low, multiply_add(n, -e.ln2_high, x));
  const Value scale = bitcast(bitcast(shifted, format.word) << format.mantissa_bits, format.type);
  const Value rest = where(small, x.constant(std::ldexp(1.0, 1 - kSmallShift)), 2);
  return (polynomial(r, e.coefficients) * scale * rest).node;
}

}  // namespace

const Node* lower_exp(Graph& graph, const Node* x, const Lowering& lowering) {
  return lower_exponential(value_of(graph, x, lowering), x->dtype == DType::float32 ? kBaseE32 : kBaseE64);
}

const Node* lower_exp2(Graph& graph, const Node* x, const Lowering& lowering) {
  return lower_exponential(value_of(graph, x, lowering), x->dtype == DType::float32 ? kBase2_32 : kBase2_64);
}

}  // namespace whit
