// Damaged copies of a small file, for readers that must refuse or read anything but never crash. Each copy lies in memory of
// exactly its size, so that the address sanitizer sees a read one byte past the end.
#pragma once

#include <gtest/gtest.h>
#include <whit/error.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace whit::test {

template <class Reader>
void read_exact_copy(std::span<const uint8_t> bytes, const Reader& read) {
  auto copy = std::make_unique<uint8_t[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  read(std::span<const uint8_t>(copy.get(), bytes.size()));
}

/// Every shorter file must be refused as the user's error.
template <class Reader>
void expect_every_truncation_refused(const std::vector<uint8_t>& file, const Reader& read) {
  for (size_t size = 0; size < file.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_THROW(read_exact_copy(std::span(file).first(size), read), UserError);
  }
}

/// One random change: bytes flipped or set to values that are often special, a piece cut out, doubled or appended.
inline std::vector<uint8_t> mutated(std::vector<uint8_t> bytes, std::mt19937& random) {
  static constexpr uint8_t kSpecial[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '[', ',', '9', '-', '\\'};
  const auto below = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(5)) {
      case 0: bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1u << below(8))); break;
      case 1: bytes[at] = kSpecial[below(std::size(kSpecial))]; break;
      case 2: bytes[at] = static_cast<uint8_t>(below(256)); break;
      case 3: bytes.erase(place, place + static_cast<std::ptrdiff_t>(1 + below(std::min<size_t>(8, bytes.size() - at)))); break;
      default: {
        const std::vector<uint8_t> piece(place, place + static_cast<std::ptrdiff_t>(1 + below(std::min<size_t>(8, bytes.size() - at))));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1)), piece.begin(), piece.end());
      }
    }
  }
  return bytes;
}

/// The reader may accept a changed file or refuse it with a UserError; anything else is a failure.
template <class Reader>
void expect_mutations_survived(const std::vector<uint8_t>& file, int count, const Reader& read) {
  std::mt19937 random(20240607);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    try {
      read_exact_copy(mutated(file, random), read);
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, count / 4);  // the changes really reach what is checked
}

}  // namespace whit::test
