"""What each stage took: seconds, bytes and the most memory; and, while it runs, how far it has come.

The pipeline calls `stage` and `advance`; a listener (the command line's progress bars) may watch.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol


@dataclass
class Stage:
    """One stage of a run, finished or under way."""

    name: str
    total: int = 0  # units of work, 0 where unknown
    unit: str = ""
    done: int = 0
    seconds: float = 0.0
    bytes: int = 0
    peak_memory: int = 0
    reused: bool = False  # taken over from an earlier, interrupted run

    def to_dict(self) -> dict[str, Any]:
        """For run.json."""
        return {k: v for k, v in asdict(self).items() if k not in ("total", "unit", "done")}


class Listener(Protocol):
    """Someone who watches."""

    def started(self, stage: Stage) -> None:
        """A stage begins."""

    def advanced(self, stage: Stage) -> None:
        """Some of it is done."""

    def finished(self, stage: Stage) -> None:
        """It is over."""


@dataclass
class Meter:
    """Times stages and samples memory."""

    listener: Listener | None = None
    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, total: int = 0, unit: str = "") -> Iterator[Stage]:
        """Time what happens within."""
        stage = Stage(name, total, unit)
        self.stages.append(stage)
        if self.listener:
            self.listener.started(stage)
        start = time.perf_counter()
        with _sampled(stage):
            try:
                yield stage
            finally:
                stage.seconds = time.perf_counter() - start
                give_back()
        if self.listener:
            self.listener.finished(stage)

    def advance(self, stage: Stage, done: int) -> None:
        """So much of the stage is done, in its unit, counted from its start."""
        stage.done = done
        if self.listener:
            self.listener.advanced(stage)


def give_back() -> None:
    """Return freed memory to the system: what one stage let go of is not the next one's."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # the GNU C library's
        if trim is not None:
            trim(0)


@contextmanager
def _sampled(stage: Stage, every: float = 0.05) -> Iterator[None]:
    """Note the most memory that this process holds; a run has no others."""
    stop = threading.Event()

    def watch(read: Callable[[], int]) -> None:
        while True:
            stage.peak_memory = max(stage.peak_memory, read())
            if stop.wait(every):
                return

    import psutil

    process = psutil.Process()

    def resident() -> int:
        return int(process.memory_info().rss)

    sampler = threading.Thread(target=watch, args=(resident,), daemon=True, name="roughly-memory")
    sampler.start()
    try:
        yield
    finally:
        stop.set()
        sampler.join()
