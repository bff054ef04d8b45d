"""Sets of w-shingles: the distinct hashes of all runs of w tokens, sorted, document by document.

The hash of a shingle t₁ … t_w rolls from one shingle to the next without a product, and is then mixed:

    p = rotl(t₁, w − 1) ⊕ rotl(t₂, w − 2) ⊕ … ⊕ t_w          shingle = mix(p)

Rotations make the order count. Equal tokens in one shingle would cancel if they were 64 apart, so w is at most 64.

A document of fewer than w tokens is one shingle of all of them (where such documents were left out, a quarter of a
collection was ignored: I-Match 2002, §4.4); a document without tokens has the empty set.

Sorting uses that hashes are uniform: a counting pass over their highest bits leaves about one to a bucket, and
insertion sort puts the few that share one in order. Buckets that are crowded all the same (a shingle repeated
thousands of times, a document of many megabytes) are heap-sorted, so there is no quadratic case.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.hashing import mix

LARGEST_SIZE = 64
MOST_BITS = 14
CROWDED = np.uint64(24)

_0, _1, _2, _63, _64 = (np.uint64(i) for i in (0, 1, 2, 63, 64))


def shingle_sets(tokens: Hashes, offsets: Offsets, size: int) -> tuple[Hashes, Offsets]:
    """The distinct `size`-shingle hashes of each document, sorted, and where each document's begin."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    return _shingle_sets(tokens, offsets, size)


def check_size(size: int) -> None:
    """Refuse a number of tokens that no shingle can have."""
    if not 1 <= size <= LARGEST_SIZE:
        raise ValueError(f"a shingle has 1 to {LARGEST_SIZE} tokens, not {size}")


@jit
def longest(offsets: Offsets) -> int:
    """Tokens of the longest document."""
    most = 0
    for d in range(offsets.shape[0] - 1):
        most = max(most, offsets[d + 1] - offsets[d])
    return most


@jit
def rotate(x: np.uint64, by: np.uint64) -> np.uint64:
    """x rotated to the left by 0 … 64 bits."""
    return x << (by & _63) | x >> ((_64 - by) & _63)


@jit
def shingles(tokens: Hashes, start: np.uint64, end: np.uint64, size: np.uint64, out: Hashes) -> np.uint64:
    """Hashes of the shingles of tokens[start:end], in order, into `out`; returns how many."""
    if start == end:
        return _0
    p = _0
    first = min(size, end - start)
    for i in range(start, start + first):
        p = rotate(p, _1) ^ tokens[i]
    out[_0] = mix(p)
    n = _1
    for i in range(start + first, end):
        p = rotate(p, _1) ^ rotate(tokens[i - size], size) ^ tokens[i]
        out[n] = mix(p)
        n += _1
    return n


@jit
def bit_length(n: np.uint64) -> np.uint64:
    """How many bits n takes; 0 for 0."""
    bits = _0
    while n != _0:
        bits += _1
        n >>= _1
    return bits


@jit
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
        b = a[i] >> shift
        out[np.uint64(counts[b])] = a[i]
        counts[b] += np.uint32(1)
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


@jit
def _insertion_sort(a: Hashes, start: np.uint64, end: np.uint64) -> None:
    for i in range(start + _1, end):
        x = a[i]
        j = i
        while j > start and a[j - _1] > x:
            a[j] = a[j - _1]
            j -= _1
        a[j] = x


@jit
def _heap_sort(a: Hashes, start: np.uint64, end: np.uint64) -> None:
    size = end - start
    for k in range(size // _2):
        _sift_down(a, start, size // _2 - _1 - k, size)
    for k in range(size - _1):
        last = size - _1 - k
        a[start], a[start + last] = a[start + last], a[start]
        _sift_down(a, start, _0, last)


@jit
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


@jit
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


@jit
def _shingle_sets(tokens: Hashes, offsets: Offsets, size: int) -> tuple[Hashes, Offsets]:
    documents = offsets.shape[0] - 1
    room = longest(offsets) + 1
    values = np.empty(room, np.uint64)
    spare = np.empty(room, np.uint64)
    counts = np.empty((1 << MOST_BITS) + 1, np.uint32)
    out = np.empty(offsets[documents] - offsets[0] + 1, np.uint64)  # one more: put_distinct writes ahead
    set_offsets = np.empty(documents + 1, np.int64)
    set_offsets[0] = 0
    at = _0
    for d in range(documents):
        n = shingles(tokens, np.uint64(offsets[d]), np.uint64(offsets[d + 1]), np.uint64(size), values)
        sort_hashes(values, n, spare, counts)
        at = put_distinct(spare, n, out, at)
        set_offsets[d + 1] = np.int64(at)
    return out[: np.int64(at)], set_offsets


def warm_up() -> None:
    """Compile this module's kernels."""
    shingle_sets(np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64), 2)
