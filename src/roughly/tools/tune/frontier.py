"""The Pareto frontier, and the goal of tuning. Neither depends on measured time: the same input, the same choice.

A trial is on the *frontier* if no other is at least as good in precision, recall and bytes per document and better in
one of them. CPU seconds are shown but do not count, since they differ from run to run.

| goal | recommended |
|---|---|
| nothing | the highest F1 |
| a precision | the highest recall among those that reach it |
| a recall | the highest precision among those that reach it |
| both | the fewest bytes per document among those that reach both |

With a slack, the fewest bytes per document among those within the slack of the best. `selection` chooses among trials
with the same score.
"""

from __future__ import annotations

from collections.abc import Sequence

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.tools.tune.grid import Trial
from roughly.tools.tune.reference import Floats, Score


@dataclass(frozen=True)
class Tried:
    """A trial and its scores."""

    trial: Trial
    score: Score
    cpu: float  # seconds per megabyte; not a number where it was not measured
    bytes: float  # per document
    columns: Floats  # (both, found, true) of each set

    @property
    def precision(self) -> float:
        """The precision; 0 if nothing was found."""
        return self.score.precision or 0.0

    @property
    def recall(self) -> float:
        """The recall; 0 if there was nothing to find."""
        return self.score.recall or 0.0


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The goal of tuning."""

    precision: float | None = None
    recall: float | None = None
    slack: float = 0.0

    def __post_init__(self) -> None:
        checks.refuse(
            [
                *(checks.above_zero("precision", self.precision) if self.precision is not None else ()),
                *(checks.above_zero("recall", self.recall) if self.recall is not None else ()),
                *checks.share("slack", self.slack),
            ]
        )

    def reached(self, tried: Tried) -> bool:
        """Whether a trial reaches the goal."""
        return tried.precision >= (self.precision or 0) and tried.recall >= (self.recall or 0)

    def worth(self, tried: Tried) -> float:
        """The value to maximise."""
        if self.precision is not None and self.recall is not None:
            return -tried.bytes
        if self.precision is not None:
            return tried.recall
        return tried.precision if self.recall is not None else tried.score.f1

    def __str__(self) -> str:
        floors = [
            f"{name} of at least {value:g}"
            for name, value in (("precision", self.precision), ("recall", self.recall))
            if value is not None
        ]
        if len(floors) == 2:
            return f"the fewest bytes per document with a {' and a '.join(floors)}"
        if floors:
            return f"the highest {'recall' if self.precision is not None else 'precision'} with a {floors[0]}"
        return "the highest F1"


def frontier(tried: Sequence[Tried]) -> list[bool]:
    """Whether each trial is on the frontier."""
    points = [(one.precision, one.recall, -one.bytes) for one in tried]
    return [
        point[0] > 0 and not any(_beats(other, point) for other in points if other != point) for point in points
    ]  # fmt: skip


def nearest(tried: Sequence[Tried], goal: Goal) -> int | None:
    """The trial nearest to the goal."""
    found = [n for n, one in enumerate(tried) if one.score.found]

    def short(n: int) -> float:
        missing = (goal.precision or 0) - tried[n].precision, (goal.recall or 0) - tried[n].recall
        return sum(max(0.0, by) for by in missing)

    return min(found, key=lambda n: (short(n), -tried[n].score.f1, n), default=None)


def _beats(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    return all(a >= b for a, b in zip(one, other, strict=True))
