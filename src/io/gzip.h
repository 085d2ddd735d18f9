// gzip files (RFC 1952) unpacked in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace whit {

/// True where the bytes start like a gzip file.
bool is_gzip(std::span<const uint8_t> bytes);

/// Unpacks one or more gzip members. `name` is the file that errors speak of. More than `max_size` bytes of result, a
/// truncated or damaged member, or bytes after the last one are a UserError(File); memory stays proportional to the result.
std::vector<uint8_t> gunzip(std::span<const uint8_t> packed, size_t max_size, const std::string& name);

}  // namespace whit
