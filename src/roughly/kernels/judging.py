"""How alike two documents are, from the sorted sets of values that stand for them.

The values of document d are values[i:ie], those of k values[j:je]. A set is complete, or it is a sample: the values
up to a limit (all shingle hashes below it, which are a uniform sample). Two samples are compared below the smaller of
their limits, where both are complete; with `most`, only among the `most` smallest values of their union, which is
Broder's MIN_s (1997, §3). A score is a share of three counts:

| symbol | meaning |
|---|---|
| c | values that both have |
| m | values of d that count |
| n | values of k that count |

resemblance = c / (m + n − c), containment = c / m, common = c.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes
from roughly.kernels.sets import first_at_least, intersect_at_least
from roughly.kernels.words import signed

RESEMBLANCE = 0
CONTAINMENT = 1
COMMON = 2
MEASURES = {"resemblance": RESEMBLANCE, "containment": CONTAINMENT, "common": COMMON}


@jit_inner
def score(c: int, m: int, n: int, measure: int) -> float:
    """The measure as a number; division is correctly rounded, so that 4/5 ≥ 0.8."""
    if measure == COMMON:
        return float(c)
    whole = m if measure == CONTAINMENT else m + n - c
    return 1.0 if whole == 0 else c / whole


@jit_inner
def needed(m: int, n: int, measure: int, threshold: float) -> int:
    """The least c that reaches the threshold."""
    if measure == COMMON:
        c = int(threshold)
    elif measure == CONTAINMENT:
        c = int(threshold * m)
    else:
        c = int(threshold * (m + n) / (1.0 + threshold))
    while c > 0 and score(c - 1, m, n, measure) >= threshold:
        c -= 1
    while score(c, m, n, measure) < threshold and c <= m + n:
        c += 1
    return c


@jit_inner
def may_differ(m: int, n: int, measure: int, threshold: float) -> float:
    """In how many values two sets of these sizes can differ, at most, and still reach the threshold."""
    if measure == RESEMBLANCE:
        return (m + n) * (1.0 - threshold) / (1.0 + threshold)
    return m + n - 2.0 * (threshold if measure == COMMON else threshold * m)


@jit_inner
def shared_at_least(values: Hashes, i: int, ie: int, j: int, je: int, measure: int, floor: float) -> int:
    """c of two complete sets, or −1 where the floor is not reached."""
    need = needed(ie - i, je - j, measure, floor)
    if need > min(ie - i, je - j):
        return -1
    return int(intersect_at_least(values, i, ie, j, je, need))


@jit_inner
def estimate(
    values: Hashes, i: int, ie: int, limit: np.uint64, j: int, je: int, other: np.uint64, most: int
) -> tuple[int, int, int]:
    """(c, m, n) of two samples, complete up to `limit` and `other`."""
    cut = min(limit, other)
    if cut < np.uint64(0xFFFFFFFFFFFFFFFF):
        ie = signed(first_at_least(values, np.uint64(i), np.uint64(ie), cut + np.uint64(1)))
        je = signed(first_at_least(values, np.uint64(j), np.uint64(je), cut + np.uint64(1)))
    if most == 0:
        return int(intersect_at_least(values, i, ie, j, je, 0)), ie - i, je - j
    c = m = n = 0
    for _ in range(most):
        if i >= ie and j >= je:
            break
        mine = i < ie and (j >= je or values[i] <= values[j])
        theirs = j < je and (i >= ie or values[j] <= values[i])
        if mine:
            m += 1
            i += 1
        if theirs:
            n += 1
            j += 1
        if mine and theirs:
            c += 1
    return c, m, n
