"""From keys to candidates: which documents share a key, within the memory and on all threads.

Rows (key, member) are processed one *share* at a time: one band of keys, or as much of the key space as fits into
memory. A filter of two bits per slot drops the keys that occur once, which are nearly all of them (`kernels.grouping`);
the others are sorted. Buckets with the same members, as a pair of near-copies has in most bands, are kept once. Shares
are processed in parallel and used in order, so the answer is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import NO_PROBES, Candidates
from roughly.cluster.common_keys import (
    COMMON_COUNTS,
    NO_COMMON_KEYS,
    NO_LIMIT,
    CommonKeys,
    CommonLimit,
    KeyRowSource,
    find_common,
    runs,
)
from roughly.errors import MemoryTooSmall
from roughly.fast_dataclass import dataclass
from roughly.threads import map_in_order

Hashes = npt.NDArray[np.uint64]
Members = npt.NDArray[np.uint32]

_KEY_BYTES = 4
"""Memory of the filter per key, at most: sixteen slots of two bits."""
_ROW_BYTES = 36
"""Memory per row that passes the filter: three times (key, member)."""
_ENTRY_BYTES = 12
"""Memory per member of a bucket when the candidates are assembled."""

_ALWAYS_THERE = 16 << 20
"""A budget at least this large is always allowed."""


class KeyStream(Protocol):
    """Keys and members, piece by piece; can be read several times."""

    @property
    def count(self) -> int:
        """The number of rows."""
        ...

    def __iter__(self) -> Iterator[tuple[Hashes, Members]]: ...


@dataclass(frozen=True)
class _Share:
    rows: KeyStream
    number: int
    bits: int


@dataclass
class Buckets:
    """Buckets, added share by share."""

    budget: int
    has_probes: bool = False  # the lowest bit of a member says whether its key is a probe
    once: bool = True  # buckets with the same members are kept once
    common: int = 0  # keys left out because too many documents have them
    common_keys: CommonKeys = NO_COMMON_KEYS  # more about them, where some documents may consist of them
    entries: int = 0
    _sizes: list[Members] = field(default_factory=list)
    _members: list[Members] = field(default_factory=list)
    _seen: Hashes = field(default_factory=lambda: np.zeros(1 << 10, np.uint64))
    _known: int = 0

    @property
    def mostly_common(self) -> int:
        """Documents that consist of common keys."""
        return len(self.common_keys.documents)

    @property
    def common_counts(self) -> dict[str, int]:
        """What is counted of common keys, by the names of `COMMON_COUNTS`."""
        return dict(zip(COMMON_COUNTS, (self.common, self.mostly_common), strict=True))

    def add(self, found: tuple[Members, Members, Hashes, int]) -> None:
        """Add the buckets of one share."""
        from roughly.kernels.grouping import only

        sizes, members, hashes, common = found
        self.common += common
        if self.once:
            new = self._first_time(hashes)
            members, sizes = only(sizes, members, new), sizes[new]
        self._sizes.append(sizes)
        self._members.append(members)
        self.entries += len(members)
        if self.entries * _ENTRY_BYTES > max(self.budget, _ALWAYS_THERE):
            raise MemoryTooSmall(
                f"the documents that share a key need more than the {self.budget >> 20} MB available for them; "
                "raise --memory (twice as much is enough for twice as many duplicates)"
            )

    def _first_time(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        from roughly.kernels.grouping import first_time

        if 2 * (self._known + len(hashes)) > len(self._seen):
            known = self._seen[self._seen != 0]
            self._seen = np.zeros(1 << (4 * (self._known + len(hashes))).bit_length(), np.uint64)
            first_time(known, self._seen)
        new = first_time(hashes, self._seen)
        self._known += int(new.sum())
        return new

    def rows(self) -> tuple[Members, Members, npt.NDArray[np.bool_]]:
        """(size of each bucket, their members, whether each is a probe). Frees its own memory."""
        self._seen = np.empty(0, np.uint64)
        sizes = np.concatenate([np.empty(0, np.uint32), *self._sizes])
        members = np.concatenate([np.empty(0, np.uint32), *self._members])
        self._sizes, self._members = [], []
        if not self.has_probes:
            return sizes, members, NO_PROBES
        probes = (members & np.uint32(1)).astype(np.bool_)
        members >>= np.uint32(1)
        return sizes, members, probes

    def candidates(self, documents: int, threads: int = 1) -> tuple[Members, Candidates]:
        """(the member number of each candidate document, ascending; the candidates). Frees its own memory."""
        sizes, members, probes = self.rows()
        there = np.zeros(documents, np.bool_)
        there[members] = True
        number = np.cumsum(there, dtype=np.uint32)
        number -= np.uint32(1)
        chosen = np.flatnonzero(there).astype(np.uint32)
        return chosen, Candidates.from_buckets(sizes, number[members], probes, len(chosen), threads)


def group(
    streams: Sequence[KeyStream],
    *,
    budget: int,
    threads: int,
    has_probes: bool = False,
    common: CommonLimit = NO_LIMIT,
    once: bool = True,
) -> Buckets:
    """The buckets of each stream of rows; a key belongs to its stream."""
    from roughly.kernels.grouping import buckets_of

    memory = max(1, budget // (4 * threads))
    shares = [
        _Share(rows, number, bits)
        for rows in streams
        for bits in [_halvings(rows.count * _KEY_BYTES, memory)]
        for number in range(1 << bits)
    ]
    found = Buckets(budget // 2, has_probes, once)

    def buckets(share: _Share) -> list[tuple[Members, Members, Hashes, int]]:
        return [buckets_of(*rows, has_probes, common.most) for rows in _sorted_rows(share, memory)]

    for parts in map_in_order(buckets, shares, threads):
        for part in parts:
            found.add(part)
    if found.common and common.share:
        source = KeyRowSource(
            lambda: (rows for share in shares for rows in _sorted_rows(share, memory)),
            lambda: (rows for stream in streams for rows in stream),
            int(has_probes),
        )
        found.common_keys = find_common(source, common)
        rows = found.common_keys.rows
        found.add(buckets_of(*rows, has_probes, 0))
        found.common -= len(runs(rows[0])[0])
    return found


def _halvings(size: int, memory: int) -> int:
    """How often something of this size must be halved to fit."""
    return max(0, (-(-size // memory) - 1).bit_length())


def _sorted_rows(share: _Share, memory: int) -> Iterator[tuple[Hashes, Members]]:
    """The rows of keys that may occur more than once, with their keys spread, sorted by key, in pieces."""
    from roughly.kernels.grouping import count_shared, filter_words, mark, select, sort_rows

    number, bits = share.number, share.bits
    words = filter_words(share.rows.count >> bits)
    once, twice = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for keys, members in share.rows:
        mark(keys, members, number, bits, once, twice)
    del once
    passing = share.rows.count >> bits
    if passing * _ROW_BYTES > memory:
        passing = sum(count_shared(keys, members, number, bits, twice) for keys, members in share.rows)
    halvings = _halvings(passing * _ROW_BYTES, memory)
    for part in range(1 << halvings):
        some = [select(keys, members, number, bits, twice, part, halvings) for keys, members in share.rows]
        keys = np.concatenate([np.empty(0, np.uint64), *(rows[0] for rows in some)])
        members = np.concatenate([np.empty(0, np.uint32), *(rows[1] for rows in some)])
        del some
        yield sort_rows(keys, members, bits + halvings)
