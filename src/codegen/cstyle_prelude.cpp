#include "codegen/cstyle_prelude.h"

#include <bit>

#include "base/error.h"

namespace whit {

namespace {

struct CType {
  std::string_view name, text;
};

CType c_type(DType type) {
  switch (type) {
    case DType::boolean:
    case DType::uint8: return {"u8", "unsigned char"};
    case DType::int8: return {"i8", "signed char"};
    case DType::int16: return {"i16", "short"};
    case DType::uint16: return {"u16", "unsigned short"};
    case DType::int32: return {"i32", "int"};
    case DType::uint32: return {"u32", "unsigned int"};
    case DType::int64: return {"i64", "long"};  // 64 bits wherever these texts are compiled
    case DType::uint64: return {"u64", "unsigned long"};
    case DType::float32: return {"f32", "float"};
    case DType::float64: return {"f64", "double"};
    default: break;
  }
  WHIT_ASSERT(false, name(type), " has no C type: it should have been lowered");
  return {};
}

}  // namespace

DType integer_of_size(size_t bytes, bool with_sign) {
  switch (bytes) {
    case 1: return with_sign ? DType::int8 : DType::uint8;
    case 2: return with_sign ? DType::int16 : DType::uint16;
    case 4: return with_sign ? DType::int32 : DType::uint32;
    default: return with_sign ? DType::int64 : DType::uint64;
  }
}

std::string fill(std::string_view text, std::initializer_list<std::string_view> parts) {
  std::string filled;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size())
      filled += parts.begin()[text[++i] - '0'];
    else
      filled += text[i];
  }
  return filled;
}

std::string bare(const std::string& text) {
  if (text.empty() || text[0] != '(') return text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size() ? text.substr(1, text.size() - 2) : text;
  }
  return text;
}

std::string Prelude::define(const std::string& name, const std::string& text) {
  if (known_.insert(name).second) text_ += text + "\n";
  return name;
}

std::string Prelude::type(DType type, int64_t lanes) {
  const CType scalar = c_type(type);
  std::string name(scalar.name);
  define(name, concat("typedef ", scalar.text, " ", name, ";"));
  if (lanes == 1) return name;
  WHIT_ASSERT(dialect_.vectors && std::has_single_bit(uint64_t(lanes)), dialect_.name, " has no vectors of ", lanes);
  std::string wide = concat(name, "x", lanes);
  return define(wide, concat("typedef ", name, " ", wide, " __attribute__((vector_size(", size_t(lanes) * item_size(type), ")));"));
}

std::string Prelude::stored(DType type) {
  const std::string plain = this->type(type);
  if (dialect_.may_alias.empty()) return plain;
  return define(plain + "_stored", concat("typedef ", plain, " ", plain, "_stored ", dialect_.may_alias, ";"));
}

// A vector in memory is aligned as its elements are.
std::string Prelude::stored_vector(DType type, int64_t lanes) {
  const std::string name = this->type(type, lanes) + "_stored";
  return define(name, concat("typedef ", this->type(type), " ", name, " __attribute__((vector_size(", size_t(lanes) * item_size(type),
                             "), aligned(", item_size(type), "), may_alias));"));
}

std::string Prelude::vector_load(DType type, int64_t lanes) {
  const std::string vector = this->type(type, lanes), stored = stored_vector(type, lanes);
  return function("load_" + vector, vector, "const void* place", concat("return *(const ", stored, "*)place;"));
}

std::string Prelude::vector_store(DType type, int64_t lanes) {
  const std::string vector = this->type(type, lanes), stored = stored_vector(type, lanes);
  return function("store_" + vector, "void", concat("void* place, ", vector, " x"), concat("*(", stored, "*)place = x;"));
}

std::string Prelude::function(const std::string& name, const std::string& result, const std::string& parameters, const std::string& body) {
  return define(name, concat(dialect_.helper, " ", result, " ", name, "(", parameters, ") { ", body, " }"));
}

std::string Prelude::splat(DType type, int64_t lanes, const std::string& value) {
  const std::string vector = this->type(type, lanes);
  // Subtracting 0 keeps every float as it is, -0.0 included; adding it would not.
  return function("splat_" + vector, vector, this->type(type) + " x", concat("return x - (", vector, "){};")) + "(" + bare(value) + ")";
}

std::string Prelude::lane_numbers(DType type, int64_t lanes) {
  const std::string vector = this->type(type, lanes);
  std::string numbers;
  for (int64_t lane = 0; lane < lanes; ++lane) numbers += concat(lane ? ", " : "", lane);
  return define("lanes_" + vector, concat("static const ", vector, " lanes_", vector, " = {", numbers, "};"));
}

}  // namespace whit
