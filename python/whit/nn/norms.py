"""Layers that normalise."""
from __future__ import annotations

from whit._core import Tensor
from whit.tensor import is_training


def _stored(value: float, *shape: int) -> Tensor:
    """In storage from the start, so that a first training step is like any other and shares its plan."""
    return Tensor.full(shape, value).contiguous().realize()


class BatchNorm:
    """Normalises each channel (axis 1): while training by the mean and variance of the batch, and keeps running ones; else by those."""

    def __init__(self, sz: int, eps: float = 1e-5, affine: bool = True, track_running_stats: bool = True, momentum: float = 0.1) -> None:
        self.eps, self.track_running_stats, self.momentum = eps, track_running_stats, momentum
        self.weight = _stored(1.0, sz) if affine else None
        self.bias = _stored(0.0, sz) if affine else None
        self.num_batches_tracked = Tensor(0, dtype="int64", requires_grad=False)
        if not track_running_stats: return
        self.running_mean = _stored(0.0, sz).requires_grad_(False)
        self.running_var = _stored(1.0, sz).requires_grad_(False)

    def calc_stats(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The mean and variance to normalise by."""
        if self.track_running_stats and not is_training(): return self.running_mean, self.running_var
        axes = tuple(axis for axis in range(x.ndim) if axis != 1)
        wide = x if x.dtype.itemsize >= 4 and x.dtype.is_float else x.float()
        mean = wide.mean(axes, keepdim=True)
        # mean((x - c)²) - (mean - c)² is the variance for any constant c. With the mean as c no precision is lost, and the gradient by
        # the mean is zero without another sum over the batch.
        constant = mean.detach()
        variance = (wide - constant).square().mean(axes, keepdim=True) - (mean - constant).square()
        return mean.reshape(-1), variance.reshape(-1)

    def __call__(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or (self.weight is not None and x.shape[1] != self.weight.shape[0]):
            raise ValueError(f"BatchNorm: of {self.weight.shape[0] if self.weight is not None else '?'} channels on axis 1, applied to {x.shape}")
        mean, variance = self.calc_stats(x)
        if self.track_running_stats and is_training():
            count = x.numel() // x.shape[1]
            if count < 2: raise ValueError(f"BatchNorm: training needs more than one value per channel, but the input is {x.shape}")
            self.running_mean.assign((1 - self.momentum) * self.running_mean + self.momentum * mean.detach())
            self.running_var.assign((1 - self.momentum) * self.running_var + self.momentum * count / (count - 1) * variance.detach())
            self.num_batches_tracked += 1
        result = x.batchnorm(self.weight, self.bias, mean, (variance + self.eps).rsqrt())
        return result.cast(x.dtype) if x.dtype.is_float else result


BatchNorm2d = BatchNorm3d = BatchNorm


class GroupNorm:
    """Normalises each group of channels (axis 1) of each sample."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True) -> None:
        if num_groups < 1 or num_channels % num_groups: raise ValueError(f"GroupNorm: {num_groups} groups don't divide {num_channels} channels")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = _stored(1.0, num_channels) if affine else None
        self.bias = _stored(0.0, num_channels) if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise ValueError(f"{type(self).__name__}: of {self.num_channels} channels on axis 1, applied to {x.shape}")
        y = x.reshape(x.shape[0], self.num_groups, -1).layernorm(eps=self.eps).reshape(x.shape)
        if self.weight is None or self.bias is None: return y
        along = (1, -1) + (1,) * (x.ndim - 2)
        return y * self.weight.reshape(along) + self.bias.reshape(along)


class InstanceNorm(GroupNorm):
    """Normalises each channel of each sample."""

    def __init__(self, num_features: int, eps: float = 1e-5, affine: bool = True) -> None:
        super().__init__(num_features, num_features, eps, affine)


class LayerNorm:
    """Normalises over the last axes, which have the shape given."""

    def __init__(self, normalized_shape: int | tuple[int, ...], eps: float = 1e-5, elementwise_affine: bool = True) -> None:
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.axis = tuple(-1 - i for i in range(len(self.normalized_shape)))
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = _stored(1.0, *self.normalized_shape) if elementwise_affine else None
        self.bias = _stored(0.0, *self.normalized_shape) if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        if tuple(x.shape[-len(self.normalized_shape):]) != self.normalized_shape:
            raise ValueError(f"LayerNorm: over the last axes {self.normalized_shape}, applied to {x.shape}")
        y = x.layernorm(self.axis, self.eps)
        return y * self.weight + self.bias if self.elementwise_affine else y


class LayerNorm2d(LayerNorm):
    """A LayerNorm over axis 1 of (N, C, H, W)."""

    def __call__(self, x: Tensor) -> Tensor:
        return super().__call__(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm:
    """Divides by the root of the mean square over the last axis."""

    def __init__(self, dim: int, eps: float = 1e-6, elementwise_affine: bool = True) -> None:
        self.eps = eps
        self.weight = _stored(1.0, dim) if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        wide = x if x.dtype.itemsize >= 4 and x.dtype.is_float else x.float()
        y = (wide * (wide.square().mean(-1, keepdim=True) + self.eps).rsqrt()).cast(x.dtype)
        return y if self.weight is None else y * self.weight
