"""The tensors of a model by name: training them, saving them and loading them."""
from __future__ import annotations

import os
import tempfile
from collections import OrderedDict

from whit import _core
from whit._core import Tensor


def get_state_dict(obj, prefix: str = "", tensor_type=Tensor) -> dict[str, Tensor]:
    """The tensors that an object holds in its attributes, lists, tuples and dicts, by dotted name."""
    if isinstance(obj, tensor_type): return {prefix.strip("."): obj}
    if hasattr(obj, "_asdict"): return get_state_dict(obj._asdict(), prefix, tensor_type)
    if isinstance(obj, (OrderedDict, dict)): items = obj.items()
    elif isinstance(obj, (list, tuple)): items = enumerate(obj)
    elif hasattr(obj, "__dict__"): items = obj.__dict__.items()
    else: return {}
    found = {}
    for name, value in items: found.update(get_state_dict(value, f"{prefix}{name}.", tensor_type))
    return found


def get_parameters(obj) -> list[Tensor]:
    """The tensors that an object holds: what an optimizer is given."""
    return list(get_state_dict(obj).values())


def load_state_dict(model, state_dict: dict[str, Tensor], strict: bool = True, verbose: bool = True, consume: bool = False,
                    realize: bool = True) -> list[Tensor]:
    """Gives the tensors of a model the values of those of the same name, in their own dtype and on their own device. Names that are
    missing, or (strict) have no place, and other shapes are a ValueError; then nothing is changed."""
    mine = get_state_dict(model)
    missing, extra = [k for k in mine if k not in state_dict], [k for k in state_dict if k not in mine]
    shapes = [f"{k} has shape {state_dict[k].shape}, the model needs {v.shape}" for k, v in mine.items()
              if k in state_dict and tuple(state_dict[k].shape) != tuple(v.shape)]
    problems = ([f"missing: {', '.join(missing)}"] if missing and strict else []) + ([f"unexpected: {', '.join(extra)}"] if extra and strict else [])
    if problems or shapes: raise ValueError("load_state_dict: " + "; ".join(problems + shapes))
    changed = []
    for name, tensor in mine.items():
        if name not in state_dict: continue
        tensor.assign(state_dict[name].to(tensor.device).cast(tensor.dtype).detach())
        if consume: del state_dict[name]
        changed.append(tensor)
    if realize and changed: changed[0].realize(*changed[1:])
    return changed


def safe_save(tensors: dict[str, Tensor], fn: str | os.PathLike, metadata: dict[str, object] | None = None) -> None:
    """Writes tensors in the safetensors format. A file there is replaced only once all is written."""
    _core.safe_save(tensors, os.fspath(fn), {key: str(value) for key, value in (metadata or {}).items()})


def safe_load(fn: Tensor | str | os.PathLike | bytes, device: str = "") -> dict[str, Tensor]:
    """Reads a safetensors file, by path or from a tensor of its bytes."""
    if isinstance(fn, (Tensor, bytes)):
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            file.write(fn if isinstance(fn, bytes) else fn.data())
            file.flush()
            return _core.safe_load(file.name, device)
    return _core.safe_load(os.fspath(fn), device)


def safe_load_metadata(fn: str | os.PathLike) -> tuple[int, dict]:
    """Where the data of a safetensors file begin, and its header."""
    import json
    with open(fn, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > os.fstat(file.fileno()).st_size - 8: raise OSError(f"safe_load_metadata: {os.fspath(fn)} ends within its header")
        return 8 + length, json.loads(file.read(length))
