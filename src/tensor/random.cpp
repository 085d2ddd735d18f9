// Random draws: threefry of a counter, under a key that is the seed. Base and seed are bound variables, so that a new draw of the same
// form needs no new plan.
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/build.h"

namespace whit {

namespace {

// The sequence of draws of this process: each takes the next numbers.
struct Sequence {
  std::atomic<uint64_t> seed{0}, next{0};
};
Sequence& sequence() {
  static Sequence shared;
  return shared;
}

NodeRef bound(const char* name, uint64_t value) {
  const int64_t range[] = {name_id(name), std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  const NodeRef variable = make(Op::Variable, {}, range, DType::uint64);
  const int64_t bits = int64_t(value);
  return make(Op::Bind, {variable.get()}, Args(&bits, 1), DType::uint64);
}

// `count` fresh 64-bit words.
Tensor words(int64_t count) {
  Sequence& s = sequence();
  const uint64_t base = s.next.fetch_add(uint64_t(count));
  const NodeRef counter = make(Op::Add, {iota(count, DType::uint64).get(), bound("draw", base).get()});
  return tensor_of(make(Op::Threefry, {counter.get(), bound("seed", s.seed).get()}));
}

// How many bits of a random word a uniform number of this type has: those that it holds exactly below 1.
int mantissa_bits(DType type) {
  switch (type) {
    case DType::float8_e4m3: return 4;
    case DType::float8_e5m2: return 3;
    case DType::bfloat16: return 8;
    case DType::float16: return 11;
    case DType::float64: return 53;
    default: return 24;
  }
}

DType drawn_type(const Options& options, std::string_view operation) {
  if (options.dtype == DType::none) return DType::float32;
  if (!is_float(options.dtype)) refuse(ErrorKind::Type, operation, "gives floats, not ", name(options.dtype), "; use randint for integers");
  return options.dtype;
}

// The two halves of each word, one after the other: (count, 2), uint32.
Tensor halves(const Tensor& word) {
  const Tensor shift = Tensor::arange(2, {.dtype = DType::uint64}) * 32;
  return (word.unsqueeze(1) >> shift).cast(DType::uint32);
}

Tensor first(const Tensor& flat, const Sizes& shape) { return flat.flatten().shrink({{0, product(shape)}}).reshape(shape); }

// Whole numbers below 2^bits as fractions of it.
Tensor fraction(const Tensor& bits, int count, DType type) { return bits.cast(type) * std::ldexp(1.0, -count); }

Tensor placed(const Tensor& tensor, const Options& options, std::string_view operation) {
  return tensor_of(on_device(NodeRef(node_of(tensor, operation)), options.device, operation));
}

}  // namespace

bool& Train::state() {
  thread_local bool on = false;
  return on;
}

Tensor Tensor::dropout(double p, Site at) const {
  const Call call(at);
  if (!(p >= 0 && p <= 1)) refuse(ErrorKind::Value, "dropout", "p is ", p, ", and a share lies between 0 and 1");
  if (!Train::on() || p == 0) return *this;
  if (p == 1) return zeros_like();
  return (rand(shape(), {.device = device()}) < p).where(0, *this * (1 / (1 - p)));
}

void Tensor::manual_seed(uint64_t seed) {
  sequence().seed = seed;
  sequence().next = 0;
}

Tensor Tensor::rand(Sizes shape, Options options, Site at) {
  const Call call(at);
  check_sizes(shape, "rand");
  const DType type = drawn_type(options, "rand");
  const int64_t count = product(shape);
  const int bits = mantissa_bits(type);
  if (type == DType::float64) return placed(fraction(words(count) >> (64 - bits), bits, type).reshape(shape), options, "rand");
  return placed(first(fraction(halves(words(count / 2 + count % 2)) >> (32 - bits), bits, type), shape), options, "rand");
}

// Box and Muller: of two uniform numbers, one for the radius, one for the angle, come two normal ones: the cosine and the sine. The radius
// is never infinite, since log is taken of 1 - u > 0.
Tensor Tensor::randn(Sizes shape, Options options, Site at) {
  const Call call(at);
  check_sizes(shape, "randn");
  const DType type = drawn_type(options, "randn"), wide = type == DType::float64 ? type : DType::float32;
  const int64_t count = product(shape), pairs = count / 2 + count % 2;
  Tensor radius, turn;
  if (wide == DType::float64) {
    radius = fraction(words(pairs) >> 11, 53, wide).unsqueeze(1);
    turn = fraction(words(pairs) >> 11, 53, wide).unsqueeze(1);
  } else {
    const Tensor word = words(pairs).unsqueeze(1);
    radius = fraction(word.cast(DType::uint32) >> 8, 24, wide);
    turn = fraction((word >> 32).cast(DType::uint32) >> 8, 24, wide);
  }
  const Tensor quarter = arange(2, {.dtype = wide}) * 0.25;  // sin(x) is cos(x - a quarter turn)
  const Tensor normal = (-2 * (1 - radius).log()).sqrt() * ((turn - quarter) * (2 * std::numbers::pi)).cos();
  return placed(first(normal, shape).cast(type), options, "randn");
}

Tensor Tensor::randint(int64_t low, int64_t high, Sizes shape, Options options, Site at) {
  const Call call(at);
  check_sizes(shape, "randint");
  if (low >= high) refuse(ErrorKind::Value, "randint", "there is no integer in [", low, ", ", high, ")");
  const DType type = options.dtype == DType::none ? DType::int32 : options.dtype;
  if (!is_integer(type)) refuse(ErrorKind::Type, "randint", "gives integers, not ", name(type), "; cast the result");
  const unsigned bits = std::min(bit_width(type) - is_signed(type), 63u);  // below 2^bits
  const int64_t greatest = int64_t((uint64_t(1) << bits) - 1), least = is_signed(type) ? -greatest - 1 : 0;
  if (low < least || high - 1 > greatest)
    refuse(ErrorKind::Value, "randint", "[", low, ", ", high, ") doesn't fit ", name(type), "; ask for a wider dtype");
  // A 64-bit word leaves no bias worth the name.
  const Tensor span = full({}, uint64_t(high) - uint64_t(low), {.dtype = DType::uint64});
  const Tensor offset = words(product(shape)).fmod(span).cast(DType::int64);
  return placed((offset + low).cast(type).reshape(shape), options, "randint");
}

}  // namespace whit
