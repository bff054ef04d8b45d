"""The pairs that are duplicates, and how the best of them is chosen."""

from __future__ import annotations

from dataclasses import fields
from typing import Self

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.index.matching.candidate_finder import OwnerPairs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class MatchVerdicts:
    """Pairs that are duplicates, with their counts (see `kernels.judging`).

    c values are in both sets, m in the owner's, n in the content's.
    """

    pairs: OwnerPairs
    c: Ints
    m: Ints
    n: Ints
    lower: Flags  # the owner ranks below the content

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, use: Flags | Ints) -> MatchVerdicts:
        """Some of them."""
        return MatchVerdicts(self.pairs.of(use), self.c[use], self.m[use], self.n[use], self.lower[use])

    @classmethod
    def none(cls) -> Self:
        """No duplicates."""
        none = np.empty(0, np.int64)
        return cls(OwnerPairs.none(), none, none, none, np.empty(0, np.bool_))

    def scores(self, measure: str) -> Floats:
        """The measure by which the best match is chosen."""
        return measured(self.c, self.m, self.n, self.lower, measure)


def measured(c: Ints, m: Ints, n: Ints, lower: Flags, measure: str) -> Floats:
    """The measure of pairs from their counts."""
    if measure == "common":
        return c.astype(np.float64)
    whole = np.where(lower, m, n) if measure == "containment" else m + n - c
    return np.where(whole == 0, 1.0, c / np.maximum(whole, 1))


def upper_bounds(pairs: OwnerPairs, owner_sizes: Ints, lower: Flags, measure: str) -> Floats:
    """The highest value that the measure of each pair can have; `owner_sizes` are the sizes of the owners' sets.

    With h = `min_difference`, m + n − 2c ≥ h, hence c ≤ min(m, n, ⌊(m + n − h) / 2⌋). Both measures rise with c, and a
    correctly rounded division keeps that order, so no score exceeds its bound.
    """
    c = np.minimum(np.minimum(owner_sizes, pairs.sizes), (owner_sizes + pairs.sizes - pairs.min_difference) // 2)
    return measured(np.maximum(c, 0), owner_sizes, pairs.sizes, lower, measure)


def concatenate(parts: list[MatchVerdicts]) -> MatchVerdicts:
    """All verdicts of the parts."""
    if len(parts) == 1:
        return parts[0]
    parts = [MatchVerdicts.none(), *parts]
    columns = (np.concatenate([getattr(p.pairs, f.name) for p in parts]) for f in fields(OwnerPairs))
    counts = (np.concatenate([getattr(p, name) for p in parts]) for name in ("c", "m", "n", "lower"))
    return MatchVerdicts(OwnerPairs(*columns), *counts)


def best_first(verdicts: MatchVerdicts, measure: str) -> MatchVerdicts:
    """Sorted by owner, then the most similar first; ties are broken by content, the earlier first."""
    score = verdicts.scores(measure)
    return verdicts.of(np.lexsort((verdicts.pairs.content, -score, verdicts.pairs.owner)))


def first_of_each(verdicts: MatchVerdicts) -> MatchVerdicts:
    """The first verdict of each owner; the verdicts must be sorted by owner."""
    owner = verdicts.pairs.owner
    return verdicts.of(np.r_[True, owner[1:] != owner[:-1]] if len(owner) else np.empty(0, np.bool_))
