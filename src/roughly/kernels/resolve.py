"""Who stays: greedy resolution of documents in order of rank, comparing each with kept documents only.

Documents are numbered 0, 1, … in order of rank, best first. A *bucket* is a set of documents that share a key.
`heads[bucket]` starts a chain of the kept documents in it, newest first: link e stands for document
`links[e, 0]` and leads to `links[e, 1]`. A document is compared with the kept documents of its buckets, each
once; where none passes, it is kept itself and joins their chains. This is the lexicographically first maximal
independent set of the candidate graph, found without forming the graph: a bucket of n near-copies of one page costs n
comparisons, not n². A chain holds `crowd` kept documents at most; a bucket that has more is crowded, and the
caller then asks for those documents in another way (see `prefix_keys`). Only kept documents count towards a
crowd, and later ones are left out of the chain, so the same comparisons are made however the documents are cut
into blocks.

Integers: documents and buckets are int64 in chains and uint32 at rest; shingle hashes are uint64 and only compared.

| symbol | meaning |
|---|---|
| d | the document at hand |
| k | a kept document of one of d's buckets |
| c | size of the intersection of their shingle sets |
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from roughly.kernels import jit
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words
from roughly.kernels.sets import intersect_at_least

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]  # (n, 3): document, better-ranked document, shingles shared

RESEMBLANCE = 0
CONTAINMENT = 1
MAP_WORDS = 16


@jit
def passes(c: int, size_d: int, size_k: int, measure: int, threshold: float) -> bool:
    """Whether an intersection of c reaches the threshold; division is correctly rounded, so 4/5 ≥ 0.8."""
    if measure == CONTAINMENT:
        return size_d == 0 or c / size_d >= threshold
    union = size_d + size_k - c
    return union == 0 or c / union >= threshold


@jit
def needed(size_d: int, size_k: int, measure: int, threshold: float) -> int:
    """The least intersection that reaches the threshold."""
    if measure == CONTAINMENT:
        c = int(threshold * size_d)
    else:
        c = int(threshold * (size_d + size_k) / (1.0 + threshold))
    while c > 0 and passes(c - 1, size_d, size_k, measure, threshold):
        c -= 1
    while not passes(c, size_d, size_k, measure, threshold):
        c += 1
    return c


@jit
def _grown(pairs: Rows, count: int) -> Rows:
    if count < pairs.shape[0]:
        return pairs
    bigger = np.empty((2 * pairs.shape[0] + 1024, 3), np.int64)
    for i in range(count):
        for column in range(3):
            bigger[i, column] = pairs[i, column]
    return bigger


@jit
def _note_near(near: Rows, scores: Floats, noted: int, d: int, k: int, c: int, score: float) -> int:
    """Keep the pair among the best near misses; returns how many are noted."""
    if noted < near.shape[0]:
        at = noted
        noted += 1
    else:
        at = 0
        for i in range(1, scores.shape[0]):
            if scores[i] < scores[at]:
                at = i
        if scores[at] >= score:
            return noted
    near[at, 0] = d
    near[at, 1] = k
    near[at, 2] = c
    scores[at] = score
    return noted


@intrinsic
def ones(context, word):  # type: ignore[no-untyped-def]
    """How many bits of a word are set: one machine instruction."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@jit
def bitmaps(values: Hashes, set_offsets: Offsets) -> Hashes:
    """A bitmap of each set, as rows of words: bit v mod 1024 is flipped for every value v.

    Two sets differ in at least as many values as their bitmaps differ in bits: each value that only one of them has
    flips one bit. So a pair whose bitmaps differ too much is too unlike, for certain, and need not be compared.
    """
    maps = np.zeros((set_offsets.shape[0] - 1, MAP_WORDS), np.uint64)
    for d in range(set_offsets.shape[0] - 1):
        for i in range(set_offsets[d], set_offsets[d + 1]):
            bit = values[i] & np.uint64(64 * MAP_WORDS - 1)
            maps[d, np.int64(bit >> np.uint64(6))] ^= np.uint64(1) << (bit & np.uint64(63))
    return maps


@jit
def differ_by_more(maps: Hashes, d: int, k: int, allowed: float) -> bool:
    """Whether the bitmaps of d and k differ in more than `allowed` bits."""
    bits = np.uint64(0)
    for w in range(MAP_WORDS):
        bits += ones(maps[d, w] ^ maps[k, w])  # type: ignore[call-arg]
    return bool(np.int64(bits) > allowed)


@jit
def _weakest(pairs: Rows, scores: Floats, first: int, count: int) -> int:
    """Which of the last document's pairs is the least: lowest score, then worst rank."""
    worst = first
    for i in range(first + 1, count):
        lower = scores[i - first] < scores[worst - first]
        if lower or (scores[i - first] == scores[worst - first] and pairs[i, 1] > pairs[worst, 1]):
            worst = i
    return worst


