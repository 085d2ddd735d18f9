"""Devices by name."""
from __future__ import annotations

from whit import _core


class _OpenDevice:
    """One device that is there."""

    def __init__(self, name: str) -> None:
        self.device = name

    def synchronize(self) -> None:
        """Waits until all it was given to do is done."""
        _core.synchronize(self.device)

    def __repr__(self) -> str:
        return f"<device {self.device}>"


class _Devices:
    """`Device.DEFAULT` is where tensors are made; `Device["CL"]` opens one."""

    @property
    def DEFAULT(self) -> str:
        return _core.default_device()

    @DEFAULT.setter
    def DEFAULT(self, name: str) -> None:
        _core.set_default_device(name)

    def __getitem__(self, name: str) -> _OpenDevice:
        return _OpenDevice(_core.canonical_device(name))

    def canonicalize(self, name: str | None) -> str:
        """The device's full name: "CPU:1" for "cpu:1"."""
        return _core.default_device() if name is None else _core.canonical_device(name)

    def get_available_devices(self) -> list[str]:
        return [name for name, _, reason, _ in _core.devices() if not reason]


Device = _Devices()


def best_accelerator() -> str:
    """The accelerator of this machine; an error that says what was looked for if there is none."""
    missing = []
    for kind in ("CUDA", "AMD", "METAL", "CL"):
        for name, _, reason, _ in _core.devices():
            if name.split(":")[0] != kind: continue
            if not reason: return name
            missing.append(f"{name}: {reason}")
    raise RuntimeError("gpu: no accelerator is present on this machine (" + ("; ".join(missing) or "no backend for one is built in") + ")")
