"""How far a run is, and how long it will still take: stage k of n, the share that is done, and the time left.

Stages differ: signing takes most of the time, the last ones little. A table of weights says how much each takes of a
usual run; what is left is the rest of the current stage at its own speed, and the later stages at the speed of the run
so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from roughly.fast_dataclass import dataclass
from roughly.meter import Stage
from roughly.options import COLLECTION, METHODS
from roughly.settings import Settings

WEIGHTS = {
    "count": 30, "merge": 5, "read": 45, "rank": 3, "group": 6, "fetch": 14, "verify": 14, "cluster": 3, "write": 5,
    "copy": 8, "convert": 8, "report": 2, "index": 60,
}  # fmt: skip
"""Parts of the time that each stage takes of a usual run of `dedupe`."""
PASSAGES = {"read": 34, "group": 45, "verify": 8, "fetch": 9, "write": 5, "copy": 15}
"""The same for `passages`."""
_OTHER = 10  # the weight of a stage that is not in the table
_UNKNOWN = 0.01  # a share of the run below which no time is estimated


@dataclass
class RunEstimate:
    """The stages of a run: those that are expected, and the one that runs."""

    expected: Sequence[str] = ()
    clock: Callable[[], float] = time.monotonic
    weights: Mapping[str, int] = field(default_factory=lambda: WEIGHTS)
    stage: Stage | None = None
    names: list[str] = field(default_factory=list)
    began: float = 0.0
    stage_began: float = 0.0

    def __post_init__(self) -> None:
        self.names = list(self.expected)
        self.began = self.stage_began = self.clock()

    def start(self, stage: Stage) -> None:
        """A stage begins; one that was not expected comes after the one before it."""
        if stage.name not in self.names:
            self.names.insert(self.number, stage.name)
        self.stage, self.stage_began = stage, self.clock()

    @property
    def number(self) -> int:
        """The number of the running stage, from 1; 0 before the first."""
        return self.names.index(self.stage.name) + 1 if self.stage is not None else 0

    @property
    def of(self) -> str:
        """Which stage of how many; how many is unknown where none were expected."""
        return f"stage {self.number} of {len(self.names)}" if self.expected else f"stage {self.number}"

    def stage_share(self) -> float | None:
        """The share of the stage that is done, if it is known."""
        if self.stage is None or not self.stage.total:
            return None
        return min(1.0, self.stage.done / self.stage.total)

    def share(self) -> float | None:
        """The share of the run that is done, if it is known."""
        if not self.expected or self.stage is None:
            return None
        weights = [self.weights.get(name, _OTHER) for name in self.names]
        before, current = sum(weights[: self.number - 1]), weights[self.number - 1]
        return (before + current * (self.stage_share() or 0.0)) / sum(weights)

    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.began

    def stage_elapsed(self) -> float:
        """Seconds since the stage began."""
        return self.clock() - self.stage_began

    def stage_left(self) -> float | None:
        """Seconds that the stage will still take, if that is known."""
        share = self.stage_share()
        return self.stage_elapsed() * (1 - share) / share if share else None

    def left(self) -> float | None:
        """Seconds that the run will still take, if that is known."""
        share = self.share()
        if share is None or share < _UNKNOWN:
            return None
        weights = [self.weights.get(name, _OTHER) for name in self.names]
        later = self.elapsed() / share * sum(weights[self.number :]) / sum(weights)
        stage_left = self.stage_left()
        return self.elapsed() * (1 - share) / share if stage_left is None else stage_left + later

    def speed(self) -> str:
        """Documents per second of the stage, or megabytes where it does not count documents."""
        stage, seconds = self.stage, self.stage_elapsed()
        if stage is None or seconds <= 0:
            return ""
        documents = stage.done if stage.unit == "documents" else stage.documents
        if documents:
            return f"{documents / seconds:,.0f} documents/s"
        return f"{stage.done / seconds / 1e6:,.0f} MB/s" if stage.unit == "bytes" and stage.done else ""


def dedupe_stages(settings: Settings, has_file: bool = False, has_index: bool = False) -> list[str]:
    """The stages of a run of `dedupe`, in order."""
    compares = () if METHODS[settings.method].equality else ("group", "fetch", "verify")
    counted = ("count", "merge") if settings.options.get("lexicon") == COLLECTION else ()
    last = ("cluster", "write", "copy", *(["convert"] if has_file else []), "report", *(["index"] if has_index else []))
    return [*counted, "read", "rank", *compares, *last]


def times(elapsed: float, left: float | None) -> str:
    """Both times, each with its name."""
    return f"elapsed {_clock(elapsed)}" + ("" if left is None else f", left {_clock(left)}")


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
