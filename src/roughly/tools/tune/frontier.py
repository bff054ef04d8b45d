"""What nothing else beats, and the one that is recommended. Neither goes by a clock: the same input, the same choice.

A trial is on the *frontier* when no other is at least as good in precision, recall and bytes a document and better in
one of them. CPU seconds are shown beside and left out of it, since they differ from run to run.

| asked for | recommended, on what settings are chosen on |
|---|---|
| nothing | the highest F1 |
| a precision | the highest recall among those that reach it |
| a recall | the highest precision among those that reach it |
| both | the fewest bytes a document among those that reach both |

With a slack, the fewest bytes a document among those that come within it of the best. Of equals: the higher F1,
the fewer bytes, the one that stands first in the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roughly import checks
from roughly.tools.tune.grid import Trial
from roughly.tools.tune.reference import Floats, Score


@dataclass(frozen=True)
class Tried:
    """A trial and how it did."""

    trial: Trial
    score: Score  # on what settings are chosen on
    unseen: Score
    cpu: float  # seconds a megabyte
    bytes: float  # a document
    columns: Floats

    @property
    def precision(self) -> float:
        """Of nothing found, 0."""
        return self.score.precision or 0.0

    @property
    def recall(self) -> float:
        """Of nothing to find, 0."""
        return self.score.recall or 0.0


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What is asked for."""

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
        """Whether a trial does what is asked for."""
        return tried.precision >= (self.precision or 0) and tried.recall >= (self.recall or 0)

    def worth(self, tried: Tried) -> float:
        """What is made as high as possible."""
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
            return f"the fewest bytes a document with a {' and a '.join(floors)}"
        if floors:
            return f"the highest {'recall' if self.precision is not None else 'precision'} with a {floors[0]}"
        return "the highest F1"


def frontier(tried: Sequence[Tried]) -> list[bool]:
    """Whether each trial is on it."""
    points = [(one.precision, one.recall, -one.bytes) for one in tried]
    return [
        point[0] > 0 and not any(_beats(other, point) for other in points if other != point) for point in points
    ]  # fmt: skip


def recommend(tried: Sequence[Tried], goal: Goal) -> int | None:
    """The number of the trial that is recommended; None where none reaches what is asked for."""
    reached = [n for n, one in enumerate(tried) if goal.reached(one) and one.score.found]
    if not reached:
        return None
    best = max(goal.worth(tried[n]) for n in reached)
    both = goal.precision is not None and goal.recall is not None
    near = [n for n in reached if goal.worth(tried[n]) >= best - (0.0 if both else goal.slack)]
    if goal.slack and not both:
        return min(near, key=lambda n: (tried[n].bytes, -goal.worth(tried[n]), n))
    return min(near, key=lambda n: (-tried[n].score.f1, tried[n].bytes, n))


def nearest(tried: Sequence[Tried], goal: Goal) -> int | None:
    """The trial that falls least short of what is asked for."""
    found = [n for n, one in enumerate(tried) if one.score.found]

    def short(n: int) -> float:
        missing = (goal.precision or 0) - tried[n].precision, (goal.recall or 0) - tried[n].recall
        return sum(max(0.0, by) for by in missing)

    return min(found, key=lambda n: (short(n), -tried[n].score.f1, n), default=None)


def _beats(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    return all(a >= b for a, b in zip(one, other, strict=True))
