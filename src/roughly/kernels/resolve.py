"""Which documents are kept: greedy resolution in order of rank, comparing each document with kept ones only.

Documents are numbered 0, 1, … in order of rank, best first. A *bucket* is a set of documents that share a key. A
document is compared with the kept documents of its buckets, each once; if none passes, it is kept itself and is added
to its buckets. This is the lexicographically first maximal independent set of the candidate graph, found without
forming the graph: a bucket of n near-copies of one page costs n comparisons, not n².

`slots[starts[b]:][:fill[b]]` are the documents added to bucket b, in order of rank. Buckets with index ≥ `free` are
uncapped; earlier ones hold at most `most_kept` kept documents. A bucket with more is hot, and the caller finds the
candidates among its documents in another way (see `prefixes`). Only kept documents count towards the cap, and later
ones are left out, so the same comparisons are made however the documents are cut into blocks.

A hot bucket whose documents are all nearly the same becomes one uncapped bucket, where each document is compared with
every kept one before it. There the sizes and bitmaps of the added documents are stored contiguously in the order of the
slots (`Dense`), so that a comparison reads them in sequence instead of looking each up: a tenth of the time. These
bitmaps are wide however little memory there is, since such buckets are few; and so are those of the loaded documents,
which are compared with them.

Documents whose sets are loaded are compared at once, component by component (`candidate_components`). If those of
earlier documents are not, `find_candidates` lists the pairs, and `score_pairs` compares them. The loops are those of
`core/resolve.hpp`.

| symbol | meaning |
|---|---|
| d | the current document |
| k | a document of one of d's buckets that ranks above it |
| c, m, n | counts of `judging` |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words
from roughly.kernels.bitmaps import Maps

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Pairs = npt.NDArray[np.int32]  # (n, 2): d, k
Rows = npt.NDArray[np.int32]  # (n, 5): d, k, c, m, n

UNKNOWN = np.int32(-(2**31))


class Dense(NamedTuple):
    """Facts about the documents added to large buckets: from row first[b] on, in the order of the slots."""

    first: Offsets  # of each bucket; −1 if it has no rows; empty if none has
    sizes: Ints
    maps: Maps


class Joined(NamedTuple):
    """Which documents share which buckets, and which were added to them so far."""

    doc_offsets: Offsets
    doc_buckets: Words
    probes: Flags
    starts: Offsets
    fill: Words
    slots: Words
    kept_counts: Words
    free: int  # buckets from this one on are uncapped
    dense: Dense


class Documents(NamedTuple):
    """Facts about each document."""

    kept: Bytes  # 1 if it may be kept
    sizes: Ints
    maps: Maps
    wide: Maps  # of the loaded documents, from `first` on; as wide as those of `Dense`
    first: int
    days: Ints  # of publication; empty if dates do not matter
    lengths: Offsets  # in tokens; empty if they do not matter


class SetArrays(NamedTuple):
    """Values of some documents: row r has values[offsets[r]:offsets[r + 1]]."""

    values: Hashes
    offsets: Offsets
    limits: Hashes  # empty if the sets are complete
    most: int


class Rule(NamedTuple):
    """When two documents are duplicates."""

    measure: int
    threshold: float
    days: int  # most days between the two
    lengths: float  # least length of the shorter, as a fraction of the longer


def find_candidates(
    start: int, stop: int, least: int, bound: int, joined: Joined, documents: Documents, stamp: Ints, rule: Rule,
    floor: float, limit: int,
) -> tuple[Pairs, int, int]:  # fmt: skip
    """Pairs (d, k) to be compared: d from start to stop − 1, k from `least` to bound − 1 in one of its buckets.

    Pairs that bitmaps rule out are left out, but counted. Stops after the document that fills `limit` pairs; returns
    (pairs, next document, pairs that share a bucket). `stamp` has a number below `start` for every document and
    remembers for which one it was seen last.
    """
    pairs, following, shared = _core.find_candidates(
        start, stop, least, bound, joined, documents, stamp, rule, floor, limit
    )
    return pairs, following, shared


def score_pairs(pairs: Pairs, left: Offsets, right: Offsets, sets: SetArrays, rule: Rule, floor: float) -> Rows:
    """The counts of pairs whose values are in rows `left` and `right`; those below the floor are left out."""
    left, right = np.ascontiguousarray(left, np.int64), np.ascontiguousarray(right, np.int64)
    rows: Rows = _core.score_pairs(np.ascontiguousarray(pairs, np.int32), left, right, sets, rule, floor)
    return rows
