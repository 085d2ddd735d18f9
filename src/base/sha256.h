// SHA-256 (FIPS 180-4), for recognising files by content. Not hardened against side channels: nothing secret passes here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace whit {

class Sha256 {
 public:
  void update(std::span<const uint8_t> bytes);

  /// The digest of all bytes given. Call it once; the object is spent afterwards.
  std::array<uint8_t, 32> finish();

 private:
  static constexpr size_t kBlock = 64;

  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, kBlock> pending_{};
  size_t pending_size_ = 0;
  uint64_t total_ = 0;
};

/// The digest as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const uint8_t> bytes);

}  // namespace whit
