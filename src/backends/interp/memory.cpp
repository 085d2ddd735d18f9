// Loads and stores. Every access is checked against the buffer's size: an index out of bounds is whit's own mistake, and the
// interpreter is where it shows.
#include <cstring>

#include "backends/interp/machine.h"
#include "backends/interp/types.h"
#include "base/error.h"
#include "ir/number.h"

namespace whit::interp {

namespace {

// How an element lies in memory (Stored) and in the frame (Kept).
template <class T>
struct Plain {
  using Stored = T;
  using Kept = T;
  static T keep(T stored) { return stored; }
  static T store(T kept) { return kept; }
};
struct Bool {
  using Stored = uint8_t;
  using Kept = uint8_t;
  static uint8_t keep(uint8_t stored) { return stored != 0; }
  static uint8_t store(uint8_t kept) { return kept; }
};
template <DType type, class Encoding>
struct Narrow {
  using Stored = Encoding;
  using Kept = float;
  static float keep(Encoding stored) { return decode_narrow(type, stored); }
  static Encoding store(float kept) { return Encoding(encode_narrow(type, kept)); }
};

template <class Use>
auto with_format(DType type, Use use) {
  switch (type) {
    case DType::boolean: return use(Bool{});
    case DType::float8_e4m3: return use(Narrow<DType::float8_e4m3, uint8_t>{});
    case DType::float8_e5m2: return use(Narrow<DType::float8_e5m2, uint8_t>{});
    case DType::float16: return use(Narrow<DType::float16, uint16_t>{});
    case DType::bfloat16: return use(Narrow<DType::bfloat16, uint16_t>{});
    default: return with_size(item_size(type), [use]<class T>(T) { return use(Plain<T>{}); });
  }
}

[[noreturn]] void out_of_bounds(const Instruction& i, const Frame& frame, int64_t index) {
  throw InternalError(concat(frame.kernel, ": instruction ", i.position, ", a ", name(i.op), ", reaches element ", index, " of buffer ",
                             i.slot, ", which has ", frame.buffers[i.slot].elements));
}

void check(const Instruction& i, const Frame& frame, int64_t index) {
  if (uint64_t(index) >= uint64_t(frame.buffers[i.slot].elements)) out_of_bounds(i, frame, index);
}

// Elements may lie at any address.
template <class T>
T read(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

/// Calls access(lane, address) for every lane whose gate is open.
template <class Stored, bool consecutive, class Access>
void each_element(const Instruction& i, const Frame& frame, Access access) {
  std::byte* data = frame.buffers[i.slot].data;
  const int64_t* index = frame.at<int64_t>(i.a);
  if (consecutive && i.b == Instruction::kNone) {
    check(i, frame, index[0]);
    check(i, frame, index[0] + i.lanes - 1);
    for (uint32_t lane = 0; lane < i.lanes; ++lane) access(lane, data + (index[0] + lane) * int64_t(sizeof(Stored)));
    return;
  }
  const uint8_t* gate = i.b == Instruction::kNone ? nullptr : frame.at<uint8_t>(i.b);
  for (uint32_t lane = 0; lane < i.lanes; ++lane) {
    if (gate && !gate[lane]) continue;
    const int64_t element = consecutive ? index[0] + lane : index[lane];
    check(i, frame, element);
    access(lane, data + element * int64_t(sizeof(Stored)));
  }
}

template <class Format, bool consecutive>
void load(const Instruction& i, Frame& frame) {
  using Stored = typename Format::Stored;
  auto* out = frame.at<typename Format::Kept>(i.out);
  if (i.b != Instruction::kNone) std::memset(static_cast<void*>(out), 0, i.lanes * sizeof *out);
  each_element<Stored, consecutive>(i, frame,
                                    [out](uint32_t lane, const std::byte* address) { out[lane] = Format::keep(read<Stored>(address)); });
}

template <class Format, bool consecutive>
void store(const Instruction& i, Frame& frame) {
  using Stored = typename Format::Stored;
  const auto* value = frame.at<typename Format::Kept>(i.c);
  each_element<Stored, consecutive>(i, frame, [value](uint32_t lane, std::byte* address) {
    const Stored stored = Format::store(value[lane]);
    std::memcpy(address, &stored, sizeof stored);
  });
}

template <class From, class To>
void bitcast(const Instruction& i, Frame& frame) {
  const auto* a = frame.at<typename From::Kept>(i.a);
  auto* out = frame.at<typename To::Kept>(i.out);
  for (uint32_t lane = 0; lane < i.lanes; ++lane) {
    const typename From::Stored stored = From::store(a[lane]);
    out[lane] = To::keep(read<typename To::Stored>(reinterpret_cast<const std::byte*>(&stored)));
  }
}

}  // namespace

Run loading(DType type, bool consecutive) {
  return with_format(type, [consecutive]<class Format>(Format) -> Run { return consecutive ? load<Format, true> : load<Format, false>; });
}

Run storing(DType type, bool consecutive) {
  return with_format(type, [consecutive]<class Format>(Format) -> Run { return consecutive ? store<Format, true> : store<Format, false>; });
}

Run bitcasting(DType from, DType to) {
  return with_format(from, [to]<class From>(From) -> Run {
    return with_format(to, []<class To>(To) -> Run {
      if constexpr (sizeof(typename From::Stored) == sizeof(typename To::Stored))
        return bitcast<From, To>;
      else
        return nullptr;
    });
  });
}

}  // namespace whit::interp
