"""Who stays: greedy resolution of documents in order of rank, comparing each with kept documents only.

Documents are numbered 0, 1, … in order of rank, best first. A *bucket* is a set of documents that share a key. A
document is compared with the kept documents of its buckets, each once; where none passes, it is kept itself and joins
them. This is the lexicographically first maximal independent set of the candidate graph, found without forming the
graph: a bucket of n near-copies of one page costs n comparisons, not n².

`slots[starts[b]:][:fill[b]]` are the documents that have joined bucket b, in order of rank. A bucket takes `crowd` kept
documents at most; one that has more is crowded, and the caller then asks for its documents in another way (see
`prefixes`). Only kept documents count towards a crowd, and later ones are left out, so the same comparisons are made
however the documents are cut into blocks.

A crowd whose documents are all nearly alike has one bucket, where each meets every kept one before it. There, sizes and
bitmaps of those who have joined stand side by side in the order of the slots (`Dense`), so that a document runs along
them instead of looking each up: a tenth of the time. These bitmaps are wide however little memory there is, for crowds
are few beside all documents; and so are those of the documents at hand, which are compared with them.

A run of documents is resolved in two steps. `meet` names the documents of earlier runs that each of them is to be
compared with, which needs no order and so goes on all threads; `settle` then takes the run in order of rank and
compares its documents with each other.

| symbol | meaning |
|---|---|
| d | the document at hand |
| k | a document of one of d's buckets that ranks above it |
| c, m, n | counts of `judging` |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit
from roughly.kernels.ahead import DISTANCE, soon
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words
from roughly.kernels.bitmaps import Maps, differ_by_more, ones
from roughly.kernels.judging import RESEMBLANCE, estimate, may_differ, score, shared_at_least
from roughly.kernels.words import signed

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Pairs = npt.NDArray[np.int32]  # (n, 2): d, k
Rows = npt.NDArray[np.int32]  # (n, 5): d, k, c, m, n

UNKNOWN = np.int32(-(2**31))


class Dense(NamedTuple):
    """What is known of those who have joined large buckets: from row first[b] on, in the order of the slots."""

    first: Offsets  # of each bucket; −1 where it has no rows; empty where none has
    sizes: Ints
    maps: Maps


class Joined(NamedTuple):
    """Which documents share which buckets, and who has joined them so far."""

    doc_offsets: Offsets
    doc_buckets: Words
    asks: Flags
    starts: Offsets
    fill: Words
    slots: Words
    crowds: Words
    free: int  # buckets from this one on take any number of documents
    dense: Dense


class Documents(NamedTuple):
    """What is known of each document."""

    kept: Bytes  # 1 where it may stay
    sizes: Ints
    maps: Maps
    wide: Maps  # of the documents from `first` on, which are those at hand; as wide as those of `Dense`
    first: int
    days: Ints  # of publication; empty where dates do not matter
    lengths: Offsets  # in tokens; empty where they do not matter


class Held(NamedTuple):
    """Values of some documents: row r has values[offsets[r]:offsets[r + 1]]."""

    values: Hashes
    offsets: Offsets
    limits: Hashes  # empty where the sets are complete
    most: int


class Rule(NamedTuple):
    """When two documents are duplicates."""

    measure: int
    threshold: float
    days: int  # at most so many days apart
    lengths: float  # the shorter has at least this share of the longer


@jit
def _admitted(documents: Documents, d: int, k: int, rule: Rule) -> bool:
    """Whether dates and lengths allow the two to be duplicates."""
    if documents.days.shape[0] > 0:
        one, other = documents.days[d], documents.days[k]
        if one == UNKNOWN or other == UNKNOWN or abs(np.int64(one) - np.int64(other)) > rule.days:
            return False
    if documents.lengths.shape[0] > 0:
        one_long, other_long = documents.lengths[d], documents.lengths[k]
        if min(one_long, other_long) < rule.lengths * max(one_long, other_long):
            return False
    return True


@jit
def _too_unlike(documents: Documents, d: int, k: int, rule: Rule, floor: float) -> bool:
    if documents.maps.shape[1] == 0:
        return False
    m, n = signed(documents.sizes[d]), signed(documents.sizes[k])
    allowed = may_differ(m, n, rule.measure, floor) + 1.0  # one more, for the rounding
    return differ_by_more(documents.maps, d, k, allowed)


@jit
def _row(joined: Joined, bucket: int) -> int:
    """The row of a bucket's first slot among the dense ones, or −1."""
    if joined.dense.first.shape[0] == 0:
        return -1
    return int(joined.dense.first[bucket])


