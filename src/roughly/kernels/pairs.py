"""All pairs of documents that share a bucket, each once, for those who count them.

Resolution never forms them (see `resolve`): a bucket of n documents has n·(n − 1)/2. Experiments do, a batch at a time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit
from roughly.kernels.arrays import Offsets, Words
from roughly.kernels.words import signed

Pairs = npt.NDArray[np.int64]


@jit
def pairs_sharing(
    start: int, doc_offsets: Offsets, doc_buckets: Words, bucket_offsets: Offsets, bucket_docs: Words, limit: int
) -> tuple[Pairs, int]:
    """Pairs (d, k), k < d, of documents from `start` on that share a bucket.

    Stops after the document that fills `limit` pairs; returns (pairs, next document).
    """
    documents = doc_offsets.shape[0] - 1
    stamp = np.full(documents, -1, np.int64)
    pairs = np.empty((1024, 2), np.int64)
    count = 0
    d = start
    while d < documents and count < limit:
        for at in range(doc_offsets[d], doc_offsets[d + 1]):
            bucket = signed(doc_buckets[at])
            for place in range(bucket_offsets[bucket], bucket_offsets[bucket + 1]):
                k = signed(bucket_docs[place])
                if k >= d:
                    break
                if stamp[k] == d:
                    continue
                stamp[k] = d
                if count == pairs.shape[0]:
                    bigger = np.empty((2 * count, 2), np.int64)
                    for i in range(count):
                        bigger[i, 0], bigger[i, 1] = pairs[i, 0], pairs[i, 1]
                    pairs = bigger
                pairs[count, 0], pairs[count, 1] = d, k
                count += 1
        d += 1
    return pairs[:count].copy(), d


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    two, zeros = np.array([0, 1, 2], np.int64), np.zeros(2, np.uint32)
    pairs_sharing(0, two, zeros, np.array([0, 2], np.int64), np.array([0, 1], np.uint32), 10)
