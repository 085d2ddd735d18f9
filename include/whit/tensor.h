// Tensor: a lazy n-dimensional array. Every operation describes its result; `realize`, `item`, `to_vector` and printing compute it.
//
// A Tensor is a shared handle: a copy is another name for the same tensor, `clone` makes another tensor with the same value, `detach` one
// without the gradient history. Operations are listed by theme; those built from others are in functional.h and random.h.
//
// Mistakes throw UserError with the caller's line (the defaulted `Site`), the operation, the shapes and dtypes, and what to do. Its kind
// is Index (axes and indices), Type (dtypes), Shape, Value or Device.
//
// Threads may build, compute and read tensors at the same time, also the same ones; only one at a time may write to a tensor or hold one of
// its names that it assigns.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <whit/argument.h>
#include <whit/dtype.h>
#include <whit/error.h>
#include <whit/site.h>
#include <whit/variable.h>

namespace whit {

class Handle;
class Index;
struct Shown;

/// The dtype whose elements are T.
template <Number T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? DType::float32 : DType::float64;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? DType::int8 : DType::uint8;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? DType::int16 : DType::uint16;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? DType::int32 : DType::uint32;
  else
    return std::is_signed_v<T> ? DType::int64 : DType::uint64;
}

class Tensor {
 public:
  // ---- From data ----
  Tensor() = default;  ///< holds nothing: stands for "no tensor" where one is optional
  explicit Tensor(Scalar value, Options options = {}, Site at = {});
  Tensor(std::initializer_list<NestedList> values, Options options = {}, Site at = {});
  /// Copies; of a temporary vector, takes over the storage where its alignment allows. The dtype is Element's unless `options` asks for
  /// another.
  template <Number Element>
  explicit Tensor(const std::vector<Element>& values, Options options = {}, Site at = {})
      : Tensor(copy_of(std::span<const Element>(values), {int64_t(values.size())}, options, at)) {}
  explicit Tensor(const std::vector<bool>& values, Options options = {}, Site at = {});
  template <Number Element>
  Tensor(std::vector<Element>&& values, Sizes shape, Options options = {}, Site at = {});
  template <Number Element>
  Tensor(std::span<const Element> values, Sizes shape, Options options = {}, Site at = {})
      : Tensor(copy_of(values, std::move(shape), options, at)) {}
  template <Number Element>
  Tensor(const std::vector<Element>& values, Sizes shape, Options options = {}, Site at = {})
      : Tensor(copy_of(std::span<const Element>(values), std::move(shape), options, at)) {}
  /// The elements of `options.dtype` at `data`, row-major. With an owner the memory itself is used where its address is a multiple of 64
  /// (it must not change while the owner lives), else it is copied.
  static Tensor from_blob(const void* data, Sizes shape, Options options = {}, std::shared_ptr<const void> owner = nullptr, Site at = {});

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;  ///< another name for the same tensor
  Tensor& operator=(Tensor&&) & = default;
  Tensor& operator=(const Operand& value) &&;  ///< `t[1] = value` writes into t
  ~Tensor() = default;

  // ---- Made ----
  static Tensor full(SizeList shape, Scalar value, Options options = {}, Site at = {});
  static Tensor zeros(SizeList shape, Options options = {}, Site at = {}) { return full(std::move(shape), 0.0, options, at); }
  static Tensor ones(SizeList shape, Options options = {}, Site at = {}) { return full(std::move(shape), 1.0, options, at); }
  static Tensor empty(SizeList shape, Options options = {}, Site at = {});  ///< storage with unspecified values
  /// start, start + step, … before stop; int32 (int64 where needed) if all three are integers, else float32.
  static Tensor arange(Scalar start, Scalar stop, Scalar step = 1, Options options = {}, Site at = {});
  static Tensor arange(Scalar stop, Options options = {}, Site at = {}) { return arange(0, stop, 1, options, at); }
  static Tensor linspace(Scalar start, Scalar stop, int64_t steps, Options options = {}, Site at = {});  ///< both ends included
  static Tensor eye(int64_t rows, std::optional<int64_t> columns = {}, Options options = {}, Site at = {});
  Tensor full_like(Scalar value, Options options = {}, Site at = {}) const;  ///< same shape; same dtype and device unless given
  Tensor zeros_like(Options options = {}, Site at = {}) const { return full_like(0, options, at); }
  Tensor ones_like(Options options = {}, Site at = {}) const { return full_like(1, options, at); }

