"""Load compiled kernels from the cache without making numba ready to compile.

Before numba loads anything from its cache it registers all it could compile with: arrays, random numbers, dictionaries,
linear algebra, and SciPy for the sake of BLAS. That takes 0.4 s at the start of every run, and code that is already
compiled needs nothing of it but numba's reference counting. So for our own kernels, and for no one else's, that step
is left out; where a kernel turns out not to be cached, numba makes itself ready as ever and compiles it.

This leans on the inside of numba. So it is tried once, in a process of its own, when the kernels have been compiled
(`compile_all`), and only done where that process could load and run every kernel. A numba built otherwise is used as it
comes.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_BLAS = "scipy.linalg.cython_blas"
alone = False
"""Whether this process uses numba for our kernels only, as the command line does: then BLAS is never needed."""

trying = False
"""Whether this process is the one that tries it."""


def load_quickly(kernel: Any) -> bool:
    """Let a kernel load from its cache the quick way; returns whether this numba allows it."""
    from numba.core import runtime

    cache: Any = getattr(kernel, "_cache", None)
    load, guard = (getattr(cache, name, None) for name in ("_load_overload", "_guard_against_spurious_io_errors"))
    initialize = getattr(getattr(runtime, "rtsys", None), "initialize", None)
    if load is None or guard is None or initialize is None:
        return False

    def load_overload(signature: Any, target: Any) -> Any:
        with _undisturbed():
            initialize(target)
            with guard(), _hidden(_BLAS if alone else None):
                return load(signature, target)

    cache.load_overload = load_overload
    return True


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put an interrupt off until a kernel is loaded: LLVM calls back into Python meanwhile, where it would be lost."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[-1])


@contextmanager
def _hidden(module: str | None) -> Iterator[None]:
    """Make `import module` fail, unless it was imported before. Kernels are loaded under numba's lock, one by one."""
    if module is None or module in sys.modules:
        yield
        return
    modules: dict[str, Any] = sys.modules
    modules[module] = None
    try:
        yield
    finally:
        del modules[module]
