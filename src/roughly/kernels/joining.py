"""The exact join of sets: every pair at or above a threshold, by prefix, length and bitmap filters.

Sets are numbered by size, the smallest first, and values have one order, from rare to common (by hashed count, then by
value). If two sets share c values or more, the first of them in that order is among the first n − c + 1 of each
(the prefix-filter principle: Chaudhuri 2006; Bayardo 2007; Xiao 2008). So only prefixes are compared:

| measure | larger set | smaller set |
|---|---|---|
| resemblance ≥ t | n − ⌈t·n⌉ + 1 values are *probes* | n − ⌈2t/(1 + t)·n⌉ + 1 values are *listed* |
| containment ≥ t | every value is listed | n − ⌈t·n⌉ + 1 values are probes |

The smaller set lists fewer, since two sets of n and n or more must share 2t/(1 + t)·n of them. A value whose hashed
count is one occurs nowhere else and is left out. Counts are bytes that stop at 255: any order that is the same for all
sets works, so neither that nor a collision loses a pair.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words
from roughly.kernels.bitmaps import Maps

Flags = npt.NDArray[np.bool_]
Pairs = npt.NDArray[np.int32]


def tally(values: Hashes, counts: Bytes) -> None:
    """Count each value in `counts` (a power of two long) by the high bits of its hash; a count stops at 255."""
    _core.count_hashed(np.ascontiguousarray(values, np.uint64), counts)


def prefix_flags(values: Hashes, offsets: Offsets, counts: Bytes, measure: int, threshold: float) -> Bytes:
    """The role of each value: 0 outside of the prefix, 1 in the longer prefix of a set only, 2 in both.

    For containment the two are one, and the flag is 2. Values that occur once have 0.
    """
    values, offsets = np.ascontiguousarray(values, np.uint64), np.ascontiguousarray(offsets, np.int64)
    out: Bytes = _core.prefix_flags(values, offsets, counts, measure, threshold)
    return out


def find_smaller(
    start: int, stop: int, doc_offsets: Offsets, doc_buckets: Words, bucket_offsets: Offsets, bucket_docs: Words,
    answers: Flags, sizes: Offsets, maps: Maps, threshold: float, stamp: Offsets,
) -> tuple[Pairs, int]:  # fmt: skip
    """Candidates (d, k) for resemblance: d from start to stop − 1, k < d with a listed value in one of its buckets.

    Pairs that sizes or bitmaps rule out are left out. Returns (pairs, pairs that share a bucket). `stamp` has −1 for
    each document.
    """
    pairs, shared = _core.find_smaller(
        start, stop, doc_offsets, doc_buckets, bucket_offsets, bucket_docs, answers, sizes, maps, threshold, stamp
    )
    return pairs, shared


def find_larger(
    start: int, stop: int, doc_offsets: Offsets, doc_buckets: Words, probes: Flags, bucket_offsets: Offsets,
    bucket_docs: Words, sizes: Offsets, maps: Maps, threshold: float, stamp: Offsets,
) -> tuple[Pairs, int]:  # fmt: skip
    """Candidates (d, k) for containment: d from start to stop − 1, with a probe, and k > d, with the same value."""
    pairs, shared = _core.find_larger(
        start, stop, doc_offsets, doc_buckets, probes, bucket_offsets, bucket_docs, sizes, maps, threshold, stamp
    )
    return pairs, shared
