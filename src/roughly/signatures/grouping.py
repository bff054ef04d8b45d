"""From keys to groups, in memory: which documents share a key and are judged to be duplicates.

Engines do this out of core for collections of any size; here it is numpy over keys that fit into memory, for
signatures that lie in a file and for experiments. Groups are connected components: the least document of each names it.

Where one key in common is the whole verdict, the documents of a key are linked one to the next and no pair is formed.
With a window of lengths they are first put in order of length: if a document is near enough to a longer one, so are all
between them, so neighbours suffice. Every other verdict forms the pairs of each key, and scores each pair once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.errors import InputError, TooManyPairs
from roughly.features.sketch import Sketch
from roughly.methods.method import Judge, Keys
from roughly.signatures.dates import UNKNOWN

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
MOST_PAIRS = 50_000_000


class Rows(NamedTuple):
    """One row for every key of every document."""

    bands: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint64]
    documents: Ints
    asks: Mask


@dataclass(frozen=True)
class Facts:
    """What a judge may want to know of documents beside their keys."""

    lengths: Ints | None = None  # tokens
    days: Ints | None = None  # UNKNOWN where a document has no date
    sketch: Sketch | None = None  # what pairs are scored on; full shingle sets for a judge on text


def group(keys: Keys, judge: Judge, facts: Facts, *, most_documents: int | None = None) -> Ints:
    """The group of each document, by the number of its first; a key in more than `most_documents` forms no pairs."""
    rows = key_rows(keys)
    count = len(keys.values) if keys.offsets is None else len(keys.offsets) - 1
    if judge.on == "keys" and judge.threshold <= 1 and judge.dates is None and rows.asks.all():
        return connect(_neighbours(rows, judge, facts), count)
    return connect(_judged(rows, judge, facts, count, most_documents), count)


def key_rows(keys: Keys) -> Rows:
    """Keys as rows; a 0 in a matrix is no key."""
    if keys.offsets is None:
        documents, bands = np.nonzero(keys.values)
        values = keys.values[documents, bands]
        return Rows(bands, values, documents, np.ones(len(values), np.bool_))
    documents = np.repeat(np.arange(len(keys.offsets) - 1), np.diff(keys.offsets))
    asks = np.ones(len(keys.values), np.bool_) if keys.probes is None else keys.probes
    return Rows(np.zeros(len(keys.values), np.int64), keys.values, documents, asks)


def connect(links: Ints, count: int) -> Ints:
    """The first document of each document's component."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if count == 0:
        return np.empty(0, np.int64)
    graph = coo_matrix((np.ones(len(links), np.bool_), (links[:, 0], links[:, 1])), shape=(count, count))
    number, label = connected_components(graph, directed=False)
    least = np.full(number, count, np.int64)
    np.minimum.at(least, label, np.arange(count))
    groups: Ints = least[label]
    return groups


def _neighbours(rows: Rows, judge: Judge, facts: Facts) -> Ints:
    lengths = np.zeros(len(rows.documents), np.int64)
    if judge.lengths is not None:
        lengths = _known(facts.lengths, "lengths")[rows.documents]
    order = np.lexsort((rows.documents, lengths, rows.values, rows.bands))
    bands, values, documents = rows.bands[order], rows.values[order], rows.documents[order]
    near = (bands[1:] == bands[:-1]) & (values[1:] == values[:-1])
    pairs: Ints = np.stack([documents[:-1], documents[1:]], axis=1)[near]
    return pairs[within(pairs, judge, facts)]


def _judged(rows: Rows, judge: Judge, facts: Facts, count: int, most_documents: int | None) -> Ints:
    pairs, shared = pairs_of(rows, count, most_documents)
    near = within(pairs, judge, facts)
    pairs, shared = pairs[near], shared[near]
    if judge.on == "keys":
        return pairs[shared >= judge.threshold]
    if facts.sketch is None:
        raise InputError("these signatures hold no sketch, so pairs cannot be judged; sign the documents again")
    return pairs[scores(facts.sketch, pairs, judge.measure) >= judge.threshold]


