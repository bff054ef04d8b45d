"""Exact sizes of the intersections of sorted sets of distinct uint64 values.

Sets of like size are merged, one step a comparison and without a branch that could be mispredicted. Where one set is
many times as large, each value of the small one is sought by galloping: steps of 1, 2, 4, … from where the last
search ended, then bisection, O(m log(n/m)).

The jitted helpers are called by other kernels; they take the bounds of two sets within one array of values.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets

GALLOP = 32
"""How many times as large the larger set must be for galloping to win (measured)."""

_1 = np.uint64(1)


def intersections(values: Hashes, offsets: Offsets, left: Offsets, right: Offsets) -> Offsets:
    """How many values the sets left[i] and right[i] share, for each i."""
    values = frozen(values, np.uint64, "values")
    offsets = frozen_offsets(offsets, len(values))
    left, right = frozen(left, np.int64, "left"), frozen(right, np.int64, "right")
    if len(left) != len(right):
        raise ValueError(f"{len(left)} left and {len(right)} right sets do not pair up")
    for name, side in (("left", left), ("right", right)):
        if len(side) and (side.min() < 0 or side.max() >= len(offsets) - 1):
            raise ValueError(f"{name} must hold numbers of sets, 0 to {len(offsets) - 2}")
    out = np.empty(len(left), np.int64)
    _intersections(values, offsets, left, right, out)
    return out


@jit
def intersect(values: Hashes, i: int, ie: int, j: int, je: int) -> int:
    """How many values the sets values[i:ie] and values[j:je] share."""
    return intersect_at_least(values, i, ie, j, je, 0)


@jit
def intersect_at_least(values: Hashes, i: int, ie: int, j: int, je: int, need: int) -> int:
    """As `intersect`, but −1 as soon as it is clear that fewer than `need` are shared."""
    if ie - i > je - j:
        i, ie, j, je = j, je, i, ie
    if ie - i < need:
        return -1
    if (ie - i) * GALLOP < je - j:
        return _gallop(values, np.uint64(i), np.uint64(ie), np.uint64(j), np.uint64(je), need)
    return _merge(values, np.uint64(i), np.uint64(ie), np.uint64(j), np.uint64(je), need)


@jit
def _merge(values: Hashes, i: np.uint64, ie: np.uint64, j: np.uint64, je: np.uint64, need: int) -> int:
    shared = np.uint64(0)
    stop = np.uint64(need)
    while i < ie and j < je:
        # A block of steps between two looks at what can still be reached.
        if shared + min(ie - i, je - j) < stop:
            return -1
        i_end = min(ie, i + np.uint64(64))
        j_end = min(je, j + np.uint64(64))
        while i < i_end and j < j_end:
            a = values[i]
            b = values[j]
            shared += np.uint64(a == b)
            i += np.uint64(a <= b)
            j += np.uint64(b <= a)
    return np.int64(shared) if shared >= stop else -1


@jit
def _gallop(values: Hashes, i: np.uint64, ie: np.uint64, j: np.uint64, je: np.uint64, need: int) -> int:
    shared = np.uint64(0)
    stop = np.uint64(need)
    while i < ie and j < je:
        if shared + (ie - i) < stop:
            return -1
        x = values[i]
        step = _1
        while j + step < je and values[j + step] < x:
            j += step
            step += step
        high = min(je, j + step + _1)
        while j < high:
            middle = (j + high) >> _1
            if values[middle] < x:
                j = middle + _1
            else:
                high = middle
        if j < je and values[j] == x:
            shared += _1
            j += _1
        i += _1
    return np.int64(shared) if shared >= stop else -1


@jit
def _intersections(values: Hashes, offsets: Offsets, left: Offsets, right: Offsets, out: Offsets) -> None:
    for p in range(left.shape[0]):
        a, b = left[p], right[p]
        out[p] = intersect_at_least(values, offsets[a], offsets[a + 1], offsets[b], offsets[b + 1], 0)


def warm_up() -> None:
    """Compile this module's kernels."""
    zero = np.zeros(1, np.int64)
    intersections(np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64), zero, zero)
