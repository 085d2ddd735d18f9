// Reads a 64-bit little-endian ELF relocatable object. Every offset, count and name in it is checked against the bytes given,
// because an object may come from a file that somebody cut short: what can't be read is a BackendError, never a wild read.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace whit {

enum class Machine : uint16_t { X86 = 62, Arm = 183 };

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t size = 0;
  uint64_t alignment = 1;         // a power of two
  std::span<const uint8_t> data;  // empty for a section that holds only zeros
  uint32_t link = 0;
  uint32_t info = 0;

  static constexpr uint32_t kSymbolTable = 2, kRela = 4, kZeros = 8, kRel = 9;
  static constexpr uint32_t kInitializers = 14, kFinalizers = 15, kPreinitializers = 16;
  static constexpr uint64_t kWrite = 1, kAllocate = 2, kExecute = 4, kThreadLocal = 0x400, kCompressed = 0x800;
};

struct ElfSymbol {
  std::string_view name;
  uint16_t section = 0;
  uint64_t value = 0;
  bool global = false;

  static constexpr uint16_t kUndefined = 0, kFirstReserved = 0xff00, kAbsolute = 0xfff1;
};

struct ElfRelocation {
  uint64_t offset = 0;
  uint32_t type = 0;
  uint32_t symbol = 0;  // less than the number of symbols
  int64_t addend = 0;
};

/// The views point into the bytes it was made from, which must outlive it.
class ElfObject {
 public:
  explicit ElfObject(std::span<const uint8_t> bytes);

  Machine machine() const { return machine_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }

  /// What a section of type kRela holds.
  std::vector<ElfRelocation> relocations(const ElfSection& section) const;

 private:
  std::span<const uint8_t> slice(uint64_t offset, uint64_t size) const;
  void read_sections(uint64_t table, uint16_t count, uint16_t names);
  void read_symbols();

  std::span<const uint8_t> bytes_;
  Machine machine_ = Machine::X86;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
  uint32_t symbol_table_ = 0;
};

}  // namespace whit
