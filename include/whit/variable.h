// Sizes that are not known when an operation is written: one plan and its kernels then serve every value.
//
//     const Variable length("length", 1, 4096);                   // a name and its bounds, both included
//     for (int64_t n = 1; n <= tokens; ++n) {
//       const Size now = length.bind(n);                          // the variable with a value
//       Tensor seen = cache.shrink({{0, now}, {0, width}});       // (n, width): its first n rows
//       Tensor next = (query * seen).sum(1).softmax(0);           // compiled once, for all n
//     }
//
// A tensor with such a size has storage for the greatest value, and says and gives what belongs to the bound one. Sizes can be added and
// multiplied: `{{now - 1, now}}` is the last row. They are equal if they are the same variable with the same value.
//
// Mistakes throw UserError: a value outside the bounds, a variable with two values in what one tensor is computed from, and computing or
// reading where one has no value (kind Value); a size that cannot be shown to fit whatever the value is (Shape or Index). What shrink,
// reshape, expand, permute, flip, broadcasting, reductions, matmul, softmax and their like, and assign do works with such sizes;
// operations that need numbers, like indexing and convolutions along them, say so.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <whit/argument.h>
#include <whit/site.h>

namespace whit {

class NodeRef;

/// The size of an axis: a number, or a formula of Variables.
class Size {
 public:
  template <Integer T>
  Size(T number) : number_(int64_t(number)) {}
  bool is_number() const { return !symbol_; }
  int64_t number() const { return number_; }  ///< if it is one
  std::string str() const;                    ///< "4", "n=3", "(n=3 + 1)"; "n" without a value

  /// For whit's own layers.
  explicit Size(std::shared_ptr<const NodeRef> symbol) : symbol_(std::move(symbol)) {}
  const std::shared_ptr<const NodeRef>& symbol() const { return symbol_; }

 private:
  int64_t number_ = 0;
  std::shared_ptr<const NodeRef> symbol_;
};

Size operator+(const Size& a, const Size& b);
Size operator-(const Size& a, const Size& b);
Size operator*(const Size& a, const Size& b);

/// A size by name, from `minimum` to `maximum`, both included. Two of one name and equal bounds are the same.
class Variable {
 public:
  Variable(std::string name, int64_t minimum, int64_t maximum, Site at = {});
  const std::string& name() const { return name_; }
  int64_t minimum() const { return minimum_; }
  int64_t maximum() const { return maximum_; }
  /// The variable with a value. A UserError(Value) if that is out of bounds.
  Size bind(int64_t value, Site at = {}) const;
  /// The variable without a value: shapes can be worked out with it, nothing computed.
  operator const Size&() const { return size_; }

 private:
  std::string name_;
  int64_t minimum_, maximum_;
  Size size_;
};

/// The sizes of a shape, written `{2, n}` or taken from Sizes.
class SizeList {
 public:
  SizeList() = default;
  SizeList(std::initializer_list<Size> sizes) : list_(sizes) {}
  SizeList(std::vector<Size> sizes) : list_(std::move(sizes)) {}
  SizeList(const Sizes& sizes) : list_(sizes.begin(), sizes.end()) {}
  const std::vector<Size>& list() const { return list_; }

 private:
  std::vector<Size> list_;
};

/// A range [first, last) per axis.
class RangeList {
 public:
  using Range = std::pair<Size, Size>;
  RangeList() = default;
  RangeList(std::initializer_list<Range> ranges) : list_(ranges) {}
  RangeList(std::vector<Range> ranges) : list_(std::move(ranges)) {}
  RangeList(const std::vector<std::pair<int64_t, int64_t>>& ranges) : list_(ranges.begin(), ranges.end()) {}
  const std::vector<Range>& list() const { return list_; }

 private:
  std::vector<Range> list_;
};

}  // namespace whit
