// A small random generator for examples and fuzzing: the same numbers on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace whit {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ull;
    uint64_t value = (state_ ^ (state_ >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
  }
  /// A number from low to high, both included.
  int64_t between(int64_t low, int64_t high) { return low + int64_t(next() % (uint64_t(high - low) + 1)); }
  bool coin() { return next() >> 63; }
  template <class List>
  auto& pick(const List& list) {
    return list[size_t(next() % list.size())];
  }
  template <class T, size_t N>
  const T& pick(const T (&list)[N]) {
    return list[size_t(next() % N)];
  }

 private:
  uint64_t state_;
};

}  // namespace whit