@jit
def _slot(joined: Joined, bucket: int, document: int) -> int:
    """The first place of a bucket whose document is this one or a later one."""
    low = joined.starts[bucket]
    high = low + signed(joined.fill[bucket])
    while low < high:
        middle = (low + high) // 2
        if signed(joined.slots[middle]) < document:
            low = middle + 1
        else:
            high = middle
    return int(low)


@jit
def _next_alike(
    place: int, stop: int, shift: int, joined: Joined, documents: Documents, d: int, rule: Rule, floor: float
) -> int:
    """The next place before `stop` whose document may be like d; a place plus `shift` is its row in `joined.dense`."""
    maps, sizes = joined.dense.maps, joined.dense.sizes
    m = signed(documents.sizes[d])
    while place < stop:
        row = place + shift
        bits = np.uint64(0)
        for w in range(maps.shape[1]):
            bits += ones(documents.wide[d - documents.first, w] ^ maps[row, w])  # type: ignore[call-arg]
        if not np.int64(bits) > may_differ(m, signed(sizes[row]), rule.measure, floor) + 1.0:
            break
        place += 1
    return place


@jit
def _soon(documents: Documents, stamp: Ints, k: int) -> None:
    """Document k will be met soon."""
    words = documents.maps.shape[1]
    soon(stamp, k)  # type: ignore[call-arg]
    soon(documents.sizes, k)
    for word in range(0, words, 8):
        soon(documents.maps, k * words + word)


@jit
def _counts(held: Held, left: int, right: int, rule: Rule, floor: float) -> tuple[int, int, int]:
    """(c, m, n) of two rows; c is −1 where the floor is not reached."""
    i, ie = held.offsets[left], held.offsets[left + 1]
    j, je = held.offsets[right], held.offsets[right + 1]
    if held.limits.shape[0] == 0:
        return shared_at_least(held.values, i, ie, j, je, rule.measure, floor), ie - i, je - j
    c, m, n = estimate(held.values, i, ie, held.limits[left], j, je, held.limits[right], held.most)
    if c == 0 or score(c, m, n, rule.measure) < floor:
        return -1, m, n
    return c, m, n


@jit
def grown(rows: Rows, count: int) -> Rows:
    if count < rows.shape[0]:
        return rows
    bigger = np.empty((2 * rows.shape[0] + 1024, rows.shape[1]), np.int32)
    for i in range(count):
        for column in range(rows.shape[1]):
            bigger[i, column] = rows[i, column]
    return bigger


@jit
def meet(
    start: int, stop: int, least: int, bound: int, joined: Joined, documents: Documents, stamp: Ints, rule: Rule,
    floor: float, limit: int,
) -> tuple[Pairs, int, int]:  # fmt: skip
    """Pairs (d, k) to be compared: d from start to stop − 1, k from `least` to bound − 1 in one of its buckets.

    Pairs that bitmaps rule out are left out, but counted. Stops after the document that fills `limit` pairs; returns
    (pairs, next document, pairs met). `stamp` has a number below `start` for every document and remembers who was met.
    """
    count = met = 0
    pairs = np.empty((256, 2), np.int32)
    d = start
    while d < stop and count < limit:
        for at in range(joined.doc_offsets[d], joined.doc_offsets[d + 1]):
            if joined.asks.shape[0] > 0 and not joined.asks[at]:
                continue
            bucket = signed(joined.doc_buckets[at])
            base = joined.starts[bucket]
            row = _row(joined, bucket)
            if row >= 0:
                place, end = _slot(joined, bucket, least), _slot(joined, bucket, bound)
                met += end - place
                while True:
                    place = _next_alike(place, end, row - base, joined, documents, d, rule, floor)
                    if place == end:
                        break
                    k = signed(joined.slots[place])
                    place += 1
                    if stamp[k] != d:
                        stamp[k] = np.int32(d)
                        pairs = grown(pairs, count)
                        pairs[count, 0] = d
                        pairs[count, 1] = k
                        count += 1
                continue
            for place in range(base + signed(joined.fill[bucket]) - 1, base - 1, -1):
                if place - DISTANCE >= base:
                    _soon(documents, stamp, signed(joined.slots[place - DISTANCE]))
                k = signed(joined.slots[place])
                if k < least:
                    break
                if k >= bound or stamp[k] == d:
                    continue
                stamp[k] = np.int32(d)
                if not _admitted(documents, d, k, rule):
                    continue
                met += 1
                if _too_unlike(documents, d, k, rule, floor):
                    continue
                pairs = grown(pairs, count)
                pairs[count, 0] = d
                pairs[count, 1] = k
                count += 1
        d += 1
    return pairs[:count], d, met


