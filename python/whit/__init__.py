"""whit: a tensor compiler. Tensors are lazy: operations describe, reading computes.

    from whit import Tensor, nn, dtypes, TinyJit, Device, Context
"""
from whit import _core
from whit.tensor import Tensor
from whit.dtype import dtypes
from whit.device import Device
from whit.helpers import Context, GlobalCounters, fetch, getenv
from whit.engine.jit import TinyJit
from whit._core import Variable
from whit import nn

__version__ = "0.1.0"
__all__ = ["Context", "Device", "GlobalCounters", "Tensor", "TinyJit", "Variable", "dtypes", "fetch", "getenv", "nn"]
