"""Pairs of sketches that share a value, and who of them stays: all four phases of Broder 1997, §4.1, in memory.

A *bucket* is the documents that hold one value. Documents are numbered 0, 1, … in order of rank, best first. Each is
compared with the documents of its buckets that come before it, each once. `star` compares with kept documents only, so
a page that stands there a thousand times costs a thousand comparisons; `pairs_sharing` lists all pairs, a batch at a
time, for those who count them.

Rows of pairs are (document, better-ranked document, shared, mine, theirs), counts being those of `estimate`. Documents
and buckets are int64, values and limits uint64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit
from roughly.kernels.arrays import Bytes, Hashes, Offsets
from roughly.kernels.judging import CONTAINMENT, RESEMBLANCE, estimate
from roughly.kernels.sketches import EVERY

Rows = npt.NDArray[np.int64]


@jit
def _grown(rows: Rows, count: int) -> Rows:
    if count < rows.shape[0]:
        return rows
    bigger = np.empty((2 * rows.shape[0] + 1024, rows.shape[1]), np.int64)
    for i in range(count):
        for column in range(rows.shape[1]):
            bigger[i, column] = rows[i, column]
    return bigger


@jit
def reaches(shared: int, mine: int, theirs: int, measure: int, threshold: float) -> bool:
    """Whether the estimate reaches the threshold; nothing shared never does."""
    whole = mine if measure == CONTAINMENT else mine + theirs - shared
    return shared > 0 and shared / whole >= threshold


@jit
def star(
    doc_offsets: Offsets, doc_buckets: Offsets, buckets: int, values: Hashes, offsets: Offsets, limits: Hashes,
    most: int, measure: int, threshold: float, everything: bool,
) -> tuple[Bytes, Rows, int]:  # fmt: skip
    """(kept, pairs that reach the threshold, comparisons made).

    A document is compared with the kept documents that share a bucket with it; where none reaches the threshold it is
    kept itself. With `everything`, removed documents are compared with too, so that every pair is found.
    """
    documents = doc_offsets.shape[0] - 1
    kept = np.ones(documents, np.uint8)
    heads = np.full(buckets, -1, np.int64)
    links = np.empty((doc_buckets.shape[0], 2), np.int64)
    stamp = np.full(documents, -1, np.int64)
    pairs = np.empty((1024, 5), np.int64)
    used, count, compared = 0, 0, 0
    for d in range(documents):
        for at in range(doc_offsets[d], doc_offsets[d + 1]):
            link = heads[doc_buckets[at]]
            while link >= 0:
                k = links[link, 0]
                link = links[link, 1]
                if stamp[k] == d:
                    continue
                stamp[k] = d
                compared += 1
                shared, mine, theirs = estimate(
                    values, offsets[d], offsets[d + 1], limits[d], offsets[k], offsets[k + 1], limits[k], most
                )
                if not reaches(shared, mine, theirs, measure, threshold):
                    continue
                if kept[k]:
                    kept[d] = 0
                pairs = _grown(pairs, count)
                pairs[count, 0], pairs[count, 1] = d, k
                pairs[count, 2], pairs[count, 3], pairs[count, 4] = shared, mine, theirs
                count += 1
        if kept[d] or everything:
            for at in range(doc_offsets[d], doc_offsets[d + 1]):
                bucket = doc_buckets[at]
                links[used, 0], links[used, 1] = d, heads[bucket]
                heads[bucket] = used
                used += 1
    return kept, pairs[:count].copy(), compared


@jit
def pairs_sharing(
    start: int, doc_offsets: Offsets, doc_buckets: Offsets, bucket_offsets: Offsets, bucket_docs: Offsets, limit: int
) -> tuple[Rows, int]:
    """Pairs (d, k), k < d, of documents from `start` on that share a bucket, each once.

    Stops after the document that fills `limit` pairs; returns (pairs, next document).
    """
    documents = doc_offsets.shape[0] - 1
    stamp = np.full(documents, -1, np.int64)
    pairs = np.empty((1024, 2), np.int64)
    count = 0
    d = start
    while d < documents and count < limit:
        for at in range(doc_offsets[d], doc_offsets[d + 1]):
            bucket = doc_buckets[at]
            for place in range(bucket_offsets[bucket], bucket_offsets[bucket + 1]):
                k = bucket_docs[place]
                if k >= d:
                    break
                if stamp[k] != d:
                    stamp[k] = d
                    pairs = _grown(pairs, count)
                    pairs[count, 0], pairs[count, 1] = d, k
                    count += 1
        d += 1
    return pairs[:count].copy(), d


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    two, one = np.array([0, 1, 2], np.int64), np.zeros(2, np.int64)
    star(two, one, 1, np.ones(2, np.uint64), two, np.full(2, EVERY), 0, RESEMBLANCE, 0.5, False)
    pairs_sharing(0, two, one, np.array([0, 2], np.int64), np.array([0, 1], np.int64), 10)
