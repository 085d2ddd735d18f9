#include "io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "base/error.h"

namespace whit {
namespace {

/// Owns zlib's state while one stream is unpacked.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16;  // zlib's way to say: a gzip header, and nothing else
    if (inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Moves `input` and `output` past what was used. zlib counts in unsigned int, so large buffers go in slices.
  int step(std::span<const uint8_t>& input, std::span<uint8_t>& output) {
    constexpr size_t kSlice = std::numeric_limits<uInt>::max();
    const uInt given = static_cast<uInt>(std::min(input.size(), kSlice)), room = static_cast<uInt>(std::min(output.size(), kSlice));
    stream_.next_in = const_cast<uint8_t*>(input.data());  // zlib only reads it
    stream_.avail_in = given;
    stream_.next_out = output.data();
    stream_.avail_out = room;
    int result = inflate(&stream_, Z_NO_FLUSH);
    input = input.subspan(given - stream_.avail_in);
    output = output.subspan(room - stream_.avail_out);
    return result;
  }

  void restart() { inflateReset(&stream_); }
  const char* message() const { return stream_.msg != nullptr ? stream_.msg : "damaged data"; }

 private:
  z_stream stream_{};
};

/// A first size for the result. The last four bytes state it modulo 2³², but anyone can write anything there, so it counts only
/// as far as DEFLATE can reach: 1032 bytes from one.
size_t first_size(std::span<const uint8_t> packed, size_t max_size) {
  size_t stated = 0;
  if (packed.size() >= 18)
    for (size_t i = 1; i <= 4; ++i) stated = stated << 8 | packed[packed.size() - i];
  return std::max<size_t>(1, std::min({stated, packed.size() * 1032, max_size}));
}

bool all_zero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

bool is_gzip(std::span<const uint8_t> bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

std::vector<uint8_t> gunzip(std::span<const uint8_t> packed, size_t max_size, const std::string& name) {
  if (!is_gzip(packed)) fail(ErrorKind::File, "'", name, "' is no gzip file");
  Inflater inflater;
  std::vector<uint8_t> result(first_size(packed, max_size));
  size_t size = 0;
  auto rest = packed;
  for (;;) {
    std::span<uint8_t> room = std::span(result).subspan(size);
    int status = inflater.step(rest, room);
    size = result.size() - room.size();
    if (status == Z_STREAM_END) {
      if (all_zero(rest)) break;  // tapes and some tools pad with zeros
      if (!is_gzip(rest))
        fail(ErrorKind::File, "'", name, "': ", rest.size(), " bytes at offset ", packed.size() - rest.size(), " follow the gzip data");
      inflater.restart();
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail(ErrorKind::File, "'", name, "' is damaged near offset ", packed.size() - rest.size(), ": ", inflater.message());
    } else if (room.empty()) {
      // Full: the stream may be at its end mark, so asking for one byte more decides whether the limit is really passed.
      if (size > max_size) fail(ErrorKind::File, "'", name, "' unpacks to more than the ", max_size, " bytes expected");
      result.resize(size == max_size ? size + 1 : std::min(max_size, size + std::max<size_t>(size, 64)));
    } else if (status == Z_BUF_ERROR) {
      fail(ErrorKind::File, "'", name, "' is truncated: it ends at offset ", packed.size(), " inside the gzip data");
    }
  }
  if (size > max_size) fail(ErrorKind::File, "'", name, "' unpacks to more than the ", max_size, " bytes expected");
  result.resize(size);
  return result;
}

}  // namespace whit
