"""Candidate pairs compared: ruled out by their bitmaps, or counted on their sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly.cluster.scoring import set_arrays, slice_of
from roughly.features.sketch import joined
from roughly.index.matching.candidate_finder import CandidatePairs, OwnerPairs
from roughly.index.matching.content_sets import ContentSets
from roughly.index.matching.match_verdicts import MatchVerdicts, upper_bounds
from roughly.index.storage.bodies import MARK_WORDS, unpack_marks
from roughly.index.storage.contents import read_stored
from roughly.index.storage.schema import CONTENTS
from roughly.verdict import Verdict

if TYPE_CHECKING:
    from roughly.cluster.comparisons import WordsInMemory

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_LOADED = 2_000  # sets in memory at a time
_FEW = 32  # up to this number of candidates, loading the sets is faster than loading bitmaps first
_XORED = 100_000  # pairs whose bitmaps are compared at a time


class PairScorer:
    """Compares pairs of the query's texts and contents of the index."""

    def __init__(self, sets: ContentSets, words: Callable[[Ints], WordsInMemory]) -> None:
        self.sets, self.config, self.judge = sets, sets.config, sets.config.judge
        self._words = words  # of the query's texts

    def duplicates(self, candidates: CandidatePairs, pairs: OwnerPairs, lower: Flags) -> MatchVerdicts:
        """Load the sets of the pairs, count their values, and return the pairs that reach the threshold; where the
        verdict is learned, those of them that it accepts."""
        from roughly.kernels import resolve
        from roughly.kernels.judging import MEASURES

        assert candidates.sets is not None
        rule = resolve.Rule(MEASURES[self.judge.measure], float(self.judge.threshold), 0, 0.0)
        contents = np.unique(pairs.content)
        parts = []
        for at in range(0, len(contents), _LOADED):
            block = contents[at : at + _LOADED]
            inside = np.flatnonzero((pairs.content >= block[0]) & (pairs.content <= block[-1]))
            used, place = np.unique(np.searchsorted(candidates.owners, pairs.owner[inside]), return_inverse=True)
            sets = set_arrays(joined([slice_of(candidates.sets, used), self.sets.load(block)]))
            theirs = len(used) + np.searchsorted(block, pairs.content[inside])
            left, right = np.where(lower[inside], place, theirs), np.where(lower[inside], theirs, place)
            numbers = np.column_stack((inside, inside)).astype(np.int32)
            rows = resolve.score_pairs(numbers, left, right, sets, rule, float(self.judge.threshold))
            parts.append(rows.astype(np.int64))
        counts = np.concatenate([np.empty((0, 5), np.int64), *parts])
        chosen, c = counts[:, 0], counts[:, 2]
        down = lower[chosen]
        m, n = np.where(down, counts[:, 3], counts[:, 4]), np.where(down, counts[:, 4], counts[:, 3])
        found = MatchVerdicts(pairs.of(chosen), c, m, n, down)
        return found if self.config.settings.verdict is None else self._accepted(found, self.config.settings.verdict)

    def _accepted(self, found: MatchVerdicts, verdict: str) -> MatchVerdicts:
        """The pairs that a learned verdict accepts."""
        from roughly.cluster.comparisons import compare_pairs

        use, accepts = np.zeros(len(found), np.bool_), Verdict.parse(verdict).accepts
        for at in range(0, len(found), _LOADED):
            some = found.pairs.of(np.arange(at, min(at + _LOADED, len(found))))
            owners, left = np.unique(some.owner, return_inverse=True)
            contents, right = np.unique(some.content, return_inverse=True)
            words = self._words(owners).joined(self.sets.load_words(contents))
            use[at : at + _LOADED] = accepts(compare_pairs(np.column_stack((left, right + len(owners))), words))
        return found.of(use)

    def possible(self, candidates: CandidatePairs, pairs: OwnerPairs, lower: Flags) -> tuple[OwnerPairs, Flags]:
        """The pairs that their full bitmaps do not rule out, with a sharper `min_difference`.

        Few pairs are returned as they are.
        """
        from roughly.kernels.bitmaps import draw

        if not self.config.marked or len(pairs) <= _FEW or candidates.sets is None:
            return pairs, lower
        owners, place = np.unique(np.searchsorted(candidates.owners, pairs.owner), return_inverse=True)
        mine = slice_of(candidates.sets, owners)
        maps = np.zeros((len(mine), MARK_WORDS), np.uint64)
        draw(mine.values, mine.offsets, maps, 0)
        contents, other = np.unique(pairs.content, return_inverse=True)
        theirs = unpack_marks(read_stored(self.sets.store, self.sets.connection, CONTENTS.c.marks, contents))
        difference = pairs.min_difference.copy()
        for at in range(0, len(pairs), _XORED):
            some = slice(at, at + _XORED)
            bits = np.bitwise_count(maps[place[some]] ^ theirs[other[some]]).sum(axis=1)
            difference[some] = np.maximum(difference[some], bits)
        pairs = replace(pairs, min_difference=difference)
        highest = upper_bounds(pairs, np.diff(mine.offsets)[place], lower, self.judge.measure)
        use = highest >= self.judge.threshold
        return pairs.of(use), lower[use]
