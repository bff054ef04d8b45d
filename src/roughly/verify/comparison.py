"""Comparison of two documents: scores, kind, shared passages and diff in one object, and the short functions.

`same` and `contains` are the two informal notions of Broder 1997, "roughly the same" and "roughly contained", at a
threshold; `resemblance` and `containment` are the exact numbers, computed on the full shingle sets.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

from roughly import checks
from roughly.verify.comparison_html import comparison_html
from roughly.verify.diff import Segment, diff_readings, stretches
from roughly.verify.kinds import kinds_of_tokens
from roughly.verify.passages import Passage, passages_of_readings
from roughly.verify.scores import Scores, score_readings, score_texts
from roughly.verify.tokenised import Reading

KIN = 0.05  # with less than this share of either document in the other, there is no kind of duplicate to name


class Comparison:
    """The result of `compare`; the costly parts are computed once, on first use."""

    def __init__(self, left: Reading, right: Reading, shingle_size: int) -> None:
        self.left = left.text
        self.right = right.text
        self.shingle_size = shingle_size
        self._readings = (left, right)

    def __repr__(self) -> str:
        return (
            f"Comparison(resemblance={self.scores.resemblance:.4f}, containment={self.scores.containment:.4f}, "
            f"contained_in={self.scores.contained_in:.4f}, kind={self.kind!r})"
        )

    def _repr_html_(self) -> str:
        found = stretches(*self._readings)
        return comparison_html(self.left, self.right, found, self.scores, self.kind)

    @cached_property
    def scores(self) -> Scores:
        """Exact resemblance and both containments."""
        return score_readings(*self._readings, self.shingle_size)

    @cached_property
    def kind(self) -> str | None:
        """The kind of left if it were removed because of right; None if they have almost nothing in common."""
        if max(self.scores.containment, self.scores.contained_in) < KIN:
            return None
        left, right = self._readings
        return kinds_of_tokens(left.hashes, right.hashes)

    @cached_property
    def passages(self) -> list[Passage]:
        """The passages that both documents contain, in the order of left."""
        return passages_of_readings(*self._readings, self.shingle_size)

    def diff(self, context: int | None = None) -> list[Segment]:
        """The difference word by word; with `context`, only this number of words around each change."""
        return diff_readings(*self._readings, context)

    def to_dict(self, context: int | None = None) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            **dataclasses.asdict(self.scores),
            "shingle_size": self.shingle_size,
            "kind": self.kind,
            "passages": [dataclasses.asdict(passage) for passage in self.passages],
            "diff": [dataclasses.asdict(segment) for segment in self.diff(context)],
        }


def compare(left: str, right: str, *, shingle_size: int = 5) -> Comparison:
    """Compare two texts exactly."""
    checks.refuse(checks.shingle_size(shingle_size))
    return Comparison(Reading(left, "left"), Reading(right, "right"), shingle_size)


def resemblance(left: str, right: str, *, shingle_size: int = 5) -> float:
    """Broder's r(left, right): the shingles they share, out of all that either has."""
    return score_texts(left, right, shingle_size).resemblance


def containment(left: str, right: str, *, shingle_size: int = 5) -> float:
    """Broder's c(left, right): the fraction of left's shingles that right contains."""
    return score_texts(left, right, shingle_size).containment


def same(left: str, right: str, threshold: float = 0.8, *, shingle_size: int = 5) -> bool:
    """Whether two texts are roughly the same: their resemblance reaches the threshold."""
    checks.refuse(checks.threshold(threshold))
    return resemblance(left, right, shingle_size=shingle_size) >= threshold


def contains(container: str, contained: str, threshold: float = 0.9, *, shingle_size: int = 5) -> bool:
    """Whether `container` roughly contains `contained`: the containment of the second in the first is high enough."""
    checks.refuse(checks.threshold(threshold))
    return (
        score_readings(Reading(contained, "contained"), Reading(container, "container"), shingle_size).containment
        >= threshold
    )
