"""Pairs that would join two components: the remaining comparisons once each removed document has its witness."""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Offsets, Words
from roughly.kernels.resolve import Ints, Pairs


def bridges(
    bucket: int, place: int, bucket_offsets: Offsets, bucket_docs: Words, roots: Ints, limit: int
) -> tuple[Pairs, int, int]:
    """Pairs (d, k), d > k, of documents that share a bucket and are not yet in one component.

    Starts at document `place` of `bucket`; stops after the document that fills `limit` pairs. Returns (pairs, the
    bucket and the place to continue from); the bucket after the last one means that all are done.
    """
    roots = np.ascontiguousarray(roots, np.int32)
    pairs, bucket, place = _core.find_bridges(bucket, place, bucket_offsets, bucket_docs, roots, limit)
    return pairs, bucket, place
