"""From keys to candidates: which documents share a key, within the memory and on all threads.

Rows (key, member) are gone through a *share* at a time: one band of keys, or as much of the key space as fits the
memory. A filter of two bits a slot drops the keys that occur once, which are nearly all of them
(`kernels.grouping`); what is left is sorted. Buckets with the same members, such as a pair of near-copies makes in
most bands, are kept once. Shares are worked on side by side and taken in order, so the answer is the same for any
number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import NO_ASKS, Candidates
from roughly.errors import MemoryTooSmall
from roughly.threads import map_in_order

Hashes = npt.NDArray[np.uint64]
Members = npt.NDArray[np.uint32]

_KEY_BYTES = 4
"""Memory of the filter for a key, at most: sixteen slots of two bits."""
_ROW_BYTES = 36
"""Memory for a row that passes the filter: (key, member) three times over."""
_ENTRY_BYTES = 12
"""Memory for a member of a bucket when the candidates are put together."""

_ALWAYS_THERE = 16 << 20
"""So little is never worth a refusal."""


class KeyStream(Protocol):
    """Keys and members, a piece at a time, as often as asked."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def __iter__(self) -> Iterator[tuple[Hashes, Members]]: ...


@dataclass(frozen=True)
class _Share:
    rows: KeyStream
    number: int
    bits: int


@dataclass
class Buckets:
    """Buckets gathered a share at a time."""

    budget: int
    asking: bool = False  # the lowest bit of a member says whether it asks
    once: bool = True  # buckets with the same members are kept once
    common: int = 0  # keys left out because too many documents have them
    entries: int = 0
    _sizes: list[Members] = field(default_factory=list)
    _members: list[Members] = field(default_factory=list)
    _seen: Hashes = field(default_factory=lambda: np.zeros(1 << 10, np.uint64))
    _known: int = 0

    def add(self, found: tuple[Members, Members, Hashes, int]) -> None:
        """Take the buckets of one share."""
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
                f"the documents that share a key take more than the {self.budget >> 20} MB there are for them; "
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
        """(size of each bucket, their members, whether each asks). Gives its memory away."""
        self._seen = np.empty(0, np.uint64)
        sizes = np.concatenate([np.empty(0, np.uint32), *self._sizes])
        members = np.concatenate([np.empty(0, np.uint32), *self._members])
        self._sizes, self._members = [], []
        if not self.asking:
            return sizes, members, NO_ASKS
        asks = (members & np.uint32(1)).astype(np.bool_)
        members >>= np.uint32(1)
        return sizes, members, asks

    def candidates(self, documents: int) -> tuple[Members, Candidates]:
        """(the member number of each candidate document, ascending; the candidates). Gives its memory away."""
        sizes, members, asks = self.rows()
        there = np.zeros(documents, np.bool_)
        there[members] = True
        number = np.cumsum(there, dtype=np.uint32)
        number -= np.uint32(1)
        chosen = np.flatnonzero(there).astype(np.uint32)
        return chosen, Candidates.from_buckets(sizes, number[members], asks, len(chosen))


def group(
    streams: Sequence[KeyStream],
    *,
    budget: int,
    threads: int,
    asking: bool = False,
    most: int = 0,
    once: bool = True,
) -> Buckets:
    """The buckets of each stream of rows; a key counts within its stream. `most`: commoner keys are left out."""
    room = max(1, budget // (4 * threads))
    shares = [
        _Share(rows, number, bits)
        for rows in streams
        for bits in [_halvings(rows.count * _KEY_BYTES, room)]
        for number in range(1 << bits)
    ]
    found = Buckets(budget // 2, asking, once)
    for parts in map_in_order(lambda share: list(_buckets(share, room, asking, most)), shares, threads):
        for part in parts:
            found.add(part)
    return found


def _halvings(size: int, room: int) -> int:
    """How often something of this size must be halved to fit."""
    return max(0, (-(-size // room) - 1).bit_length())


def _buckets(share: _Share, room: int, asking: bool, most: int) -> Iterator[tuple[Members, Members, Hashes, int]]:
    from roughly.kernels.grouping import buckets_of, count_shared, filter_words, mark, select, sort_rows

    number, bits = share.number, share.bits
    words = filter_words(share.rows.count >> bits)
    once, twice = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for keys, members in share.rows:
        mark(keys, members, number, bits, once, twice)
    del once
    passing = share.rows.count >> bits
    if passing * _ROW_BYTES > room:
        passing = sum(count_shared(keys, members, number, bits, twice) for keys, members in share.rows)
    halvings = _halvings(passing * _ROW_BYTES, room)
    for part in range(1 << halvings):
        some = [select(keys, members, number, bits, twice, part, halvings) for keys, members in share.rows]
        keys = np.concatenate([np.empty(0, np.uint64), *(rows[0] for rows in some)])
        members = np.concatenate([np.empty(0, np.uint32), *(rows[1] for rows in some)])
        del some
        yield buckets_of(*sort_rows(keys, members, bits + halvings), asking, most)
