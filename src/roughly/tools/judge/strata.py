"""Pairs drawn around the threshold, by score.

A *stratum* is a range of scores. Around the threshold t strata are `STEP` wide, down to t − `SPAN` and up to
t + `SPAN`; higher scores are one stratum, and pairs of score 1 another, since nearly all of them are judged alike. Half
of the draw is divided equally among strata, so the few pairs near the threshold are shown as often as the many far from
it: they show where the threshold should be. The other half is divided among strata of found pairs, by the root of their
sizes: they show the precision. The number of pairs that each stratum represents is stored, and weighs every estimate.

If the run has a learned verdict, scores are probabilities, and the other half is divided among strata within `SPAN` of
the verdict's own: the pairs that teach most. They are also shown first.

Within a stratum pairs are drawn by the hash of their ids with the seed. They are shown in random order: a judge who saw
scores fall from pair to pair would follow the trend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from roughly.fast_dataclass import dataclass
from roughly.tools.tune.draw import place_of

SPAN, STEP = 0.2, 0.05
_Key = tuple[bool, float, float, str]


@dataclass(frozen=True)
class Candidate:
    """A pair that may be drawn: `left` was removed because of `right`, or both are kept (`found` is false)."""

    left_id: str
    right_id: str
    score: float | None  # None if the run did not measure it
    found: bool


@dataclass(frozen=True)
class Stratum:
    """A range of scores, low ≤ score < high; `exact` is score 1 alone, `unmeasured` has no scores."""

    name: str
    low: float
    high: float
    found: bool  # whether its pairs are at or above the threshold
    pairs: float  # the number of pairs that it represents; estimated if `found` is false
    drawn: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return dict(vars(self))


class Drawing:
    """Pairs are added one by one, and only those that could be drawn are stored."""

    def __init__(self, threshold: float, pairs: int, seed: int, *, uncertain_first: bool = False) -> None:
        self._threshold, self._pairs, self._seed = threshold, pairs, seed
        self._uncertain_first = uncertain_first
        self._by_range: dict[_Key, list[tuple[int, str, str, Candidate]]] = {}
        self._count: Counter[_Key] = Counter()

    def add(self, candidate: Candidate) -> None:
        """Add a pair that may be drawn."""
        key = _range(candidate, self._threshold)
        waiting = self._by_range.setdefault(key, [])
        waiting.append((_place(candidate, self._seed, "judge"), candidate.left_id, candidate.right_id, candidate))
        self._count[key] += 1
        if len(waiting) > 4 * self._pairs + 64:
            self._prune(waiting)

    def possible(self) -> list[Candidate]:
        """The pairs that could still be drawn."""
        for waiting in self._by_range.values():
            self._prune(waiting)
        return [one[3] for waiting in self._by_range.values() for one in waiting]

    def finish(self, near_weight: float = 1.0) -> tuple[list[Stratum], list[tuple[int, Candidate]]]:
        """The strata, and (stratum, pair) of each pair drawn in the order they are shown.

        `near_weight` is the number of pairs that each pair below the threshold represents, if these come from a sample.
        """
        keys = sorted(self._by_range)
        near = [self._is_uncertain(key) if self._uncertain_first else key[0] for key in keys]
        shares = _divided([self._count[key] for key in keys], near, self._pairs)
        strata: list[Stratum] = []
        drawn: list[tuple[int, Candidate]] = []
        for number, (key, share) in enumerate(zip(keys, shares, strict=True)):
            found, low, high, name = key
            self._prune(self._by_range[key])
            weight = 1.0 if found else near_weight
            strata.append(Stratum(name, low, high, found, self._count[key] * weight, share))
            drawn += [(number, one[3]) for one in self._by_range[key][:share]]
        drawn.sort(key=lambda one: (_place(one[1], self._seed, "show"), one[1].left_id, one[1].right_id))
        if self._uncertain_first:
            drawn.sort(key=lambda one: not self._is_uncertain(keys[one[0]]))
        return strata, drawn

    def _is_uncertain(self, key: _Key) -> bool:
        """Whether the scores of a stratum are within `SPAN` of the threshold."""
        _, low, high, _ = key
        return low >= self._threshold - SPAN - 1e-6 and high <= self._threshold + SPAN + 1e-6

    def _prune(self, waiting: list[tuple[int, str, str, Candidate]]) -> None:
        waiting.sort(key=lambda one: one[:3])
        del waiting[self._pairs :]


def _range(candidate: Candidate, threshold: float) -> _Key:
    score = candidate.score
    if score is None:
        return candidate.found, 0.0, 1.0, "unmeasured"
    if score >= 1.0:
        return candidate.found, 1.0, 1.0, "exactly 1"
    steps = round(SPAN / STEP)
    place = int(np.floor((score - threshold) / STEP + 1e-9))
    if candidate.found:
        place = max(place, 0)
    else:
        place = min(place, -1)
    low, high = threshold + place * STEP, threshold + (place + 1) * STEP
    if place >= steps:
        low, high = threshold + SPAN, 1.0
    if place < -steps:
        low, high = 0.0, threshold - SPAN
    low, high = round(max(low, 0.0), 4), round(min(high, 1.0), 4)
    return candidate.found, low, high, f"{low:.2f} to {high:.2f}"


def _divided(sizes: Sequence[int], chosen: Sequence[bool], pairs: int) -> list[int]:
    """Half in equal shares, the rest among chosen strata by the root of their sizes; limited by the sizes."""
    shares = [0] * len(sizes)
    _pour(shares, sizes, [1.0] * len(sizes), (pairs + 1) // 2)
    _pour(shares, sizes, [float(size) ** 0.5 * own for size, own in zip(sizes, chosen, strict=True)], pairs)
    _pour(shares, sizes, [1.0] * len(sizes), pairs)
    return shares


def _pour(shares: list[int], sizes: Sequence[int], weights: Sequence[float], total: int) -> None:
    """Raise shares until they sum to the total, each time that of the stratum with the highest weight per share."""
    total = min(total, sum(sizes))
    while sum(shares) < total:
        able = [n for n, size in enumerate(sizes) if shares[n] < size and weights[n] > 0]
        if not able:
            return
        shares[max(able, key=lambda n: (weights[n] / (shares[n] + 1), -n))] += 1


def _place(candidate: Candidate, seed: int, purpose: str) -> int:
    return place_of(f"{candidate.left_id}\0{candidate.right_id}", seed, purpose)
