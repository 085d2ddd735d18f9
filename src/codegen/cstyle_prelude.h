// The types and helper functions of one source text: whoever asks for a name gets it, and what it stands for is written once, before
// its first use.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "codegen/dialect.h"

namespace whit {

/// A signed or unsigned integer type of this many bytes.
DType integer_of_size(size_t bytes, bool with_sign);

class Prelude {
 public:
  explicit Prelude(const Dialect& dialect) : dialect_(dialect) {}
  const Dialect& dialect() const { return dialect_; }

  /// "f32"; "f32x16" with lanes. Bool is a byte.
  std::string type(DType type, int64_t lanes = 1);
  /// The type of an element in a buffer.
  std::string stored(DType type);

  /// Adds a helper function unless one of this name is there already; gives the name back. `body` is what stands in the braces.
  std::string function(const std::string& name, const std::string& result, const std::string& parameters, const std::string& body);
  /// A definition of any other form.
  std::string define(const std::string& name, const std::string& text);

  /// Functions that read and write a vector in memory.
  std::string vector_load(DType type, int64_t lanes);
  std::string vector_store(DType type, int64_t lanes);
  /// A vector whose lanes all have this value.
  std::string splat(DType type, int64_t lanes, const std::string& value);
  /// The vector 0, 1, …
  std::string lane_numbers(DType type, int64_t lanes);

  const std::string& text() const { return text_; }

 private:
  std::string stored_vector(DType type, int64_t lanes);

  const Dialect& dialect_;
  std::unordered_set<std::string> known_;
  std::string text_;
};

/// `text` with $0, $1, … replaced.
std::string fill(std::string_view text, std::initializer_list<std::string_view> parts);

/// Without the pair of parentheses that encloses all of it, if there is one.
std::string bare(const std::string& text);

}  // namespace whit
