#include "ir/interpret_movement.h"

#include <numeric>

#include "base/error.h"

namespace whit {

namespace {

using Index = std::vector<int64_t>;

// The tensor of this shape whose element at an index is the source's at `place(index)`, or zero where that gives false.
template <class Place>
TensorValue gathered(const TensorValue& source, Index shape, Place place) {
  TensorValue result{std::move(shape), {}};
  result.values.resize(size_t(count_of(result.shape)));
  Index index(result.shape.size());
  for (Bits& value : result.values) {
    Index from = index;
    value = place(from) ? source.values[size_t(offset_of(source.shape, from))] : 0;
    advance(index, result.shape);
  }
  return result;
}

TensorValue padded(const TensorValue& source, const Index& args) {
  Index shape = source.shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] += args[2 * i] + args[2 * i + 1];
  return gathered(source, shape, [&](Index& index) {
    bool inside = true;
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] -= args[2 * i];
      inside = inside && 0 <= index[i] && index[i] < source.shape[i];
    }
    return inside;
  });
}

TensorValue shrunk(const TensorValue& source, const Index& args) {
  Index shape = source.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] = args[2 * i + 1];
    WHIT_ASSERT(args[2 * i] + shape[i] <= source.shape[i], "Shrink out of bounds at axis ", i);
  }
  return gathered(source, shape, [&](Index& index) {
    for (size_t i = 0; i < index.size(); ++i) index[i] += args[2 * i];
    return true;
  });
}

// Storage of a symbolic shape is laid out by its upper bounds, so a flat source may have more elements than the result.
TensorValue reshaped(const Node* node, const TensorValue& source, const Index& args) {
  if (count_of(args) == count_of(source.shape)) return {args, source.values};
  TensorValue whole = source;
  whole.shape.clear();
  for (const Dim& dim : node->shape()) whole.shape.push_back(dim.size);
  WHIT_ASSERT(count_of(whole.shape) == count_of(source.shape), "Reshape to another number of elements");
  return gathered(whole, args, [](Index&) { return true; });
}

TensorValue permuted(const TensorValue& source, const Index& axes) {
  Index shape(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) shape[i] = source.shape[size_t(axes[i])];
  return gathered(source, shape, [&](Index& index) {
    Index from(index.size());
    for (size_t i = 0; i < axes.size(); ++i) from[size_t(axes[i])] = index[i];
    index = from;
    return true;
  });
}

TensorValue flipped(const TensorValue& source, const Index& axes) {
  return gathered(source, source.shape, [&](Index& index) {
    for (const int64_t axis : axes) index[size_t(axis)] = source.shape[size_t(axis)] - 1 - index[size_t(axis)];
    return true;
  });
}

TensorValue windowed(const TensorValue& source, const Index& args) {
  const size_t axis = size_t(args[0]), window = size_t(args[1]);
  Index shape = source.shape;
  shape[axis] = args[2];
  return gathered(source, shape, [&](Index& index) {
    index[axis] = index[axis] * args[3] + index[window] * args[4];
    return true;
  });
}

TensorValue spread(const TensorValue& source, const Index& args) {
  const size_t axis = size_t(args[0]), window = size_t(args[1]);
  Index shape = source.shape;
  shape[axis] = args[2];
  return gathered(source, shape, [&](Index& index) {
    const int64_t rest = index[axis] - index[window] * args[4];
    index[axis] = rest / args[3];
    return rest >= 0 && rest % args[3] == 0 && index[axis] < source.shape[axis];
  });
}

}  // namespace

int64_t count_of(const Index& shape) { return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()); }

int64_t offset_of(const Index& shape, const Index& index) {
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) offset = offset * shape[i] + (shape[i] == 1 ? 0 : index[i]);
  return offset;
}

void advance(Index& index, const Index& shape) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return;
    index[i] = 0;
  }
}

TensorValue counted(int64_t count, int64_t first) {
  TensorValue result{{count}, std::vector<Bits>(size_t(count))};
  std::iota(result.values.begin(), result.values.end(), first);
  return result;
}

TensorValue moved(const Node* node, const TensorValue& source, const Index& args) {
  switch (node->op) {
    case Op::Reshape: return reshaped(node, source, args);
    case Op::Permute: return permuted(source, args);
    case Op::Expand: return gathered(source, args, [](Index&) { return true; });
    case Op::Pad: return padded(source, args);
    case Op::Shrink: return shrunk(source, args);
    case Op::Flip: return flipped(source, args);
    case Op::Window: return windowed(source, args);
    default: return spread(source, args);
  }
}

}  // namespace whit