@jit
def greedy(
    first: int, doc_offsets: Offsets, doc_buckets: Words, asks: Flags, values: Hashes, set_offsets: Offsets,
    kept: Bytes, heads: Offsets, links: Rows, used: int, crowds: Offsets,
    measure: int, threshold: float, floor: float, crowd: int, everything: bool, most_near: int, most: int,
) -> tuple[Rows, Rows, int, int]:  # fmt: skip
    """Resolve the documents first, first + 1, … of one block, whose sets are at hand.

    `kept` is 1 for documents that may stay and 0 for those already removed; it is updated. With `everything`,
    removed documents join the chains too, so that every pair is found; otherwise the best `most` pairs of a document
    are. Returns (pairs (d, k, c) that reach the threshold, the best `most_near` pairs from `floor` up to it, links
    used, comparisons made).
    """
    count = 0
    compared = 0
    noted = 0
    pairs = np.empty((1024, 3), np.int64)
    near = np.empty((most_near, 3), np.int64)
    near_scores = np.empty(most_near, np.float64)
    scores = np.empty(most, np.float64)
    maps = bitmaps(values, set_offsets)
    spread = (1.0 - floor) / (1.0 + floor)  # resemblance ≥ floor: the sets differ in this share of their sizes at most
    block = set_offsets.shape[0] - 1
    stamp = np.empty(block, np.int64)
    for i in range(block):
        stamp[i] = -1
    for local in range(block):
        d = first + local
        mine = count
        i, ie = set_offsets[local], set_offsets[local + 1]
        for at in range(doc_offsets[d], doc_offsets[d + 1]):
            if asks.shape[0] > 0 and not asks[at]:
                continue
            link = heads[doc_buckets[at]]
            while link >= 0:
                k = links[link, 0]
                if k < first:
                    break
                link = links[link, 1]
                if stamp[k - first] == d:
                    continue
                stamp[k - first] = d
                compared += 1
                j, je = set_offsets[k - first], set_offsets[k - first + 1]
                both = (ie - i) + (je - j)
                allowed = both - 2.0 * floor * (ie - i) if measure == CONTAINMENT else both * spread
                if differ_by_more(maps, local, k - first, allowed + 1.0):  # one more, for the rounding
                    continue
                need = needed(ie - i, je - j, measure, floor)
                if need > min(ie - i, je - j):
                    continue
                c = int(intersect_at_least(values, i, ie, j, je, need))
                if c < 0:
                    continue
                whole = ie - i if measure == CONTAINMENT else (ie - i) + (je - j) - c
                score = c / whole
                if not passes(c, ie - i, je - j, measure, threshold):
                    noted = _note_near(near, near_scores, noted, d, k, c, score)
                    if noted == most_near:  # only better ones matter from here on
                        floor = max(floor, near_scores.min())
                        spread = (1.0 - floor) / (1.0 + floor)
                    continue
                if kept[k]:
                    kept[d] = 0
                place = count
                if not everything and count - mine == most:
                    place = _weakest(pairs, scores, mine, count)
                    weaker = scores[place - mine] < score
                    if not weaker and not (scores[place - mine] == score and k < pairs[place, 1]):
                        continue
                else:
                    pairs = _grown(pairs, count)
                    count += 1
                pairs[place, 0] = d
                pairs[place, 1] = k
                pairs[place, 2] = c
                if not everything:
                    scores[place - mine] = score
        if kept[d] or everything:
            used = _join(d, kept[d], doc_offsets, doc_buckets, heads, links, used, crowds, crowd)
    return pairs[:count], near[:noted], used, compared


@jit
def _join(
    d: int, stays: bool, doc_offsets: Offsets, doc_buckets: Words, heads: Offsets, links: Rows, used: int,
    crowds: Offsets, crowd: int,
) -> int:  # fmt: skip
    for at in range(doc_offsets[d], doc_offsets[d + 1]):
        bucket = doc_buckets[at]
        if stays:
            crowds[bucket] += 1
            if crowds[bucket] > crowd:
                continue
        links[used, 0] = d
        links[used, 1] = heads[bucket]
        heads[bucket] = used
        used += 1
    return used


@jit
def gather(
    start: int, stop: int, before: int, doc_offsets: Offsets, doc_buckets: Words, asks: Flags, heads: Offsets,
    links: Rows, limit: int,
) -> tuple[Rows, int]:  # fmt: skip
    """Pairs (d, k) of documents start … stop − 1 with kept documents below `before` that share a bucket.

    Stops after the document that fills `limit` pairs; returns (pairs, next document).
    """
    count = 0
    pairs = np.empty((1024, 3), np.int64)
    stamp = np.empty(before, np.int64)
    for i in range(before):
        stamp[i] = -1
    d = start
    while d < stop and count < limit:
        for at in range(doc_offsets[d], doc_offsets[d + 1]):
            if asks.shape[0] > 0 and not asks[at]:
                continue
            link = heads[doc_buckets[at]]
            while link >= 0:
                k = links[link, 0]
                link = links[link, 1]
                if k < before and stamp[k] != d:
                    stamp[k] = d
                    pairs = _grown(pairs, count)
                    pairs[count, 0] = d
                    pairs[count, 1] = k
                    pairs[count, 2] = -1
                    count += 1
        d += 1
    return pairs[:count], d


