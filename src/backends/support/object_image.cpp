#include "backends/support/object_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/support/elf_object.h"
#include "backends/support/relocation.h"
#include "base/error.h"

namespace whit {
namespace {

#if defined(__aarch64__)
constexpr Machine kHost = Machine::Arm;
#else
constexpr Machine kHost = Machine::X86;
#endif

constexpr uint64_t kLargest = uint64_t{1} << 30;  // keeps every reference inside an image within the reach of 32 bits
constexpr uint64_t kNowhere = ~uint64_t{0};

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw BackendError(concat("not a usable ELF object: ", parts...));
}

/// Sections by the rights their pages get. Stubs follow the code, slots follow the constants.
enum Group { Code, Constants, Data, GroupCount };

/// Where everything goes, relative to the start of the memory.
struct Layout {
  std::vector<uint64_t> section;  // kNowhere for one that isn't loaded
  std::vector<uint64_t> slot;     // by symbol, kNowhere for one that needs none
  std::vector<uint64_t> stub;
  std::array<uint64_t, GroupCount + 1> group{};  // starts, and the end of the last
  bool low = false;
};

/// Places one thing after another; the total stays below kLargest.
class Cursor {
 public:
  uint64_t take(uint64_t size, uint64_t alignment) {
    uint64_t start = (at_ + alignment - 1) & ~(alignment - 1);
    if (size > kLargest || start > kLargest - size) refuse("it takes more than ", kLargest, " bytes");
    at_ = start + size;
    return start;
  }

 private:
  uint64_t at_ = 0;
};

class Linker {
 public:
  Linker(std::span<const uint8_t> object, const std::function<void*(std::string_view)>& resolve) : elf_(object), resolve_(resolve) {
    if (elf_.machine() != kHost) refuse("it was made for another machine");
    gather();
    plan();
  }

  uint64_t size() const { return layout_.group[GroupCount]; }
  bool low() const { return layout_.low; }
  void load(uint8_t* memory) const;
  void link(uint8_t* memory) const;
  void protect(uint8_t* memory) const;
  std::map<std::string, void*, std::less<>> exported(uint8_t* memory) const;

 private:
  static bool loaded(const ElfSection& section);
  static Group group_of(const ElfSection& section);
  void gather();
  void plan();
  uint64_t address(uint32_t symbol, uint8_t* memory) const;
  uint64_t target(const ElfRelocation& relocation, uint8_t* memory) const;

