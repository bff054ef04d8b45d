"""Progress on standard error: a bar with the time left for every stage, and nothing where it is not a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

from roughly.meter import Stage

_SAYS = {
    "count": "counting terms",
    "merge": "merging counts",
    "read": "reading and signing",
    "rank": "ranking",
    "group": "grouping keys",
    "fetch": "reading candidates again",
    "verify": "verifying pairs",
    "cluster": "clustering",
    "write": "writing verdicts",
    "copy": "copying what is kept",
    "report": "drawing the report",
    "index": "making the index",
    "sketch": "reading and sampling",
    "tune": "measuring",
    "truth": "finding the truth",
    "near": "finding near misses",
    "join": "joining",
}


class Progress:
    """Shows the stages of a run as they go by."""

    def __init__(self, quiet: bool = False) -> None:
        self._bars = None
        self._task: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            self._bars = Bars(
                TextColumn("{task.description:<26}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def started(self, stage: Stage) -> None:
        """A stage begins."""
        if self._bars is not None:
            self._task = self._bars.add_task(_SAYS.get(stage.name, stage.name), total=stage.total or None)

    def advanced(self, stage: Stage) -> None:
        """Some of it is done."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, completed=stage.done)

    def finished(self, stage: Stage) -> None:
        """It is over."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, total=stage.total or 1, completed=stage.total or 1)
