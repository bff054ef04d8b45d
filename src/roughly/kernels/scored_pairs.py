"""All pairs of a sample that share a value, with their counts; and its clusters at many thresholds.

`core/posting_lists.hpp` counts by posting lists, which costs the same whatever the threshold: for low thresholds, where
filters rule out little, it is the cheapest exact way. Documents are numbered by rank, best first; a pair is (document,
better document). `core/threshold_clusters.hpp` has the rules of the clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets

Counted = npt.NDArray[np.int32]  # (document, better document, values that both have)
Floats = npt.NDArray[np.float64]
SCORE_BINS = 100
"""Bins of the histogram of each measure, from 0 to 1."""


class PostingLists(NamedTuple):
    """For each value of two documents or more, the documents that have it."""

    docs: Words
    offsets: Offsets
    begins: Words
    ends: Words


def posting_lists(values: Hashes, offsets: Offsets) -> PostingLists:
    """The posting lists of sets of distinct values."""
    values = frozen(values, np.uint64, "values")
    return PostingLists(*_core.posting_lists(values, frozen_offsets(offsets, len(values))))


def scored_block(
    start: int, stop: int, lists: PostingLists, sizes: Offsets, floors: tuple[float, float]
) -> tuple[Counted, Offsets]:
    """Pairs of the documents from `start` to stop − 1 whose resemblance or containment reaches its floor; and the
    histogram of both measures, (2, SCORE_BINS), over all pairs that share a value."""
    sizes = frozen(sizes, np.int64, "sizes")
    pairs, histogram = _core.scored_block(start, stop, lists, sizes, np.array(floors, np.float64))
    return pairs, histogram.reshape(2, SCORE_BINS)


def threshold_clusters(
    offsets: Offsets, others: npt.NDArray[np.int32], scores: Floats, thresholds: Floats, *, linked: bool
) -> npt.NDArray[np.int32]:
    """The best document of each document's cluster, (thresholds, documents). The pairs of document d are
    others[offsets[d]:offsets[d + 1]], all of them better documents; `linked`: connected components, otherwise stars."""
    others, scores = frozen(others, np.int32, "others"), frozen(scores, np.float64, "scores")
    groups = np.empty((len(thresholds), len(offsets) - 1), np.int32)
    _core.threshold_clusters(
        frozen_offsets(offsets, len(others)), others, scores, frozen(thresholds, np.float64, "thresholds"), linked,
        groups,
    )  # fmt: skip
    return groups
