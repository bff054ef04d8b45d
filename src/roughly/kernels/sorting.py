"""Sorting of hashes, which is faster than sorting because they are uniform.

A counting pass over the highest bits leaves about one value to a bucket, and insertion sort puts the few that share one
in order. Buckets that are crowded all the same (a shingle repeated thousands of times, a document of many megabytes)
are heap-sorted, so there is no quadratic case.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Words

MOST_BITS = 14
CROWDED = np.uint64(24)

_0, _1, _2, _64 = (np.uint64(i) for i in (0, 1, 2, 64))


@jit_inner
def bit_length(n: np.uint64) -> np.uint64:
    """How many bits n takes; 0 for 0."""
    bits = _0
    while n != _0:
        bits += _1
        n >>= _1
    return bits


@jit_inner
def sort_hashes(a: Hashes, n: np.uint64, out: Hashes, counts: Words) -> None:
    """Put the values a[:n], which should be uniform, in order into out[:n]; `counts` is scratch."""
    bits = max(_1, min(bit_length(n), np.uint64(MOST_BITS)))
    shift = _64 - bits
    buckets = _1 << bits
    for b in range(buckets + _1):
        counts[b] = 0
    for i in range(n):
        counts[(a[i] >> shift) + _1] += np.uint32(1)
    most = np.uint32(0)
    for b in range(buckets):
        most = max(most, counts[b + _1])
        counts[b + _1] += counts[b]
    for i in range(n):
        bucket = a[i] >> shift
        out[np.uint64(counts[bucket])] = a[i]
        counts[bucket] += np.uint32(1)
    if most <= CROWDED:
        _insertion_sort(out, _0, n)
        return
    start = _0
    for b in range(buckets):
        end = np.uint64(counts[b])
        if end - start > CROWDED:
            _heap_sort(out, start, end)
        elif end > start:
            _insertion_sort(out, start, end)
        start = end


@jit_inner
def _insertion_sort(a: Hashes, start: np.uint64, end: np.uint64) -> None:
    for i in range(start + _1, end):
        x = a[i]
        j = np.uint64(i)
        while j > start and a[j - _1] > x:
            a[j] = a[j - _1]
            j -= _1
        a[j] = x


@jit_inner
def _heap_sort(a: Hashes, start: np.uint64, end: np.uint64) -> None:
    size = end - start
    for k in range(size // _2):
        _sift_down(a, start, size // _2 - _1 - k, size)
    for k in range(size - _1):
        last = size - _1 - k
        a[start], a[start + last] = a[start + last], a[start]
        _sift_down(a, start, _0, last)


@jit_inner
def _sift_down(a: Hashes, start: np.uint64, node: np.uint64, size: np.uint64) -> None:
    x = a[start + node]
    child = _2 * node + _1
    while child < size:
        if child + _1 < size and a[start + child] < a[start + child + _1]:
            child += _1
        if a[start + child] <= x:
            break
        a[start + node] = a[start + child]
        node = child
        child = _2 * node + _1
    a[start + node] = x


@jit_inner
def sort_in_place(a: Hashes, n: np.uint64) -> None:
    """Put a[:n] in order, whatever its values; for short arrays that are not uniform."""
    if n <= CROWDED:
        _insertion_sort(a, _0, n)
    else:
        _heap_sort(a, _0, n)


@jit_inner
def put_distinct(a: Hashes, n: np.uint64, out: Hashes, at: np.uint64) -> np.uint64:
    """Copy the distinct values of the sorted a[:n] to out[at], out[at + 1], …; returns the new end."""
    if n == _0:
        return at
    out[at] = a[_0]
    at += _1
    for i in range(_1, n):
        out[at] = a[i]
        at += np.uint64(a[i] != a[i - _1])
    return at
