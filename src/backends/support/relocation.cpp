#include "backends/support/relocation.h"

#include <cstring>

#include "base/error.h"

namespace whit {
namespace {

/// How a field is computed from target + addend (the value) and its own address (the place).
enum class Form : uint8_t {
  None,
  Absolute64,
  Absolute32,      // zero-extended
  AbsoluteSigned,  // 32 bits, sign-extended
  Relative64,
  Relative32,
  Branch26,  // aarch64: bl, b
  Page21,    // aarch64: adrp
  Low12,     // aarch64: add, and ldr/str of 1, 2, 4, 8 or 16 bytes, whose offset counts units of that size
};

struct Row {
  uint32_t type;
  Form form;
  bool slot = false, call = false;
  uint8_t shift = 0;
};

constexpr Row kX86[] = {
    {0, Form::None},                     // R_X86_64_NONE
    {1, Form::Absolute64},               // R_X86_64_64
    {2, Form::Relative32},               // R_X86_64_PC32
    {4, Form::Relative32, false, true},  // R_X86_64_PLT32
    {9, Form::Relative32, true},         // R_X86_64_GOTPCREL
    {10, Form::Absolute32},              // R_X86_64_32
    {11, Form::AbsoluteSigned},          // R_X86_64_32S
    {24, Form::Relative64},              // R_X86_64_PC64
    {41, Form::Relative32, true},        // R_X86_64_GOTPCRELX
    {42, Form::Relative32, true},        // R_X86_64_REX_GOTPCRELX
};

constexpr Row kArm[] = {
    {0, Form::None},                      // R_AARCH64_NONE
    {257, Form::Absolute64},              // R_AARCH64_ABS64
    {258, Form::Absolute32},              // R_AARCH64_ABS32
    {260, Form::Relative64},              // R_AARCH64_PREL64
    {261, Form::Relative32},              // R_AARCH64_PREL32
    {275, Form::Page21},                  // R_AARCH64_ADR_PREL_PG_HI21
    {277, Form::Low12},                   // R_AARCH64_ADD_ABS_LO12_NC
    {278, Form::Low12},                   // R_AARCH64_LDST8_ABS_LO12_NC
    {282, Form::Branch26, false, true},   // R_AARCH64_JUMP26
    {283, Form::Branch26, false, true},   // R_AARCH64_CALL26
    {284, Form::Low12, false, false, 1},  // R_AARCH64_LDST16_ABS_LO12_NC
    {285, Form::Low12, false, false, 2},  // R_AARCH64_LDST32_ABS_LO12_NC
    {286, Form::Low12, false, false, 3},  // R_AARCH64_LDST64_ABS_LO12_NC
    {299, Form::Low12, false, false, 4},  // R_AARCH64_LDST128_ABS_LO12_NC
    {311, Form::Page21, true},            // R_AARCH64_ADR_GOT_PAGE
    {312, Form::Low12, true, false, 3},   // R_AARCH64_LD64_GOT_LO12_NC
};

const Row& row_of(Machine machine, uint32_t type) {
  for (const Row& row : machine == Machine::X86 ? std::span<const Row>(kX86) : std::span<const Row>(kArm)) {
    if (row.type == type) return row;
  }
  throw BackendError(concat("not a usable ELF object: relocation type ", type, " isn't supported"));
}

[[noreturn]] void out_of_reach(uint32_t type) {
  throw BackendError(concat("not a usable ELF object: a relocation of type ", type, " can't reach its target"));
}

template <class Field>
void store(uint8_t* field, uint64_t value) {
  auto narrow = static_cast<Field>(value);
  std::memcpy(field, &narrow, sizeof narrow);
}

/// Replaces the bits of an instruction that `mask` selects.
void patch(uint8_t* field, uint32_t mask, uint64_t bits) {
  uint32_t instruction;
  std::memcpy(&instruction, field, sizeof instruction);
  store<uint32_t>(field, (instruction & ~mask) | (static_cast<uint32_t>(bits) & mask));
}

bool fits(int64_t value, int bits) { return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1); }

}  // namespace

RelocationType relocation_type(Machine machine, uint32_t type) {
  const Row& row = row_of(machine, type);
  bool wide = row.form == Form::Absolute64 || row.form == Form::Relative64;
  uint8_t width = row.form == Form::None ? 0 : wide ? 8 : 4;
  return {width, row.slot, row.call, row.form == Form::Absolute32 || row.form == Form::AbsoluteSigned};
}

void relocate(Machine machine, uint32_t type, uint8_t* field, uint64_t target, int64_t addend) {
  const Row& row = row_of(machine, type);
  const uint64_t place = reinterpret_cast<uintptr_t>(field);
  const uint64_t value = target + static_cast<uint64_t>(addend);
  const auto distance = static_cast<int64_t>(value - place);
  const auto pages = static_cast<int64_t>((value & ~uint64_t{0xfff}) - (place & ~uint64_t{0xfff})) >> 12;
  switch (row.form) {
    case Form::None: return;
    case Form::Absolute64: return store<uint64_t>(field, value);
    case Form::Relative64: return store<uint64_t>(field, value - place);
    case Form::Absolute32:
      if (value >> 32) out_of_reach(type);
      return store<uint32_t>(field, value);
    case Form::AbsoluteSigned:
      if (!fits(static_cast<int64_t>(value), 32)) out_of_reach(type);
      return store<uint32_t>(field, value);
    case Form::Relative32:
      if (!fits(distance, 32)) out_of_reach(type);
      return store<uint32_t>(field, static_cast<uint64_t>(distance));
    case Form::Branch26:
      if (!fits(distance, 28) || distance & 3) out_of_reach(type);
      return patch(field, 0x03ffffff, static_cast<uint64_t>(distance >> 2));
    case Form::Page21:
      if (!fits(pages, 21)) out_of_reach(type);
      return patch(field, 0x60ffffe0, (static_cast<uint64_t>(pages) & 3) << 29 | (static_cast<uint64_t>(pages) >> 2 & 0x7ffff) << 5);
    case Form::Low12:
      if (value & ((uint64_t{1} << row.shift) - 1)) out_of_reach(type);
      return patch(field, 0x003ffc00, (value & 0xfff) >> row.shift << 10);
  }
}

void write_stub(Machine machine, uint8_t* stub, uint64_t target) {
  constexpr uint8_t kX86Jump[8] = {0xff, 0x25, 2, 0, 0, 0, 0x90, 0x90};     // jmp *[rip + 2]; the address follows
  constexpr uint8_t kArmJump[8] = {0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6};  // ldr x16, +8; br x16; the address follows
  std::memcpy(stub, machine == Machine::X86 ? kX86Jump : kArmJump, 8);
  store<uint64_t>(stub + 8, target);
}

}  // namespace whit
