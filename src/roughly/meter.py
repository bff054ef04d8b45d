"""The cost of each stage: seconds, bytes and peak memory; and its progress while it runs.

The pipeline calls `stage` and `advance`; a listener (the command line's progress bars) may watch.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field
from typing import Any, Protocol, TypeVar

from roughly.fast_dataclass import dataclass

_PAGE = os.sysconf("SC_PAGE_SIZE")
T = TypeVar("T")


@dataclass
class Stage:
    """One stage of a run, finished or running."""

    name: str
    total: int = 0  # units of work, 0 if unknown
    unit: str = ""
    done: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of all threads of this process
    bytes: int = 0
    peak_memory: int = 0
    documents: int = 0  # done so far, where the unit is another
    reused: bool = False  # reused from an earlier, interrupted run

    def over(self, items: Sequence[T], units: int) -> Iterator[T]:
        """The items; when all are done, so is this much more of the stage."""
        before = self.done
        for number, item in enumerate(items, 1):
            yield item
            self.done = before + units * number // len(items)
        self.done = before + units

    def to_dict(self) -> dict[str, Any]:
        """For run.json."""
        return {k: v for k, v in asdict(self).items() if k not in ("total", "unit", "done", "documents")}


class Listener(Protocol):
    """Is informed of the progress."""

    def started(self, stage: Stage) -> None:
        """A stage begins."""

    def advanced(self, stage: Stage) -> None:
        """Part of a stage is done."""

    def finished(self, stage: Stage) -> None:
        """A stage has ended."""


def _nothing() -> None: ...


_CHECK_EVERY = 0.05  # seconds


@dataclass
class Meter:
    """Times stages and samples memory."""

    listener: Listener | None = None
    stages: list[Stage] = field(default_factory=list)
    ample: int = 0
    """A process of fewer bytes holds on to freed memory, which the next stage then need not ask the system for."""
    check: Callable[[], None] = _nothing
    """Called when a stage begins, and now and then while it advances; it may end the run."""
    _checked: float = 0.0
    _under_way: list[Stage] = field(default_factory=list)
    _sampler: threading.Thread | None = None  # one for all stages: starting a thread takes longer than a small stage
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def stage(self, name: str, total: int = 0, unit: str = "") -> Iterator[Stage]:
        """Time the block."""
        self.check()
        stage = Stage(name, total, unit)
        self.stages.append(stage)
        if self.listener:
            self.listener.started(stage)
        start, worked = time.perf_counter(), time.process_time()
        with self._sampled(stage):
            try:
                yield stage
            finally:
                stage.seconds, stage.cpu_seconds = time.perf_counter() - start, time.process_time() - worked
                give_back(unless_below=self.ample)
        if self.listener:
            self.listener.finished(stage)

    @contextmanager
    def _sampled(self, stage: Stage) -> Iterator[None]:
        """Record the peak memory of this process; a run has no others."""
        stage.peak_memory = resident()
        with self._lock:
            self._under_way.append(stage)
            if self._sampler is None:
                self._sampler = threading.Thread(target=self._sample, daemon=True, name="roughly-memory")
                self._sampler.start()
        try:
            yield
        finally:
            with self._lock:
                self._under_way = [other for other in self._under_way if other is not stage]
            stage.peak_memory = max(stage.peak_memory, resident())

    def _sample(self, every: float = 0.05) -> None:
        """Sample the memory until no stage is running."""
        while True:
            time.sleep(every)
            with self._lock:
                if not self._under_way:
                    self._sampler = None
                    return
                held = resident()
                for stage in self._under_way:
                    stage.peak_memory = max(stage.peak_memory, held)

    def advance(self, stage: Stage, done: int) -> None:
        """Set how much of the stage is done, in its unit, counted from its start."""
        stage.done = done
        now = time.monotonic()
        if now - self._checked >= _CHECK_EVERY:
            self._checked = now
            self.check()
        if self.listener:
            self.listener.advanced(stage)


def resident() -> int:
    """Bytes of memory that this process holds."""
    try:
        with open("/proc/self/statm", "rb") as status:  # noqa: PTH123 - asked for 20 times a second
            return int(status.read().split()[1]) * _PAGE
    except OSError:  # not Linux
        import psutil

        return int(psutil.Process().memory_info().rss)


def mapped_pages() -> tuple[int, int]:
    """Bytes of mapped files that this process holds in memory, and all that it holds; all twice where nobody knows."""
    try:
        with open("/proc/self/statm", "rb") as status:  # noqa: PTH123 - asked for often
            _, everything, mapped, *_ = status.read().split()
            return int(mapped) * _PAGE, int(everything) * _PAGE
    except OSError:  # not Linux
        return resident(), resident()


def limit_arenas(most: int) -> None:
    """Let threads share at most this many arenas of the C library, each of which holds freed memory of its own."""
    if sys.platform == "linux":
        option = getattr(ctypes.CDLL(None), "mallopt", None)  # the GNU C library's
        if option is not None:
            option(-8, most)  # M_ARENA_MAX


def give_back(unless_below: int = 0) -> None:
    """Return freed memory to the system, so that it does not count for the next stage, if the process is not small."""
    if unless_below and resident() < unless_below:
        return
    core = sys.modules.get("roughly._core")
    if core is not None:
        core.release_memory()
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # the GNU C library's
        if trim is not None:
            trim(0)