  // ---- Drawn at random: fixed when drawn, whatever the order of computing, the device and the threads ----
  static void manual_seed(uint64_t seed);                                ///< starts the sequence of all later draws anew
  static Tensor rand(Sizes shape, Options options = {}, Site at = {});   ///< uniform in [0, 1)
  static Tensor randn(Sizes shape, Options options = {}, Site at = {});  ///< normal, mean 0, deviation 1
  static Tensor randint(int64_t low, int64_t high, Sizes shape, Options options = {}, Site at = {});  ///< in [low, high); int32
  static Tensor uniform(Sizes shape, double low = 0, double high = 1, Options options = {}, Site at = {});
  static Tensor normal(Sizes shape, double mean = 0, double deviation = 1, Options options = {}, Site at = {});
  static Tensor kaiming_uniform(Sizes shape, double a = 0.01, Options options = {}, Site at = {});  ///< bound √(6 / ((1 + a²) fan-in))
  static Tensor glorot_uniform(Sizes shape, Options options = {}, Site at = {});                    ///< bound √(6 / (fan-in + fan-out))
  Tensor rand_like(Options options = {}, Site at = {}) const;
  Tensor randn_like(Options options = {}, Site at = {}) const;
  Tensor dropout(double p = 0.5, Site at = {}) const;  ///< only while a Train stands: zeroes a share p and scales the rest by 1/(1-p)

  // ---- What it is ----
  bool defined() const { return handle_ != nullptr; }
  Sizes shape(Site at = {}) const;  ///< of a Variable, its value; a UserError(Value) if it has none
  int64_t shape(int64_t axis, Site at = {}) const;
  Size size(int64_t axis, Site at = {}) const;  ///< as it was given, Variables and all
  int64_t ndim() const;
  int64_t numel(Site at = {}) const;
  DType dtype() const;
  std::string device() const;
  bool is_realized() const;
  std::string str() const;  ///< values like NumPy where they are there, else shape, dtype, device and operation
  friend std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

  // ---- Computing and reading ----
  Tensor& realize(Site at = {});
  template <Number Element = float>
  Element item(Site at = {}) const;  ///< the only element, as Element; a UserError(Shape) if there are several
  template <Number Element = float>
  std::vector<Element> to_vector(Site at = {}) const;                 ///< all elements, row-major, converted to Element
  void copy_to(void* destination, size_t bytes, Site at = {}) const;  ///< all elements, row-major, in the tensor's own dtype

  // ---- Storage ----
  Tensor clone(Site at = {}) const;       ///< the same value in storage of its own
  Tensor contiguous(Site at = {}) const;  ///< the same value, stored as it stands
  Tensor detach(Site at = {}) const;      ///< the same value without gradient history
  Tensor to(const std::string& device, Site at = {}) const;
  /// Gives the tensor a new value of the same shape (or one that broadcasts to it) and dtype (or one that promotes to it). Of a view made
  /// by movement or basic indexing, writes into the tensor it shows. Values computed from the old one keep it.
  Tensor& assign(const Operand& value);
  Tensor& set(const std::vector<Index>& indices, const Operand& value);  ///< `t[indices] = value`
  Tensor& set(std::initializer_list<Index> indices, const Operand& value);
  Tensor& operator+=(const Operand& value);
  Tensor& operator-=(const Operand& value);
  Tensor& operator*=(const Operand& value);
  Tensor& operator/=(const Operand& value);
  Tensor& operator%=(const Operand& value);
  Tensor& operator&=(const Operand& value);
  Tensor& operator|=(const Operand& value);
  Tensor& operator^=(const Operand& value);
  Tensor& operator<<=(const Operand& value);
  Tensor& operator>>=(const Operand& value);

