"""Buckets of documents that share a key, in the two forms that resolution needs.

Documents are numbered 0, 1, … in order of rank among the documents that share a key with another. A document's
buckets and a bucket's documents are the same incidence, stored by row and by column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from roughly.dates import NO_DAY
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.methods import Judge

Ints = npt.NDArray[np.int64]
NO_PROBES = np.empty(0, np.bool_)


class SetLoader(Protocol):
    """The source of the shingle sets of candidate documents."""

    complete: bool
    """Whether the sets are complete, or samples up to a limit that differs from document to document."""

    def weight(self) -> Ints:
        """Bytes of each document's set in memory, at most."""
        ...

    def load(self, docs: Ints) -> Sets:
        """The sets of these documents, in this order."""
        ...


@dataclass(frozen=True)
class PairConstraints:
    """Conditions other than similarity for two documents to be duplicates, for each of the candidates."""

    days: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))  # days of publication
    most_days: int = 0  # most days between the two
    lengths: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # in tokens
    least_share: float = 0.0  # least length of the shorter, as a fraction of the longer

    @classmethod
    def of_judge(cls, judge: Judge, days: npt.NDArray[np.int32], lengths: Ints) -> Self:
        """The constraints of a judge, given the day of publication and the tokens of each candidate."""
        return cls(
            days if judge.dates is not None else np.empty(0, np.int32),
            judge.dates or 0,
            lengths if judge.lengths is not None else np.empty(0, np.int64),
            1.0 - (judge.lengths or 0.0),
        )

    def of(self, docs: Ints) -> PairConstraints:
        """The same for some of the candidates."""
        days = self.days[docs] if len(self.days) else self.days
        lengths = self.lengths[docs] if len(self.lengths) else self.lengths
        return PairConstraints(days, self.most_days, lengths, self.least_share)

    def admit(self, pairs: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Which pairs of documents may be duplicates."""
        left, right = pairs[:, 0], pairs[:, 1]
        fine = np.ones(len(pairs), np.bool_)
        if len(self.days):
            one, other = self.days[left].astype(np.int64), self.days[right].astype(np.int64)
            fine &= (np.minimum(one, other) > NO_DAY) & (np.abs(one - other) <= self.most_days)
        if len(self.lengths):
            one, other = self.lengths[left], self.lengths[right]
            fine &= np.minimum(one, other) >= self.least_share * np.maximum(one, other)
        return fine


@dataclass(frozen=True)
class Candidates:
    """Which documents share which buckets. `asks` marks probes, and is empty if every key is a probe (see
    `methods.Keys`)."""

    doc_offsets: Ints
    doc_buckets: npt.NDArray[np.uint32]
    probes: npt.NDArray[np.bool_]
    buckets: int

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self.doc_offsets) - 1

    @classmethod
    def from_buckets(
        cls,
        sizes: npt.NDArray[np.uint32],
        members: npt.NDArray[np.uint32],
        probes: npt.NDArray[np.bool_],
        documents: int,
        threads: int = 1,
    ) -> Self:
        """From the documents of each bucket, one after the other."""
        from roughly.kernels.grouping import transpose

        return cls(*transpose(_starts(sizes), members, probes, documents, threads), len(sizes))

    def by_bucket(self, threads: int = 1) -> tuple[Ints, npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
        """(offsets, documents, asks): the documents of each bucket, in order of rank."""
        from roughly.kernels.grouping import transpose

        return transpose(self.doc_offsets, self.doc_buckets, self.probes, self.buckets, threads)

    def bucket_starts(self) -> Ints:
        """Where each bucket's documents begin, if they are listed bucket after bucket."""
        from roughly.kernels.grouping import count_members

        counts = np.zeros(self.buckets + 1, np.int64)
        count_members(self.doc_buckets, counts)
        return np.cumsum(counts, out=counts)

    def key_sets(self) -> SetLoader:
        """Each document's buckets as its set: two documents then share as many values as keys."""
        return _KeySets(self)

    def pairs(self, at_once: int = 1_000_000) -> Iterator[Ints]:
        """All pairs (document, better-ranked one) that share a bucket, each once, in batches of about this size."""
        from roughly.kernels.pairs import pairs_sharing

        starts, docs, _ = self.by_bucket()
        d = 0
        while d < self.documents:
            found, d = pairs_sharing(d, self.doc_offsets, self.doc_buckets, starts, docs, at_once)
            yield found

    def pair_bound(self) -> int:
        """An upper bound of the pairs that share a bucket: counted once per bucket, and at most all pairs."""
        sizes = np.diff(self.bucket_starts()).astype(np.float64)
        return int(min((sizes * (sizes - 1) / 2).sum(), self.documents * (self.documents - 1) / 2))


class _KeySets:
    complete = True

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates

    def weight(self) -> Ints:
        return 8 * np.diff(self._candidates.doc_offsets) + 16

    def load(self, docs: Ints) -> Sets:
        held = self._candidates
        counts = np.diff(held.doc_offsets)[docs]
        offsets = np.zeros(len(docs) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        at = np.arange(offsets[-1]) + np.repeat(held.doc_offsets[docs] - offsets[:-1], counts)
        return Sets(held.doc_buckets[at].astype(np.uint64), offsets)


def _starts(sizes: npt.NDArray[np.uint32]) -> Ints:
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
