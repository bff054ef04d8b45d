"""Pairs that would join two components: what is left to compare once each document has its witness."""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit
from roughly.kernels.arrays import Offsets, Words
from roughly.kernels.resolve import Ints, Pairs, grown


@jit
def bridges(
    bucket: int, place: int, bucket_offsets: Offsets, bucket_docs: Words, roots: Ints, limit: int
) -> tuple[Pairs, int, int]:
    """Pairs (d, k), d > k, of documents that share a bucket and are not yet in one component.

    Starts at document `place` of `bucket`; stops after the document that fills `limit` pairs. Returns (pairs, the
    bucket and the place to go on from); the bucket after the last one means that all are done.
    """
    count = 0
    pairs = np.empty((1024, 2), np.int32)
    while bucket < bucket_offsets.shape[0] - 1:
        start = bucket_offsets[bucket]
        size = bucket_offsets[bucket + 1] - start
        order = np.empty(size, np.uint64)  # root above, document below: documents of one component side by side
        for i in range(size):
            doc = bucket_docs[start + i]
            order[i] = np.uint64(roots[doc]) << np.uint64(32) | np.uint64(doc)
        order.sort()
        group = 0
        for i in range(size):
            if order[i] >> np.uint64(32) != order[group] >> np.uint64(32):
                group = i
            if i < place:
                continue
            for j in range(group):
                a, b = np.int64(order[i] & np.uint64(0xFFFFFFFF)), np.int64(order[j] & np.uint64(0xFFFFFFFF))
                pairs = grown(pairs, count)
                pairs[count, 0] = max(a, b)
                pairs[count, 1] = min(a, b)
                count += 1
            if count >= limit:
                return pairs[:count], bucket, i + 1
        bucket += 1
        place = 0
    return pairs[:count], bucket, 0


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    bridges(0, 0, np.array([0, 2]), np.array([0, 1], np.uint32), np.array([0, 1], np.int32), 9)
