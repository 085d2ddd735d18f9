// LLVM IR as text while it is written: types, operands, numbered instructions, and the intrinsics that they call.
//
// One text must do for LLVM 14 to 19, so pointers are typed. Unnamed instructions are numbered in order, as the parser demands; blocks
// have names, which take no number.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/number.h"

namespace whit {

/// What a lane is made of. A bool is i1 as a value and i8 in memory; narrow floats are words.
enum class LlvmWord : uint8_t { i1, i8, i16, i32, i64, f32, f64 };

constexpr bool is_float(LlvmWord word) { return word >= LlvmWord::f32; }
constexpr unsigned bit_width(LlvmWord word) {
  constexpr unsigned widths[] = {1, 8, 16, 32, 64, 32, 64};
  return widths[size_t(word)];
}

struct LlvmType {
  LlvmWord word = LlvmWord::i64;
  uint32_t lanes = 1;

  constexpr LlvmType with(LlvmWord other) const { return {other, lanes}; }
  friend constexpr bool operator==(LlvmType, LlvmType) = default;
};

/// An operand: the result of an instruction, a constant, the constant 0, 1, … by lane, or an argument of the kernel.
struct LlvmValue {
  enum Kind : uint8_t { instruction, constant, steps, begin, end };

  LlvmType type;
  Kind kind = constant;
  int64_t payload = 0;  ///< the number of the instruction; the constant of all lanes (floats as Bits)

  bool is_zero() const { return kind == constant && payload == 0; }
};

/// An operand written with its type before it.
struct Typed {
  const LlvmValue& value;
};

/// A type written as that of a pointer to it.
struct PointerTo {
  LlvmType type;
};

/// A basic block's name: a word and a number.
struct LlvmLabel {
  const char* word = "entry";
  uint32_t number = 0;
};

enum class LlvmIntrinsic : uint8_t { sqrt, trunc, fma, masked_load, masked_store, masked_gather, masked_scatter };

/// The name of an intrinsic on a type; whatever is named so gets declared at the end of the module.
struct IntrinsicName {
  LlvmIntrinsic intrinsic;
  LlvmType type;
  friend bool operator==(IntrinsicName, IntrinsicName) = default;
};

class LlvmText {
 public:
  std::string text;

  void append(std::string_view part) { text.append(part); }
  void append(char part) { text.push_back(part); }
  void append(std::integral auto number) {
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  void append(LlvmType type);
  void append(PointerTo pointer) {
    append(pointer.type);
    text.push_back('*');
  }
  void append(const LlvmValue& value);
  void append(Typed typed) {
    append(typed.value.type);
    text.push_back(' ');
    append(typed.value);
  }
  void append(LlvmLabel label) {
    text.append(label.word);
    append(label.number);
  }

  template <class... Parts>
  void put(const Parts&... parts) {
    (append(parts), ...);
  }
  template <class... Parts>
  void line(const Parts&... parts) {
    text.append("  ");
    (append(parts), ...);
    text.push_back('\n');
  }
  /// Writes an instruction with a result of this type.
  template <class... Parts>
  LlvmValue define(LlvmType type, const Parts&... parts) {
    text.append("  %");
    append(next_);
    text.append(" = ");
    (append(parts), ...);
    text.push_back('\n');
    return {type, LlvmValue::instruction, next_++};
  }

  void append(IntrinsicName name);
  void declare_intrinsics();
  /// Numbers start again with each function.
  void start_function() { next_ = 0; }

 private:
  void append_scalar(LlvmWord word, int64_t bits);
  void append_suffix(LlvmType type);
  void append_name(IntrinsicName name);

  int64_t next_ = 0;
  std::vector<IntrinsicName> used_;
};

/// The same constant in every lane.
constexpr LlvmValue llvm_constant(LlvmType type, int64_t bits) { return {type, LlvmValue::constant, bits}; }

}  // namespace whit
