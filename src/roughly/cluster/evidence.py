"""Which pair is the reason for removing a document, among the pairs that resolution found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import ScoredPairs, scores_of


def together(pairs: ScoredPairs, links: ScoredPairs) -> ScoredPairs:
    """The star's pairs and the links that `components` found beyond them; none twice."""
    if not len(links):
        return pairs
    both = np.concatenate((pairs, links))
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return both[np.r_[True, (both[1:, :2] != both[:-1, :2]).any(axis=1)]]


def witnesses(pairs: ScoredPairs, kept: npt.NDArray[np.bool_], measure: str) -> Ints:
    """Positions in `pairs` of each removed document's witness: the kept document it is most like, of several the best.

    Pairs are sorted by document and by rank of the other.
    """
    from roughly.kernels.judging import MEASURES

    usable = np.flatnonzero(~kept[pairs[:, 0]] & kept[pairs[:, 1]])
    if not len(usable):
        return usable
    score, document = scores_of(pairs[usable], MEASURES[measure]), pairs[usable, 0]
    starts = np.flatnonzero(np.r_[True, document[1:] != document[:-1]])
    best = np.maximum.reduceat(score, starts)
    most_like = np.flatnonzero(score == np.repeat(best, np.diff(np.r_[starts, len(usable)])))
    first = np.r_[True, document[most_like[1:]] != document[most_like[:-1]]]
    return usable[most_like[first]]
