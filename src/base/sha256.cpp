#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace whit {
namespace {

constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t load_big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

}  // namespace

void Sha256::compress(const uint8_t* block) {
  uint32_t words[64];
  for (int i = 0; i < 16; ++i) words[i] = load_big_endian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    uint32_t low = words[i - 15], high = words[i - 2];
    uint32_t sigma0 = std::rotr(low, 7) ^ std::rotr(low, 18) ^ (low >> 3);
    uint32_t sigma1 = std::rotr(high, 17) ^ std::rotr(high, 19) ^ (high >> 10);
    words[i] = words[i - 16] + sigma0 + words[i - 7] + sigma1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;  // the standard's own names
  for (int i = 0; i < 64; ++i) {
    uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + words[i];
    uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[static_cast<size_t>(i)] += added[i];
}

void Sha256::update(std::span<const uint8_t> bytes) {
  total_ += bytes.size();
  if (pending_size_ > 0) {
    size_t taken = std::min(bytes.size(), kBlock - pending_size_);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<ptrdiff_t>(pending_size_));
    pending_size_ += taken;
    bytes = bytes.subspan(taken);
    if (pending_size_ < kBlock) return;
    compress(pending_.data());
    pending_size_ = 0;
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) compress(bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
  pending_size_ = bytes.size();
}

std::array<uint8_t, 32> Sha256::finish() {
  const uint64_t bits = total_ * 8;
  // The end mark 0x80, zeros, and the length in bits as the last eight bytes of a block.
  uint8_t padding[kBlock + 8] = {0x80};
  size_t zeros_end = (pending_size_ < 56 ? 56 : 120) - pending_size_;
  for (size_t i = 0; i < 8; ++i) padding[zeros_end + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  update({padding, zeros_end + 8});
  std::array<uint8_t, 32> digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string sha256_hex(std::span<const uint8_t> bytes) {
  Sha256 hash;
  hash.update(bytes);
  std::string text;
  for (uint8_t byte : hash.finish()) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace whit
