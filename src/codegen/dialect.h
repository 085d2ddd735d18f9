// What differs between the languages that the C writer (cstyle.h) writes: data only. A new C-like target is one more Dialect.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <whit/dtype.h>

#include "ir/op.h"

namespace whit {

/// How an op is written where it isn't as in ops.def; $0 $1 $2 are the sources.
struct Spelling {
  Op op;
  DType type;
  std::string_view text;
};

/// How a kernel is entered.
enum class Entry : uint8_t {
  chunk,  // void name(void* const* buffers, const int64_t* variables, int64_t begin, int64_t end): a loop from begin to end
  grid,   // for each buffer a pointer and an offset in bytes, the variables, and the count; every launch index is a thread, or a group
};

struct Dialect {
  std::string_view name;
  std::string_view header;  ///< text that stands above everything
  Entry entry = Entry::chunk;
  std::string_view kernel = "void";           ///< what stands before a kernel's name
  std::string_view helper = "static inline";  ///< … before a helper function
  std::string_view memory;                    ///< qualifier of pointers into buffers, with a blank after it
  std::string_view launch_index;              ///< the thread's number in the launch (grid)
  std::string_view group_index;               ///< that of its group
  std::string_view thread_index;              ///< its own within the group
  std::string_view group_size;                ///< what stands before the name of a kernel run by groups of $0
  std::string_view group_memory;              ///< qualifier of arrays that a group shares
  std::string_view barrier;                   ///< a statement; empty where no threads share memory
  std::string_view may_alias;                 ///< attribute of types in memory: buffers of different types may be one memory
  bool vectors = false;                       ///< GCC's vector extensions
  std::span<const Spelling> spellings;
};

/// C with the extensions of GCC and Clang.
extern const Dialect kCDialect;

}  // namespace whit
