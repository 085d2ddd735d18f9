// Tensors from data, constants and sequences.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/build.h"

namespace whit {

namespace {

DType type_or(DType asked, DType otherwise) { return asked == DType::none ? otherwise : asked; }

void check_type(DType type, std::string_view operation) {
  if (type == DType::index) refuse(ErrorKind::Type, operation, "a tensor can't be of type index");
}

DeviceId device_of(const std::string& name, std::string_view operation) {
  if (name.empty()) return default_device();
  try {
    return open_device(name);
  } catch (const UserError& error) {
    refuse(error.kind(), operation, error.what());
  }
}

// A buffer of what is at `data`. Bytes that stand for true are made 1: kernels rely on a bool being 0 or 1, indices made of one too.
NodeRef host_values(DType type, int64_t count, DeviceId device, const void* data, std::shared_ptr<const void> owner) {
  const std::span bytes(static_cast<const uint8_t*>(data), size_t(count));
  if (type != DType::boolean || std::ranges::all_of(bytes, [](uint8_t byte) { return byte <= 1; }))
    return buffer_of_host(type, count, device, data, std::move(owner));
  std::vector<uint8_t> truths(bytes.size());
  std::ranges::transform(bytes, truths.begin(), [](uint8_t byte) { return uint8_t(byte != 0); });
  return buffer_of_host(type, count, device, truths.data());
}

// Collects the values of nested lists and the shape they have.
struct ListReader {
  Sizes shape;
  std::vector<Scalar> values;

  void read(const NestedList& list, size_t depth) {
    if (depth == shape.size()) {
      if (list.is_list()) ragged(depth, "a list stands where there is a number elsewhere");
      values.push_back(list.value());
      return;
    }
    if (!list.is_list()) ragged(depth, "a number stands where there is a list elsewhere");
    if (int64_t(list.items().size()) != shape[depth])
      ragged(depth, concat("one list has ", shape[depth], " items, another ", list.items().size()));
    for (const NestedList& item : list.items()) read(item, depth + 1);
  }

  // The lengths along the first items.
  void find_shape(const NestedList& list) {
    for (const NestedList* level = &list; level->is_list(); level = &level->items()[0]) {
      shape.push_back(int64_t(level->items().size()));
      if (level->items().empty()) break;
    }
  }