  // ---- Gradients ----
  /// True, false or (nullopt) unset, see backward. Making it true gives the tensor storage of its own.
  std::optional<bool> requires_grad() const;
  Tensor& requires_grad_(std::optional<bool> value = true, Site at = {});
  /// Adds d(this)/d(leaf) to the `grad` of the tensors in this one's history that require it or, if none does, of the unset ones that are
  /// no result of an operation on others. `gradient` is what to start from; a tensor of one element needs none. Returns this tensor.
  Tensor& backward(const Tensor& gradient = {}, Site at = {});
  bool has_grad() const;
  Tensor grad(Site at = {}) const;  ///< a UserError(Value) before the first backward
  void set_grad(const Tensor& gradient);
  void zero_grad();  ///< forgets it
  /// d(this)/d(target) for each target, as tensors that can be differentiated again.
  std::vector<Tensor> gradient(const std::vector<Tensor>& targets, const Tensor& gradient = {}, Site at = {}) const;

  // ---- Types ----
  Tensor cast(DType type, Site at = {}) const;
  Tensor bitcast(DType type, Site at = {}) const;  ///< the bytes read as another type; the last axis takes up a difference in size
  Tensor to_bool(Site at = {}) const { return cast(DType::boolean, at); }
  Tensor to_int(Site at = {}) const { return cast(DType::int32, at); }
  Tensor to_float(Site at = {}) const { return cast(DType::float32, at); }
  Tensor half(Site at = {}) const { return cast(DType::float16, at); }

  // ---- Arithmetic, broadcasting as in NumPy ----
  friend Tensor operator+(const Operand& a, const Operand& b);
  friend Tensor operator-(const Operand& a, const Operand& b);
  friend Tensor operator*(const Operand& a, const Operand& b);
  friend Tensor operator/(const Operand& a, const Operand& b);  ///< true division: of integers, float32
  friend Tensor operator%(const Operand& a, const Operand& b);  ///< as Python's: the sign of b
  friend Tensor operator&(const Operand& a, const Operand& b);
  friend Tensor operator|(const Operand& a, const Operand& b);
  friend Tensor operator^(const Operand& a, const Operand& b);
  friend Tensor operator<<(const Operand& a, const Operand& b);
  friend Tensor operator>>(const Operand& a, const Operand& b);
  friend Tensor operator==(const Operand& a, const Operand& b);
  friend Tensor operator!=(const Operand& a, const Operand& b);
  friend Tensor operator<(const Operand& a, const Operand& b);
  friend Tensor operator>(const Operand& a, const Operand& b);
  friend Tensor operator<=(const Operand& a, const Operand& b);
  friend Tensor operator>=(const Operand& a, const Operand& b);
  friend Tensor operator-(const Operand& a) { return a.tensor->neg(a.site); }
  friend Tensor operator~(const Operand& a) { return a.tensor->bitwise_not(a.site); }
  friend Tensor operator!(const Operand& a) { return a.tensor->logical_not(a.site); }
  Tensor floor_div(const Operand& b) const;   ///< as Python's //: rounds towards minus infinity; x // 0 = 0 for integers
  Tensor trunc_div(const Operand& b) const;   ///< towards zero
  Tensor fmod(const Operand& b) const;        ///< the remainder of trunc_div: the sign of this
  Tensor pow(const Operand& exponent) const;  ///< of integers, an integer (0 where the exponent is negative and |base| > 1)
  Tensor maximum(const Operand& b) const;     ///< NaN if either is
  Tensor minimum(const Operand& b) const;
  Tensor where(const Operand& yes, const Operand& no) const;  ///< this is the condition
  Tensor masked_fill(const Tensor& mask, const Operand& value) const;
  Tensor clip(std::optional<double> low, std::optional<double> high, Site at = {}) const;
  Tensor clamp(std::optional<double> low, std::optional<double> high, Site at = {}) const { return clip(low, high, at); }

