"""How right a result is: clusters and kept documents against the exact truth.

Two documents count as merged where a tool put them into one cluster. All figures are counts over pairs or documents;
nothing is sampled or estimated. A cluster of a million documents is counted without listing its pairs.
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
class Result:
    """What a tool decided for each document, in input order."""

    cluster: npt.NDArray[np.int64]
    kept: npt.NDArray[np.bool_]


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
    together = result.cluster[truth.left] == result.cluster[truth.right]
    similarity = truth.resemblance
    alike = similarity >= THRESHOLD
    _, sizes = np.unique(result.cluster, return_counts=True)
    merged = int((sizes * (sizes - 1) // 2).sum())
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
