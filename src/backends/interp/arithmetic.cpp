// The meaning column of ops.def as instructions: one function per op and type, each a loop over lanes.
#include <limits>
#include <type_traits>

#include "backends/interp/machine.h"
#include "backends/interp/types.h"
#include "ir/meaning.h"
#include "ir/number.h"
#include "ir/op.h"

namespace whit::interp {

namespace {

using namespace meaning;

template <class A, class T, class Result, class Meaning>
void elementwise(const Instruction& i, Frame& frame) {
  const A* a = frame.at<A>(i.a);
  const T* b = frame.at<T>(i.b);
  const T* c = frame.at<T>(i.c);
  Result* out = frame.at<Result>(i.out);
  for (uint32_t lane = 0; lane < i.lanes; ++lane) out[lane] = Result(Meaning{}(a[lane], b[lane], c[lane]));
}

template <class T, Op op>
constexpr bool defined() {
  if (!has(op, alu) || has(op, typed)) return false;
  return std::is_floating_point_v<T> ? !has(op, integral) : !has(op, floating);
}

template <class T>
Run arithmetic_of(Op op) {
  switch (op) {
#define OP(id, arity, traits, expression, spelling, gradient)                                                                    \
  case Op::id:                                                                                                                   \
    if constexpr (defined<T, Op::id>()) {                                                                                        \
      using A = std::conditional_t<Op::id == Op::Where, bool, T>;                                                                \
      using Result = std::conditional_t<has(Op::id, compares), bool, T>;                                                         \
      return elementwise<A, T, Result,                                                                                           \
                         decltype([]([[maybe_unused]] A a, [[maybe_unused]] T b, [[maybe_unused]] T c) { return expression; })>; \
    }                                                                                                                            \
    return nullptr;
#include "ir/ops.def"
#undef OP
  }
  return nullptr;
}

// ---- Conversions --------------------------------------------------------------------------------------------------------------------

template <class To, class From>
To saturated(From value) {
  if (value != value) return 0;
  constexpr From low = From(std::numeric_limits<To>::min());
  constexpr From beyond = std::is_signed_v<To> ? -low : From(2) * From(To(1) << (sizeof(To) * 8 - 1));  // a power of two, so exact
  if (value <= low) return std::numeric_limits<To>::min();
  if (value >= beyond) return std::numeric_limits<To>::max();
  return To(value);
}

template <class From, class To>
void cast(const Instruction& i, Frame& frame) {
  const From* a = frame.at<From>(i.a);
  To* out = frame.at<To>(i.out);
  for (uint32_t lane = 0; lane < i.lanes; ++lane) {
    if constexpr (std::is_same_v<To, bool>)
      out[lane] = a[lane] != From(0);
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
      out[lane] = saturated<To>(a[lane]);
    else
      out[lane] = To(a[lane]);
  }
}

template <DType type>
void round_narrow(const Instruction& i, Frame& frame) {
  float* out = frame.at<float>(i.out);
  for (uint32_t lane = 0; lane < i.lanes; ++lane) out[lane] = round_to(type, out[lane]);
}

// ---- Moving -------------------------------------------------------------------------------------------------------------------------

template <class T>
void move(const Instruction& i, Frame& frame) {
  const T* a = frame.at<T>(i.a);
  T* out = frame.at<T>(i.out);
  for (uint32_t lane = 0; lane < i.lanes; ++lane) out[lane] = a[lane];
}

template <class T>
void spread(const Instruction& i, Frame& frame) {
  T* out = frame.at<T>(i.out);
  for (uint32_t lane = 1; lane < i.lanes; ++lane) out[lane] = out[0];
}

}  // namespace

Run arithmetic(Op op, DType type) {
  return with_type(type, [op]<class T>(T) -> Run { return arithmetic_of<T>(op); });
}

Run casting(DType from, DType to) {
  return with_type(from, [to]<class From>(From) -> Run { return with_type(to, []<class To>(To) -> Run { return cast<From, To>; }); });
}

Run rounding(DType type) {
  switch (type) {
    case DType::float8_e4m3: return round_narrow<DType::float8_e4m3>;
    case DType::float8_e5m2: return round_narrow<DType::float8_e5m2>;
    case DType::float16: return round_narrow<DType::float16>;
    case DType::bfloat16: return round_narrow<DType::bfloat16>;
    default: return nullptr;
  }
}

Run moving(size_t bytes) {
  return with_size(bytes, []<class T>(T) -> Run { return move<T>; });
}
Run spreading(size_t bytes) {
  return with_size(bytes, []<class T>(T) -> Run { return spread<T>; });
}

size_t frame_bytes(DType type) {
  return with_type(type, []<class T>(T) { return sizeof(T); });
}

}  // namespace whit::interp
