"""The rarest values of each set: two sets that are alike share one for certain (the prefix-filter principle)."""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit
from roughly.kernels.arrays import Hashes, Offsets, Words
from roughly.kernels.judging import CONTAINMENT, RESEMBLANCE, needed


@jit
def count_hashed(values: Hashes, counts: Words) -> None:
    """Add to `counts` (a power of two long) how often each value occurs, by the high bits of its hash."""
    bits = 0
    while (1 << bits) < counts.shape[0]:
        bits += 1
    shift = np.uint64(64 - bits)
    for i in range(values.shape[0]):
        counts[np.int64(values[i] >> shift)] += np.uint32(1)


@jit
def prefix_keys(
    values: Hashes, offsets: Offsets, counts: Words, measure: int, threshold: float
) -> tuple[Hashes, Offsets]:
    """The prefix of each set: its n − ⌈least shared⌉ + 1 rarest values, those that may recur.

    Two sets whose score reaches the threshold share a value of both prefixes, whatever the order is, as long as it is
    the same for both (the prefix-filter principle). The order here is by hashed count, then by value; a value
    whose count is one occurs nowhere else and is left out. Returns (keys, rows).
    """
    bits = 0
    while (1 << bits) < counts.shape[0]:
        bits += 1
    shift = np.uint64(64 - bits)
    keys = np.empty(values.shape[0], np.uint64)
    owners = np.empty(values.shape[0], np.int64)
    used = 0
    for d in range(offsets.shape[0] - 1):
        start = offsets[d]
        n = offsets[d + 1] - start
        if n == 0:
            continue
        order = np.empty(n, np.uint64)  # count above, place below: sorted by count, then by value
        for i in range(n):
            weight = np.uint64(counts[np.int64(values[start + i] >> shift)])
            order[i] = weight << np.uint64(32) | np.uint64(i)
        order.sort()
        least = needed(n, 0, CONTAINMENT if measure == RESEMBLANCE else measure, threshold)
        for i in range(min(n, n - least + 1)):
            at = np.int64(order[i] & np.uint64(0xFFFFFFFF))
            if order[i] >> np.uint64(32) > np.uint64(1):
                keys[used] = values[start + at]
                owners[used] = d
                used += 1
    return keys[:used].copy(), owners[:used].copy()


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    values, counts = np.arange(4, dtype=np.uint64) << np.uint64(62), np.zeros(1 << 4, np.uint32)
    count_hashed(values, counts)
    prefix_keys(values, np.array([0, 2, 4]), counts, RESEMBLANCE, 0.5)
