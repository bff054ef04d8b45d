"""Common keys: what happens to keys that more than a limit of documents have (Broder 1997, §5.1).

A common key forms no pairs, since expanding it is quadratic and it is usually boilerplate. But a document that consists
of common shingles, such as a widely copied licence, would then have no copies. With n keys of a document, m of them
common, and the threshold t:

    the document is *mostly common*  ⇔  m ≥ ⌈t·n⌉
    then its m − ⌈t·n⌉ + 1 rarest common keys form pairs, with all documents that have them

This loses no pair. If A and B share at least t·n of A's n keys (A the smaller one, for containment) and all of these
are common, then A is mostly common; of its common keys at most m − ⌈t·n⌉ are not in B, so one of the rarest
m − ⌈t·n⌉ + 1 is.

With `ignore_common` the sets that documents are judged on have no common keys, as in the paper, except for mostly
common documents, of which too little would remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.kernels.grouping import NO_MEMBER, gather
from roughly.methods.method import Judge, Method

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Members = npt.NDArray[np.uint32]
Rows = tuple[Hashes, Members]


COMMON_COUNTS = ("common_keys", "mostly_common")
"""Counts of a run: common keys that formed no pairs, and mostly common documents."""


@dataclass(frozen=True)
class CommonLimit:
    """When a key is common, and which documents it forms pairs of nevertheless."""

    most: int = 0  # documents that may have a key; 0: no limit
    share: float = 0.0  # t; 0: common keys never form pairs
    ignored: bool = False  # common keys do not count in estimates either

    @classmethod
    def of(cls, most: int, judge: Judge) -> CommonLimit:
        """The limit for pairs that are judged so; where shared keys are counted, common ones never form pairs."""
        return cls(most, 0.0 if judge.measure == "common" else judge.threshold, judge.ignore_common)

    def rarest(self, keys: Ints, common: Ints) -> Ints:
        """How many common keys form pairs nevertheless, of documents with these numbers of keys and common keys."""
        if not self.share:
            return np.zeros(len(keys), np.int64)
        needed = np.ceil(self.share * keys - 1e-9).astype(np.int64)
        return np.where(common > 0, np.maximum(common - needed + 1, 0), 0)


NO_LIMIT = CommonLimit()


def limit_of(method: Method) -> CommonLimit:
    """The limit of a method."""
    return CommonLimit.of(method.common, method.judge())


@dataclass(frozen=True)
class KeyRowSource:
    """The rows (key, member) of a collection, which can be read several times."""

    sorted_rows: Callable[[], Iterator[Rows]]  # of the keys that several have, spread, in pieces that divide no key
    all_rows: Callable[[], Iterator[Rows]]
    shift: int = 0  # lowest bits of a member that do not name the document


@dataclass(frozen=True)
class CommonKeys:
    """The common keys of a collection."""

    keys: Hashes  # ascending
    documents: Members  # the mostly common ones
    rows: Rows  # of the keys that form pairs nevertheless, spread, sorted by key


NO_COMMON_KEYS = CommonKeys(
    np.empty(0, np.uint64), np.empty(0, np.uint32), (np.empty(0, np.uint64), np.empty(0, np.uint32))
)


def find_common(source: KeyRowSource, limit: CommonLimit) -> CommonKeys:
    """The common keys of a collection, and those of them that form pairs nevertheless."""
    keys = [np.empty(0, np.uint64)]
    common, total = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for some, members in source.sorted_rows():
        starts, sizes = runs(some)
        is_common = sizes > limit.most
        keys.append(some[starts[is_common]])
        common = _counted(common, members[np.repeat(is_common, sizes)] >> source.shift)
    for some, members in source.all_rows():
        total = _counted(total, members[(some != 0) & (members != NO_MEMBER)] >> source.shift)
    total = total[: len(common)]
    rarest = limit.rarest(total, common)
    rows = _rarest_rows(source, rarest, limit.most)
    return CommonKeys(np.sort(gather(np.concatenate(keys))), np.flatnonzero(rarest).astype(np.uint32), rows)


@dataclass(frozen=True)
class IgnoredKeys:
    """Keys that do not count in estimates."""

    keys: Hashes  # ascending
    whole: npt.NDArray[np.bool_]  # documents that keep them: the mostly common ones

    def dropped(self, sets: Sets, documents: Ints) -> Sets:
        """The sets of these documents without the keys."""
        if not len(self.keys):
            return sets
        place = np.minimum(np.searchsorted(self.keys, sets.values), len(self.keys) - 1)
        use = np.repeat(self.whole[documents], np.diff(sets.offsets)) | (self.keys[place] != sets.values)
        return replace(sets, values=sets.values[use], offsets=np.r_[0, np.cumsum(use)][sets.offsets])


def _rarest_rows(source: KeyRowSource, rarest: Ints, most: int) -> Rows:
    """All rows of the keys that are among the rarest common ones of a mostly common document."""
    found = [(np.empty(0, np.uint64), np.empty(0, np.uint32))]
    for keys, members in source.sorted_rows() if rarest.any() else ():
        starts, sizes = runs(keys)
        wanted = np.zeros(len(members), np.bool_)
        is_common = np.repeat(sizes > most, sizes)
        wanted[is_common] = rarest[members[is_common] >> source.shift] > 0
        use = np.repeat(np.logical_or.reduceat(wanted, starts), sizes) if len(starts) else wanted
        found.append((keys[use], members[use]))
    keys, members = (np.concatenate(column) for column in zip(*found, strict=True))
    sizes = runs(keys)[1]
    bucket, documents = np.repeat(np.arange(len(sizes)), sizes), members >> source.shift
    order = np.lexsort((bucket, np.repeat(sizes, sizes), documents))
    starts, counts = runs(documents[order])
    place = np.arange(len(order)) - np.repeat(starts, counts)
    chosen = np.zeros(len(sizes), np.bool_)
    chosen[bucket[order[place < rarest[documents[order]]]]] = True
    use = np.repeat(chosen, sizes)
    return keys[use], members[use]


def runs(values: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """(start, length) of each run of equal values."""
    starts = np.flatnonzero(np.r_[len(values) > 0, values[1:] != values[:-1]])
    return starts, np.diff(np.r_[starts, len(values)])


def _counted(counts: Ints, documents: npt.NDArray[Any]) -> Ints:
    """The number of rows of each document, with these added."""
    found = np.bincount(documents, minlength=len(counts))
    found[: len(counts)] += counts
    return found
