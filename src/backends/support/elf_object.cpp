#include "backends/support/elf_object.h"

#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace whit {
namespace {

// The records as the file holds them. A host that runs this code is little-endian too, so they are copied as they stand.
struct FileHeader {
  uint8_t identity[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, program_headers, section_headers;
  uint32_t flags;
  uint16_t header_size, program_header_size, program_header_count, section_header_size, section_count, names_section;
};
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entry_size;
};
struct SymbolRecord {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
};
struct RelaRecord {
  uint64_t offset, info;
  int64_t addend;
};
static_assert(sizeof(FileHeader) == 64 && sizeof(SectionHeader) == 64 && sizeof(SymbolRecord) == 24 && sizeof(RelaRecord) == 24);

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw BackendError(concat("not a usable ELF object: ", parts...));
}

template <class Record>
Record record_at(std::span<const uint8_t> bytes, size_t index) {
  static_assert(std::is_trivially_copyable_v<Record>);
  Record record;
  std::memcpy(&record, bytes.data() + index * sizeof(Record), sizeof(Record));
  return record;
}

std::string_view text_at(std::span<const uint8_t> strings, uint64_t offset) {
  if (offset >= strings.size()) refuse("a name lies outside its string table");
  const uint8_t* start = strings.data() + offset;
  const void* end = std::memchr(start, 0, strings.size() - offset);
  if (!end) refuse("a name has no end");
  return {reinterpret_cast<const char*>(start), static_cast<size_t>(static_cast<const uint8_t*>(end) - start)};
}

}  // namespace

ElfObject::ElfObject(std::span<const uint8_t> bytes) : bytes_(bytes) {
  constexpr uint8_t kMagic[] = {0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little-endian */};
  constexpr uint16_t kRelocatable = 1;
  auto header = record_at<FileHeader>(slice(0, sizeof(FileHeader)), 0);
  if (std::memcmp(header.identity, kMagic, sizeof kMagic) != 0) refuse("its first bytes are not those of 64-bit little-endian ELF");
  if (header.type != kRelocatable) refuse("its type is ", header.type, ", not relocatable");
  machine_ = static_cast<Machine>(header.machine);
  if (machine_ != Machine::X86 && machine_ != Machine::Arm) refuse("it is for machine ", header.machine);
  if (header.section_header_size != sizeof(SectionHeader)) refuse("its section headers have ", header.section_header_size, " bytes");
  read_sections(header.section_headers, header.section_count, header.names_section);
  read_symbols();
}

std::span<const uint8_t> ElfObject::slice(uint64_t offset, uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) refuse("it is cut short");
  return bytes_.subspan(offset, size);
}

void ElfObject::read_sections(uint64_t table, uint16_t count, uint16_t names) {
  auto headers = slice(table, uint64_t{count} * sizeof(SectionHeader));
  if (names >= count) refuse("it has no section names");
  auto names_header = record_at<SectionHeader>(headers, names);
  auto strings = slice(names_header.offset, names_header.size);
  sections_.reserve(count);
  for (uint16_t index = 0; index < count; ++index) {
    auto header = record_at<SectionHeader>(headers, index);
    ElfSection section;
    section.name = text_at(strings, header.name);
    section.type = header.type;
    section.flags = header.flags;
    section.size = header.size;
    section.alignment = header.alignment ? header.alignment : 1;
    section.link = header.link;
    section.info = header.info;
    if (section.alignment & (section.alignment - 1)) refuse("section ", section.name, " is aligned to ", header.alignment);
    if (header.type != ElfSection::kZeros) section.data = slice(header.offset, header.size);
    sections_.push_back(section);
  }
}

void ElfObject::read_symbols() {
  for (uint32_t index = 0; index < sections_.size(); ++index) {
    const ElfSection& section = sections_[index];
    if (section.type != ElfSection::kSymbolTable) continue;
    if (symbol_table_) refuse("it has two symbol tables");
    if (section.link >= sections_.size()) refuse("its symbols have no names");
    symbol_table_ = index;
    auto strings = sections_[section.link].data;
    for (size_t entry = 0; entry < section.data.size() / sizeof(SymbolRecord); ++entry) {
      auto record = record_at<SymbolRecord>(section.data, entry);
      symbols_.push_back({text_at(strings, record.name), record.section, record.value, record.info >> 4 != 0});
    }
  }
}

std::vector<ElfRelocation> ElfObject::relocations(const ElfSection& section) const {
  if (section.link != symbol_table_) refuse("the relocations of ", section.name, " refer to no symbol table");
  std::vector<ElfRelocation> result;
  result.reserve(section.data.size() / sizeof(RelaRecord));
  for (size_t entry = 0; entry < section.data.size() / sizeof(RelaRecord); ++entry) {
    auto record = record_at<RelaRecord>(section.data, entry);
    auto symbol = static_cast<uint32_t>(record.info >> 32);
    if (symbol >= symbols_.size()) refuse("a relocation of ", section.name, " names symbol ", symbol, " of ", symbols_.size());
    result.push_back({record.offset, static_cast<uint32_t>(record.info), symbol, record.addend});
  }
  return result;
}

}  // namespace whit
