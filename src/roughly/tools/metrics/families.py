"""How an original and its copies were grouped (I-Match 2002, §4.3, Tables III and IV)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.overlap import Ints


@dataclass(frozen=True)
class FamilyScore:
    """How an original and its copies were grouped."""

    found: float  # fraction of them in a group with another of them
    clusters: int  # groups that they are in, single ones included
    false: int  # documents of other origin in those groups


def score_family(group: Ints, family: Sequence[int]) -> FamilyScore:
    """The ratio of Table III, the number of Table IV, and the documents wrongly grouped with them."""
    own = group[list(family)]
    names, counts = np.unique(own, return_counts=True)
    together = counts[counts > 1].sum()
    others = int(np.isin(group, names).sum()) - len(family)
    return FamilyScore(float(together) / len(family), len(names), others)
