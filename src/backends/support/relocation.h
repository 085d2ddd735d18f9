// What each relocation type of an ELF object asks for, and how it is carried out. The table holds every type that LLVM and C
// compilers emit for position-independent code in the small code model; any other is a BackendError.
#pragma once

#include <cstdint>
#include <span>

#include "backends/support/elf_object.h"

namespace whit {

struct RelocationType {
  uint8_t width;  // bytes it changes
  bool slot;      // the field reaches an address stored in a table, not the symbol itself
  bool call;      // the field is a call or jump, which may go through a stub
  bool low;       // the field holds an absolute 32-bit address, so the object must lie in the low 2 GiB
};

RelocationType relocation_type(Machine machine, uint32_t type);

/// Writes into `field`, whose length is the type's width. `target` is the symbol, its slot or its stub, as the type asks.
void relocate(Machine machine, uint32_t type, uint8_t* field, uint64_t target, int64_t addend);

/// A jump to any address.
constexpr uint64_t kStubSize = 16;
void write_stub(Machine machine, uint8_t* stub, uint64_t target);

}  // namespace whit
