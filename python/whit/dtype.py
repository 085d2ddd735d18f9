"""The types of elements: `dtypes.float32` and its like, and how they promote."""
from __future__ import annotations

from whit import _core
from whit._core import DType

_ALIASES = {
    "bool": "bool", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "long", "uint64": "ulong", "float16": "half", "bfloat16": "bfloat16", "float32": "float", "float64": "double",
    "float8_e4m3": "fp8e4m3", "float8_e5m2": "fp8e5m2",
}


class _DTypes:
    """All dtypes by name, and questions about them."""

    default_int: DType

    def __init__(self) -> None:
        for canonical, short in _ALIASES.items():
            found = _core.dtype(canonical)
            setattr(self, canonical, found)
            setattr(self, short, found)
        self.fp8s = (self.fp8e4m3, self.fp8e5m2)
        self.floats = self.fp8s + (self.float16, self.bfloat16, self.float32, self.float64)
        self.uints = (self.uint8, self.uint16, self.uint32, self.uint64)
        self.sints = (self.int8, self.int16, self.int32, self.int64)
        self.ints = self.uints + self.sints
        self.all = self.floats + self.ints + (self.bool,)
        self.default_int = self.int32

    @property
    def default_float(self) -> DType:
        """What floats are made in where no dtype is given."""
        return _core.default_float()

    @default_float.setter
    def default_float(self, dtype: DType) -> None:
        _core.set_default_float(dtype)

    def is_float(self, dtype: DType) -> bool:
        return dtype.is_float

    def is_int(self, dtype: DType) -> bool:
        return dtype.is_integer

    def is_unsigned(self, dtype: DType) -> bool:
        return dtype in self.uints

    def is_bool(self, dtype: DType) -> bool:
        return dtype is self.bool

    def min(self, dtype: DType):
        """The least value; of floats, minus infinity."""
        if dtype.is_float: return -float("inf")
        return -(1 << (dtype.bitsize - 1)) if dtype.is_signed else False if dtype is self.bool else 0

    def max(self, dtype: DType):
        """The greatest value; of floats, infinity."""
        if dtype.is_float: return float("inf")
        if dtype is self.bool: return True
        return (1 << (dtype.bitsize - 1)) - 1 if dtype.is_signed else (1 << dtype.bitsize) - 1

    def finfo(self, dtype: DType) -> tuple[int, int]:
        """Bits of exponent and mantissa."""
        if not dtype.is_float: raise ValueError(f"{dtype} is no float")
        return {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52), "float8_e4m3": (4, 3),
                "float8_e5m2": (5, 2)}[dtype.canonical]

    def from_py(self, value) -> DType:
        """What a Python value, or a list of them, is made in."""
        if isinstance(value, bool): return self.bool
        if isinstance(value, int): return self.default_int
        if isinstance(value, float): return self.default_float
        if isinstance(value, (list, tuple)) and value: return least_upper_dtype(*(self.from_py(item) for item in value))
        if isinstance(value, (list, tuple)): return self.default_float
        raise RuntimeError(f"there is no dtype for {value!r}")

    def as_const(self, value, dtype: DType):
        """A Python number of the kind that the dtype holds."""
        if dtype.is_float: return float(value)
        return bool(value) if dtype is self.bool else int(value)


dtypes = _DTypes()


def to_dtype(dtype: DType | str) -> DType:
    """The dtype with this name."""
    return _core.dtype(dtype)


def least_upper_dtype(*types: DType) -> DType:
    """The least dtype that all of these convert to."""
    return _core.promote(list(types))


def least_upper_float(dtype: DType) -> DType:
    """The dtype of a float result for this one."""
    return dtype if dtype.is_float else dtypes.default_float


def sum_acc_dtype(dtype: DType) -> DType:
    """What a sum of these is accumulated in: 16-bit floats in float32."""
    return least_upper_dtype(_core.sum_type(dtype), dtypes.float32) if dtype.is_float else _core.sum_type(dtype)


def can_lossless_cast(source: DType, target: DType) -> bool:
    """Whether every value of the one is a value of the other."""
    if source is target or source is dtypes.bool: return True
    if target.is_float:
        if source.is_float:
            return all(a <= b for a, b in zip(dtypes.finfo(source), dtypes.finfo(target)))
        return source.bitsize - source.is_signed <= dtypes.finfo(target)[1] + 1
    if source.is_float or target is dtypes.bool: return False
    return dtypes.min(target) <= dtypes.min(source) and dtypes.max(source) <= dtypes.max(target)
