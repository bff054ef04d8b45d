"""From keys to candidates: which documents share a key, within the memory.

Keys that come a band at a time are grouped a band at a time. A filter of two bits a slot drops the keys that occur
once, which are nearly all of them (`kernels.grouping`); what is left is grouped exactly by the database. Buckets
with the same members, such as a pair of near-copies makes in most bands, are kept once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import NO_ASKS, Candidates, Ints
from roughly.engines.local.database import Database, parquet
from roughly.engines.local.segments import Segments

NOT_ACTIVE = np.uint32(0xFFFFFFFF)
_KEY_BYTES = 64
"""Memory that the database takes for a key while it groups lists of keys; measured generously."""

Ranks = npt.NDArray[np.uint32]


@dataclass
class Buckets:
    """(bucket, rank) rows, gathered a group of keys at a time."""

    buckets: int = 0
    ids: list[Ints] = field(default_factory=list)
    ranks: list[Ranks] = field(default_factory=list)
    asks: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    _seen: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    def add(self, keys: npt.NDArray[np.uint64], ranks: Ranks, asks: npt.NDArray[np.bool_] | None = None) -> None:
        """Take rows sorted by key; buckets whose members are known already are left out (if all their keys ask)."""
        from roughly.kernels.grouping import bucket_hashes

        if not len(keys):
            return
        starts, hashes = bucket_hashes(keys, ranks)
        sizes = np.diff(starts)
        new = np.ones(len(sizes), np.bool_)
        if asks is None:
            _, firsts = np.unique(hashes, return_index=True)
            new[:] = False
            new[firsts] = True
            new &= ~np.isin(hashes, self._seen)
            self._seen = np.union1d(self._seen, hashes)
        rows = np.repeat(new, sizes)
        self.ids.append(np.repeat(np.cumsum(new) - 1 + self.buckets, sizes)[rows])
        self.ranks.append(ranks[rows])
        if asks is not None:
            self.asks.append(asks[rows])
        self.buckets += int(new.sum())

    def candidates(self) -> tuple[Ranks, Candidates]:
        """(the rank of each candidate document, ascending; the candidates)."""
        if not self.ids:
            return np.empty(0, np.uint32), Candidates(np.zeros(1, np.int64), np.empty(0, np.uint32), NO_ASKS, 0)
        ranks = np.concatenate(self.ranks)
        documents = np.unique(ranks)
        asks = np.concatenate(self.asks) if self.asks else NO_ASKS
        return documents, Candidates.from_pairs(
            np.concatenate(self.ids), np.searchsorted(documents, ranks), asks, len(documents), self.buckets
        )


def group_bands(segments: Segments, rank_of: Ranks, database: Database) -> Buckets:
    """Group the keys of each band. `rank_of` is the rank of each document, NOT_ACTIVE where it takes no part."""
    found = Buckets()
    for band in range(segments.bands):
        keys, ranks = _maybe_shared(segments, band, rank_of)
        rows = database.table(
            "SELECT key, rank FROM rows QUALIFY count(*) OVER (PARTITION BY key) > 1 ORDER BY key, rank",
            rows=pa.table({"key": keys, "rank": ranks}),
        )
        found.add(rows["key"].to_numpy(), rows["rank"].to_numpy())
    return found


def _maybe_shared(segments: Segments, band: int, rank_of: Ranks) -> tuple[npt.NDArray[np.uint64], Ranks]:
    from roughly.kernels.grouping import filter_words, mark, may_be_shared

    once, twice = (np.zeros(filter_words(len(rank_of)), np.uint64) for _ in range(2))
    for first, keys in segments.keys_of_band(band):
        mark(keys, rank_of[first : first + len(keys)] != NOT_ACTIVE, once, twice)
    kept_keys, kept_ranks = [np.empty(0, np.uint64)], [np.empty(0, np.uint32)]
    for first, keys in segments.keys_of_band(band):
        ranks = rank_of[first : first + len(keys)]
        shared = may_be_shared(keys, ranks != NOT_ACTIVE, twice)
        kept_keys.append(keys[shared])
        kept_ranks.append(ranks[shared])
    return np.concatenate(kept_keys), np.concatenate(kept_ranks)


def group_lists(segments: Segments, database: Database) -> Buckets:
    """Group keys that come as lists, a range of keys at a time; a bucket needs a document that asks and another."""
    found = Buckets()
    files = segments.files("keys.parquet")
    if not files:
        return found
    source = parquet(files)
    total = database.value(f"SELECT count(*) FROM {source}")
    parts = 1
    while total * _KEY_BYTES // parts > database.memory // 2:
        parts *= 2
    bits = parts.bit_length() - 1
    for part in range(parts):
        where = f"WHERE key >> {64 - bits} = {part}" if bits else ""
        rows = database.table(
            f"""
            WITH k AS (SELECT k.key, a.rank, k.ask FROM {source} k
                       JOIN active a ON k.doc = a.doc {where})
            SELECT key, rank, ask FROM k
            QUALIFY count(*) OVER (PARTITION BY key) > 1 AND bool_or(ask) OVER (PARTITION BY key)
            ORDER BY key, rank
            """
        )
        found.add(rows["key"].to_numpy(), rows["rank"].to_numpy(), rows["ask"].to_numpy())
    return found
