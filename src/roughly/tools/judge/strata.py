"""Pairs drawn around the threshold, by score.

A *stratum* is a range of scores. Around the threshold t strata are `STEP` wide, down to t − `SPAN` and up to
t + `SPAN`; what is above is one, and pairs of score 1 are one, since nearly all of them are judged alike. Half
of the draw is divided equally among strata, so the few pairs near the threshold are seen as often as the many far from
it: they tell where the threshold should be. The other half goes to strata of pairs that were found, by the root of
their sizes: they tell the precision. How many pairs each stratum stands for is kept, and puts every estimate right.

Within a stratum pairs are drawn by the hash of their ids with the seed. They are shown in another order by chance: who
saw scores fall from pair to pair would judge the trend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from roughly.tools.tune.draw import place_of

SPAN, STEP = 0.2, 0.05
_Key = tuple[bool, float, float, str]


@dataclass(frozen=True)
class Candidate:
    """A pair that may be drawn: `left` went because of `right`, or both stay (`found` is false)."""

    left_id: str
    right_id: str
    score: float | None  # None where the run did not measure it
    found: bool


@dataclass(frozen=True)
class Stratum:
    """A range of scores, low ≤ score < high; `exact` is score 1 alone, `unmeasured` has no scores."""

    name: str
    low: float
    high: float
    found: bool  # whether its pairs are at or above the threshold
    pairs: float  # how many it stands for; estimated where `found` is false
    drawn: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return dict(vars(self))


class Drawing:
    """Pairs are added one by one, and only those that could be drawn are held."""

    def __init__(self, threshold: float, pairs: int, seed: int) -> None:
        self._threshold, self._pairs, self._seed = threshold, pairs, seed
        self._held: dict[_Key, list[tuple[int, str, str, Candidate]]] = {}
        self._count: Counter[_Key] = Counter()

    def add(self, candidate: Candidate) -> None:
        """A pair that may be drawn."""
        key = _range(candidate, self._threshold)
        held = self._held.setdefault(key, [])
        held.append((_place(candidate, self._seed, "judge"), candidate.left_id, candidate.right_id, candidate))
        self._count[key] += 1
        if len(held) > 4 * self._pairs + 64:
            self._prune(held)

    def held(self) -> list[Candidate]:
        """The pairs that could still be drawn."""
        for held in self._held.values():
            self._prune(held)
        return [one[3] for held in self._held.values() for one in held]

    def finish(self, near_weight: float = 1.0) -> tuple[list[Stratum], list[tuple[int, Candidate]]]:
        """The strata, and (stratum, pair) of each pair drawn in the order they are shown.

        `near_weight` is how many pairs each pair below the threshold stands for, where these were found in a sample.
        """
        keys = sorted(self._held)
        shares = _divided([self._count[key] for key in keys], [key[0] for key in keys], self._pairs)
        strata: list[Stratum] = []
        drawn: list[tuple[int, Candidate]] = []
        for number, (key, share) in enumerate(zip(keys, shares, strict=True)):
            found, low, high, name = key
            self._prune(self._held[key])
            weight = 1.0 if found else near_weight
            strata.append(Stratum(name, low, high, found, self._count[key] * weight, share))
            drawn += [(number, one[3]) for one in self._held[key][:share]]
        drawn.sort(key=lambda one: (_place(one[1], self._seed, "show"), one[1].left_id, one[1].right_id))
        return strata, drawn

    def _prune(self, held: list[tuple[int, str, str, Candidate]]) -> None:
        held.sort(key=lambda one: one[:3])
        del held[self._pairs :]


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


def _divided(sizes: Sequence[int], found: Sequence[bool], pairs: int) -> list[int]:
    """Half in equal shares, the rest among strata of pairs found by the root of their sizes; all as sizes allow."""
    shares = [0] * len(sizes)
    _pour(shares, sizes, [1.0] * len(sizes), (pairs + 1) // 2)
    _pour(shares, sizes, [float(size) ** 0.5 * own for size, own in zip(sizes, found, strict=True)], pairs)
    _pour(shares, sizes, [1.0] * len(sizes), pairs)
    return shares


def _pour(shares: list[int], sizes: Sequence[int], weights: Sequence[float], total: int) -> None:
    """Raise shares until they sum to the total, each time that of the stratum with the most weight for what it has."""
    total = min(total, sum(sizes))
    while sum(shares) < total:
        able = [n for n, size in enumerate(sizes) if shares[n] < size and weights[n] > 0]
        if not able:
            return
        shares[max(able, key=lambda n: (weights[n] / (shares[n] + 1), -n))] += 1


def _place(candidate: Candidate, seed: int, purpose: str) -> int:
    return place_of(f"{candidate.left_id}\0{candidate.right_id}", seed, purpose)
