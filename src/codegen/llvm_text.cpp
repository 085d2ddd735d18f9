#include "codegen/llvm_text.h"

#include <algorithm>
#include <bit>

namespace whit {

namespace {

constexpr std::string_view kWords[] = {"i1", "i8", "i16", "i32", "i64", "float", "double"};
constexpr std::string_view kSuffixes[] = {"i1", "i8", "i16", "i32", "i64", "f32", "f64"};

}  // namespace

void LlvmText::append(LlvmType type) {
  if (type.lanes == 1) return append(kWords[size_t(type.word)]);
  put('<', type.lanes, " x ", kWords[size_t(type.word)], '>');
}

void LlvmText::append_scalar(LlvmWord word, int64_t bits) {
  if (word == LlvmWord::i1) return append(std::string_view(bits ? "true" : "false"));
  if (!whit::is_float(word)) return append(bits);
  // A float is written as the bits of the equal double: the one form that is exact for every value, NaN and infinity included.
  const uint64_t wide = word == LlvmWord::f64 ? uint64_t(bits) : std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(bits))));
  char digits[16];
  for (int i = 0; i < 16; ++i) digits[i] = "0123456789ABCDEF"[(wide >> (60 - 4 * i)) & 15];
  put("0x", std::string_view(digits, 16));
}

void LlvmText::append(const LlvmValue& value) {
  const auto [word, lanes] = value.type;
  if (value.kind == LlvmValue::instruction) return put('%', value.payload);
  if (value.kind == LlvmValue::begin || value.kind == LlvmValue::end) return put(value.kind == LlvmValue::begin ? "%begin" : "%end");
  if (lanes == 1) return append_scalar(word, value.payload);
  if (value.is_zero()) return append(std::string_view("zeroinitializer"));
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    put(lane ? ", " : "<", kWords[size_t(word)], ' ');
    append_scalar(word, value.kind == LlvmValue::steps ? int64_t(lane) : value.payload);
  }
  append('>');
}

void LlvmText::append_suffix(LlvmType type) {
  if (type.lanes > 1) put('v', type.lanes);
  append(kSuffixes[size_t(type.word)]);
}

void LlvmText::append_name(IntrinsicName name) {
  constexpr std::string_view names[] = {"sqrt", "trunc", "fma", "masked.load", "masked.store", "masked.gather", "masked.scatter"};
  put("@llvm.", names[size_t(name.intrinsic)], '.');
  append_suffix(name.type);
  // Where pointers are opaque the parser renames these to the shorter form by itself.
  switch (name.intrinsic) {
    case LlvmIntrinsic::masked_load:
    case LlvmIntrinsic::masked_store:
      append(std::string_view(".p0"));
      append_suffix(name.type);
      break;
    case LlvmIntrinsic::masked_gather:
    case LlvmIntrinsic::masked_scatter: put(".v", name.type.lanes, "p0", kSuffixes[size_t(name.type.word)]); break;
    default: break;
  }
}

void LlvmText::append(IntrinsicName name) {
  if (std::ranges::find(used_, name) == used_.end()) used_.push_back(name);
  append_name(name);
}

void LlvmText::declare_intrinsics() {
  for (const IntrinsicName& name : used_) {
    const LlvmType type = name.type, mask = type.with(LlvmWord::i1);
    const bool writes = name.intrinsic == LlvmIntrinsic::masked_store || name.intrinsic == LlvmIntrinsic::masked_scatter;
    append(std::string_view("declare "));
    if (writes)
      append(std::string_view("void"));
    else
      append(type);
    append(' ');
    append_name(name);
    append('(');
    switch (name.intrinsic) {
      case LlvmIntrinsic::sqrt:
      case LlvmIntrinsic::trunc: append(type); break;
      case LlvmIntrinsic::fma: put(type, ", ", type, ", ", type); break;
      case LlvmIntrinsic::masked_load: put(PointerTo{type}, ", i32, ", mask, ", ", type); break;
      case LlvmIntrinsic::masked_store: put(type, ", ", PointerTo{type}, ", i32, ", mask); break;
      case LlvmIntrinsic::masked_gather: put('<', type.lanes, " x ", PointerTo{{type.word}}, ">, i32, ", mask, ", ", type); break;
      case LlvmIntrinsic::masked_scatter: put(type, ", <", type.lanes, " x ", PointerTo{{type.word}}, ">, i32, ", mask); break;
    }
    append(std::string_view(")\n"));
  }
}

}  // namespace whit
