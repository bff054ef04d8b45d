"""Tokens of candidate documents, on disk; their shingle sets, in memory when asked for.

Documents arrive in input order and are asked for in order of rank. The tokens lie one after the other in one file,
and an index says where each document's begin. Sets are made from them at each loading, on all threads: that is
cheaper than storing them, and the tokens also tell the kind of a duplicate.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import ScoredPairs, blocks
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.text.canonical import Tokens
from roughly.threads import map_in_order

_PIECE = 4 << 20
"""Bytes of tokens that are made into sets at once; a few times as much is taken meanwhile."""
_KIND_PAIRS = 500


def write_tokens(path: Path, documents: int, batches: Iterable[tuple[Ints, Tokens]]) -> tuple[Ints, Ints]:
    """Store batches as they come; returns where each document's tokens start, and how many there are."""
    starts, lengths = np.zeros(documents, np.int64), np.zeros(documents, np.int64)
    at = 0
    with path.open("wb") as stream:
        for docs, tokens in batches:
            lengths[docs] = np.diff(tokens.offsets)
            starts[docs] = tokens.offsets[:-1] + (at - tokens.offsets[0])
            stream.write(np.ascontiguousarray(tokens.hashes).data)
            at += len(tokens.hashes)
    return starts, lengths


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
        """Let go of the file."""
        if "_file" in self.__dict__:
            os.close(self.__dict__.pop("_file"))

    def weight(self) -> Ints:
        """Bytes that each document's set takes, at most."""
        return self._weight

    def _lengths(self, docs: Ints) -> Ints:
        return (self._weight[docs] - 16) >> 3

    def tokens(self, docs: Ints) -> Tokens:
        """The tokens of these documents, in this order."""
        offsets = np.zeros(len(docs) + 1, np.int64)
        np.cumsum(self._lengths(docs), out=offsets[1:])
        hashes = np.empty(int(offsets[-1]), np.uint64)
        view = memoryview(hashes.data).cast("B") if len(hashes) else memoryview(b"")
        file = self._file
        ends = (8 * offsets).tolist()
        for i, start in enumerate((8 * self.starts[docs]).tolist()):
            begin, end = ends[i], ends[i + 1]
            while begin < end:  # a read may bring less than asked for
                count = os.preadv(file, [view[begin:end]], start)
                if not count:
                    raise OSError(f"{self.path} is shorter than it was")
                begin, start = begin + count, start + count
        return Tokens(hashes, offsets)

    def load(self, docs: Ints) -> Sets:
        """The shingle sets of these documents, in this order."""
        values = np.empty(int(self._lengths(docs).sum()), np.uint64)
        offsets = np.zeros(len(docs) + 1, np.int64)
        pieces = [docs[lo:hi] for lo, hi in blocks(self._weight[docs], _PIECE)]
        done = at = 0
        for sets in map_in_order(
            lambda piece: shingle_sets(self.tokens(piece), self.shingle_size), pieces, self.threads
        ):
            offsets[done + 1 : done + len(sets) + 1] = sets.offsets[1:] + at
            values[at : at + len(sets.values)] = sets.values
            done, at = done + len(sets), at + len(sets.values)
        return Sets(values[:at], offsets)


def kinds_of(store: TokenStore, pairs: ScoredPairs, threads: int) -> pa.Array:
    """The kind of each pair, as its tokens tell."""
    from roughly.verify.kinds import KINDS, kinds_of_pairs

    def kinds(lo: int) -> npt.NDArray[np.int8]:
        some = pairs[lo : lo + _KIND_PAIRS]
        docs = np.unique(some[:, :2]).astype(np.int64)
        codes = kinds_of_pairs(store.tokens(docs), np.searchsorted(docs, some[:, 0]), np.searchsorted(docs, some[:, 1]))
        return codes.astype(np.int8)

    codes = [np.empty(0, np.int8), *map_in_order(kinds, range(0, len(pairs), _KIND_PAIRS), threads)]
    return pa.DictionaryArray.from_arrays(np.concatenate(codes), list(KINDS)).cast(pa.string())