def pairs_of(rows: Rows, count: int, most_documents: int | None = None) -> tuple[Ints, Ints]:
    """Pairs of documents that share a key which one of them asks for, ascending, and how many keys they share."""
    order = np.lexsort((rows.documents, rows.values, rows.bands))
    bands, values = rows.bands[order], rows.values[order]
    documents, asks = rows.documents[order], rows.asks[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (bands[1:] != bands[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, len(order)))
    if most_documents is not None:
        sizes = np.where(sizes > most_documents, 1, sizes)
    total = int((sizes * (sizes - 1) // 2).sum())
    if total > MOST_PAIRS:
        raise TooManyPairs(
            f"{total:,} pairs of documents share a key, more than the {MOST_PAIRS:,} that are judged in memory; "
            "use `roughly dedupe`, which does not form them"
        )
    found = [np.empty(0, np.int64)]
    left, ends = np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)
    at = left + np.arange(len(left)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    step = 0
    while len(at):
        step += 1
        inside = at + step < ends
        at, ends = at[inside], ends[inside]
        asked = asks[at] | asks[at + step]
        a, b = documents[at[asked]], documents[at[asked] + step]
        found.append(np.minimum(a, b) * count + np.maximum(a, b))
    codes, shared = np.unique(np.concatenate(found), return_counts=True)
    pairs = np.stack([codes // max(count, 1), codes % max(count, 1)], axis=1)
    different = pairs[:, 0] != pairs[:, 1]
    return pairs[different], shared[different].astype(np.int64)


def within(pairs: Ints, judge: Judge, facts: Facts) -> Mask:
    """Which pairs are near enough in length and, where both are known, in date."""
    near = np.ones(len(pairs), np.bool_)
    if judge.lengths is not None:
        a, b = (_known(facts.lengths, "lengths")[pairs[:, side]] for side in (0, 1))
        near &= np.abs(a - b) <= judge.lengths * np.maximum(a, b)
    if judge.dates is not None:
        a, b = (_known(facts.days, "dates")[pairs[:, side]] for side in (0, 1))
        known = (a != UNKNOWN) & (b != UNKNOWN)
        near &= ~known | (np.abs(np.where(known, a, 0) - np.where(known, b, 0)) <= judge.dates)
    return near


def scores(sketch: Sketch, pairs: Ints, measure: str) -> npt.NDArray[np.float64]:
    """Values in common, or resemblance or containment (the greater of the two), exact or estimated, of each pair."""
    from roughly.kernels.sets import intersections

    if measure == "common" or (sketch.limits is None and sketch.most == 0):
        left, right = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        shared = intersections(sketch.values, sketch.offsets, left, right).astype(np.float64)
        if measure == "common":
            return shared
        sizes = np.diff(sketch.offsets)
        a, b = sizes[left], sizes[right]
        whole = np.minimum(a, b) if measure == "containment" else a + b - shared
        score: npt.NDArray[np.float64] = np.divide(shared, whole, out=np.zeros(len(pairs)), where=whole > 0)
        return score
    return np.array([_estimate(sketch, int(a), int(b), measure) for a, b in pairs], np.float64)


def _estimate(sketch: Sketch, a: int, b: int, measure: str) -> float:
    """Of one pair, below the smaller of its limits, and for MIN_s among the s smallest of the union."""
    sets = [sketch.values[sketch.offsets[d] : sketch.offsets[d + 1]] for d in (a, b)]
    if sketch.limits is not None:
        limit = min(sketch.limits[a], sketch.limits[b])
        sets = [values[: np.searchsorted(values, limit, "right")] for values in sets]
    if measure == "containment":
        whole = min(map(len, sets))
        return len(np.intersect1d(sets[0], sets[1], assume_unique=True)) / whole if whole else 0.0
    union = np.union1d(sets[0], sets[1])
    if sketch.most:
        union = union[: sketch.most]
    if not len(union):
        return 0.0
    return float((np.isin(union, sets[0]) & np.isin(union, sets[1])).sum()) / len(union)


def _known(values: Ints | None, name: str) -> Ints:
    if values is None:
        raise InputError(f"this method has a window of {name}, and the {name} of the documents are not known")
    return values
