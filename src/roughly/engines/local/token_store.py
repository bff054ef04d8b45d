"""Tokens of candidate documents, on disk; their shingle sets, in memory when asked for.

Documents arrive in any order and are asked for in order of rank. The tokens lie one after the other in one file,
and an index says where each document's begin. Sets are made from them at each loading, on all threads: that is
cheaper than storing them, and the tokens also tell the kind of a duplicate. Threads write and read side by side, each
at its own place in the file.
"""

from __future__ import annotations

import os
import threading
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import ScoredPairs
from roughly.features.shingle_sets import Sets
from roughly.text.canonical import Tokens

_PAIRS_AT_ONCE = 1 << 16
"""Pairs whose kinds are told in one call: forty bytes are held of each."""


class TokenWriter:
    """Stores batches of tokens; several threads may add them at once."""

    def __init__(self, path: Path, documents: int) -> None:
        self.starts, self.lengths = np.zeros(documents, np.int64), np.zeros(documents, np.int64)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        self._end, self._taking = 0, threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        os.close(self._file)

    def add(self, docs: Ints, tokens: Tokens) -> tuple[int, int]:
        """Store the tokens of these documents; returns (documents, bytes)."""
        first, last = int(tokens.offsets[0]), int(tokens.offsets[-1])
        with self._taking:
            at, self._end = self._end, self._end + last - first
        self.lengths[docs] = np.diff(tokens.offsets)
        self.starts[docs] = tokens.offsets[:-1] + (at - first)
        data = np.ascontiguousarray(tokens.hashes[first:last]).view(np.uint8).data
        written = 0
        while written < len(data):  # a write may take less than it is given
            written += os.pwrite(self._file, data[written:], 8 * at + written)
        return len(docs), len(data)


class TokenStore:
    """The tokens of candidates 0, 1, … and their sets."""

    complete = True

    def __init__(self, path: Path, starts: Ints, lengths: Ints, *, shingle_size: int, threads: int) -> None:
        self.path, self.starts = path, starts
        self._weight = 8 * lengths + 16
        self.shingle_size, self.threads = shingle_size, threads

    @cached_property
    def _file(self) -> int:
        return os.open(self.path, os.O_RDONLY)

    def close(self) -> None:
        """Close the file."""
        if "_file" in self.__dict__:
            os.close(self.__dict__.pop("_file"))

    def weight(self) -> Ints:
        """Bytes that each document's set takes, at most."""
        return self._weight

    def _ranges(self, docs: Ints) -> tuple[int, Ints, Ints]:
        """(file, where the tokens of these documents start, how many there are)."""
        return self._file, self.starts[docs], (self._weight[docs] - 16) >> 3

    def load(self, docs: Ints) -> Sets:
        """The shingle sets of these documents, in this order."""
        from roughly.kernels.batches import gather_shingle_sets

        return Sets(*gather_shingle_sets(*self._ranges(docs), np.arange(len(docs)), self.shingle_size, self.threads))

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
    """The kind of each pair, as its tokens tell."""
    from roughly.verify.kinds import KINDS

    return pa.DictionaryArray.from_arrays(store.kinds(pairs), list(KINDS)).cast(pa.string())
