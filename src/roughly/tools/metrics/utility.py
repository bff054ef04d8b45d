"""The utility of removing documents: Kołcz 2008, eq. 5, for a collection.

    utility = |removed rightly| − cost · |removed wrongly|

A document is removed rightly if its witness is truly the same. A lost document costs more than a duplicate that is
kept, a hundred times as much by default.
"""

from __future__ import annotations

import numpy as np

from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.defaults import COST
from roughly.tools.metrics.overlap import Flags, Ints, pair_numbers


@dataclass(frozen=True)
class Removal:
    """Documents removed."""

    right: int
    wrong: int
    cost: float = COST

    @property
    def utility(self) -> float:
        """right − cost · wrong."""
        return self.right - self.cost * self.wrong


def score_removal(
    kept: Flags, witness: Ints, *, sets: Ints | None = None, pairs: Ints | None = None, cost: float = COST
) -> Removal:
    """From the witnesses, and either the true sets or the true pairs."""
    removed = np.flatnonzero(~kept)
    if sets is not None:
        right = sets[removed] == sets[witness[removed]]
    else:
        documents = len(kept)
        low, high = np.minimum(removed, witness[removed]), np.maximum(removed, witness[removed])
        true = pair_numbers(np.empty((0, 2), np.int64) if pairs is None else pairs, documents)
        right = np.isin(low * documents + high, true)
    return Removal(int(right.sum()), int((~right).sum()), cost)
