"""Precision, recall and F1, of pairs and of documents; recall by resemblance.

    precision = |found ∩ true| / |found|        recall = |found ∩ true| / |true|        F1 = 2·P·R / (P + R)

Of *pairs*, these are shares of pairs. A set of 1,000 copies has half a million pairs, so large sets decide. Of
*documents*, a document with a true duplicate counts as found when it was grouped with one of them, and a document that
was grouped counts as right when one of its partners is a true one: every document has one vote (the ratio of I-Match
2002, Table III).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roughly.tools.metrics.overlap import Flags, Ints, Overlap

Floats = npt.NDArray[np.float64]
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Shares:
    """Counts, and what follows from them."""

    both: int
    found: int
    true: int

    @property
    def precision(self) -> float | None:
        """The share of what was found that is true."""
        return self.both / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """The share of what is true that was found."""
        return self.both / self.true if self.true else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two: 2·both / (found + true) where all three count the same things."""
        return harmonic(self.precision, self.recall)


@dataclass(frozen=True)
class DocumentShares:
    """Documents with a true duplicate, documents grouped, and how many of each are right."""

    found: int  # grouped with another
    right: int  # of those, with a true duplicate among their partners
    true: int  # have a true duplicate

    @property
    def precision(self) -> float | None:
        """The share of the documents grouped that stand with a true duplicate."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """The share of the documents with a true duplicate that stand with one."""
        return self.right / self.true if self.true else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two."""
        return harmonic(self.precision, self.recall)


def score_pairs(overlap: Overlap) -> Shares:
    """Pairs found, true and both."""
    return Shares(int(overlap.both.sum()) // 2, int(overlap.found.sum()) // 2, int(overlap.true.sum()) // 2)


def score_documents(overlap: Overlap) -> DocumentShares:
    """Documents grouped, and documents that have a true duplicate."""
    return DocumentShares(int((overlap.found > 0).sum()), int((overlap.both > 0).sum()), int((overlap.true > 0).sum()))


@dataclass(frozen=True)
class Bin:
    """True pairs whose resemblance is from `low` to below `high` (the last bin includes 1)."""

    low: float
    high: float
    true: int
    found: int

    @property
    def recall(self) -> float | None:
        """The share of them that was found."""
        return self.found / self.true if self.true else None


def recall_by_bin(resemblance: Floats, found: Flags, edges: Sequence[float] = EDGES) -> list[Bin]:
    """Of true pairs, how many were found, by resemblance. Pairs below the first edge are left out."""
    place = bin_of(resemblance, edges)
    inside = place >= 0
    true = np.bincount(place[inside], minlength=len(edges) - 1)
    hit = np.bincount(place[inside & found], minlength=len(edges) - 1)
    return [Bin(edges[i], edges[i + 1], int(true[i]), int(hit[i])) for i in range(len(edges) - 1)]


def bin_of(values: Floats, edges: Sequence[float] = EDGES) -> Ints:
    """The bin of each value; −1 outside. The last edge belongs to the last bin."""
    place = np.searchsorted(np.array(edges), values, side="right").astype(np.int64) - 1
    place[np.asarray(values) == edges[-1]] = len(edges) - 2
    place[place >= len(edges) - 1] = -1
    return place


def harmonic(precision: float | None, recall: float | None) -> float | None:
    """2·P·R / (P + R); 0 where both are."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
