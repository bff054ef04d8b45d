"""Tokens of candidate documents, on disk; their shingle sets, in memory when asked for.

Documents arrive in input order and are asked for in order of rank. The tokens lie one after the other in one file,
and an index says where each document's begin. Sets are made from them at each loading, on all threads: that is
cheaper than storing them, and the tokens also tell the kind of a duplicate.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from roughly.cluster.candidates import Ints
from roughly.engines.local.database import plain_errors
from roughly.features.shingles import Sets, shingle_sets
from roughly.text.canonical import Tokens

_BYTES_A_TOKEN = 40
"""Memory for one token while its document's set is made: mapped, copied, hashed, sorted."""


class TokenStore:
    """The tokens of candidates 0, 1, … and their sets."""

    def __init__(self, path: Path, starts: Ints, lengths: Ints, *, shingle_size: int, threads: int) -> None:
        self.path, self.starts, self.lengths = path, starts, lengths
        self.shingle_size, self.threads = shingle_size, threads

    @classmethod
    def write(
        cls, path: Path, documents: int, batches: Iterable[tuple[Ints, Tokens]], *, shingle_size: int, threads: int
    ) -> TokenStore:
        """Store batches as they come."""
        starts, lengths = np.zeros(documents, np.int64), np.zeros(documents, np.int64)
        at = 0
        with plain_errors(0), path.open("wb") as stream:
            for docs, tokens in batches:
                lengths[docs] = np.diff(tokens.offsets)
                starts[docs] = tokens.offsets[:-1] + (at - tokens.offsets[0])
                stream.write(np.ascontiguousarray(tokens.hashes).data)
                at += len(tokens.hashes)
        return cls(path, starts, lengths, shingle_size=shingle_size, threads=threads)

    def weight(self) -> Ints:
        """Bytes that each document's set takes while it is made."""
        return _BYTES_A_TOKEN * self.lengths + 64

    def tokens(self, docs: Ints) -> Tokens:
        """The tokens of these documents, in this order."""
        offsets = np.zeros(len(docs) + 1, np.int64)
        np.cumsum(self.lengths[docs], out=offsets[1:])
        if not offsets[-1]:
            return Tokens(np.empty(0, np.uint64), offsets)
        from roughly.kernels.gathering import gather_ranges

        mapped = np.memmap(self.path, np.uint64, "r")
        return Tokens(gather_ranges(mapped, self.starts[docs], offsets), offsets)

    def load(self, docs: Ints) -> Sets:
        """The shingle sets of these documents, in this order."""
        pieces = [p for p in np.array_split(docs, self.threads) if len(p)]
        if not pieces:
            return Sets(np.empty(0, np.uint64), np.zeros(1, np.int64))
        if len(pieces) == 1:
            return shingle_sets(self.tokens(docs), self.shingle_size)
        with ThreadPoolExecutor(len(pieces)) as pool:
            parts = list(pool.map(lambda piece: shingle_sets(self.tokens(piece), self.shingle_size), pieces))
        bases = np.cumsum([0, *(part.offsets[-1] for part in parts)])
        offsets = [part.offsets[1:] + base for part, base in zip(parts, bases, strict=False)]
        return Sets(np.concatenate([part.values for part in parts]), np.concatenate([np.zeros(1, np.int64), *offsets]))
