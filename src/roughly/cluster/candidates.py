"""Buckets of documents that share a key, in the two forms that resolution needs.

Documents are numbered 0, 1, … in order of rank among the documents that share a key with another. A document's
buckets and a bucket's documents are the same incidence, stored by row and by column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from roughly.features.shingles import Sets

Ints = npt.NDArray[np.int64]
NO_ASKS = np.empty(0, np.bool_)


class SetLoader(Protocol):
    """Where the shingle sets of candidate documents come from."""

    def weight(self) -> Ints:
        """Bytes that each document's set takes in memory, at most."""
        ...

    def load(self, docs: Ints) -> Sets:
        """The sets of these documents, in this order."""
        ...


@dataclass(frozen=True)
class Candidates:
    """Which documents share which buckets. `asks` is empty where every key asks (see `methods.Keys`)."""

    doc_offsets: Ints
    doc_buckets: npt.NDArray[np.uint32]
    asks: npt.NDArray[np.bool_]
    buckets: int

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.doc_offsets) - 1

    @classmethod
    def from_pairs(cls, bucket: Ints, doc: Ints, asks: npt.NDArray[np.bool_], documents: int, buckets: int) -> Self:
        """From (bucket, document) rows, in any order."""
        order = np.lexsort((bucket, doc))
        offsets = np.zeros(documents + 1, np.int64)
        np.cumsum(np.bincount(doc, minlength=documents), out=offsets[1:])
        return cls(offsets, bucket[order].astype(np.uint32), asks[order] if len(asks) else NO_ASKS, buckets)

    def owners(self) -> Ints:
        """The document of each entry of `doc_buckets`."""
        return np.repeat(np.arange(self.documents, dtype=np.int64), np.diff(self.doc_offsets))

    def by_bucket(self) -> tuple[Ints, Ints]:
        """(offsets, documents): the documents of each bucket, in order of rank."""
        order = np.argsort(self.doc_buckets, kind="stable")
        offsets = np.zeros(self.buckets + 1, np.int64)
        np.cumsum(np.bincount(self.doc_buckets, minlength=self.buckets), out=offsets[1:])
        return offsets, self.owners()[order]

    def pair_bound(self) -> int:
        """An upper bound of the pairs that share a bucket: counted once a bucket, and at most all pairs there are."""
        sizes = np.bincount(self.doc_buckets, minlength=self.buckets).astype(np.float64)
        return int(min((sizes * (sizes - 1) / 2).sum(), self.documents * (self.documents - 1) / 2))
