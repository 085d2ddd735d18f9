"""TinyJit: a function that is captured at its second call."""
from __future__ import annotations

import functools

from whit import _core
from whit._core import Size, Tensor, Variable


class JitError(Exception):
    """A captured function is used in a way that a capture can't serve."""


def _tensors(value, found: list) -> list:
    if isinstance(value, Tensor): found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value: _tensors(item, found)
    elif isinstance(value, dict):
        for item in value.values(): _tensors(item, found)
    return found


def _key(value, name: str, out: list) -> list:
    """What has to be the same at every call, by argument."""
    if isinstance(value, Tensor): out.append((name, tuple(str(s) if isinstance(s, Size) else s for s in value.shape), value.dtype, value.device))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value): _key(item, f"{name}[{i}]", out)
    elif isinstance(value, dict):
        for key, item in value.items(): _key(item, f"{name}[{key!r}]", out)
    elif isinstance(value, (Variable, Size)): out.append((name, "a size"))
    return out


class TinyJit:
    """Runs the function at every call, with the guards of a capture: from the second call on the tensors given have to keep
    their shapes, dtypes and devices, and values may not be read inside. Results are computed.

    The function itself is called each time: what it costs to build its graph is not saved yet."""

    def __init__(self, function=None, prune: bool = False) -> None:
        self.function = function
        if function is not None: functools.update_wrapper(self, function)
        self.reset()

    def reset(self) -> None:
        """Forgets what was captured."""
        self.count, self.expected = 0, None

    @property
    def captured(self):
        """What was captured, or None before the second call."""
        return self.expected

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self.__call__, instance)

    def __call__(self, *args, **kwargs):
        key = _key(list(args), "argument", _key(kwargs, "argument", []))
        _core_inputs = _tensors((args, kwargs), [])
        if _core_inputs: _core_inputs[0].realize(*_core_inputs[1:])
        if self.expected is not None and key != self.expected: raise JitError(self._mismatch(key))
        if self.count == 0: result = self.function(*args, **kwargs)
        else:
            before = _core.set_capturing(True)
            try: result = self.function(*args, **kwargs)
            finally: _core.set_capturing(before)
            self.expected = key
        self.count += 1
        results = _tensors(result, [])
        if results: results[0].realize(*results[1:])
        return result

    def _mismatch(self, key: list) -> str:
        for want, got in zip(self.expected, key):
            if want != got: return f"TinyJit: {got[0]} was captured as {want[1:]} and is now {got[1:]}"
        return f"TinyJit: captured with {len(self.expected)} tensors, called with {len(key)}"
