"""Exact sizes of the intersections of sorted sets of distinct uint64 values (`core/sets.hpp`).

Sets of similar size are merged; if one is many times as large, each value of the small one is searched by galloping,
O(m log(n/m)).
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets


def intersections(values: Hashes, offsets: Offsets, left: Offsets, right: Offsets) -> Offsets:
    """The number of values that the sets left[i] and right[i] share, for each i."""
    values = frozen(values, np.uint64, "values")
    offsets = frozen_offsets(offsets, len(values))
    left, right = frozen(left, np.int64, "left"), frozen(right, np.int64, "right")
    if len(left) != len(right):
        raise ValueError(f"{len(left)} left and {len(right)} right sets do not pair up")
    for name, side in (("left", left), ("right", right)):
        if len(side) and (side.min() < 0 or side.max() >= len(offsets) - 1):
            raise ValueError(f"{name} must contain numbers of sets, 0 to {len(offsets) - 2}")
    out: Offsets = _core.intersections(values, offsets, left, right)
    return out


def intersect(values: Hashes, i: int, ie: int, j: int, je: int) -> int:
    """The number of values that the sets values[i:ie] and values[j:je] share."""
    return intersect_at_least(values, i, ie, j, je, 0)


def intersect_at_least(values: Hashes, i: int, ie: int, j: int, je: int, need: int) -> int:
    """As `intersect`, but −1 as soon as it is clear that fewer than `need` are shared."""
    return int(_core.intersect_at_least(frozen(values, np.uint64, "values"), i, ie, j, je, need))
