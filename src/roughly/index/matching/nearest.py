"""The most similar of the candidate pairs, without comparing all of them: for queries with a limit, and for adding.

Sizes and bitmaps bound the score of each pair from above (`match_verdicts.upper_bounds`). The pairs of an owner are
taken in the order (bound falling, content rising), some at a time: their sets are loaded and counted. Let (s, k) be
score and content of the `best`-th duplicate found so far. A pair that was not taken yet, with bound b and content j,
can come before it in the order of answers (score falling, content rising) only if its score exceeds s, or equals s with
j < k. Its score is at most b, so the pair is skipped where b < s, or b = s and j > k. When no pair is left, the first
`best` duplicates found are the first `best` of all: the answer is the same as if all pairs had been compared.

A page of a cluster of ten thousand is thus compared with a few dozen of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.index.matching.candidate_finder import CandidatePairs, OwnerPairs
from roughly.index.matching.match_verdicts import MatchVerdicts, concatenate, upper_bounds
from roughly.index.matching.pair_scorer import PairScorer

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_FIRST = 4  # pairs per owner that are compared in the first round, per wanted duplicate
_GROWTH = 4
_BITMAPS_FROM = 64  # if more pairs than this remain after the first round, their full bitmaps are compared


def nearest(
    scorer: PairScorer, candidates: CandidatePairs, pairs: OwnerPairs, lower: Flags, best: int
) -> MatchVerdicts:
    """The first `best` duplicates of each owner."""
    assert candidates.sets is not None  # scores are bounded by the sizes of sets
    measure, sizes = scorer.judge.measure, np.diff(candidates.sets.offsets)

    def ordered(pairs: OwnerPairs, lower: Flags) -> tuple[OwnerPairs, Flags, Floats]:
        bounds = upper_bounds(pairs, sizes[np.searchsorted(candidates.owners, pairs.owner)], lower, measure)
        order = np.lexsort((pairs.content, -bounds, pairs.owner))
        return pairs.of(order), lower[order], bounds[order]

    found = MatchVerdicts.none()
    at_once = _FIRST * best
    bitmaps_compared = False
    pairs, lower, bounds = ordered(pairs, lower)
    while len(pairs):
        now = places_within(pairs.owner) < at_once
        found = concatenate([found, scorer.duplicates(candidates, pairs.of(now), lower[now])])
        wanted = _open(pairs, bounds, found, best, measure) & ~now
        pairs, lower, bounds = pairs.of(wanted), lower[wanted], bounds[wanted]
        if not bitmaps_compared and len(pairs) > _BITMAPS_FROM:
            pairs, lower, bounds = ordered(*scorer.possible(candidates, pairs, lower))
            wanted = _open(pairs, bounds, found, best, measure)
            pairs, lower, bounds = pairs.of(wanted), lower[wanted], bounds[wanted]
            bitmaps_compared = True
        at_once *= _GROWTH
    return _first(found, best, measure)[0]


def _open(pairs: OwnerPairs, bounds: Floats, found: MatchVerdicts, best: int, measure: str) -> Flags:
    """The pairs that may come before the `best`-th duplicate of their owner."""
    _, last = _first(found, best, measure)
    owner, content, score = found.pairs.owner[last], found.pairs.content[last], found.scores(measure)[last]
    if not len(owner):
        return np.ones(len(pairs), np.bool_)
    at = np.minimum(np.searchsorted(owner, pairs.owner), len(owner) - 1)
    full = owner[at] == pairs.owner
    beaten = (bounds < score[at]) | ((bounds == score[at]) & (pairs.content > content[at]))
    open_: Flags = ~(full & beaten)
    return open_


def _first(found: MatchVerdicts, best: int, measure: str) -> tuple[MatchVerdicts, Ints]:
    """(the first `best` of each owner, places in `found` of the `best`-th of each owner that has that many)."""
    order = np.lexsort((found.pairs.content, -found.scores(measure), found.pairs.owner))
    place = places_within(found.pairs.owner[order])
    return found.of(order[place < best]), order[place == best - 1]


def places_within(owners: Ints) -> Ints:
    """0, 1, … within each run of equal owners."""
    if not len(owners):
        return np.empty(0, np.int64)
    first = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    return np.arange(len(owners)) - np.repeat(first, np.diff(np.r_[first, len(owners)]))
