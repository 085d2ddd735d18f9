#include <whit/dtype.h>

#include <algorithm>

namespace whit {

namespace {

DType signed_of_size(size_t size) {
  switch (size) {
    case 1: return DType::int8;
    case 2: return DType::int16;
    case 4: return DType::int32;
    default: return DType::int64;
  }
}

DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return item_size(a) >= item_size(b) ? a : b;
  const DType with_sign = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
  if (item_size(with_sign) > item_size(without)) return with_sign;
  return item_size(without) < 8 ? signed_of_size(item_size(without) * 2) : DType::float32;
}

DType promote_floats(DType a, DType b) {
  const size_t size = std::max(item_size(a), item_size(b));
  if (item_size(a) != item_size(b)) return item_size(a) == size ? a : b;
  return size == 1 ? DType::float16 : DType::float32;
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b || b == DType::none) return a;
  if (a == DType::none) return b;
  if (a == DType::index || b == DType::index) return a == DType::index ? promote(DType::int64, b) : promote(a, DType::int64);
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  return is_float(a) ? promote_floats(a, b) : promote_integers(a, b);
}

DType promote(std::span<const DType> types) {
  // Floats decide alone where there are any, and among them the widest.
  const auto is_decisive = [&](DType type) {
    return std::ranges::none_of(types,
                                [&](DType other) { return is_float(other) && (!is_float(type) || item_size(other) > item_size(type)); });
  };
  DType result = DType::none;
  for (const DType type : types)
    if (is_decisive(type)) result = promote(result, type);
  return result;
}

DType sum_type(DType type) {
  if (type == DType::boolean) return DType::int32;
  if (is_integer(type) && type != DType::index && item_size(type) < 4) return is_signed(type) ? DType::int32 : DType::uint32;
  return type;
}

DType dtype_of_name(std::string_view name) {
  for (size_t i = 1; i < kDTypeCount; ++i)
    if (kDTypes[i].name == name) return DType(i);
  return DType::none;
}

}  // namespace whit
