// Changes of type: by value, and by the bytes.
#include <limits>

#include "tensor/build.h"

namespace whit {

Tensor Tensor::cast(DType type, Site at) const {
  const Call call(at);
  if (type == DType::none || type == DType::index) refuse(ErrorKind::Type, "cast", "a tensor can't be of type ", name(type));
  return tensor_of(whit::cast(NodeRef(node_of(*this, "cast")), type));
}

namespace {

DType unsigned_of_size(size_t size) {
  return size == 1 ? DType::uint8 : size == 2 ? DType::uint16 : size == 4 ? DType::uint32 : DType::uint64;
}
Tensor same_size_bitcast(const Tensor& x, DType type) {
  return x.dtype() == type ? x : tensor_of(make(Op::Bitcast, {node_of(x, "bitcast")}, {}, type));
}

// The bit offsets of the narrow elements in a wide one, the first lowest.
Tensor bit_offsets(int64_t count, size_t narrow, DType type) { return Tensor::arange(count, {.dtype = type}) * int64_t(narrow * 8); }

}  // namespace

Tensor Tensor::bitcast(DType type, Site at) const {
  const Call call(at);
  const DType from = node_of(*this, "bitcast")->dtype;
  if (type == DType::none || type == DType::index) refuse(ErrorKind::Type, "bitcast", "a tensor can't be of type ", name(type));
  if ((from == DType::boolean) != (type == DType::boolean))
    refuse(ErrorKind::Type, "bitcast", "from ", name(from), " to ", name(type), " is not defined; use cast");
  const size_t old_size = item_size(from), new_size = item_size(type);
  if (old_size == new_size) return same_size_bitcast(*this, type);
  Sizes sizes = shape();
  if (sizes.empty())
    refuse(ErrorKind::Shape, "bitcast", "a scalar has no axis to take up the change from ", old_size, " to ", new_size, " bytes");
  const int64_t ratio = int64_t(old_size > new_size ? old_size / new_size : new_size / old_size), last = sizes.back();
  if (old_size > new_size) {
    if (__builtin_mul_overflow(last, ratio, &sizes.back())) sizes.back() = std::numeric_limits<int64_t>::max();
    check_sizes(sizes, "bitcast");
    const DType words = unsigned_of_size(old_size);
    const Tensor parts = same_size_bitcast(*this, words).unsqueeze(-1) >> bit_offsets(ratio, new_size, words);
    return same_size_bitcast(parts.cast(unsigned_of_size(new_size)).reshape(sizes), type);
  }
  if (last % ratio != 0)
    refuse(ErrorKind::Shape, "bitcast", "the last axis of ", text(sizes), " has ", last, " elements of ", old_size,
           " bytes, not a whole number of ", new_size, " bytes");
  const DType words = unsigned_of_size(new_size);
  sizes.back() = last / ratio;
  Sizes grouped = sizes;
  grouped.push_back(ratio);
  const Tensor parts = same_size_bitcast(*this, unsigned_of_size(old_size)).reshape(grouped).cast(words)
                       << bit_offsets(ratio, old_size, words);
  return same_size_bitcast(tensor_of(reduce(NodeRef(node_of(parts, "bitcast")), Op::Or, {int64_t(sizes.size())})).reshape(sizes), type);
}

}  // namespace whit
