// Sorting: keys whose order as unsigned integers is that of the elements, and the Order of those. Equal elements stay as they stand, and
// NaN comes last in ascending order, as in NumPy and PyTorch.
#include "tensor/build.h"

namespace whit {

namespace {

DType word_of(DType type) {
  switch (item_size(type)) {
    case 1: return DType::uint8;
    case 2: return DType::uint16;
    case 4: return DType::uint32;
    default: return DType::uint64;
  }
}

// Floats of one sign compare as their bits do, negative ones the other way round; the sign bit of signed integers counts the wrong way.
Tensor keys_of(const Tensor& x, bool descending) {
  Tensor keys = x.dtype() == DType::boolean ? x.cast(DType::uint8) : is_float(x.dtype()) ? widened(x) : x;
  const DType type = keys.dtype(), word = word_of(type);
  if (is_float(type)) {
    // One zero, and one NaN: greater than all numbers.
    keys = keys.isnan().where(Tensor::full({}, std::numeric_limits<double>::quiet_NaN(), {.dtype = type, .device = x.device()}),
                              (keys == 0).where(0, keys));
    const int64_t top = int64_t(item_size(type)) * 8 - 1;
    const Tensor bits = keys.bitcast(word), negative = (bits >> top) != 0;
    const Tensor sign = Tensor::full({}, 1, {.dtype = word, .device = x.device()}) << top;
    keys = negative.where(~bits, bits ^ sign);
  } else if (is_signed(type)) {
    const int64_t top = int64_t(item_size(type)) * 8 - 1;
    keys = keys.bitcast(word) ^ (Tensor::full({}, 1, {.dtype = word, .device = x.device()}) << top);
  }
  return descending ? ~keys : keys;
}

}  // namespace

Tensor Tensor::argsort(int64_t axis, bool descending, Site at) const {
  const Call call(at);
  const NodeRef node(node_of(*this, "argsort"));
  const int64_t place = axis_of(axis, node->rank, "argsort", true);
  if (node->rank == 0) return zeros_like({.dtype = DType::int32});
  if (is_symbolic(node->shape())) refuse(ErrorKind::Shape, "argsort", "sizes must be numbers, not Variables, as in ", text(node->shape()));
  if (shape(place) > std::numeric_limits<int32_t>::max())
    refuse(ErrorKind::Shape, "argsort", "axis ", place, " of ", text(node->shape()), " has more than 2^31 - 1 elements");
  const Tensor keys = keys_of(detach(), descending).transpose(place, -1).contiguous();
  return tensor_of(make(Op::Order, {node_of(keys, "argsort")})).transpose(place, -1);
}

std::pair<Tensor, Tensor> Tensor::sort(int64_t axis, bool descending, Site at) const {
  const Call call(at);
  const Tensor places = argsort(axis, descending);
  return {ndim() == 0 ? *this : gather(axis, places), places};
}

std::pair<Tensor, Tensor> Tensor::topk(int64_t count, int64_t axis, bool largest, Site at) const {
  const Call call(at);
  const int64_t rank = ndim(), place = axis_of(axis, rank, "topk", true), size = rank == 0 ? 1 : shape(place);
  if (count < 0 || count > size)
    refuse(ErrorKind::Value, "topk", "can't take ", count, " of the ", size, " elements of axis ", place, " of ", text(shape()));
  if (rank == 0) return {count == 0 ? reshape({1}).shrink({{0, 0}}) : *this, zeros_like({.dtype = DType::int32})};
  std::vector<std::pair<int64_t, int64_t>> ends(size_t(rank), {0, 0});
  ends[size_t(place)].second = count - size;
  const Tensor places = argsort(place, largest).pad(ends);
  return {gather(place, places), places};
}

}  // namespace whit