@jit
def score_pairs(pairs: Pairs, left: Offsets, right: Offsets, held: Held, rule: Rule, floor: float) -> Rows:
    """The counts of pairs whose values are in rows `left` and `right`; those below the floor are left out."""
    rows = np.empty((pairs.shape[0], 5), np.int32)
    used = 0
    for p in range(pairs.shape[0]):
        c, m, n = _counts(held, left[p], right[p], rule, floor)
        if c >= 0:
            rows[used, 0] = pairs[p, 0]
            rows[used, 1] = pairs[p, 1]
            rows[used, 2] = c
            rows[used, 3] = m
            rows[used, 4] = n
            used += 1
    return rows[:used].copy()


@jit
def settle(
    start: int, stop: int, first: int, joined: Joined, documents: Documents, stamp: Ints, held: Held, rule: Rule,
    floor: float, crowd: int, everything: bool,
) -> tuple[Rows, int]:  # fmt: skip
    """Resolve documents start … stop − 1 among themselves, in order of rank; `held` begins with document `first`.

    Documents that earlier runs have removed are marked in `kept` already; the rest is decided here. With
    `everything`, removed documents join their buckets too, so that every pair is found. Returns (rows that reach the
    floor, pairs met).
    """
    count = met = 0
    rows = np.empty((256, 5), np.int32)
    for d in range(start, stop):
        for at in range(joined.doc_offsets[d], joined.doc_offsets[d + 1]):
            if joined.asks.shape[0] > 0 and not joined.asks[at]:
                continue
            bucket = signed(joined.doc_buckets[at])
            base = joined.starts[bucket]
            end = base + signed(joined.fill[bucket])
            row = _row(joined, bucket)
            place = _slot(joined, bucket, start)
            if row >= 0:
                met += end - place
            while place < end:
                if row >= 0:
                    place = _next_alike(place, end, row - base, joined, documents, d, rule, floor)
                    if place == end:
                        break
                k = signed(joined.slots[place])
                place += 1
                if stamp[k] == d:
                    continue
                stamp[k] = np.int32(d)
                if row < 0:
                    if not _admitted(documents, d, k, rule):
                        continue
                    met += 1
                    if _too_unlike(documents, d, k, rule, floor):
                        continue
                c, m, n = _counts(held, d - first, k - first, rule, floor)
                if c < 0:
                    continue
                if documents.kept[k] and score(c, m, n, rule.measure) >= rule.threshold:
                    documents.kept[d] = 0
                rows = grown(rows, count)
                rows[count, 0] = d
                rows[count, 1] = k
                rows[count, 2] = c
                rows[count, 3] = m
                rows[count, 4] = n
                count += 1
        if documents.kept[d] or everything:
            _join(d, documents, joined, crowd)
    return rows[:count], met


@jit
def _join(d: int, documents: Documents, joined: Joined, crowd: int) -> None:
    for at in range(joined.doc_offsets[d], joined.doc_offsets[d + 1]):
        bucket = signed(joined.doc_buckets[at])
        if documents.kept[d]:
            joined.crowds[bucket] += np.uint32(1)
            if bucket < joined.free and np.int64(joined.crowds[bucket]) > crowd:
                continue
        joined.slots[joined.starts[bucket] + signed(joined.fill[bucket])] = np.uint32(d)
        row = _row(joined, bucket)
        if row >= 0:
            row += signed(joined.fill[bucket])
            joined.dense.sizes[row] = documents.sizes[d]
            for w in range(joined.dense.maps.shape[1]):
                joined.dense.maps[row, w] = documents.wide[d - documents.first, w]
        joined.fill[bucket] += np.uint32(1)


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    none, no_days, no_limits = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.uint64)
    values, sets = np.arange(4, dtype=np.uint64) << np.uint64(62), np.array([0, 2, 4])
    joined = Joined(
        np.array([0, 1, 2]), np.zeros(2, np.uint32), np.empty(0, np.bool_), np.zeros(2, np.int64),
        np.zeros(1, np.uint32), np.zeros(2, np.uint32), np.zeros(1, np.uint32), 1,
        Dense(np.zeros(1, np.int64), np.zeros(2, np.int32), np.zeros((2, 1), np.uint64)),
    )  # fmt: skip
    maps = np.zeros((2, 1), np.uint64)
    documents = Documents(np.ones(2, np.uint8), np.full(2, 2, np.int32), maps, maps, 0, no_days, none)
    held, rule, stamp = Held(values, sets, no_limits, 0), Rule(RESEMBLANCE, 0.5, 0, 0.0), np.full(2, -1, np.int32)
    settle(0, 2, 0, joined, documents, stamp, held, rule, 0.4, 9, False)
    pairs, _, _ = meet(0, 2, 0, 2, joined, documents, stamp, rule, 0.4, 9)
    score_pairs(pairs[:0], none, none, held, rule, 0.5)
