"""Settings, counters, and small functions that programs use."""
from __future__ import annotations

import os

from whit import _core


def getenv(key: str, default=0):
    """The environment variable WHIT_<key>, or <key>, as the type of the default."""
    value = os.environ.get("WHIT_" + key) or os.environ.get(key)
    return default if value is None else type(default)(value)


class Context:
    """Settings that hold inside a with block: `with Context(TRAINING=1): …`."""

    def __init__(self, **settings) -> None:
        self.settings = settings

    def __enter__(self) -> Context:
        self.before = {}
        for key, value in self.settings.items():
            if key == "TRAINING":
                self.before[key] = _core.training()
                _core.set_training(bool(value))
            else:
                self.before[key] = os.environ.get("WHIT_" + key)
                os.environ["WHIT_" + key] = str(int(value) if isinstance(value, bool) else value)
        return self

    def __exit__(self, *_) -> None:
        for key, value in self.before.items():
            if key == "TRAINING": _core.set_training(value)
            elif value is None: del os.environ["WHIT_" + key]
            else: os.environ["WHIT_" + key] = value

    def __call__(self, function):
        """As a decorator."""
        import functools

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with Context(**self.settings): return function(*args, **kwargs)

        return inside


class _GlobalCounters:
    """What has been done since the last reset()."""

    def __init__(self) -> None:
        self._start = {}

    def reset(self) -> None:
        self._start = _core.counters()

    def _since(self, key: str):
        return _core.counters()[key] - self._start.get(key, 0)

    @property
    def global_ops(self) -> int:
        """Arithmetic operations of the kernels that ran, estimated."""
        return int(self._since("flops"))

    @property
    def global_mem(self) -> int:
        """Bytes that the kernels moved, estimated."""
        return int(self._since("bytes_moved"))

    @property
    def kernel_count(self) -> int:
        return self._since("kernels")

    @property
    def kernels_compiled(self) -> int:
        return self._since("kernels_compiled")

    @property
    def plans_built(self) -> int:
        return self._since("plans_built")

    @property
    def mem_used(self) -> int:
        """Bytes that tensors hold now."""
        return _core.counters()["bytes_in_use"]

    @property
    def node_count(self) -> int:
        """Nodes of the tensor graph that live now."""
        return _core.counters()["nodes"]


GlobalCounters = _GlobalCounters()


def prod(values):
    result = 1
    for value in values: result = result * value
    return result


def argfix(*items):
    """`f(1, 2)` and `f((1, 2))` alike."""
    return tuple(items[0]) if len(items) == 1 and isinstance(items[0], (tuple, list)) else items


def make_tuple(value, count: int) -> tuple:
    return (value,) * count if isinstance(value, int) else tuple(value)


def flatten(lists):
    return [item for part in lists for item in part]


def fetch(url: str, name=None, subdir=None, gunzip: bool = False, allow_caching: bool = True):
    """The path of a file that is downloaded once and kept in the user's cache folder; a local path is given back as it is."""
    import gzip, hashlib, pathlib, urllib.request
    if url.startswith(("/", ".")): return pathlib.Path(url)
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "whit" / "downloads"
    if subdir: folder = folder / subdir
    path = folder / (name or hashlib.sha256(url.encode()).hexdigest() + (".gunzip" if gunzip else ""))
    if path.is_file() and allow_caching: return path
    with urllib.request.urlopen(url, timeout=30) as response: data = response.read()
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(gzip.decompress(data) if gunzip else data)
    part.replace(path)
    return path
