// Reductions, contractions, normalising and losses.
#include "binding.h"

#include <utility>

namespace whit::python {

namespace {

// What is reduced over no axis at all is reduced over one of size 1.
template <class F>
Tensor over(const Tensor& t, const AxesArg& axis, bool keepdim, F reduce) {
  return axis.nothing ? reduce(t.unsqueeze(0), Axes(0), false) : reduce(t, axis.axes, keepdim);
}

template <class F>
void reduction(TensorClass& c, const char* name, F reduce, const char* text) {
  c.def(
      name,
      [reduce](const Tensor& t, AxesArg axis, bool keepdim) {
        return over(t, axis, keepdim, [&](const Tensor& x, Axes axes, bool keep) { return reduce(x, std::move(axes), keep); });
      },
      Guard(), "axis"_a = nb::none(), "keepdim"_a = false, text);
}

template <class F>
void typed_reduction(TensorClass& c, const char* name, F reduce, const char* text) {
  c.def(
      name,
      [reduce](const Tensor& t, AxesArg axis, bool keepdim, DType dtype) {
        return over(t, axis, keepdim, [&](const Tensor& x, Axes axes, bool keep) { return reduce(x, std::move(axes), keep, dtype); });
      },
      Guard(), "axis"_a = nb::none(), "keepdim"_a = false, "dtype"_a = nb::none(), text);
}

template <class F>
void moment(TensorClass& c, const char* name, F reduce, const char* text) {
  c.def(
      name,
      [reduce](const Tensor& t, AxesArg axis, bool keepdim, int64_t correction) {
        return over(t, axis, keepdim, [&](const Tensor& x, Axes axes, bool keep) { return reduce(x, std::move(axes), keep, correction); });
      },
      Guard(), "axis"_a = nb::none(), "keepdim"_a = false, "correction"_a = 1, text);
}

Tensor with_type(const Tensor& t, DType type) { return type == DType::none ? t : t.cast(type); }

}  // namespace

void bind_reductions(TensorClass& c) {
  using T = const Tensor&;
  typed_reduction(
      c, "sum", [](T t, Axes a, bool k, DType d) { return t.sum(std::move(a), k, d); },
      "The sum; small integers add up in (u)int32 unless a dtype is given.");
  typed_reduction(
      c, "prod", [](T t, Axes a, bool k, DType d) { return with_type(t, d).prod(std::move(a), k); }, "The product.");
  reduction(
      c, "max", [](T t, Axes a, bool k) { return t.max(std::move(a), k); }, "The greatest; NaN if there is one.");
  reduction(
      c, "min", [](T t, Axes a, bool k) { return t.min(std::move(a), k); }, "The least; NaN if there is one.");
  reduction(
      c, "mean", [](T t, Axes a, bool k) { return t.mean(std::move(a), k); }, "The mean.");
  reduction(
      c, "any", [](T t, Axes a, bool k) { return t.any(std::move(a), k); }, "Whether one is not zero.");
  reduction(
      c, "all", [](T t, Axes a, bool k) { return t.all(std::move(a), k); }, "Whether none is zero.");
  reduction(
      c, "logsumexp", [](T t, Axes a, bool k) { return t.logsumexp(std::move(a), k); }, "log Σ e^x");
  moment(
      c, "var", [](T t, Axes a, bool k, int64_t n) { return t.var(std::move(a), k, n); }, "The variance, divided by count - correction.");
  moment(
      c, "std", [](T t, Axes a, bool k, int64_t n) { return t.std(std::move(a), k, n); }, "The root of the variance.");
  c.def(
      "var_mean", [](T t, AxesArg a, bool k, int64_t n) { return nb::make_tuple(t.var(a.axes, k, n), t.mean(a.axes, k)); }, Guard(),
      "axis"_a = nb::none(), "keepdim"_a = false, "correction"_a = 1,
      nb::sig("def var_mean(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False, correction: int = 1) -> tuple[Tensor, "
              "Tensor]"),
      "The variance and the mean.");
  c.def(
      "std_mean", [](T t, AxesArg a, bool k, int64_t n) { return nb::make_tuple(t.std(a.axes, k, n), t.mean(a.axes, k)); }, Guard(),
      "axis"_a = nb::none(), "keepdim"_a = false, "correction"_a = 1,
      nb::sig("def std_mean(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False, correction: int = 1) -> tuple[Tensor, "
              "Tensor]"),
      "The deviation and the mean.");
  c.def(
      "argmax", [](T t, std::optional<int64_t> axis, bool keepdim) { return t.argmax(axis, keepdim); }, Guard(), "axis"_a = nb::none(),
      "keepdim"_a = false, "Where the greatest is; of several the first, NaN before all.");
  c.def(
      "argmin", [](T t, std::optional<int64_t> axis, bool keepdim) { return t.argmin(axis, keepdim); }, Guard(), "axis"_a = nb::none(),
      "keepdim"_a = false, "Where the least is; of several the first, NaN before all.");
  c.def(
      "cumsum", [](T t, int64_t axis) { return t.cumsum(axis); }, Guard(), "axis"_a = 0, "The sums of all elements up to each.");
  c.def(
      "softmax", [](T t, int64_t axis, DType dtype) { return with_type(t, dtype).softmax(axis); }, Guard(), "axis"_a = -1,
      "dtype"_a = nb::none(), "e^x / Σ e^x");
  c.def(
      "log_softmax", [](T t, int64_t axis, DType dtype) { return with_type(t, dtype).log_softmax(axis); }, Guard(), "axis"_a = -1,
      "dtype"_a = nb::none(), "The logarithm of softmax.");
  c.def(
      "softmin", [](T t, int64_t axis, DType dtype) { return with_type(t.neg(), dtype).softmax(axis); }, Guard(), "axis"_a = -1,
      "dtype"_a = nb::none(), "softmax(-x)");
  c.def(
      "layernorm", [](T t, AxesArg axis, double eps) { return t.layernorm(axis.axes, eps); }, Guard(), "axis"_a = -1, "eps"_a = 1e-5,
      "Mean 0 and variance 1 over these axes.");
  c.def(
      "batchnorm",
      [](T t, const Tensor* weight, const Tensor* bias, T mean, T invstd, AxesArg axis) {
        return t.batchnorm(weight ? *weight : Tensor(), bias ? *bias : Tensor(), mean, invstd, axis.axes);
      },
      Guard(), "weight"_a.none(), "bias"_a.none(), "mean"_a, "invstd"_a, "axis"_a = 1, "(x - mean) · invstd · weight + bias");
}

void bind_contractions(TensorClass& c) {
  using T = const Tensor&;
  for (const char* name : {"matmul", "dot"})
    c.def(
        name,
        [](T t, T x, bool reverse, DType dtype) {
          const Tensor &a = reverse ? x : t, &b = reverse ? t : x;
          return dtype == DType::none ? a.matmul(b) : a.cast(dtype).matmul(b.cast(dtype));
        },
        Guard(), "x"_a, "reverse"_a = false, "dtype"_a = nb::none(), "The matrix product, as NumPy's: vectors, matrices, batches.");
  c.def(
      "__matmul__", [](T a, Value b) { return a.matmul(b.as_tensor(a)); }, Guard(), nb::is_operator());
  c.def(
      "__rmatmul__", [](T a, Value b) { return b.as_tensor(a).matmul(a); }, Guard(), nb::is_operator());
  c.def(
      "linear",
      [](T t, T weight, const Tensor* bias, DType dtype) {
        return with_type(t, dtype).linear(with_type(weight, dtype), bias ? with_type(*bias, dtype) : Tensor());
      },
      Guard(), "weight"_a, "bias"_a.none() = nb::none(), "dtype"_a = nb::none(), "x · weight + bias; weight is (in, out).");
  c.def(
      "conv2d",
      [](T t, T weight, const Tensor* bias, int64_t groups, NumbersArg stride, NumbersArg dilation, NumbersArg padding, DType dtype) {
        return with_type(t, dtype).conv2d(with_type(weight, dtype), bias ? with_type(*bias, dtype) : Tensor(),
                                          {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups});
      },
      Guard(), "weight"_a, "bias"_a.none() = nb::none(), "groups"_a = 1, "stride"_a = 1, "dilation"_a = 1, "padding"_a = 0,
      "dtype"_a = nb::none(), "A convolution over as many spatial axes as the weight has.");
  c.def(
      "conv_transpose2d",
      [](T t, T weight, const Tensor* bias, int64_t groups, NumbersArg stride, NumbersArg dilation, NumbersArg padding,
         NumbersArg output_padding) {
        return t.conv_transpose2d(
            weight, bias ? *bias : Tensor(),
            {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups, .output_padding = output_padding});
      },
      Guard(), "weight"_a, "bias"_a.none() = nb::none(), "groups"_a = 1, "stride"_a = 1, "dilation"_a = 1, "padding"_a = 0,
      "output_padding"_a = 0, "The adjoint of conv2d.");
  c.def(
      "max_pool2d",
      [](T t, NumbersArg kernel, std::optional<NumbersArg> stride, NumbersArg dilation, NumbersArg padding, bool ceil_mode,
         bool return_indices) {
        if (return_indices) throw UserError(ErrorKind::Value, "max_pool2d: return_indices isn't there yet");
        return t.max_pool2d(
            kernel, {.stride = stride ? PerAxis(*stride) : PerAxis(), .padding = padding, .dilation = dilation, .ceil_mode = ceil_mode});
      },
      Guard(), "kernel_size"_a = nb::make_tuple(2, 2), "stride"_a = nb::none(), "dilation"_a = 1, "padding"_a = 0, "ceil_mode"_a = false,
      "return_indices"_a = false, "The greatest of each window.");
  c.def(
      "avg_pool2d",
      [](T t, NumbersArg kernel, std::optional<NumbersArg> stride, NumbersArg dilation, NumbersArg padding, bool ceil_mode,
         bool count_include_pad) {
        return t.avg_pool2d(kernel, {.stride = stride ? PerAxis(*stride) : PerAxis(),
                                     .padding = padding,
                                     .dilation = dilation,
                                     .ceil_mode = ceil_mode,
                                     .count_include_pad = count_include_pad});
      },
      Guard(), "kernel_size"_a = nb::make_tuple(2, 2), "stride"_a = nb::none(), "dilation"_a = 1, "padding"_a = 0, "ceil_mode"_a = false,
      "count_include_pad"_a = true, "The mean of each window.");
}

void bind_losses(TensorClass& c) {
  using T = const Tensor&;
  c.def(
      "one_hot",
      [](T t, int64_t classes) {
        if (classes == -1) {
          const Tensor last = t.max() + 1;
          compute_released(last);
          classes = last.item<int64_t>();
        }
        return t.one_hot(classes);
      },
      Guard(), "num_classes"_a = -1, "1 where the last, new axis equals the class, else 0.");
  c.def(
      "sparse_categorical_crossentropy",
      [](T t, T y, int64_t ignore_index, double label_smoothing, std::string reduction) {
        return t.sparse_categorical_crossentropy(y, ignore_index, label_smoothing, reduction_of(reduction));
      },
      Guard(), "Y"_a, "ignore_index"_a = -1, "label_smoothing"_a = 0.0, "reduction"_a = "mean", "Of logits (…, classes) and classes (…).");
  c.def(
      "cross_entropy",
      [](T t, T y, std::string reduction, double label_smoothing, int64_t ignore_index) {
        return t.cross_entropy(y, reduction_of(reduction), label_smoothing, ignore_index);
      },
      Guard(), "Y"_a, "reduction"_a = "mean", "label_smoothing"_a = 0.0, "ignore_index"_a = -100,
      "Of logits with the classes on axis 1, and classes or probabilities.");
  c.def(
      "binary_crossentropy", [](T t, T y, std::string reduction) { return t.binary_crossentropy(y, reduction_of(reduction)); }, Guard(),
      "Y"_a, "reduction"_a = "mean", "Of probabilities.");
  c.def(
      "binary_crossentropy_logits",
      [](T t, T y, std::string reduction) { return t.binary_crossentropy_logits(y, reduction_of(reduction)); }, Guard(), "Y"_a,
      "reduction"_a = "mean", "Of logits.");
  c.def(
      "mse_loss", [](T t, T y, std::string reduction) { return t.mse_loss(y, reduction_of(reduction)); }, Guard(), "Y"_a,
      "reduction"_a = "mean", "The mean squared difference.");
}

}  // namespace whit::python
