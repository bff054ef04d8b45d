"""Tokens of candidate documents, on disk; their shingle sets are loaded on demand.

Documents arrive in any order and are loaded in order of rank. The tokens are stored one after the other in a few files,
with the offset of each document. Sets are made from them at each loading, on all threads: that is cheaper than storing
them, and the kind of a duplicate is found from the tokens too. Threads write and read concurrently, each at its own
offset.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import ScoredPairs
from roughly.features.shingle_sets import Sets
from roughly.kernels.batches import FILE_SHIFT
from roughly.text.canonical import Tokens
from roughly.threads import map_in_order

if TYPE_CHECKING:
    from roughly.cluster.fields import Fields

_PAIRS_AT_ONCE = 1 << 16
"""Pairs whose kinds are found in one call: forty bytes each in memory."""


class TokenWriter:
    """Stores batches of tokens; several threads may add them at once.

    There are several files, since threads that write to one wait for each other.
    """

    def __init__(self, paths: Sequence[Path], documents: int) -> None:
        self.starts, self.lengths = np.full(documents, -1, np.int64), np.zeros(documents, np.int64)  # -1: not added
        self._files = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666) for path in paths]
        self._ends, self._taking = [0] * len(paths), threading.Lock()
        self._free = list(range(len(paths)))  # files that no thread writes to

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        for file in self._files:
            os.close(file)

    def add(self, docs: Ints, tokens: Tokens) -> tuple[int, int]:
        """Store the tokens of these documents; returns (documents, bytes)."""
        first, last = int(tokens.offsets[0]), int(tokens.offsets[-1])
        with self._taking:
            number = self._free.pop() if self._free else self._ends.index(min(self._ends))
            at, self._ends[number] = self._ends[number], self._ends[number] + last - first
        self.lengths[docs] = np.diff(tokens.offsets)
        self.starts[docs] = tokens.offsets[:-1] + ((number << FILE_SHIFT) + at - first)
        data = np.ascontiguousarray(tokens.hashes[first:last]).view(np.uint8).data
        written = 0
        while written < len(data):  # a write may be partial
            written += os.pwrite(self._files[number], data[written:], 8 * at + written)
        with self._taking:
            if number not in self._free:
                self._free.append(number)
        return len(docs), len(data)


class TokenStore:
    """The tokens of candidates 0, 1, … and their sets."""

    complete = True

    def __init__(
        self, paths: Sequence[Path], starts: Ints, lengths: Ints, *, shingle_size: int, threads: int,
        fields: Fields | None = None,
    ) -> None:  # fmt: skip
        self.paths, self.starts, self.fields = paths, starts, fields
        self._weight = 8 * lengths + 16
        self.shingle_size, self.threads = shingle_size, threads

    @cached_property
    def _files(self) -> list[int]:
        return [os.open(path, os.O_RDONLY) for path in self.paths]

    def close(self, threads: int = 1) -> None:
        """Close the files; the system then frees the memory of those that are deleted.

        With one thread no other is started: a finaliser may run where a lock of thread pools is held, and at the end.
        """
        for _ in map_in_order(os.close, self.__dict__.pop("_files", []), threads):
            pass

    def weight(self) -> Ints:
        """Bytes of each document's set, at most."""
        return self._weight

    def _ranges(self, docs: Ints) -> tuple[list[int], Ints, Ints]:
        """(files, offsets of these documents' tokens, numbers of tokens)."""
        return self._files, self.starts[docs], (self._weight[docs] - 16) >> 3

    def load(self, docs: Ints) -> Sets:
        """The shingle sets of these documents, in this order."""
        from roughly.kernels.batches import gather_shingle_sets

        return Sets(*gather_shingle_sets(*self._ranges(docs), np.arange(len(docs)), self.shingle_size, self.threads))

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each document."""
        return (self._weight - 16) >> 3

    def tokens(self, docs: Ints) -> Tokens:
        """The tokens of these documents, in this order."""
        from roughly.kernels.batches import gather_tokens

        return Tokens(*gather_tokens(*self._ranges(docs), np.arange(len(docs)), self.threads))

    def kinds(self, pairs: ScoredPairs) -> npt.NDArray[np.int8]:
        """The kind of each pair (removed document, better-ranked document), as positions in `verify.kinds.KINDS`."""
        from roughly.kernels.batches import gather_outlines
        from roughly.verify.kinds import kinds_of_outlines

        codes = np.empty(len(pairs), np.int8)
        for lo in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[lo : lo + _PAIRS_AT_ONCE, :2].astype(np.int64)
            codes[lo : lo + len(some)] = kinds_of_outlines(gather_outlines(*self._ranges(some.ravel()), self.threads))
        return codes


def kinds_of(store: TokenStore, pairs: ScoredPairs) -> pa.Array:
    """The kind of each pair, from its tokens."""
    from roughly.verify.kinds import KINDS

    return pa.DictionaryArray.from_arrays(store.kinds(pairs), list(KINDS))
