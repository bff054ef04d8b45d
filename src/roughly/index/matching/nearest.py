"""The most alike of the pairs, without judging all of them: what is asked for with a limit, and when documents come in.

Sizes and bitmaps bound each pair's score from above (`matching.at_most`). The pairs of an owner are taken in the order
(bound falling, content rising), some at a time: their sets are loaded and counted. Let (s, k) be score and content of
the best-th of those found so far. A pair that was not taken yet, with bound b and content j, can come before it in the
order of answers (score falling, content rising) only if its score exceeds s, or equals s with j < k. Its score is
at most b, so it is left out where b < s, or b = s and j > k. When none is left, the `best` first of those found are the
`best` first of all: the answer is the same as if all had been judged.

A page of a cluster of ten thousand is so compared with some dozens of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly.index.matching.candidate_finder import CandidatePairs, OwnerPairs

if TYPE_CHECKING:
    from roughly.index.matching.matcher import Matcher, MatchVerdicts

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_FIRST = 4  # pairs of an owner that are judged at first, for each that is wanted
_GROWTH = 4
_MARKED_FROM = 64  # when so many are left after the first round, their whole bitmaps are looked at


def nearest(matcher: Matcher, met: CandidatePairs, pairs: OwnerPairs, lower: Flags, best: int) -> MatchVerdicts:
    """The `best` duplicates of each owner, and perhaps some more of them."""
    from roughly.index.matching.matcher import MatchVerdicts, at_most, together

    assert met.sets is not None  # scores are bounded by sets
    measure, sizes = matcher.judge.measure, np.diff(met.sets.offsets)

    def ordered(pairs: OwnerPairs, lower: Flags) -> tuple[OwnerPairs, Flags, Floats]:
        bound = at_most(pairs, sizes[np.searchsorted(met.owners, pairs.owner)], lower, measure)
        order = np.lexsort((pairs.content, -bound, pairs.owner))
        return pairs.of(order), lower[order], bound[order]

    found = MatchVerdicts.none()
    at_once = _FIRST * best
    marked = False
    pairs, lower, bound = ordered(pairs, lower)
    while len(pairs):
        now = places_within(pairs.owner) < at_once
        found = together([found, matcher.counted(met, pairs.of(now), lower[now])])
        wanted = _open(pairs, bound, found, best, measure) & ~now
        pairs, lower, bound = pairs.of(wanted), lower[wanted], bound[wanted]
        if not marked and len(pairs) > _MARKED_FROM:
            pairs, lower, bound = ordered(*matcher.alike(met, pairs, lower))
            wanted = _open(pairs, bound, found, best, measure)
            pairs, lower, bound = pairs.of(wanted), lower[wanted], bound[wanted]
            marked = True
        at_once *= _GROWTH
    return _first(found, best, measure)[0]


def _open(pairs: OwnerPairs, bound: Floats, found: MatchVerdicts, best: int, measure: str) -> Flags:
    """The pairs that may come before the best-th of their owner."""
    _, last = _first(found, best, measure)
    owner, content, score = found.pairs.owner[last], found.pairs.content[last], found.scores(measure)[last]
    if not len(owner):
        return np.ones(len(pairs), np.bool_)
    at = np.minimum(np.searchsorted(owner, pairs.owner), len(owner) - 1)
    full = owner[at] == pairs.owner
    beaten = (bound < score[at]) | ((bound == score[at]) & (pairs.content > content[at]))
    open_: Flags = ~(full & beaten)
    return open_


def _first(found: MatchVerdicts, best: int, measure: str) -> tuple[MatchVerdicts, Ints]:
    """(the `best` first of each owner, places in `found` of the best-th of each owner that has so many)."""
    order = np.lexsort((found.pairs.content, -found.scores(measure), found.pairs.owner))
    place = places_within(found.pairs.owner[order])
    return found.of(order[place < best]), order[place == best - 1]


def places_within(owners: Ints) -> Ints:
    """0, 1, … within each run of equal owners."""
    if not len(owners):
        return np.empty(0, np.int64)
    first = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    return np.arange(len(owners)) - np.repeat(first, np.diff(np.r_[first, len(owners)]))
