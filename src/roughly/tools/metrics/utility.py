"""What removing documents was worth: Kołcz's utility (2008, eq. 5) for a collection that was cleaned.

    utility = |removed rightly| − cost · |removed wrongly|

A document is removed rightly when the document kept in its place is truly the same. What is lost for good costs more
than what is kept twice, a hundred times as much by default.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    """From who stays in whose place, and either the true sets or the true pairs."""
    gone = np.flatnonzero(~kept)
    if sets is not None:
        right = sets[gone] == sets[witness[gone]]
    else:
        documents = len(kept)
        low, high = np.minimum(gone, witness[gone]), np.maximum(gone, witness[gone])
        true = pair_numbers(np.empty((0, 2), np.int64) if pairs is None else pairs, documents)
        right = np.isin(low * documents + high, true)
    return Removal(int(right.sum()), int((~right).sum()), cost)
