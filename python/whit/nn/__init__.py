"""Layers: plain classes that hold tensors under the names of PyTorch's state dicts. There is no base class; what a model holds is found
by walking its attributes (`whit.nn.state`)."""
from __future__ import annotations

import math

from whit.nn import optim, state  # noqa: F401
from whit.nn.norms import BatchNorm, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm, LayerNorm, LayerNorm2d, RMSNorm
from whit.tensor import Tensor


def _drawn(*shape: int, fan_in: int) -> Tensor:
    """Drawn uniformly within 1/√fan-in, as PyTorch's layers start."""
    bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
    return Tensor.uniform(*shape, low=-bound, high=bound)


class Linear:
    """x · weightᵀ + bias over the last axis; weight is (out, in)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        self.weight = _drawn(out_features, in_features, fan_in=in_features)
        self.bias = _drawn(out_features, fan_in=in_features) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        return x.linear(self.weight.transpose(), self.bias)


def _same_padding(padding: str, kernel: tuple, dilation) -> list[int]:
    if padding.lower() != "same": raise ValueError(f"padding={padding!r}: it is \"same\", a number, or a number for each axis")
    dilations = (dilation,) * len(kernel) if isinstance(dilation, int) else dilation
    flat = []
    for d, k in reversed(list(zip(dilations, kernel))): flat += [d * (k - 1) // 2, d * (k - 1) - d * (k - 1) // 2]
    return flat


class Conv2d:
    """A convolution over the axes after the first two; weight is (out, in / groups, kernel …)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size, stride=1, padding=0, dilation=1, groups: int = 1,
                 bias: bool = True) -> None:
        self.kernel_size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{type(self).__name__}: {groups} groups don't divide {in_channels} inputs and {out_channels} outputs")
        if isinstance(padding, str): padding = _same_padding(padding, self.kernel_size, dilation)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        fan_in = in_channels // groups * math.prod(self.kernel_size)
        self.weight = _drawn(out_channels, in_channels // groups, *self.kernel_size, fan_in=fan_in)
        self.bias = _drawn(out_channels, fan_in=fan_in) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        return x.conv2d(self.weight, self.bias, self.groups, self.stride, self.dilation, self.padding)


def Conv1d(in_channels: int, out_channels: int, kernel_size: int, stride=1, padding=0, dilation=1, groups: int = 1, bias: bool = True) -> Conv2d:
    """A convolution over one axis."""
    return Conv2d(in_channels, out_channels, (kernel_size,), stride, padding, dilation, groups, bias)


class ConvTranspose2d(Conv2d):
    """The adjoint of a Conv2d; weight is (in, out / groups, kernel …)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups: int = 1,
                 bias: bool = True) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, False)
        self.output_padding = output_padding
        fan_in = out_channels // groups * math.prod(self.kernel_size)
        self.weight = _drawn(in_channels, out_channels // groups, *self.kernel_size, fan_in=fan_in)
        self.bias = _drawn(out_channels, fan_in=fan_in) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        return x.conv_transpose2d(self.weight, self.bias, self.groups, self.stride, self.dilation, self.padding, self.output_padding)


def ConvTranspose1d(in_channels: int, out_channels: int, kernel_size: int, stride=1, padding=0, output_padding=0, dilation=1, groups: int = 1,
                    bias: bool = True) -> ConvTranspose2d:
    """The adjoint of a Conv1d."""
    return ConvTranspose2d(in_channels, out_channels, (kernel_size,), stride, padding, output_padding, dilation, groups, bias)


class Embedding:
    """Rows of a table by number; a number outside it gives zeros."""

    def __init__(self, vocab_size: int, embed_size: int) -> None:
        self.vocab_sz, self.embed_sz = vocab_size, embed_size
        self.weight = Tensor.glorot_uniform(vocab_size, embed_size)

    def __call__(self, idx: Tensor) -> Tensor:
        return self.weight[idx]


class LSTMCell:
    """One step of an LSTM."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        self.weight_ih = _drawn(hidden_size * 4, input_size, fan_in=hidden_size)
        self.weight_hh = _drawn(hidden_size * 4, hidden_size, fan_in=hidden_size)
        self.bias_ih = _drawn(hidden_size * 4, fan_in=hidden_size) if bias else None
        self.bias_hh = _drawn(hidden_size * 4, fan_in=hidden_size) if bias else None

    def __call__(self, x: Tensor, hc: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        if hc is None: hc = (Tensor.zeros(x.shape[0], self.weight_hh.shape[1], dtype=x.dtype, device=x.device),) * 2
        gates = x.linear(self.weight_ih.T, self.bias_ih) + hc[0].linear(self.weight_hh.T, self.bias_hh)
        i, f, g, o = gates.chunk(4, dim=1)
        c = f.sigmoid() * hc[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


__all__ = ["BatchNorm", "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d", "Embedding", "GroupNorm",
           "InstanceNorm", "LSTMCell", "LayerNorm", "LayerNorm2d", "Linear", "RMSNorm", "optim", "state"]