  // ---- Elementwise: the functions of real numbers give float32 for integers ----
  Tensor neg(Site at = {}) const;
  Tensor bitwise_not(Site at = {}) const;
  Tensor logical_not(Site at = {}) const;
  Tensor abs(Site at = {}) const;
  Tensor sign(Site at = {}) const;
  Tensor reciprocal(Site at = {}) const;
  Tensor square(Site at = {}) const;
  Tensor sqrt(Site at = {}) const;
  Tensor rsqrt(Site at = {}) const;
  Tensor exp(Site at = {}) const;
  Tensor exp2(Site at = {}) const;
  Tensor expm1(Site at = {}) const;
  Tensor log(Site at = {}) const;
  Tensor log2(Site at = {}) const;
  Tensor log10(Site at = {}) const;
  Tensor log1p(Site at = {}) const;
  Tensor sin(Site at = {}) const;
  Tensor cos(Site at = {}) const;
  Tensor tan(Site at = {}) const;
  Tensor asin(Site at = {}) const;
  Tensor acos(Site at = {}) const;
  Tensor atan(Site at = {}) const;
  Tensor sinh(Site at = {}) const;
  Tensor cosh(Site at = {}) const;
  Tensor tanh(Site at = {}) const;
  Tensor asinh(Site at = {}) const;
  Tensor acosh(Site at = {}) const;
  Tensor atanh(Site at = {}) const;
  Tensor erf(Site at = {}) const;
  Tensor trunc(Site at = {}) const;
  Tensor floor(Site at = {}) const;
  Tensor ceil(Site at = {}) const;
  Tensor round(Site at = {}) const;  ///< ties to even
  Tensor isnan(Site at = {}) const;
  Tensor isinf(Site at = {}) const;
  Tensor isfinite(Site at = {}) const;