  [[noreturn]] static void ragged(size_t depth, const std::string& what) {
    refuse(ErrorKind::Shape, "Tensor", "the nested lists are ragged at depth ", depth, ": ", what,
           "; all lists of one depth need the same length");
  }
};

DType type_of_values(const std::vector<Scalar>& values) {
  DType type = DType::none;
  for (const Scalar& value : values) type = promote(type, type_of(value));
  return type == DType::none ? DType::float32 : type;
}

Bits bits_of(const Scalar& value, DType type) {
  if (value.kind == Scalar::Kind::floating || is_float(type)) return bits_of_number(type, value.real);
  return bits_of_integer(type, value.integer);
}

NodeRef shaped(NodeRef buffer, const Sizes& shape) { return reshape(std::move(buffer), shape); }

}  // namespace

Tensor::Tensor(Scalar value, Options options, Site at) {
  const Call call(at);
  const DType type = type_or(options.dtype, type_of(value));
  check_type(type, "Tensor");
  std::byte element[8];
  store_element(type, element, bits_of(value, type));
  // Storage of its own and not a constant: two tensors made of equal numbers have gradients of their own.
  *this = tensor_of(shaped(buffer_of_host(type, 1, device_of(options.device, "Tensor"), element), {}));
}

Tensor::Tensor(std::initializer_list<NestedList> values, Options options, Site at) {
  const Call call(at);
  const NestedList list(values);
  ListReader reader;
  reader.find_shape(list);
  reader.read(list, 0);
  const DType type = type_or(options.dtype, type_of_values(reader.values));
  check_type(type, "Tensor");
  std::vector<std::byte> bytes(reader.values.size() * item_size(type));
  for (size_t i = 0; i < reader.values.size(); ++i) store_element(type, &bytes[i * item_size(type)], bits_of(reader.values[i], type));
  const int64_t count = int64_t(reader.values.size());
  *this = tensor_of(shaped(buffer_of_host(type, count, device_of(options.device, "Tensor"), bytes.data()), reader.shape));
}

Tensor::Tensor(const std::vector<bool>& values, Options options, Site at) {
  const Call call(at);
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  *this = from_host(bytes.data(), bytes.size(), DType::boolean, {int64_t(bytes.size())}, options, nullptr, at);
}

Tensor Tensor::from_host(const void* data, size_t count, DType type, Sizes shape, const Options& options, std::shared_ptr<const void> owner,
                         Site at) {
  const Call call(at);
  check_sizes(shape, "Tensor");
  check_type(options.dtype, "Tensor");
  if (product(shape) != int64_t(count))
    refuse(ErrorKind::Shape, "Tensor", count, " values don't fill the shape ", text(shape), ", which has ", product(shape));
  const DeviceId device = device_of(options.device, "Tensor");
  const DType wanted = type_or(options.dtype, type);
  if (wanted == type) return tensor_of(shaped(host_values(type, int64_t(count), device, data, std::move(owner)), shape));
  std::vector<std::byte> converted(count * item_size(wanted));
  for (size_t i = 0; i < count; ++i)
    store_element(wanted, &converted[i * item_size(wanted)],
                  convert(type, wanted, load_element(type, static_cast<const std::byte*>(data) + i * item_size(type))));
  return tensor_of(shaped(buffer_of_host(wanted, int64_t(count), device, converted.data()), shape));
}

Tensor Tensor::from_blob(const void* data, Sizes shape, Options options, std::shared_ptr<const void> owner, Site at) {
  const Call call(at);
  check_sizes(shape, "from_blob");
  const DType type = type_or(options.dtype, DType::float32);
  check_type(type, "from_blob");
  const int64_t count = product(shape);
  if (!data && count > 0) refuse(ErrorKind::Value, "from_blob", "the address is null");
  return tensor_of(shaped(host_values(type, count, device_of(options.device, "from_blob"), data, std::move(owner)), shape));
}

// ---- Constants ----------------------------------------------------------------------------------------------------------------------

Tensor Tensor::full(SizeList sizes, Scalar value, Options options, Site at) {
  const Call call(at);
  const Shape shape = shape_of(sizes, "full");
  const DType type = type_or(options.dtype, type_of(value));
  check_type(type, "full");
  return tensor_of(on_device(whit::expand(literal(value, type, "full"), shape), options.device, "full"));
}

Tensor Tensor::full_like(Scalar value, Options options, Site at) const {
  const Call call(at);
  const NodeRef node(node_of(*this, "full_like"));
  std::vector<Size> sizes;
  for (const Dim& dim : node->shape()) sizes.push_back(size_of(dim));
  return full(std::move(sizes), value,
              {.dtype = type_or(options.dtype, node->dtype), .device = options.device.empty() ? device() : options.device});
}

Tensor Tensor::empty(SizeList sizes, Options options, Site at) {
  const Call call(at);
  const Shape shape = shape_of(sizes, "empty");
  const DType type = type_or(options.dtype, DType::float32);
  check_type(type, "empty");
  return tensor_of(whit::reshape(empty_buffer(type, element_count(shape), device_of(options.device, "empty")), shape));
}

// ---- Sequences ----------------------------------------------------------------------------------------------------------------------

namespace {

// How many of start, start + step, … lie before stop.
int64_t step_count(const Scalar& start, const Scalar& stop, const Scalar& step, bool integers) {
  if (step.real == 0) refuse(ErrorKind::Value, "arange", "the step is 0");
  if (integers) {
    const __int128 distance = __int128(stop.integer) - start.integer, by = step.integer;
    const __int128 count = (distance + by + (by > 0 ? -1 : 1)) / by;
    return (distance > 0) != (by > 0) || distance == 0 ? 0 : int64_t(std::min<__int128>(count, std::numeric_limits<int64_t>::max()));
  }
  const double count = std::ceil((stop.real - start.real) / step.real);
  if (!(count < 9e18))
    refuse(ErrorKind::Value, "arange", "from ", start.real, " to ", stop.real, " by ", step.real, " is no finite number of steps");
  return count > 0 ? int64_t(count) : 0;
}

bool fits_int32(int64_t value) { return value == int32_t(value); }

}  // namespace

Tensor Tensor::arange(Scalar start, Scalar stop, Scalar step, Options options, Site at) {
  const Call call(at);
  const bool integers = start.kind != Scalar::Kind::floating && stop.kind != Scalar::Kind::floating && step.kind != Scalar::Kind::floating;
  const int64_t count = step_count(start, stop, step, integers);
  check_sizes({count}, "arange");
  DType natural = DType::float32;
  if (integers) {
    const __int128 last = __int128(start.integer) + __int128(step.integer) * (count > 0 ? count - 1 : 0);
    natural = fits_int32(start.integer) && last == int32_t(last) && fits_int32(step.integer) ? DType::int32 : DType::int64;
  }
  const DType type = type_or(options.dtype, natural);
  check_type(type, "arange");
  // Narrow types count in a wider one, in which every place is exact.
  const DType counting = is_narrow_float(type)                         ? DType::float32
                         : is_float(type)                              ? type
                         : item_size(type) < 4 || type == DType::int32 ? DType::int32
                                                                       : DType::int64;
  Tensor result = tensor_of(iota(count, counting));
  if (step.real != 1) result = result * step;
  if (start.real != 0) result = result + start;
  return tensor_of(on_device(whit::cast(NodeRef(node_of(result, "arange")), type), options.device, "arange"));
}

Tensor Tensor::linspace(Scalar start, Scalar stop, int64_t steps, Options options, Site at) {
  const Call call(at);
  if (steps < 0) refuse(ErrorKind::Value, "linspace", steps, " steps; there can't be fewer than none");
  check_sizes({steps}, "linspace");
  const DType type = type_or(options.dtype, DType::float32), wide = type == DType::float64 ? type : DType::float32;
  check_type(type, "linspace");
  const double by = steps > 1 ? (stop.real - start.real) / double(steps - 1) : 0;
  // From the nearer end, so that both are exact.
  const Tensor place = tensor_of(iota(steps, wide)), from_start = place * by + start.real,
               from_stop = (place - double(steps - 1)) * by + stop.real;
  const Tensor result = steps > 1 ? (place < double(steps) / 2).where(from_start, from_stop) : from_start;
  return tensor_of(on_device(whit::cast(NodeRef(node_of(result, "linspace")), type), options.device, "linspace"));
}

Tensor Tensor::eye(int64_t rows, std::optional<int64_t> columns, Options options, Site at) {
  const Call call(at);
  const int64_t width = columns.value_or(rows);
  check_sizes({rows, width}, "eye");
  const DType type = type_or(options.dtype, DType::float32);
  check_type(type, "eye");
  const Tensor result = (arange(rows).unsqueeze(1) == arange(width)).cast(type);
  return tensor_of(on_device(NodeRef(node_of(result, "eye")), options.device, "eye"));
}

}  // namespace whit
