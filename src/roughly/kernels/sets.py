"""Exact sizes of the intersections of sorted sets of distinct uint64 values.

Sets of like size are merged without a branch on the values. A merge waits for each comparison before it knows what to
load next, so the sets are cut in two at a common value and both halves are merged in step: three times as fast. Where
one set is many times as large, each value of the small one is sought by galloping: steps of 1, 2, 4, … from where the
last search ended, then bisection, O(m log(n/m)).

The jitted helpers are called by other kernels; they take the bounds of two sets within one array of values.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets

GALLOP = 16
"""How many times as large the larger set must be for galloping to win (measured)."""

STRIDE = np.uint64(64)
"""Steps of a merge between two looks at whether enough can still be shared."""

NOT_ENOUGH = np.int64(-1)

_0, _1 = np.uint64(0), np.uint64(1)


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


@jit_inner
def intersect(values: Hashes, i: int, ie: int, j: int, je: int) -> np.int64:
    """How many values the sets values[i:ie] and values[j:je] share."""
    return intersect_at_least(values, i, ie, j, je, 0)


@jit_inner
def intersect_at_least(values: Hashes, i: int, ie: int, j: int, je: int, need: int) -> np.int64:
    """As `intersect`, but −1 as soon as it is clear that fewer than `need` are shared."""
    if ie - i > je - j:
        i, ie, j, je = j, je, i, ie
    if ie - i < need:
        return NOT_ENOUGH
    least = np.uint64(max(need, 0))
    if (ie - i) * GALLOP < je - j:
        return _gallop(values, np.uint64(i), np.uint64(ie), np.uint64(j), np.uint64(je), least)
    return _merge(values, np.uint64(i), np.uint64(ie), np.uint64(j), np.uint64(je), least)


@jit_inner
def first_at_least(values: Hashes, j: np.uint64, je: np.uint64, x: np.uint64) -> np.uint64:
    """The first position in values[j:je] whose value is x or more, or je."""
    while j < je:
        middle = (j + je) >> _1
        if values[middle] < x:
            j = middle + _1
        else:
            je = middle
    return j


@jit_inner
def _merge(values: Hashes, i: np.uint64, ie: np.uint64, j: np.uint64, je: np.uint64, need: np.uint64) -> np.int64:
    if i == ie:
        return np.int64(0)
    k, ke, le = (i + ie) >> _1, ie, je  # the upper halves: k … ke and m … le
    m = first_at_least(values, j, je, values[k])
    ie, je = k, m
    shared = _0
    while True:
        low, high = min(ie - i, je - j), min(ke - k, le - m)
        if shared + low + high < need:
            return NOT_ENOUGH
        steps = min(STRIDE, min(low, high))
        if steps == _0:
            break
        for _ in range(steps):
            a, b, c, d = values[i], values[j], values[k], values[m]
            shared += np.uint64(a == b) + np.uint64(c == d)
            i += np.uint64(a <= b)
            j += np.uint64(b <= a)
            k += np.uint64(c <= d)
            m += np.uint64(d <= c)
    shared += _merge_rest(values, i, ie, j, je) + _merge_rest(values, k, ke, m, le)
    return np.int64(shared) if shared >= need else NOT_ENOUGH


@jit_inner
def _merge_rest(values: Hashes, i: np.uint64, ie: np.uint64, j: np.uint64, je: np.uint64) -> np.uint64:
    shared = _0
    while i < ie and j < je:
        a, b = values[i], values[j]
        shared += np.uint64(a == b)
        i += np.uint64(a <= b)
        j += np.uint64(b <= a)
    return shared


@jit_inner
def _gallop(values: Hashes, i: np.uint64, ie: np.uint64, j: np.uint64, je: np.uint64, need: np.uint64) -> np.int64:
    shared = _0
    while i < ie and j < je:
        if shared + (ie - i) < need:
            return NOT_ENOUGH
        x = values[i]
        step = _1
        while j + step < je and values[j + step] < x:
            j += step
            step += step
        j = first_at_least(values, j, min(je, j + step + _1), x)
        if j < je and values[j] == x:
            shared += _1
            j += _1
        i += _1
    return np.int64(shared) if shared >= need else NOT_ENOUGH


@jit_inner
def _intersections(values: Hashes, offsets: Offsets, left: Offsets, right: Offsets, out: Offsets) -> None:
    for p in range(left.shape[0]):
        a, b = left[p], right[p]
        out[p] = intersect_at_least(values, offsets[a], offsets[a + 1], offsets[b], offsets[b + 1], 0)


def warm_up() -> None:
    """Compile this module's kernels."""
    zero = np.zeros(1, np.int64)
    intersections(np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64), zero, zero)
