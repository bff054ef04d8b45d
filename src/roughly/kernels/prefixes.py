"""The rarest values of each set: two similar sets certainly share one of them (the prefix-filter principle).

See `core/prefixes.hpp`.
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words


def count_hashed(values: Hashes, counts: Words) -> None:
    """Add to `counts` (a power of two long) how often each value occurs, by the high bits of its hash."""
    _core.count_hashed(np.ascontiguousarray(values, np.uint64), counts)


def prefix_keys(
    values: Hashes, offsets: Offsets, counts: Words, measure: int, threshold: float, threads: int = 1
) -> tuple[Hashes, Offsets]:
    """The prefix of each set: its n − ⌈least shared⌉ + 1 rarest values, those that may recur.

    Two sets whose score reaches the threshold share a value of both prefixes, whatever the order is, as long as it is
    the same for both. The order here is by hashed count, then by value; a value whose count is one occurs nowhere else
    and is left out. Returns (keys, rows).
    """
    values, offsets = np.ascontiguousarray(values, np.uint64), np.ascontiguousarray(offsets, np.int64)
    keys, owners = _core.prefix_keys(values, offsets, counts, measure, threshold, threads)
    return keys, owners
