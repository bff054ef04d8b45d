"""How right a result is: clusters and kept documents against the exact truth.

Two documents count as merged where a tool put them into one cluster or, if it lists pairs, where it lists them. All
figures are counts over pairs or documents; nothing is sampled or estimated. A cluster of a million documents is
counted without writing its pairs out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.truth import Truth

THRESHOLD = 0.8
BINS = ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0))
EDGE = (0.80, 0.85)


@dataclass(frozen=True, slots=True)
class Listed:
    """Pairs that a tool listed, where documents that are word for word the same are one and listed once.

    `same_as` is, for every document, the first with the same words; a pair of such firsts, a < b, is the number
    a · documents + b.
    """

    same_as: npt.NDArray[np.int64]
    pairs: npt.NDArray[np.int64]

    def has(self, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether each pair of documents was listed, or is the same word for word."""
        one, other = self.same_as[left], self.same_as[right]
        keys = np.minimum(one, other) * len(self.same_as) + np.maximum(one, other)
        found: npt.NDArray[np.bool_] = (one == other) | np.isin(keys, self.pairs)
        return found

    def count(self) -> int:
        """How many pairs of documents that makes."""
        sizes = np.bincount(self.same_as, minlength=len(self.same_as))
        one, other = np.divmod(np.unique(self.pairs), len(self.same_as))
        apart = one != other
        return int((sizes * (sizes - 1) // 2).sum() + (sizes[one[apart]] * sizes[other[apart]]).sum())


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool decided for each document, in input order."""

    cluster: npt.NDArray[np.int64]
    kept: npt.NDArray[np.bool_]
    listed: Listed | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """One row of the accuracy columns; a share of nothing is None."""

    recall: float | None  # pairs with J ≥ 0.8 that were merged
    recall_at_edge: float | None  # of those with 0.80 ≤ J < 0.85
    merged_by_bin: dict[str, float | None]
    merged_pairs: int
    true_share: float | None  # of the merged pairs, J ≥ 0.8
    unlike_share: float | None  # of the merged pairs, J < 0.5
    unlike_pairs: int
    left_share: float | None  # pairs with J ≥ 0.8 of which both documents stay
    removed: int
    wrongly_removed: int  # no document that stays has J ≥ 0.8 with it


def score(truth: Truth, result: Result) -> Scores:
    """Compare a result with the truth."""
    if len(result.cluster) != truth.documents or len(result.kept) != truth.documents:
        raise ValueError(
            f"the result tells of {len(result.cluster)} documents, the truth of {truth.documents}: "
            "a tool lost or invented some"
        )
    if result.listed is None:
        together = result.cluster[truth.left] == result.cluster[truth.right]
        _, sizes = np.unique(result.cluster, return_counts=True)
        merged = int((sizes * (sizes - 1) // 2).sum())
    else:
        together = result.listed.has(truth.left, truth.right)
        merged = result.listed.count()
    similarity = truth.resemblance
    alike = similarity >= THRESHOLD
    true = int(np.count_nonzero(together & alike))
    unlike = merged - int(np.count_nonzero(together))
    both_kept = result.kept[truth.left] & result.kept[truth.right]
    witnessed = np.zeros(truth.documents, bool)
    witnessed[truth.left[alike & result.kept[truth.right]]] = True
    witnessed[truth.right[alike & result.kept[truth.left]]] = True
    return Scores(
        recall=_share(true, int(alike.sum())),
        recall_at_edge=_within(together, similarity, *EDGE),
        merged_by_bin={f"{low}–{high}": _within(together, similarity, low, high) for low, high in BINS},
        merged_pairs=merged,
        true_share=_share(true, merged),
        unlike_share=_share(unlike, merged),
        unlike_pairs=unlike,
        left_share=_share(int(np.count_nonzero(both_kept & alike)), int(alike.sum())),
        removed=int(np.count_nonzero(~result.kept)),
        wrongly_removed=int(np.count_nonzero(~result.kept & ~witnessed)),
    )


def _within(
    together: npt.NDArray[np.bool_], similarity: npt.NDArray[np.float64], low: float, high: float
) -> float | None:
    """Share of the pairs with low ≤ J < high that were merged; the last bin has J = 1 too."""
    inside = (similarity >= low) & ((similarity < high) | (high == 1.0))
    return _share(int(np.count_nonzero(together & inside)), int(np.count_nonzero(inside)))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