  ElfObject elf_;
  const std::function<void*(std::string_view)>& resolve_;
  Layout layout_;
  std::vector<std::pair<uint32_t, std::vector<ElfRelocation>>> relocations_;  // by the section they change
  std::vector<bool> needs_slot_, needs_stub_;                                 // by symbol
  std::vector<uint64_t> external_;                                            // by symbol: its address, 0 for one defined here
};

/// Unwind tables are left out: nothing is thrown through a kernel.
bool Linker::loaded(const ElfSection& section) {
  return section.flags & ElfSection::kAllocate && section.size && section.name != ".eh_frame";
}

Group Linker::group_of(const ElfSection& section) {
  bool writes = section.flags & ElfSection::kWrite, runs = section.flags & ElfSection::kExecute;
  if (writes && runs) refuse("section ", section.name, " is both writable and executable");
  return runs ? Code : writes ? Data : Constants;
}

/// Reads the relocations and learns from them which symbols need a slot or a stub, and which come from outside.
void Linker::gather() {
  const auto& symbols = elf_.symbols();
  needs_slot_.resize(symbols.size());
  needs_stub_.resize(symbols.size());
  external_.resize(symbols.size());
  for (const ElfSection& section : elf_.sections()) {
    if (section.type != ElfSection::kRela && section.type != ElfSection::kRel) continue;
    if (section.info >= elf_.sections().size()) refuse("the relocations of ", section.name, " change no section");
    const ElfSection& changed = elf_.sections()[section.info];
    if (!loaded(changed)) continue;
    if (section.type == ElfSection::kRel) refuse("relocations without addends aren't supported");
    auto& list = relocations_.emplace_back(section.info, elf_.relocations(section)).second;
    for (const ElfRelocation& relocation : list) {
      RelocationType type = relocation_type(elf_.machine(), relocation.type);
      if (type.width > changed.data.size() || relocation.offset > changed.data.size() - type.width) {
        refuse("a relocation lies outside ", changed.name);
      }
      const ElfSymbol& symbol = symbols[relocation.symbol];
      bool outside = symbol.section == ElfSymbol::kUndefined && relocation.symbol != 0;
      layout_.low |= type.low;
      if (type.slot) needs_slot_[relocation.symbol] = true;
      if (type.call && outside) needs_stub_[relocation.symbol] = true;
      if (!outside || external_[relocation.symbol]) continue;
      void* found = resolve_(symbol.name);
      if (!found) throw BackendError(concat("the compiled code needs the unknown function ", symbol.name));
      external_[relocation.symbol] = reinterpret_cast<uintptr_t>(found);
    }
  }
}

void Linker::plan() {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto& sections = elf_.sections();
  layout_.section.assign(sections.size(), kNowhere);
  layout_.slot.assign(elf_.symbols().size(), kNowhere);
  layout_.stub = layout_.slot;
  Cursor cursor;
  for (Group group : {Code, Constants, Data}) {
    layout_.group[group] = cursor.take(0, page);
    for (size_t index = 0; index < sections.size(); ++index) {
      const ElfSection& section = sections[index];
      if (!loaded(section) || group_of(section) != group) continue;
      if (section.alignment > page) refuse("section ", section.name, " is aligned to ", section.alignment);
      if (section.flags & (ElfSection::kThreadLocal | ElfSection::kCompressed)) refuse("section ", section.name, " isn't plain");
      if (section.type >= ElfSection::kInitializers && section.type <= ElfSection::kPreinitializers) refuse("it runs code when loaded");
      layout_.section[index] = cursor.take(section.size, section.alignment);
    }
    for (size_t symbol = 0; symbol < elf_.symbols().size(); ++symbol) {
      if (group == Code && needs_stub_[symbol]) layout_.stub[symbol] = cursor.take(kStubSize, 16);
      if (group == Constants && needs_slot_[symbol]) layout_.slot[symbol] = cursor.take(8, 8);
    }
  }
  layout_.group[GroupCount] = cursor.take(0, page);
}

void Linker::load(uint8_t* memory) const {
  for (size_t index = 0; index < elf_.sections().size(); ++index) {
    const ElfSection& section = elf_.sections()[index];
    if (layout_.section[index] != kNowhere && !section.data.empty()) {
      std::memcpy(memory + layout_.section[index], section.data.data(), section.data.size());
    }
  }
}

uint64_t Linker::address(uint32_t index, uint8_t* memory) const {
  const ElfSymbol& symbol = elf_.symbols()[index];
  if (index == 0) return 0;
  if (symbol.section == ElfSymbol::kUndefined) return external_[index];
  if (symbol.section == ElfSymbol::kAbsolute) return symbol.value;
  if (symbol.section >= elf_.sections().size() || layout_.section[symbol.section] == kNowhere) {
    refuse("symbol ", symbol.name, " is in no section that is loaded");
  }
  if (symbol.value > elf_.sections()[symbol.section].size) refuse("symbol ", symbol.name, " lies outside its section");
  return reinterpret_cast<uintptr_t>(memory) + layout_.section[symbol.section] + symbol.value;
}

uint64_t Linker::target(const ElfRelocation& relocation, uint8_t* memory) const {
  RelocationType type = relocation_type(elf_.machine(), relocation.type);
  const uint64_t start = reinterpret_cast<uintptr_t>(memory);
  if (type.slot) return start + layout_.slot[relocation.symbol];
  if (type.call && needs_stub_[relocation.symbol]) return start + layout_.stub[relocation.symbol];
  return address(relocation.symbol, memory);
}

void Linker::link(uint8_t* memory) const {
  for (uint32_t symbol = 0; symbol < elf_.symbols().size(); ++symbol) {
    if (needs_stub_[symbol]) write_stub(elf_.machine(), memory + layout_.stub[symbol], address(symbol, memory));
    if (!needs_slot_[symbol]) continue;
    uint64_t value = address(symbol, memory);
    std::memcpy(memory + layout_.slot[symbol], &value, sizeof value);
  }
  for (const auto& [section, list] : relocations_) {
    uint8_t* start = memory + layout_.section[section];
    for (const ElfRelocation& relocation : list) {
      relocate(elf_.machine(), relocation.type, start + relocation.offset, target(relocation, memory), relocation.addend);
    }
  }
}

void Linker::protect(uint8_t* memory) const {
  constexpr int kRights[GroupCount] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (Group group : {Code, Constants, Data}) {
    uint64_t start = layout_.group[group], size = layout_.group[group + 1] - start;
    if (group == Code) __builtin___clear_cache(reinterpret_cast<char*>(memory), reinterpret_cast<char*>(memory + size));
    if (size && mprotect(memory + start, size, kRights[group])) {
      throw BackendError(concat("the system doesn't let whit run generated code: mprotect: ", std::strerror(errno)));
    }
  }
}

std::map<std::string, void*, std::less<>> Linker::exported(uint8_t* memory) const {
  std::map<std::string, void*, std::less<>> result;
  for (uint32_t index = 1; index < elf_.symbols().size(); ++index) {
    const ElfSymbol& symbol = elf_.symbols()[index];
    bool defined = symbol.section != ElfSymbol::kUndefined && symbol.section < ElfSymbol::kFirstReserved;
    if (!symbol.global || !defined) continue;
    result.emplace(symbol.name, memory + (address(index, memory) - reinterpret_cast<uintptr_t>(memory)));
  }
  return result;
}

}  // namespace

