"""Sets of w-shingles: the distinct hashes of all runs of w tokens, sorted, document by document.

The hash of a shingle t₁ … t_w rolls from one shingle to the next without a product, and is then spread:

    p = rotl(t₁, w − 1) ⊕ rotl(t₂, w − 2) ⊕ … ⊕ t_w          shingle = spread(p)

Rotations make the order count. Equal tokens in one shingle would cancel if they were 64 apart, so the settings allow w
up to 64. The values of a sample are distinct and sorted: shingles of those (super shingles) may have 128.
Tokens must be uniform hashes, as those of `tokenise` are: small numbers would cancel each other.

A document of fewer than w tokens is one shingle of all of them (where such documents were left out, a quarter of a
collection was ignored: I-Match 2002, §4.4); a document without tokens has the empty set.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.hashing import spread
from roughly.kernels.sorting import MOST_BITS, put_distinct, sort_hashes

LARGEST_SIZE = 128

_0, _1, _63, _64 = (np.uint64(i) for i in (0, 1, 63, 64))


def shingle_sets(tokens: Hashes, offsets: Offsets, size: int) -> tuple[Hashes, Offsets]:
    """The distinct `size`-shingle hashes of each document, sorted, and where each document's begin."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    room = int(np.diff(offsets).max(initial=0))
    values, spare = np.empty(room, np.uint64), np.empty(room, np.uint64)
    counts = np.empty((1 << MOST_BITS) + 1, np.uint32)
    out = np.empty(int(offsets[-1] - offsets[0]) + 1, np.uint64)  # one more: put_distinct writes ahead
    set_offsets = np.zeros(len(offsets), np.int64)
    used = _shingle_sets(tokens, offsets, size, values, spare, counts, out, set_offsets)
    return out[:used], set_offsets


def check_size(size: int) -> None:
    """Refuse a number of tokens that no shingle can have."""
    if not 1 <= size <= LARGEST_SIZE:
        raise ValueError(f"a shingle has 1 to {LARGEST_SIZE} tokens, not {size}")


@jit_inner
def rotate(x: np.uint64, by: np.uint64) -> np.uint64:
    """x rotated to the left by 0 … 64 bits."""
    return x << (by & _63) | x >> ((_64 - by) & _63)


@jit_inner
def shingles(tokens: Hashes, start: np.uint64, end: np.uint64, size: np.uint64, out: Hashes) -> np.uint64:
    """Hashes of the shingles of tokens[start:end], in order, into `out`; returns how many."""
    if start == end:
        return _0
    p = _0
    first = min(size, end - start)
    for i in range(start, start + first):
        p = rotate(p, _1) ^ tokens[i]
    out[_0] = spread(p)
    n = _1
    for i in range(start + first, end):
        p = rotate(p, _1) ^ rotate(tokens[i - size], size) ^ tokens[i]
        out[n] = spread(p)
        n += _1
    return n


@jit_inner
def _shingle_sets(
    tokens: Hashes,
    offsets: Offsets,
    size: int,
    values: Hashes,
    spare: Hashes,
    counts: Words,
    out: Hashes,
    set_offsets: Offsets,
) -> np.int64:
    at = _0
    for d in range(offsets.shape[0] - 1):
        n = shingles(tokens, np.uint64(offsets[d]), np.uint64(offsets[d + 1]), np.uint64(size), values)
        sort_hashes(values, n, spare, counts)
        at = put_distinct(spare, n, out, at)
        set_offsets[d + 1] = np.int64(at)
    return np.int64(at)


def warm_up() -> None:
    """Compile this module's kernels."""
    shingle_sets(np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64), 2)
