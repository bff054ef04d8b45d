"""The most repeated passages: maximal runs of tokens with one list of places, ordered by what removing them saves.

In windows, classes that follow each other at every one of their places belong to one passage. A passage that overlaps a
longer list entry at its first place is left out, so a page of boilerplate is one entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roughly.tools.passages.copy_decisions import ClassCounts
from roughly.tools.passages.repeated_places import RepeatedPlaces, blocks_of
from roughly.tools.passages.token_file import Ints

LISTED = 1000
"""Passages that are listed at most."""
_TRIED = 100
"""Passages that are tried for each that is listed, at most."""


@dataclass(frozen=True)
class PassageList:
    """One row per passage, the one whose removal saves most first."""

    start: Ints  # its first place: the first token in the collection
    tokens: Ints
    places: Ints
    documents: Ints

    def __len__(self) -> int:
        return len(self.start)


def list_passages(
    places: RepeatedPlaces, counts: ClassCounts, least: int, most: int = LISTED
) -> tuple[PassageList, int]:
    """The first `most` passages of at least this number of tokens, and the number of all of these."""
    firsts = places.members[places.class_offsets[:-1]]
    used = np.flatnonzero(counts.used)
    order = used[np.argsort(firsts[used], kind="stable")]
    heads, lengths = _chains(places, firsts, order)
    heads, lengths = heads[lengths >= least], lengths[lengths >= least]
    found = PassageList(places.starts[firsts[heads]], lengths, counts.places[heads], counts.documents[heads])
    best = np.lexsort((found.start, -(found.places - 1) * found.tokens))
    return _disjoint(found, best, most), len(found)


def _chains(places: RepeatedPlaces, firsts: Ints, order: Ints) -> tuple[Ints, Ints]:
    """The first class and the number of tokens of each passage; `order` has the classes by their first place."""
    if not len(order):
        return order, np.empty(0, np.int64)
    if len(places.lengths):
        return order, places.lengths[firsts[order]]
    follows = np.zeros(len(order), np.bool_)
    follows[1:] = _follow(places, order[:-1], order[1:])
    at = np.flatnonzero(~follows)
    return order[at], places.least + np.diff(np.append(at, len(order))) - 1


def _follow(places: RepeatedPlaces, left: Ints, right: Ints) -> np.ndarray:
    """Whether every place of each right class starts one token after a place of the left one, and no place is left."""
    offsets, sizes, starts = places.class_offsets, places.class_sizes, places.starts
    firsts = places.members[offsets[:-1]]
    may = np.flatnonzero((sizes[left] == sizes[right]) & (starts[firsts[right]] == starts[firsts[left]] + 1))
    result = np.zeros(len(left), np.bool_)
    counts = sizes[left[may]]
    for begin, end in blocks_of(counts):
        some, count = may[begin:end], counts[begin:end]
        owner = np.repeat(np.arange(len(some)), count)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        here = starts[places.members[offsets[left[some]][owner] + within]]
        there = starts[places.members[offsets[right[some]][owner] + within]]
        differs = np.bincount(owner[there != here + 1], minlength=len(some)) > 0
        result[some] = ~differs
    return result


def _disjoint(found: PassageList, best: Ints, most: int) -> PassageList:
    """The best passages whose first places do not overlap."""
    taken: list[int] = []
    begins, ends = np.empty(0, np.int64), np.empty(0, np.int64)
    for at in best[: _TRIED * most].tolist():
        if len(taken) == most:
            break
        start, end = found.start[at], found.start[at] + found.tokens[at]
        place = int(np.searchsorted(begins, start, "right"))
        if (place > 0 and ends[place - 1] > start) or (place < len(begins) and begins[place] < end):
            continue
        begins, ends = np.insert(begins, place, start), np.insert(ends, place, end)
        taken.append(at)
    chosen = np.array(taken, np.int64)
    return PassageList(found.start[chosen], found.tokens[chosen], found.places[chosen], found.documents[chosen])
