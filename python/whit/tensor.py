"""Tensor: bound in C++ (whit._core), completed here with what is Python through and through."""
from __future__ import annotations

import os

from whit import _core
from whit._core import Tensor
from whit.device import best_accelerator

_core.set_package_folder(os.path.dirname(os.path.abspath(__file__)) + os.sep)


def _sequential(self: Tensor, functions) -> Tensor:
    """Applies functions one after the other."""
    for function in functions: self = function(self)
    return self


def _cpu(self: Tensor) -> Tensor:
    """The same value on the CPU."""
    return self.to("CPU")


def _gpu(self: Tensor) -> Tensor:
    """The same value on the best accelerator that is present."""
    return self.to(best_accelerator())


def is_training() -> bool:
    """Whether `Context(TRAINING=1)`, `Tensor.train()` or `Tensor.training = True` holds."""
    return _core.training() or bool(Tensor.training)


def _dropout(self: Tensor, p: float = 0.5) -> Tensor:
    """While training, zeroes a share p of the elements and scales the rest by 1 / (1 - p)."""
    if not 0 <= p <= 1: raise ValueError(f"dropout: p is a share from 0 to 1, not {p}")
    with train(is_training()): return _core.dropout(self, p)


class train:
    """`with Tensor.train():`: inside, dropout drops and batch norm uses its batch."""

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self.before = _core.training()
        _core.set_training(self.mode)

    def __exit__(self, *_) -> None:
        _core.set_training(self.before)


Tensor.sequential = _sequential
Tensor.cpu = _cpu
Tensor.gpu = _gpu
Tensor.dropout = _dropout
Tensor.train = train
Tensor.training = False
Tensor.__array_priority__ = 1000  # NumPy arrays on the left leave the operation to Tensor

__all__ = ["Tensor", "is_training"]
