"""Who is to be compared: the texts asked about, and the contents of an index that share a key with them.

    keys asked for ⋈ keys stored, packed (`crowds`) and loose → sizes and bitmaps → pairs that may be alike

**Hot keys.** A key that 100,000 texts share makes 100,000 candidates. Their sizes and bitmaps lie packed beside the
key, and rule out, for certain, those that are too unlike, in a kernel (`kernels.meeting`). Equal documents are one
text, so copies cost nothing. Nothing is left out: the pairs are all that share a key and may reach the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from roughly.features.shingles import Sets
from roughly.index.config import IndexConfig
from roughly.index.matching import rank_order as ranks
from roughly.index.matching.signed_batch import KeyRows
from roughly.index.storage import hot_keys as crowds
from roughly.index.storage import stored_keys as keys_
from roughly.index.storage.bodies import unpack_marks
from roughly.index.storage.schema import CONTENTS
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_EXPANDED = 4_000_000  # entries at a time


@dataclass(frozen=True)
class QueryKeys:
    """Texts that are asked about, numbered 0, 1, …"""

    keys: KeyRows
    lengths: Ints
    sets: Callable[[Ints], Sets]  # what they are judged on
    own: Ints | None = None  # their contents where they are in the index; then only earlier ones are looked at
    ranked: list[ranks.RankedDocument] | None = None  # themselves, where they are not
    equal: Ints | None = None  # the contents that are equal to them, −1 for none; these are told without judging
    counts_all: bool = False  # whether keys are too common by all who have them, or by those before

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class OwnerPairs:
    """Text `owner[i]` of those asked about and content `content[i]` of the index."""

    owner: Ints
    content: Ints
    shared: Ints  # keys
    asked: Flags  # the owner asks for a key that both have
    asks: Flags  # the content does
    tokens: Ints  # of the content
    sizes: Ints  # of what the content is judged on
    differ: Ints  # the least number of values in which the two differ, by sizes and bitmaps

    def __len__(self) -> int:
        return len(self.owner)

    def of(self, use: Flags | Ints) -> OwnerPairs:
        """Some of them."""
        return OwnerPairs(*(getattr(self, field.name)[use] for field in fields(self)))

    @classmethod
    def none(cls) -> Self:
        """No pairs."""
        none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
        return cls(none, none, none, no, no, none, none, none)


@dataclass(frozen=True)
class CandidatePairs:
    """Pairs to be judged, and the sets of those who ask."""

    pairs: OwnerPairs
    owners: Ints
    sets: Sets | None  # of the owners; None where pairs are judged by keys in common


@dataclass(frozen=True)
class _Found:
    """Entries of the keys that are asked for, sorted by key and member."""

    keys: Ints
    members: Ints
    numbers: Ints  # contents, rising
    tokens: Ints
    sizes: Ints
    maps: npt.NDArray[np.uint64]


class CandidateFinder:
    """Asks one moment of an index who shares keys with some texts."""

    def __init__(self, store: IndexStore, connection: Connection, bound: IndexConfig) -> None:
        self.store, self.connection, self.bound = store, connection, bound
        self.loose = np.empty(0, np.int64), np.empty(0, np.int64)
        """(keys, members) that stand behind the blocks of keys that were asked for, for those who pack them."""

    @cached_property
    def _packed(self) -> bool:
        return crowds.trusted(self.store, self.connection)

    def meet(self, asking: QueryKeys, *, sift: bool = True) -> Iterator[CandidatePairs]:
        """All pairs that share a key, a bounded number at a time.

        With `sift` without those that sizes and bitmaps rule out.
        """
        keys = asking.keys
        if not len(keys.keys):
            return
        found = self._entries(keys)
        lo, hi = np.searchsorted(found.keys, keys.keys, "left"), np.searchsorted(found.keys, keys.keys, "right")
        sizes = hi - lo
        alone = keys.asks & (asking.own is not None)  # who is in the index finds itself, where it asks
        busy = np.zeros(len(asking), np.bool_)
        busy[keys.owners[sizes > alone]] = True
        use = busy[keys.owners] & (sizes > 0)
        owners = np.flatnonzero(busy)
        if not len(owners):
            return
        sets = asking.sets(owners) if sift and self.bound.judge.on != "keys" else None
        rows = KeyRows(keys.owners[use], keys.keys[use], keys.asks[use])
        ranges = np.searchsorted(owners, rows.owners), rows.asks, lo[use], hi[use]
        askers = self._askers(asking, owners, sets)
        for start, stop in _cuts(sizes[use], rows.owners):
            pairs = self._pairs(asking, owners, [column[start:stop] for column in ranges], found, askers, sift)
            if len(pairs):
                yield CandidatePairs(pairs, owners, sets)

    # ------------------------------------------------------------------ entries

    def _entries(self, keys: KeyRows) -> _Found:
        """All contents that have one of the keys."""
        wanted = np.unique(keys.keys[keys.asks])
        packed = self._blocks(wanted)
        loose = self._rows(wanted, packed, asking=False)
        loose = loose[np.lexsort((loose[:, 1], loose[:, 0]))]
        self.loose = loose[:, 0], loose[:, 1]
        if not keys.asks.all():  # of a key that only answers, those matter who ask
            answers = np.setdiff1d(keys.keys[~keys.asks], wanted)
            more = self._blocks(answers)
            loose = np.concatenate((loose, self._rows(answers, more, asking=True)))
            asking = (more[1]["member"] & 1).astype(np.bool_)
            packed = np.concatenate((packed[0], more[0][asking])), np.concatenate((packed[1], more[1][asking]))
        return self._known(*packed, loose)

    def _blocks(self, keys: Ints) -> tuple[Ints, npt.NDArray[np.void]]:
        if not self._packed or not len(keys):
            return np.empty(0, np.int64), np.empty(0, crowds.ENTRY)
        return crowds.read(self.store, self.connection, keys)

    def _rows(self, keys: Ints, packed: tuple[Ints, npt.NDArray[np.void]], *, asking: bool) -> Ints:
        """Rows (key, member) that no block has."""
        if not len(packed[0]):
            return keys_.find(self.store, self.connection, keys, asking=asking)
        lasts = np.flatnonzero(np.r_[packed[0][1:] != packed[0][:-1], True])
        hot = packed[0][lasts]
        few = keys_.find(self.store, self.connection, np.setdiff1d(keys, hot), asking=asking)
        rest = keys_.find_after(self.store, self.connection, hot, packed[1]["member"][lasts].astype(np.int64))
        return np.concatenate((few, rest[(rest[:, 1] & 1) == 1] if asking else rest))

    def _known(self, keys: Ints, entries: npt.NDArray[np.void], loose: Ints) -> _Found:
        """Packed and loose entries together, with what is known of their contents."""
        packed = entries["member"].astype(np.int64)
        numbers = np.unique(np.concatenate((packed, loose[:, 1])) >> 1)
        facts = np.full((len(numbers), 2), -1, np.int64)
        maps = np.zeros((len(numbers), crowds.FOLDED), np.uint64)
        place = np.searchsorted(numbers, packed >> 1)
        facts[place, 0], facts[place, 1], maps[place] = entries["tokens"], entries["size"], entries["map"]
        self._look_up(numbers, facts, maps)
        both, members = np.concatenate((keys, loose[:, 0])), np.concatenate((packed, loose[:, 1]))
        order = np.lexsort((members, both))
        return _Found(both[order], members[order], numbers, facts[:, 0].copy(), facts[:, 1].copy(), maps)

    def _look_up(self, numbers: Ints, facts: Ints, maps: npt.NDArray[np.uint64]) -> None:
        """Fill in the facts of contents that stand in no block."""
        missing = numbers[facts[:, 0] < 0]
        if not len(missing):
            return
        columns: list[Any] = [CONTENTS.c.content, CONTENTS.c.tokens, CONTENTS.c.size]
        if not self.bound.marked:
            table = self.store.numbers(self.connection, columns, CONTENTS.c.content, missing)
            facts[np.searchsorted(numbers, table[:, 0])] = table[:, 1:]
            return
        rows = self.store.fetch(self.connection, [*columns, CONTENTS.c.marks], CONTENTS.c.content, missing)
        content, tokens, sizes, marks = zip(*rows, strict=True)
        place = np.searchsorted(numbers, np.array(content, np.int64))
        facts[place, 0], facts[place, 1] = tokens, sizes
        maps[place] = crowds.folded(unpack_marks(marks))

    # ------------------------------------------------------------------ pairs

    def _askers(self, asking: QueryKeys, owners: Ints, sets: Sets | None) -> Any:
        from roughly.kernels import meeting
        from roughly.kernels.bitmaps import draw

        maps = np.zeros((len(owners), crowds.FOLDED), np.uint64)
        sizes = np.zeros(len(owners), np.int64)
        if sets is not None:
            sizes = np.diff(sets.offsets)
            if self.bound.marked:
                draw(sets.values, sets.offsets, maps, 0)
        before = np.full(len(owners), meeting.EVERYONE) if asking.own is None else asking.own[owners]
        equal = np.full(len(owners), meeting.NOBODY) if asking.equal is None else asking.equal[owners]
        return meeting.Askers(before, equal, sizes, maps)

    def _pairs(
        self, asking: QueryKeys, owners: Ints, ranges: list[Any], found: _Found, askers: Any, sifted: bool
    ) -> OwnerPairs:
        from roughly.kernels import meeting
        from roughly.kernels.judging import MEASURES

        bound, judge = self.bound, self.bound.judge
        threshold = judge.threshold * (1.0 - 1e-9) if bound.marked and sifted else 0.0
        counted = asking.own is None or asking.counts_all
        met = meeting.meet_stored(
            meeting.KeyRanges(*ranges),
            np.full(len(owners), asking.own is None) & (askers.equal < 0),
            meeting.Entries(np.searchsorted(found.numbers, found.members >> 1), (found.members & 1).astype(np.bool_)),
            meeting.Contents(found.numbers, found.sizes, found.maps),
            askers,
            meeting.Sieve(MEASURES[judge.measure], float(threshold), int(bound.method.common), counted),
        )
        owner, place, shared, flags, differ = met.T
        return OwnerPairs(
            owners[owner], found.numbers[place], shared, (flags & 1).astype(np.bool_), (flags & 2).astype(np.bool_),
            found.tokens[place], found.sizes[place], differ,
        )  # fmt: skip


def _cuts(sizes: Ints, owners: Ints) -> list[tuple[int, int]]:
    """Ranges of key rows that name a bounded number of entries, each owner whole."""
    if sizes.sum() <= _EXPANDED:
        return [(0, len(sizes))]
    first = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    totals = np.add.reduceat(sizes, first)
    ends = np.r_[first[1:], len(sizes)]
    cuts, start, held = [], 0, 0
    for total, end in zip(totals.tolist(), ends.tolist(), strict=True):
        held += total
        if held >= _EXPANDED:
            cuts.append((start, end))
            start, held = end, 0
    return [*cuts, (start, len(sizes))] if start < len(sizes) else cuts
