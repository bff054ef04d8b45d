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
    """Positions in `pairs` of each removed document's witness: the kept document it is most like."""
    from roughly.kernels.judging import MEASURES

    usable = np.flatnonzero(~kept[pairs[:, 0]] & kept[pairs[:, 1]])
    score = scores_of(pairs[usable], MEASURES[measure])
    order = usable[np.lexsort((pairs[usable, 1], -score, pairs[usable, 0]))]
    first = np.r_[True, pairs[order[1:], 0] != pairs[order[:-1], 0]] if len(order) else np.empty(0, np.bool_)
    return order[first]
