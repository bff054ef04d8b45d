"""The hot loops: numba only, arrays in, arrays out, no Python object per token or document.

Every public function of the modules in this folder takes numpy arrays (views of Arrow buffers as a rule), checks
them, allocates what it returns and calls one compiled loop without the GIL. The loops are single-threaded: callers
run one batch a thread, so the bits are the same for one thread or many.

Importing this package does not import numba; importing one of its modules does. Kernels compile on their first
call and are cached on disk. Numba's own cache does not notice edits in *another* module than the kernel's, so
the folder's name carries a digest of every source file here and of numba's version: a new version of anything
starts an empty folder. Callers who want to tell the user about the wait ask `is_cached()` before `compile_all()`.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from roughly.kernels import loading

P = ParamSpec("P")
R = TypeVar("R")

_HERE = Path(__file__).parent
_COMPLETE = "complete"
_QUICK = "quick"  # every kernel can be loaded as `loading` does it
_importing = threading.Lock()
_decorating = threading.Lock()


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile without the GIL, with wrap-around integers, cached in `cache_folder()`.

    `error_model="numpy"` makes a division by zero an infinity instead of a branch to an exception.
    """
    return _compile(function)


def jit_inner(function: Callable[P, R]) -> Callable[P, R]:
    """As `jit`, for helpers that allocate nothing and return no array.

    They need no reference counts, and those are atomic instructions at every call: a third of the tokeniser's time.
    The option is numba's own and undocumented; a numba without it compiles them as `jit` does.
    """
    _numba()
    from numba.core import options

    known = hasattr(getattr(options, "DefaultOptions", None), "_nrt")
    return _compile(function, **({"_nrt": False} if known else {}))


def _compile(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    """Numba reads its global `CACHE_DIR` while decorating; it is set for that moment only and then restored."""
    numba = _numba()
    config, njit = numba.config, numba.njit
    with _decorating:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(cache_folder())
        try:
            compiled: Callable[P, R] = njit(nogil=True, cache=True, error_model="numpy", **options)(function)
        finally:
            config.CACHE_DIR = before
    if _loads_quickly():
        loading.load_quickly(compiled)
    return compiled


def _numba() -> Any:
    """Numba, imported by one thread at a time: two that enter it by different doors meet half-made modules."""
    with _importing:
        import numba
    return numba


@functools.cache
def _loads_quickly() -> bool:
    return loading.trying or (cache_folder() / _marker(_QUICK)).exists()


def try_quickly(modules: Iterable[str]) -> None:
    """Load the kernels of these modules as `loading` does it, whether that is known to work or not."""
    loading.trying = True
    warm_up(modules)


@functools.cache
def cache_folder() -> Path:
    """Where compiled kernels live: below NUMBA_CACHE_DIR if that is set, otherwise in the user's cache folder.

    Where neither can be written, a private temporary folder that goes with the process. (A shared one would let
    another user of the machine plant code in it.)
    """
    name = f"kernels-{_digest()}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(chosen) if chosen else _user_cache() / "roughly"
    folder = base / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="roughly-kernels-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def is_cached() -> bool:
    """Whether `compile_all()` has run to its end with these sources, so that kernels only have to be loaded."""
    return (cache_folder() / _marker()).exists()


def compile_all() -> float:
    """Compile, or load from the cache, every kernel for the types it is called with; returns the seconds it took.

    Each module with kernels has a function `warm_up()` that calls them on a few bytes. Numba compiles on one thread at
    a time, so where nothing is cached a second process compiles about half of the modules into the same folder.
    """
    started = time.perf_counter()
    ours, theirs = _halves()
    helper = _start(theirs) if theirs and not is_cached() else None
    warm_up(ours)
    if helper is not None:
        helper.wait()
    warm_up(theirs)  # from the cache by now; compiled here where the second process failed
    if not is_cached():
        if _start(["--quickly", *ours, *theirs]).wait() == 0:
            (cache_folder() / _marker(_QUICK)).touch()
        (cache_folder() / _marker()).touch()
    return time.perf_counter() - started


def warm_up(modules: Iterable[str]) -> None:
    """Compile, or load, the kernels of these modules."""
    for name in modules:
        warm = getattr(importlib.import_module(f"{__name__}.{name}"), "warm_up", None)
        if warm is not None:
            warm()


def _halves() -> tuple[list[str], list[str]]:
    """All modules in two lists of about the same amount of source."""
    ours: list[str] = []
    theirs: list[str] = []
    balance = 0
    for path in sorted(_HERE.glob("[!_]*.py"), key=lambda p: (-p.stat().st_size, p.name)):
        half, sign = (ours, 1) if balance <= 0 else (theirs, -1)
        half.append(path.stem)
        balance += sign * path.stat().st_size
    return ours, theirs


def _start(modules: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", __name__, *modules],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _digest() -> str:
    digest = hashlib.sha256(_numba_version())
    for path in sorted(_HERE.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _numba_version() -> bytes:
    """What changes with numba's version. Its own file is read in no time; the package's metadata take 40 ms."""
    numba = importlib.util.find_spec("numba")
    version = Path(numba.origin).with_name("_version.py") if numba and numba.origin else None
    if version is not None and version.exists():
        return version.read_bytes()
    from importlib.metadata import version as installed

    return installed("numba").encode()


def _marker(what: str = _COMPLETE) -> str:
    """Numba keys compiled code by Python's version too, so one folder may be complete for one Python only."""
    return f"{what}-{sys.implementation.cache_tag}"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