void* kernel_external(std::string_view name) {
  static const auto& table = *new std::map<std::string_view, void*>{
      {"memcpy", reinterpret_cast<void*>(::memcpy)},
      {"memmove", reinterpret_cast<void*>(::memmove)},
      {"memset", reinterpret_cast<void*>(::memset)},
      {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(::fma))},
      {"fmaf", reinterpret_cast<void*>(::fmaf)},
      {"trunc", reinterpret_cast<void*>(static_cast<double (*)(double)>(::trunc))},
      {"truncf", reinterpret_cast<void*>(::truncf)},
  };
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

ObjectImage::ObjectImage(std::span<const uint8_t> object, const std::function<void*(std::string_view)>& resolve_external) {
  Linker linker(object, resolve_external);
  if (linker.size() == 0) return;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_32BIT)
  if (linker.low()) flags |= MAP_32BIT;
#endif
  void* memory = mmap(nullptr, linker.size(), PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) throw BackendError(concat("no memory for generated code: mmap: ", std::strerror(errno)));
  memory_ = static_cast<uint8_t*>(memory);
  size_ = linker.size();
  try {
    linker.load(memory_);
    linker.link(memory_);
    linker.protect(memory_);
    symbols_ = linker.exported(memory_);
  } catch (...) {
    munmap(memory_, size_);
    throw;
  }
}

ObjectImage::ObjectImage(ObjectImage&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)), symbols_(std::move(other.symbols_)) {}

ObjectImage& ObjectImage::operator=(ObjectImage&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(symbols_, other.symbols_);
  return *this;
}

ObjectImage::~ObjectImage() {
  if (memory_) munmap(memory_, size_);
}

void* ObjectImage::symbol(std::string_view name) const {
  auto found = symbols_.find(name);
  if (found == symbols_.end()) throw BackendError(concat("the compiled code has no function ", name));
  return found->second;
}

}  // namespace whit
