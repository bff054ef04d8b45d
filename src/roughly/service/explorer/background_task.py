"""Work that a page starts and that goes on in the background: one at a time, with its progress and what went wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from roughly.console.progress import Progress
from roughly.console.run_estimate import WEIGHTS, times
from roughly.errors import RoughlyError
from roughly.fast_dataclass import dataclass
from roughly.meter import Listener, Stage
from roughly.service.error_responses import PROBLEMS, without_address
from roughly.settings import Resources

RESOURCES = Resources(threads=2)
"""What such work may use, beside the requests."""
SOON = 2.0
"""Seconds that a request waits for the end, so that a small run is answered with its result."""
BUSY = "the service is already at work on a run; wait until that has ended, or stop it on the page /tune"
_ENDING = 10.0
"""Seconds that the end of the service waits for work that is stopped."""


class Stopped(RoughlyError):
    """Someone stopped the work."""


class StoppableProgress(Progress):
    """The progress of work that can be stopped at its next step."""

    def __init__(self, stages: Iterable[str] = (), weights: Mapping[str, int] = WEIGHTS) -> None:
        super().__init__(True, stages=tuple(stages), weights=weights)
        self.stopping = threading.Event()

    def started(self, stage: Stage) -> None:
        """A stage begins."""
        self._check()
        super().started(stage)

    def advanced(self, stage: Stage) -> None:
        """Part of a stage is done."""
        self._check()

    def _check(self) -> None:
        if self.stopping.is_set():
            raise Stopped("it was stopped; nothing was written")

    def to_dict(self) -> dict[str, Any]:
        """What it does, how much of it is done, and the times."""
        now = self.estimate
        return {"doing": self.doing, "share": now.share(), "times": times(now.elapsed(), now.left())}


@dataclass
class BackgroundTask:
    """One kind of work on a run, at most one at a time."""

    name: str
    done: Any = None  # what the last work returned
    problem: str = ""
    what: str = ""  # what it does, or did last
    run: Path | None = None  # the folder of the run that it works on
    progress: StoppableProgress | None = None
    _thread: threading.Thread | None = None
    _starting: threading.Lock = field(default_factory=threading.Lock)

    @property
    def runs(self) -> bool:
        """Whether it is at work."""
        return self._thread is not None and self._thread.is_alive()

    def start(
        self, work: Callable[[Listener], Any], run: Path, what: str = "", *,
        progress: StoppableProgress | None = None, hidden: Iterable[str] = (),
    ) -> bool:  # fmt: skip
        """Begin, unless it is at work already; whether it began. Messages name no folder that is `hidden`."""
        with self._starting:
            if self.runs:
                return False
            self.done, self.problem, self.what, self.run = None, "", what, run
            self.progress = progress or StoppableProgress()
            given = (work, self.progress, sorted({one for one in hidden if one.strip("./")}, key=len, reverse=True))
            self._thread = threading.Thread(target=self._work, args=given, name=self.name, daemon=True)
            self._thread.start()
            return True

    def state(self) -> dict[str, Any] | None:
        """What is being done for which run, and how much of it; None if nothing is."""
        if not self.runs or self.progress is None or self.run is None:
            return None
        return {"what": self.what, "run": self.run.resolve().name, **self.progress.to_dict()}

    def problem_of(self, run: Path, *what: str) -> str:
        """Why work of these kinds on this run failed; empty if it did not."""
        return self.problem if self.run == run and self.what in what else ""

    def wait(self, seconds: float) -> None:
        """Wait for the end, so that what is done soon is answered with its result."""
        if self._thread is not None:
            self._thread.join(seconds)

    def stop(self) -> None:
        """End the work at its next step."""
        if self.progress is not None:
            self.progress.stopping.set()

    def close(self) -> None:
        """Stop, and wait for the end."""
        self.stop()
        self.wait(_ENDING)

    def _work(self, work: Callable[[Listener], Any], progress: StoppableProgress, hidden: list[str]) -> None:
        try:
            self.done = work(progress)
        except (RoughlyError, OSError) as problem:
            message = without_address(str(problem))
            for folder in hidden:
                message = message.replace(f"{folder.rstrip('/')}/", "")
            self.problem = message
        except Exception:
            PROBLEMS.exception("it failed: %s", self.name)
            self.problem = "the service failed; its log says why"
