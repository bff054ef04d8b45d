"""Precision, recall and F1, of pairs and of documents; recall by resemblance.

    precision = |found ∩ true| / |found|        recall = |found ∩ true| / |true|        F1 = 2·P·R / (P + R)

For *pairs*, these are fractions of pairs. A set of 1,000 copies has half a million pairs, so large sets dominate. For
*documents*, a document with a true duplicate counts as found when it was grouped with one of them, and a document that
was grouped counts as right when one of its partners is a true one: every document has one vote (the ratio of I-Match
2002, Table III).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.overlap import Flags, Ints, Overlap

Floats = npt.NDArray[np.float64]
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Shares:
    """Counts of pairs or of documents, and the ratios computed from them. Weighted counts need not be whole."""

    both: float
    found: float
    true: float

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
        """The harmonic mean of the two: 2·both / (found + true) if all three count the same things."""
        return harmonic(self.precision, self.recall)

    def to_dict(self) -> dict[str, float | None]:
        """The ratios as plain values."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def score_pairs(overlap: Overlap) -> Shares:
    """Pairs found, true and both."""
    return Shares(int(overlap.both.sum()) // 2, int(overlap.found.sum()) // 2, int(overlap.true.sum()) // 2)


def score_documents(overlap: Overlap) -> Shares:
    """Documents grouped, documents that have a true duplicate, and documents grouped with a true one."""
    return Shares(int((overlap.both > 0).sum()), int((overlap.found > 0).sum()), int((overlap.true > 0).sum()))


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
    """The numbers of true pairs that were found, by resemblance. Pairs below the first edge are left out."""
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
    """2·P·R / (P + R); 0 if both are 0."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
