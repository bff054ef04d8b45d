"""From pairs of leaders to pairs of documents: equal documents are judged as one, and are restored here."""

from __future__ import annotations

import numpy as np

from roughly.cluster.candidates import Ints
from roughly.errors import TooManyPairs

LIMIT = 20_000_000


def expanded(pairs: Ints, equal: Ints, limit: int = LIMIT) -> Ints:
    """All pairs (n, 2) of documents: those between the families of each row, and those within a family.

    `equal` names the leader of each document. Refused above `limit`: n copies make n·(n − 1)/2 pairs.
    """
    order = np.argsort(equal, kind="stable")
    sizes = np.bincount(equal, minlength=len(equal))
    starts = np.concatenate(([0], np.cumsum(sizes)))
    left, right = pairs[:, 0], pairs[:, 1]
    count = sizes[left] * sizes[right]
    total = int(count.sum()) + int((sizes * (sizes - 1) // 2).sum())
    if total > limit:
        raise TooManyPairs(
            f"there are {total:,} pairs of these documents, more than {limit:,}: n copies make n·(n − 1)/2; take fewer "
            "documents (tune: --sample), or compare clusters instead of pairs (tune: --labels; cluster: pairs=evidence)"
        )
    row = np.repeat(np.arange(len(pairs)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    wide = sizes[right][row]
    between = np.column_stack((order[starts[left][row] + within // wide], order[starts[right][row] + within % wide]))
    found = [between.astype(np.int64)]
    for size in np.unique(sizes[sizes > 1]).tolist():
        a, b = np.triu_indices(size, 1)
        base = starts[:-1][sizes == size][:, None]
        found.append(np.column_stack((order[(base + a).ravel()], order[(base + b).ravel()])))
    return np.concatenate(found)
