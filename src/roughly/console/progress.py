"""Progress on standard error: a line for the run and one for the stage, or a line every ten seconds without a terminal.

Nothing is shown of runs that take less than half a second. `Progress` is the listener of a `Meter`; a thread of its own
shows the state, so that the times move also while a stage says nothing.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from roughly.console.run_estimate import WEIGHTS, RunEstimate, times
from roughly.meter import Stage

EVERY = 10.0
"""Seconds between two lines where standard error is no terminal."""
_WIDEST = 20  # characters of a stage: speed and times of a run then fit a terminal of 80
_REFRESHED = 0.1
_DELAY = 0.5
_SAYS = {
    "count": "counting terms",
    "merge": "merging counts",
    "read": "reading and signing",
    "rank": "ranking",
    "group": "grouping keys",
    "link": "linking buckets",
    "fetch": "reading candidates",
    "verify": "verifying pairs",
    "cluster": "clustering",
    "write": "writing verdicts",
    "copy": "copying what is kept",
    "convert": "writing one file",
    "report": "drawing the report",
    "index": "making the index",
    "sketch": "reading and sampling",
    "tune": "measuring",
    "learn": "learning",
    "truth": "finding the truth",
    "near": "finding near misses",
    "join": "joining",
}


def is_watched() -> bool:
    """Whether a person can see it: standard error is a terminal, or this is a notebook."""
    return sys.stderr.isatty() or _is_notebook()


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows the stages of a run as they run; `stages` are those that are expected."""

    def __init__(
        self,
        quiet: bool = False,
        verbose: bool = False,
        stages: Sequence[str] = (),
        weights: Mapping[str, int] = WEIGHTS,
    ) -> None:
        self.estimate = RunEstimate(stages, weights=weights)
        self._quiet, self._verbose = quiet, verbose
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._bars: Any = None

    def __enter__(self) -> Self:
        if not self._quiet:
            show = self._show_bars if is_watched() else self._print_lines
            self._thread = threading.Thread(target=show, name="roughly-progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def started(self, stage: Stage) -> None:
        """A stage begins."""
        self.estimate.start(stage)

    def advanced(self, stage: Stage) -> None:
        """Nothing to do: the stage itself knows how far it is."""

    def finished(self, stage: Stage) -> None:
        """A stage has ended."""
        if self._verbose:
            size = f", {stage.bytes / 1e6:,.1f} MB" if stage.bytes else ""
            reused = ", reused" if stage.reused else ""
            memory = f"peak memory {stage.peak_memory / 1e6:,.0f} MB"
            self._print(f"{_SAYS.get(stage.name, stage.name)}: {stage.seconds:.2f} s{size}, {memory}{reused}")

    @property
    def doing(self) -> str:
        """What the running stage does."""
        return _said(self.estimate.stage)

    def line(self) -> str:
        """The state of the run on one line."""
        now = self.estimate
        share, stage_share = now.share(), now.stage_share()
        parts = [_said(now.stage) + ("" if stage_share is None else f" {stage_share * 100:.0f} %"), now.of]
        parts += [] if share is None else [f"{share * 100:.0f} % of the run"]
        parts += [speed] if (speed := now.speed()) else []
        return f"{', '.join(parts)}; {times(now.elapsed(), now.left())}"

    def _print(self, line: str) -> None:
        if self._bars is not None:
            self._bars.console.print(line, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)

    def _print_lines(self) -> None:
        while not self._ended.wait(EVERY):
            if self.estimate.stage is not None:
                print(self.line(), file=sys.stderr, flush=True)

    def _show_bars(self) -> None:
        if self._ended.wait(_DELAY):
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        console = Console() if _is_notebook() else Console(stderr=True)
        columns = (TextColumn(f"{{task.description:<{_WIDEST}}}"), BarColumn(), TextColumn("{task.fields[said]}"))
        with Bars(*columns, console=console, transient=True, auto_refresh=False) as self._bars:
            run = self._bars.add_task("", total=1.0 if self.estimate.expected else None, said="")
            stage = self._bars.add_task("", total=None, said="")
            while True:
                self._update(run, stage)
                if self._ended.wait(_REFRESHED):
                    break
        self._bars = None

    def _update(self, run: Any, stage: Any) -> None:
        now = self.estimate
        share, part = now.share(), now.stage_share()
        said = ["" if share is None else f"{share:>4.0%}", now.speed(), times(now.elapsed(), now.left())]
        self._bars.update(run, description=now.of, completed=share or 0, said="  ".join(filter(None, said)))
        said = ["" if part is None else f"{part:>4.0%}", times(now.stage_elapsed(), now.stage_left())]
        self._bars.update(
            stage, description=_said(now.stage), total=None if part is None else 1.0, completed=part or 0,
            said="  ".join(filter(None, said)),
        )  # fmt: skip
        self._bars.refresh()


def _said(stage: Stage | None) -> str:
    return "starting" if stage is None else _SAYS.get(stage.name, stage.name)
