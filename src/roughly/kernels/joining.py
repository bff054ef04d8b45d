"""The exact join of sets: every pair at or above a threshold, by prefix, length and bitmap filters.

Sets are numbered by size, the smallest first, and values have one order, from rare to common (by hashed count, then by
value). If two sets share c values or more, the first of them in that order stands among the first n − c + 1 of each
(the prefix-filter principle: Chaudhuri 2006; Bayardo 2007; Xiao 2008). So only prefixes are looked at:

| measure | larger set | smaller set |
|---|---|---|
| resemblance ≥ t | n − ⌈t·n⌉ + 1 values *ask* | n − ⌈2t/(1 + t)·n⌉ + 1 values *answer* |
| containment ≥ t | every value answers | n − ⌈t·n⌉ + 1 values ask |

The smaller answers with fewer, since two sets of n and n or more must share 2t/(1 + t)·n of them. A value whose hashed
count is one occurs nowhere else and is left out. Counts are bytes that stop at 255: any order that is the same for
all sets will do, so neither that nor a collision costs a pair.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words
from roughly.kernels.bitmaps import Maps, differ_by_more
from roughly.kernels.judging import CONTAINMENT, RESEMBLANCE, may_differ, needed
from roughly.kernels.words import signed

Flags = npt.NDArray[np.bool_]
Pairs = npt.NDArray[np.int32]


@jit
def tally(values: Hashes, counts: Bytes) -> None:
    """Count each value in `counts` (a power of two long) by the high bits of its hash; a count stops at 255."""
    bits = 0
    while (1 << bits) < counts.shape[0]:
        bits += 1
    shift = np.uint64(64 - bits)
    for i in range(values.shape[0]):
        slot = np.int64(values[i] >> shift)
        if counts[slot] < np.uint8(255):
            counts[slot] += np.uint8(1)


@jit
def prefix_flags(values: Hashes, offsets: Offsets, counts: Bytes, measure: int, threshold: float) -> Bytes:
    """What each value is for: 0 outside of the prefix, 1 in the longer prefix of a set only, 2 in both.

    For containment the two are one, and the flag is 2. Values that occur once have 0.
    """
    bits = 0
    while (1 << bits) < counts.shape[0]:
        bits += 1
    shift = np.uint64(64 - bits)
    out = np.zeros(values.shape[0], np.uint8)
    for d in range(offsets.shape[0] - 1):
        start = offsets[d]
        n = offsets[d + 1] - start
        if n == 0:
            continue
        longer = n - needed(n, 0, CONTAINMENT, threshold) + 1
        shorter = longer
        if measure == RESEMBLANCE:
            shorter = n - needed(n, n, RESEMBLANCE, threshold) + 1
        order = np.empty(n, np.uint64)  # count above, place below: sorted by count, then by value
        for i in range(n):
            weight = np.uint64(counts[np.int64(values[start + i] >> shift)])
            order[i] = weight << np.uint64(32) | np.uint64(i)
        order.sort()
        for i in range(min(n, longer)):
            if order[i] >> np.uint64(32) > np.uint64(1):
                out[start + np.int64(order[i] & np.uint64(0xFFFFFFFF))] = np.uint8(2 if i < shorter else 1)
    return out


@jit
def _first_after(docs: Words, low: int, high: int, d: int) -> int:
    """The first place in docs[low:high], which rises, whose document is above d."""
    while low < high:
        middle = (low + high) >> 1
        if signed(docs[middle]) <= d:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _grown(pairs: Pairs, count: int) -> Pairs:
    if count < pairs.shape[0]:
        return pairs
    bigger = np.empty((2 * pairs.shape[0], 2), np.int32)
    for i in range(count):
        bigger[i, 0] = pairs[i, 0]
        bigger[i, 1] = pairs[i, 1]
    return bigger


@jit
def meet_smaller(
    start: int, stop: int, doc_offsets: Offsets, doc_buckets: Words, bucket_offsets: Offsets, bucket_docs: Words,
    answers: Flags, sizes: Offsets, maps: Maps, threshold: float, stamp: Offsets,
) -> tuple[Pairs, int]:  # fmt: skip
    """Pairs (d, k) for resemblance: d from start to stop − 1, k < d with an answering value in one of its buckets.

    Pairs are left out that sizes or bitmaps rule out. Returns (pairs, pairs met). `stamp` has −1 for each document.
    """
    count = met = 0
    pairs = np.empty((256, 2), np.int32)
    for d in range(start, stop):
        m = sizes[d]
        least = needed(m, 0, CONTAINMENT, threshold)
        for at in range(doc_offsets[d], doc_offsets[d + 1]):
            bucket = signed(doc_buckets[at])
            low = bucket_offsets[bucket]
            place = _first_after(bucket_docs, low, bucket_offsets[bucket + 1], d) - 2
            while place >= low:
                k = signed(bucket_docs[place])
                if sizes[k] < least:
                    break
                if answers[place] and stamp[k] != d:
                    stamp[k] = d
                    met += 1
                    allowed = may_differ(m, sizes[k], RESEMBLANCE, threshold) + 1.0  # one more, for the rounding
                    if not differ_by_more(maps, d, k, allowed):
                        pairs = _grown(pairs, count)
                        pairs[count, 0] = d
                        pairs[count, 1] = k
                        count += 1
                place -= 1
    return pairs[:count].copy(), met


@jit
def meet_larger(
    start: int, stop: int, doc_offsets: Offsets, doc_buckets: Words, asks: Flags, bucket_offsets: Offsets,
    bucket_docs: Words, sizes: Offsets, maps: Maps, threshold: float, stamp: Offsets,
) -> tuple[Pairs, int]:  # fmt: skip
    """Pairs (d, k) for containment: d from start to stop − 1, which asks, and k > d, which has the value."""
    count = met = 0
    pairs = np.empty((256, 2), np.int32)
    for d in range(start, stop):
        m = sizes[d]
        for at in range(doc_offsets[d], doc_offsets[d + 1]):
            if not asks[at]:
                continue
            bucket = signed(doc_buckets[at])
            high = bucket_offsets[bucket + 1]
            for place in range(_first_after(bucket_docs, bucket_offsets[bucket], high, d), high):
                k = signed(bucket_docs[place])
                if stamp[k] == d:
                    continue
                stamp[k] = d
                met += 1
                allowed = may_differ(m, sizes[k], CONTAINMENT, threshold) + 1.0
                if not differ_by_more(maps, d, k, allowed):
                    pairs = _grown(pairs, count)
                    pairs[count, 0] = d
                    pairs[count, 1] = k
                    count += 1
    return pairs[:count].copy(), met


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    values, offsets = np.arange(4, dtype=np.uint64) << np.uint64(62), np.array([0, 2, 4])
    counts = np.zeros(16, np.uint8)
    tally(values, counts)
    prefix_flags(values, offsets, counts, RESEMBLANCE, 0.5)
    docs, flags, maps = np.array([0, 1], np.uint32), np.ones(2, np.bool_), np.zeros((2, 16), np.uint64)
    ones, sizes = np.array([0, 1, 2]), np.array([2, 2])
    zeros, bucket = np.zeros(2, np.uint32), np.array([0, 2])
    meet_smaller(0, 2, ones, zeros, bucket, docs, flags, sizes, maps, 0.5, np.full(2, -1))
    meet_larger(0, 2, ones, zeros, flags, bucket, docs, sizes, maps, 0.5, np.full(2, -1))