  // ---- Movement: views; negative axes count from the end ----
  Tensor reshape(SizeList shape, Site at = {}) const;  ///< one size may be -1: what is left
  Tensor view(SizeList shape, Site at = {}) const { return reshape(std::move(shape), at); }
  Tensor permute(std::vector<int64_t> axes, Site at = {}) const;
  Tensor transpose(int64_t a = 1, int64_t b = 0, Site at = {}) const;
  Tensor T(Site at = {}) const;                       ///< the axes reversed
  Tensor expand(SizeList shape, Site at = {}) const;  ///< stretches axes of size 1 and adds axes in front; -1 keeps a size
  Tensor pad(std::vector<std::pair<int64_t, int64_t>> padding, Scalar value = 0, Site at = {}) const;  ///< per axis; negative cuts off
  Tensor shrink(const RangeList& ranges, Site at = {}) const;                                          ///< [first, last) per axis
  Tensor flip(Axes axes, Site at = {}) const;
  Tensor squeeze(Axes axes = {}, Site at = {}) const;  ///< drops those that have size 1; of all, if none is given
  Tensor unsqueeze(int64_t axis, Site at = {}) const;
  Tensor flatten(int64_t first = 0, int64_t last = -1, Site at = {}) const;
  Tensor unflatten(int64_t axis, Sizes sizes, Site at = {}) const;
  Tensor repeat(Sizes counts, Site at = {}) const;
  Tensor roll(int64_t shift, int64_t axis, Site at = {}) const;
  std::vector<Tensor> split(int64_t size, int64_t axis = 0, Site at = {}) const;  ///< pieces of this size, the last one maybe smaller
  std::vector<Tensor> split(std::vector<int64_t> sizes, int64_t axis = 0, Site at = {}) const;
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0, Site at = {}) const;  ///< at most this many equal pieces
  static Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0, Site at = {});
  static Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0, Site at = {});
  Tensor triu(int64_t diagonal = 0, Site at = {}) const;
  Tensor tril(int64_t diagonal = 0, Site at = {}) const;

  // ---- Indexing ----
  /// `t[2]`, `t[{1, None, Slice{0, 4, -1}, Ellipsis}]`: views that can be written to. An integer drops its axis. Tensors of integers
  /// select along their axes together (a copy); what lies outside reads 0.
  Tensor operator[](const Index& index) const;
  Tensor operator[](std::initializer_list<Index> indices) const;
  Tensor index(const std::vector<Index>& indices, Site at = {}) const;
  Tensor gather(int64_t axis, const Tensor& index, Site at = {}) const;  ///< out[i, j] = this[index[i, j], j] for axis 0

  // ---- Reductions: over all axes unless some are given; `keepdim` keeps them with size 1 ----
  Tensor sum(Axes axes = {}, bool keepdim = false, DType type = DType::none, Site at = {}) const;  ///< small integers add up in (u)int32
  Tensor prod(Axes axes = {}, bool keepdim = false, Site at = {}) const;
  Tensor max(Axes axes = {}, bool keepdim = false, Site at = {}) const;  ///< NaN if there is one; of nothing, a UserError(Value)
  Tensor min(Axes axes = {}, bool keepdim = false, Site at = {}) const;
  Tensor mean(Axes axes = {}, bool keepdim = false, Site at = {}) const;
  Tensor var(Axes axes = {}, bool keepdim = false, int64_t correction = 1, Site at = {}) const;
  Tensor std(Axes axes = {}, bool keepdim = false, int64_t correction = 1, Site at = {}) const;
  Tensor any(Axes axes = {}, bool keepdim = false, Site at = {}) const;
  Tensor all(Axes axes = {}, bool keepdim = false, Site at = {}) const;
  Tensor argmax(std::optional<int64_t> axis = {}, bool keepdim = false, Site at = {}) const;  ///< int32; the first one, NaN before all
  Tensor argmin(std::optional<int64_t> axis = {}, bool keepdim = false, Site at = {}) const;

  // ---- Scans: element i tells of elements 0 … i along the axis ----
  Tensor cumsum(int64_t axis = 0, Site at = {}) const;
  Tensor cumprod(int64_t axis = 0, Site at = {}) const;
  std::pair<Tensor, Tensor> cummax(int64_t axis = 0, Site at = {}) const;  ///< values, and the last places they stand at; NaN is greatest
  std::pair<Tensor, Tensor> cummin(int64_t axis = 0, Site at = {}) const;
  Tensor logcumsumexp(int64_t axis = 0, Site at = {}) const;

  // ---- Order: equal elements stay as they stand; NaN counts as the greatest ----
  std::pair<Tensor, Tensor> sort(int64_t axis = -1, bool descending = false, Site at = {}) const;  ///< values, and their places (int32)
  Tensor argsort(int64_t axis = -1, bool descending = false, Site at = {}) const;
  std::pair<Tensor, Tensor> topk(int64_t count, int64_t axis = -1, bool largest = true, Site at = {}) const;  ///< sorted

  // ---- To places: along the axis, out[… index[i] …] op= source[i], in order; an index outside is left out ----
  Tensor scatter(int64_t axis, const Tensor& index, const Operand& source) const;  ///< of several for one place, the last
  Tensor scatter_add(int64_t axis, const Tensor& index, const Operand& source) const;
  /// "sum", "prod", "mean", "amax" or "amin" of what comes to a place, with what is there if `include_self`.
  Tensor scatter_reduce(int64_t axis, const Tensor& index, const Tensor& source, const std::string& reduce, bool include_self = true,
                        Site at = {}) const;
  /// `scatter_add` with one index for each slice along the axis.
  Tensor index_add(int64_t axis, const Tensor& index, const Tensor& source, Site at = {}) const;

  // ---- Contractions: narrow floats add up in float32, small integers in (u)int32 ----
  Tensor matmul(const Tensor& b, Site at = {}) const;  ///< as NumPy's: vectors, matrices, batches that broadcast
  Tensor dot(const Tensor& b, Site at = {}) const { return matmul(b, at); }
  Tensor linear(const Tensor& weight, const Tensor& bias = {}, Site at = {}) const;  ///< matmul(weight) + bias; weight (in, out)
  /// This is (N, C, spatial …), weight (O, C / groups, kernel …), bias (O): any number of spatial axes.
  Tensor conv2d(const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {}, Site at = {}) const;
  /// The adjoint: weight (C, O / groups, kernel …).
  Tensor conv_transpose2d(const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {}, Site at = {}) const;
  /// Over the last axes, as many as the kernel lists (one number: two); padding counts as the least value.
  Tensor max_pool2d(PerAxis kernel = {2, 2}, const PoolOptions& options = {}, Site at = {}) const;
  Tensor avg_pool2d(PerAxis kernel = {2, 2}, const PoolOptions& options = {}, Site at = {}) const;

  // ---- Composed, see functional.h ----
  Tensor relu(Site at = {}) const;
  Tensor gelu(bool approximate = false, Site at = {}) const;
  Tensor silu(Site at = {}) const;
  Tensor sigmoid(Site at = {}) const;
  Tensor softplus(Site at = {}) const;
  Tensor leaky_relu(double slope = 0.01, Site at = {}) const;
  Tensor softmax(int64_t axis = -1, Site at = {}) const;
  Tensor log_softmax(int64_t axis = -1, Site at = {}) const;
  Tensor logsumexp(Axes axes = {}, bool keepdim = false, Site at = {}) const;
  Tensor layernorm(Axes axes = -1, double eps = 1e-5, Site at = {}) const;
  Tensor batchnorm(const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& invstd, Axes axis = 1, Site at = {}) const;
  Tensor one_hot(int64_t classes, Site at = {}) const;
  Tensor sparse_categorical_crossentropy(const Tensor& classes, int64_t ignore_index = -1, double label_smoothing = 0,
                                         Reduction reduction = Reduction::mean, Site at = {}) const;
  Tensor cross_entropy(const Tensor& target, Reduction reduction = Reduction::mean, double label_smoothing = 0, int64_t ignore_index = -100,
                       Site at = {}) const;
  Tensor binary_crossentropy(const Tensor& target, Reduction reduction = Reduction::mean, Site at = {}) const;
  Tensor binary_crossentropy_logits(const Tensor& target, Reduction reduction = Reduction::mean, Site at = {}) const;
  Tensor mse_loss(const Tensor& target, Reduction reduction = Reduction::mean, Site at = {}) const;

  /// For whit's own layers.
  explicit Tensor(std::shared_ptr<Handle> handle, std::shared_ptr<Shown> shown = nullptr)
      : handle_(std::move(handle)), shown_(std::move(shown)) {}
  const std::shared_ptr<Handle>& handle() const { return handle_; }
  const std::shared_ptr<Shown>& shown() const { return shown_; }  ///< of a view: what it shows

 private:
  template <Number Element>
  static Tensor copy_of(std::span<const Element> values, Sizes shape, const Options& options, Site at) {
    return from_host(values.data(), values.size(), dtype_of<Element>(), std::move(shape), options, nullptr, at);
  }
  static Tensor from_host(const void* data, size_t count, DType type, Sizes shape, const Options& options,
                          std::shared_ptr<const void> owner, Site at);
  void read_item(DType type, void* destination, Site at) const;
  void read_as(DType type, void* destination, Site at) const;

  std::shared_ptr<Handle> handle_;
  std::shared_ptr<Shown> shown_;
};

/// Computes several tensors in one plan: what they share is computed once.
void realize(const std::vector<Tensor>& tensors, Site at = {});

template <Number Element>
Tensor::Tensor(std::vector<Element>&& values, Sizes shape, Options options, Site at) {
  const auto owner = std::make_shared<const std::vector<Element>>(std::move(values));
  *this = from_host(owner->data(), owner->size(), dtype_of<Element>(), std::move(shape), options, owner, at);
}

template <Number Element>
Element Tensor::item(Site at) const {
  Element result;
  read_item(dtype_of<Element>(), &result, at);
  return result;
}

template <Number Element>
std::vector<Element> Tensor::to_vector(Site at) const {
  if constexpr (std::is_same_v<Element, bool>) {
    const std::vector<uint8_t> bytes = cast(DType::boolean, at).template to_vector<uint8_t>(at);
    return std::vector<bool>(bytes.begin(), bytes.end());
  } else {
    std::vector<Element> result(static_cast<size_t>(numel(at)));
    read_as(dtype_of<Element>(), result.data(), at);
    return result;
  }
}

}  // namespace whit

#include <whit/functional.h>  // the composed members above
#include <whit/index.h>
#include <whit/random.h>
