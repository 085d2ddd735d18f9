// One index of `t[{…}]`.
#pragma once

#include <optional>
#include <utility>
#include <whit/tensor.h>

namespace whit {

/// An integer, a Slice, None, Ellipsis, or a Tensor of integers.
class Index {
 public:
  enum class Kind : uint8_t { integer, slice, new_axis, ellipsis, tensor };

  template <Integer T>
  Index(T value, Site at = {}) : kind_(Kind::integer), integer_(int64_t(value)), site_(at) {}
  Index(Slice value, Site at = {}) : kind_(Kind::slice), slice_(value), site_(at) {}
  Index(std::nullopt_t, Site at = {}) : kind_(Kind::new_axis), site_(at) {}
  Index(EllipsisIndex, Site at = {}) : kind_(Kind::ellipsis), site_(at) {}
  Index(Tensor value, Site at = {}) : kind_(Kind::tensor), tensor_(std::move(value)), site_(at) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }
  Site site() const { return site_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
  Site site_;
};

}  // namespace whit
