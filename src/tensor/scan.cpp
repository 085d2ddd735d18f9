// Scans along an axis, each one loop that carries its state.
#include "tensor/build.h"

namespace whit {

namespace {

Tensor scan(const Tensor& x, Op op, int64_t axis, const char* operation) {
  const int64_t args[] = {int64_t(op), axis};
  return tensor_of(make(Op::Scan, {node_of(x, operation)}, args));
}

// Of the sum's type: small integers in (u)int32, narrow floats rounded once.
Tensor fold_along(const Tensor& x, Op op, int64_t axis, const char* operation) {
  const NodeRef node(node_of(x, operation));
  const int64_t place = axis_of(axis, node->rank, operation, true);
  const Tensor typed = tensor_of(whit::cast(node, sum_type(node->dtype)));
  if (node->rank == 0 || x.numel() == 0) return typed;
  const Tensor wide = is_narrow_float(typed.dtype()) ? widened(typed) : typed;
  return scan(wide, op, place, operation).cast(typed.dtype());
}

// The place of the last element so far that is the extreme so far; the values come from there, and their gradients go there.
std::pair<Tensor, Tensor> extremes_along(const Tensor& x, Op op, int64_t axis, const char* operation) {
  const NodeRef node(node_of(x, operation));
  const int64_t place = axis_of(axis, node->rank, operation, true);
  if (node->rank == 0) return {x, x.zeros_like({.dtype = DType::int32})};
  if (x.numel() == 0) return {x, x.cast(DType::int32)};
  const Tensor fixed = x.detach(), extreme = scan(fixed, op, place, operation);
  const Tensor met = is_float(x.dtype()) ? (fixed == extreme) | fixed.isnan() : fixed == extreme;
  const Tensor here = met.where(tensor_of(places(x.shape(), place, DType::int32)), -1);
  const Tensor last = scan(here, Op::Max, place, operation);
  return {x.gather(place, last), last};
}

}  // namespace

Tensor Tensor::cumsum(int64_t axis, Site at) const {
  const Call call(at);
  return fold_along(*this, Op::Add, axis, "cumsum");
}

Tensor Tensor::cumprod(int64_t axis, Site at) const {
  const Call call(at);
  return fold_along(*this, Op::Mul, axis, "cumprod");
}

std::pair<Tensor, Tensor> Tensor::cummax(int64_t axis, Site at) const {
  const Call call(at);
  return extremes_along(*this, Op::Max, axis, "cummax");
}

std::pair<Tensor, Tensor> Tensor::cummin(int64_t axis, Site at) const {
  const Call call(at);
  return extremes_along(*this, Op::Min, axis, "cummin");
}

// With m the greatest so far, s[i] = s[i-1] exp(m[i-1] - m[i]) + exp(x[i] - m[i]) never overflows (the online form of Milakov and
// Gimelshein, arXiv:1805.02867). Where m is infinite, 0 stands for it: exp then gives what the infinities should.
Tensor Tensor::logcumsumexp(int64_t axis, Site at) const {
  const Call call(at);
  const NodeRef node(node_of(*this, "logcumsumexp"));
  const int64_t rank = node->rank, place = axis_of(axis, rank, "logcumsumexp", true);
  const Tensor x = widened(*this);
  if (rank == 0 || numel() == 0) return x.cast(float_type(*this));
  const Tensor greatest = scan(x.detach(), Op::Max, place, "logcumsumexp");
  const Tensor base = greatest.isinf().where(0, greatest);
  std::vector<std::pair<int64_t, int64_t>> first(size_t(rank), {0, 0}), back(size_t(rank), {0, 0});
  first[size_t(place)].first = -1;
  back[size_t(place)] = {1, 0};
  std::vector<std::pair<int64_t, int64_t>> last(size_t(rank), {0, 0});
  last[size_t(place)].second = -1;
  const Tensor factor = (base.pad(last) - base.pad(first)).clip({}, 0.0).exp().pad(back);
  const Tensor term = (x - base).exp();
  const int64_t args[] = {int64_t(Op::MulAdd), place};
  const Tensor sum = tensor_of(make(Op::Scan, {node_of(factor, "logcumsumexp"), node_of(term, "logcumsumexp")}, args));
  return (sum.log() + base).cast(float_type(*this));
}

}  // namespace whit
