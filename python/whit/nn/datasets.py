"""Data sets."""
from __future__ import annotations

from whit import _core
from whit._core import Tensor


def mnist(device: str | None = None, fashion: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The MNIST digits: training images (60000, 1, 28, 28) and labels, then those for testing; uint8. Found on this machine, or
    fetched once."""
    if fashion: raise ValueError("mnist: the fashion set isn't there yet")
    return _core.mnist("", device or "")
