"""Exact counts of pairs of documents, one block of sets at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Ints, SetLoader
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.features.sketch import joined, limits_of
from roughly.text.canonical import Tokens
from roughly.threads import map_in_order

if TYPE_CHECKING:
    from roughly.kernels.resolve import Rule, SetArrays
else:
    SetArrays = Rule = Any

ScoredPairs = npt.NDArray[np.int32]
"""(document, better-ranked document, c, m, n): see `kernels.judging`."""
NO_PAIRS = np.empty((0, 5), np.int32)
_FEW_PAIRS = 1000
_FINGERPRINTED = 16384  # sets per piece of work
"""Up to this number of pairs are counted without starting threads."""


@dataclass(frozen=True)
class ResolveBudget:
    """What resolution may use. None of it changes the answer."""

    budget: int  # bytes for sets and their bitmaps
    threads: int = 1
    scratch: Path | None = None  # folder for what does not fit into memory; None: memory
    advance: Callable[[int], None] = lambda done: None
    ample: int = 0  # a process of fewer bytes holds on to freed memory


class Scorer:
    """Loads the sets of pairs, within `memory` bytes, and counts shared shingles on all threads."""

    def __init__(self, sets: SetLoader, rule: Rule, memory: int, threads: int) -> None:
        self.sets, self.rule, self.memory, self.threads = sets, rule, memory, threads

    def score(self, pairs: npt.NDArray[np.int32], floor: float, loaded: tuple[int, Sets] | None = None) -> ScoredPairs:
        """The counts of pairs (document, better-ranked document); those below the floor are left out.

        `loaded` is a block of sets (its first document, the sets) with every left document; otherwise those are
        loaded too.
        """
        if not len(pairs):
            return NO_PAIRS
        weight = self.sets.weight()
        pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
        cost = weight[pairs[:, 1]] * np.r_[True, pairs[1:, 1] != pairs[:-1, 1]]
        if loaded is None:
            cost = cost + weight[pairs[:, 0]]
        some = (self._score(pairs[lo:hi], floor, loaded) for lo, hi in blocks(cost, self.memory))
        return np.concatenate([NO_PAIRS, *some])

    def _score(self, pairs: npt.NDArray[np.int32], floor: float, loaded: tuple[int, Sets] | None) -> ScoredPairs:
        from roughly.kernels.resolve import score_pairs

        docs = np.unique(pairs[:, 1] if loaded is not None else pairs).astype(np.int64)
        sets = self.sets.load(docs)
        right = np.searchsorted(docs, pairs[:, 1])
        if loaded is None:
            left = np.searchsorted(docs, pairs[:, 0])
        else:
            first, block = loaded
            used = np.unique(pairs[:, 0]).astype(np.int64)
            sets = joined([slice_of(block, used - first), sets])
            left = np.searchsorted(used, pairs[:, 0])
            right = right + len(used)
        whole = set_arrays(sets)
        threads = self.threads if len(pairs) > _FEW_PAIRS else 1
        cuts = np.linspace(0, len(pairs), threads + 1).astype(int)
        parts = map_in_order(
            lambda cut: score_pairs(
                pairs[cut[0] : cut[1]], left[cut[0] : cut[1]], right[cut[0] : cut[1]], whole, self.rule, floor
            ),
            pairwise(cuts.tolist()),
            threads,
        )
        return np.concatenate([NO_PAIRS, *parts])


def fingerprints(sets: Sets, threads: int) -> npt.NDArray[np.uint64]:
    """A fingerprint of each set and its limit; 0 for an empty one."""
    from roughly.kernels.hashing import hash_sequences

    def hashed(rows: slice) -> npt.NDArray[np.uint64]:
        offsets = sets.offsets[rows.start : rows.stop + 1]
        return hash_sequences(sets.values[offsets[0] : offsets[-1]], offsets - offsets[0])[:, 0]

    count = len(sets.offsets) - 1
    ranges = (slice(start, min(count, start + _FINGERPRINTED)) for start in range(0, count, _FINGERPRINTED))
    prints = np.concatenate([np.empty(0, np.uint64), *map_in_order(hashed, ranges, threads)]) ^ limits_of(sets)
    return np.where(np.diff(sets.offsets) == 0, np.uint64(0), np.maximum(prints, np.uint64(1)))


def set_arrays(sets: Sets) -> SetArrays:
    """Sets as the kernels take them."""
    from roughly.kernels import resolve

    limits = np.empty(0, np.uint64) if sets.limits is None else sets.limits
    return resolve.SetArrays(sets.values, sets.offsets, limits, sets.most)


def scores_of(rows: ScoredPairs, measure: int) -> npt.NDArray[np.float64]:
    """The measure of each row, as `kernels.judging.score` has it."""
    c, m, n = (rows[:, column].astype(np.int64) for column in (2, 3, 4))
    if measure == 2:
        return c.astype(np.float64)
    whole = m if measure == 1 else m + n - c
    return np.where(whole == 0, 1.0, c / np.maximum(whole, 1))


def blocks(weight: Ints, budget: int) -> Iterator[tuple[int, int]]:
    """Ranges of documents whose weights add up to at most the budget (or one document)."""
    ends = np.cumsum(weight)
    lo = 0
    while lo < len(weight):
        base = int(ends[lo - 1]) if lo else 0
        hi = max(lo + 1, int(np.searchsorted(ends, base + budget, side="right")))
        yield lo, hi
        lo = hi


def tokens_of(tokens: Tokens, rows: Ints) -> Tokens:
    """The tokens of some of the documents."""
    some = slice_of(Sets(tokens.hashes, tokens.offsets), rows)
    return Tokens(some.values, some.offsets)


def slice_of(sets: Sets, rows: Ints) -> Sets:
    """Some of the sets."""
    from roughly.kernels.gathering import gather_ranges

    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.diff(sets.offsets)[rows], out=offsets[1:])
    limits = None if sets.limits is None else sets.limits[rows]
    return Sets(gather_ranges(sets.values, sets.offsets[rows], offsets), offsets, limits, sets.most)
