"""All pairs of documents that share a bucket, each once, for experiments that count them.

Resolution never forms them (see `resolve`): a bucket of n documents has n·(n − 1)/2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Offsets, Words

Pairs = npt.NDArray[np.int64]


def pairs_sharing(
    start: int, doc_offsets: Offsets, doc_buckets: Words, bucket_offsets: Offsets, bucket_docs: Words, limit: int
) -> tuple[Pairs, int]:
    """Pairs (d, k), k < d, of documents from `start` on that share a bucket.

    Stops after the document that fills `limit` pairs; returns (pairs, next document).
    """
    pairs, following = _core.find_sharing_pairs(start, doc_offsets, doc_buckets, bucket_offsets, bucket_docs, limit)
    return pairs, following
