// Mixing of words into a hash.
#pragma once

#include <cstdint>

namespace whit {

/// Folds a word into a hash: multiply and rotate-xor, so that near values end far apart.
constexpr uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

}  // namespace whit