@jit
def count_hashed(values: Hashes, counts: Words) -> None:
    """Add to `counts` (a power of two long) how often each shingle occurs, by the high bits of its hash."""
    bits = 0
    while (1 << bits) < counts.shape[0]:
        bits += 1
    shift = np.uint64(64 - bits)
    for i in range(values.shape[0]):
        counts[np.int64(values[i] >> shift)] += np.uint32(1)


@jit
def prefix_keys(values: Hashes, set_offsets: Offsets, counts: Words, threshold: float) -> tuple[Hashes, Offsets]:
    """The prefix of each set: its n − ⌈threshold·n⌉ + 1 rarest shingles, those that may recur.

    Two sets whose resemblance reaches the threshold share a shingle of both prefixes, whatever the order is, as
    long as it is the same for both (the prefix-filter principle). The order here is by hashed count, then by hash; a
    shingle whose count is one occurs nowhere else and is left out. Returns (keys, documents).
    """
    bits = 0
    while (1 << bits) < counts.shape[0]:
        bits += 1
    shift = np.uint64(64 - bits)
    keys = np.empty(values.shape[0], np.uint64)
    owners = np.empty(values.shape[0], np.int64)
    used = 0
    for d in range(set_offsets.shape[0] - 1):
        start = set_offsets[d]
        n = set_offsets[d + 1] - start
        if n == 0:
            continue
        order = np.empty(n, np.uint64)  # count above, place below: sorted by count, then by hash
        for i in range(n):
            weight = np.uint64(counts[np.int64(values[start + i] >> shift)])
            order[i] = weight << np.uint64(32) | np.uint64(i)
        order.sort()
        prefix = n - needed(n, 0, CONTAINMENT, threshold) + 1
        for i in range(min(n, prefix)):
            at = np.int64(order[i] & np.uint64(0xFFFFFFFF))
            if order[i] >> np.uint64(32) > np.uint64(1):
                keys[used] = values[start + at]
                owners[used] = d
                used += 1
    return keys[:used].copy(), owners[:used].copy()


@jit
def score_pairs(
    values: Hashes, set_offsets: Offsets, left: Offsets, right: Offsets, measure: int, floor: float
) -> Offsets:
    """Sizes of the intersections of pairs of sets; −1 where `floor` is not reached."""
    sizes = np.empty(left.shape[0], np.int64)
    for p in range(left.shape[0]):
        i, ie = set_offsets[left[p]], set_offsets[left[p] + 1]
        j, je = set_offsets[right[p]], set_offsets[right[p] + 1]
        need = needed(ie - i, je - j, measure, floor)
        sizes[p] = -1
        if need <= min(ie - i, je - j):
            sizes[p] = intersect_at_least(values, i, ie, j, je, need)
    return sizes


@jit
def bridges(
    bucket: int, place: int, bucket_offsets: Offsets, bucket_docs: Offsets, roots: Offsets, limit: int
) -> tuple[Rows, int, int]:
    """Pairs (d, k), d > k, of documents that share a bucket and are not yet in one component.

    Starts at document `place` of `bucket`; stops after the document that fills `limit` pairs. Returns (pairs, the
    bucket and the place to go on from); the bucket after the last one means that all are done.
    """
    count = 0
    pairs = np.empty((1024, 3), np.int64)
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
                pairs = _grown(pairs, count)
                pairs[count, 0] = max(a, b)
                pairs[count, 1] = min(a, b)
                pairs[count, 2] = -1
                count += 1
            if count >= limit:
                return pairs[:count], bucket, i + 1
        bucket += 1
        place = 0
    return pairs[:count], bucket, 0


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    values, sets = np.arange(4, dtype=np.uint64) << np.uint64(62), np.array([0, 2, 4])
    docs, buckets, heads = np.array([0, 1, 2]), np.zeros(2, np.uint32), np.full(1, -1)
    links, crowds, asks = np.empty((2, 2), np.int64), np.zeros(1, np.int64), np.empty(0, np.bool_)
    kept = np.ones(2, np.uint8)
    greedy(
        0, docs, buckets, asks, values, sets, kept, heads, links, 0, crowds, RESEMBLANCE, 0.5, 0.4, 9, False, 4, 4
    )  # fmt: skip
    gather(0, 2, 1, docs, buckets, asks, heads, links, 9)
    counts = np.zeros(1 << 4, np.uint32)
    count_hashed(values, counts)
    prefix_keys(values, sets, counts, 0.5)
    score_pairs(values, sets, np.array([1]), np.array([0]), RESEMBLANCE, 0.5)
    bridges(0, 0, np.array([0, 2]), np.array([0, 1]), np.array([0, 1]), 9)
