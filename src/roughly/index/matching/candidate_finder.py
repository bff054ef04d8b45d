"""Candidates: the contents of an index that share a key with the texts of a query.

    keys of the query ⋈ stored keys, in blocks (`hot_keys`) and in rows → sizes and bitmaps → pairs that may be similar

**Hot keys.** A key that 100,000 texts share makes 100,000 candidates. Their sizes and bitmaps are stored in the blocks
of the key, and a kernel (`kernels.meeting`) rules out with certainty those that differ too much. Equal documents are
one text, so copies cost nothing. No pair is missed: the pairs are all that share a key and may reach the threshold.

**Common keys.** Where a method leaves out keys that too many texts have, a text that consists of them is looked up by
its rarest ones (`cluster.common_keys`). For containment all keys are looked up: a short text that consists of common
keys may be contained in any. `left_out` says how many keys of the last query were not looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from roughly.cluster.common_keys import CommonLimit, runs
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.index.index_config import IndexConfig
from roughly.index.matching.rank_order import RankedDocument
from roughly.index.matching.signed_batch import KeyRows
from roughly.index.storage import hot_keys, stored_keys
from roughly.index.storage.bodies import unpack_marks
from roughly.index.storage.schema import CONTENTS
from roughly.index.storage.store import IndexStore

if TYPE_CHECKING:
    from roughly.cluster.comparisons import WordsInMemory

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_ENTRIES = 4_000_000  # key entries that are expanded into pairs at a time


@dataclass(frozen=True)
class QueryKeys:
    """The texts of a query, numbered 0, 1, …"""

    keys: KeyRows
    lengths: Ints
    sets: Callable[[Ints], Sets]  # what the texts at these positions are compared on
    words: Callable[[Ints], WordsInMemory]  # for a learned verdict
    own: Ints | None = None  # their contents where they are in the index; then only earlier contents are candidates
    ranked: list[RankedDocument] | None = None  # the documents, where they are not in the index
    equal: Ints | None = None  # the contents that are equal to them, −1 for none; these are no candidates
    counts_all: bool = False  # whether all contents that have a key make it hot, or only earlier ones

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class OwnerPairs:
    """Pairs of a text of the query, `owner[i]`, and a content of the index, `content[i]`."""

    owner: Ints
    content: Ints
    shared_keys: Ints
    owner_probes: Flags  # the owner probes for a key that both have
    content_probes: Flags  # the content does
    tokens: Ints  # of the content
    sizes: Ints  # of the set that the content is compared on
    min_difference: Ints  # least number of values in which the two sets differ, by sizes and bitmaps

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
    """Pairs to be compared, and the sets of their owners."""

    pairs: OwnerPairs
    owners: Ints
    sets: Sets | None  # of the owners; None where the method counts shared keys


@dataclass(frozen=True)
class _KeyEntries:
    """The contents that have the keys of a query, sorted by key and member."""

    keys: Ints
    members: Ints
    numbers: Ints  # contents, rising
    tokens: Ints
    sizes: Ints
    maps: npt.NDArray[np.uint64]


class CandidateFinder:
    """Finds candidates in one transaction of an index."""

    def __init__(self, store: IndexStore, connection: Connection, config: IndexConfig) -> None:
        self.store, self.connection, self.config = store, connection, config
        self.loose = np.empty(0, np.int64), np.empty(0, np.int64)
        """(keys, members) of the last query that no block has yet, for the writer who makes blocks of them."""
        self.left_out = 0
        """Keys of the last query that were not looked up, since too many contents have them."""

    @cached_property
    def _has_blocks(self) -> bool:
        return hot_keys.trusted(self.store, self.connection)

    def find(self, query: QueryKeys, *, prefilter: bool = True) -> Iterator[CandidatePairs]:
        """All pairs that share a key, a bounded number at a time.

        With `prefilter`, without those that sizes and bitmaps rule out. Without it, pairs of any similarity are wanted:
        then common keys are looked up too, the rarest first, up to a bounded number of entries.
        """
        keys = query.keys
        self.left_out = 0
        if not len(keys.keys):
            return
        found = self._entries(keys)
        lo, hi = np.searchsorted(found.keys, keys.keys, "left"), np.searchsorted(found.keys, keys.keys, "right")
        allowed = self._allowed(query, found, lo, hi, any_similarity=not prefilter)
        sizes = np.where(allowed, hi - lo, 0)
        itself = keys.is_probe & (query.own is not None)  # a text of the index finds itself, where it probes
        has_candidates = np.zeros(len(query), np.bool_)
        has_candidates[keys.owners[sizes > itself]] = True
        use = has_candidates[keys.owners] & (sizes > 0)
        owners = np.flatnonzero(has_candidates)
        if not len(owners):
            return
        sets = query.sets(owners) if prefilter and self.config.judge.on != "keys" else None
        ranges = np.searchsorted(owners, keys.owners[use]), keys.is_probe[use], lo[use], hi[use]
        askers = self._askers(query, owners, sets)
        for start, stop in _cuts(sizes[use], keys.owners[use]):
            pairs = self._pairs(query, owners, [column[start:stop] for column in ranges], found, askers, prefilter)
            if len(pairs):
                yield CandidatePairs(pairs, owners, sets)

    def _allowed(self, query: QueryKeys, found: _KeyEntries, lo: Ints, hi: Ints, any_similarity: bool) -> Flags:
        """Which rows of the query's keys form pairs: all but common keys, and the rarest of these where needed."""
        judge, keys = self.config.judge, query.keys
        limit = CommonLimit.of(self.config.method.common, judge)
        if not limit.most or (judge.measure == "containment" and not any_similarity):
            return np.ones(len(lo), np.bool_)
        sharing = self._sharing(query, found, lo, hi)
        is_common = sharing > limit.most
        order = np.lexsort((keys.keys, sharing, keys.owners))
        ordered, owners = is_common[order], keys.owners[order]
        if any_similarity:
            entries = np.cumsum(sharing[order])
            starts, counts = runs(owners)
            before = np.repeat(np.r_[0, entries][starts], counts)
            use = ~ordered | (entries - before <= _ENTRIES)
        else:
            total, common = (np.bincount(o, minlength=len(query)) for o in (owners, owners[ordered]))
            rarest = limit.rarest(total, common)
            starts, counts = runs(owners[ordered])
            use = ~ordered
            use[ordered] = np.arange(counts.sum()) - np.repeat(starts, counts) < rarest[owners[ordered]]
        allowed = np.empty(len(lo), np.bool_)
        allowed[order] = use
        self.left_out = int((~allowed).sum())
        return allowed

    def _sharing(self, query: QueryKeys, found: _KeyEntries, lo: Ints, hi: Ints) -> Ints:
        """The number of texts that have each key, the query's own included.

        Where the query's texts are in the index, only earlier ones count, unless `counts_all`.
        """
        sharing, owners = hi - lo, query.keys.owners
        if query.own is None:
            return sharing + (True if query.equal is None else query.equal[owners] < 0)
        many = np.flatnonzero(sharing > self.config.method.common)
        if query.counts_all or not len(many):
            return sharing
        # entries in the order of (first entry of the key, content), each as one number
        starts, counts = runs(found.keys)
        base = len(found.numbers) + 1
        entries = np.repeat(starts, counts) * base + np.searchsorted(found.numbers, found.members >> 1)
        own = np.searchsorted(found.numbers, query.own[owners[many]])
        sharing[many] = 1 + np.searchsorted(entries, lo[many] * base + own) - lo[many]
        return sharing

    # ------------------------------------------------------------------ entries

    def _entries(self, keys: KeyRows) -> _KeyEntries:
        """All contents that have one of the keys."""
        wanted = np.unique(keys.keys[keys.is_probe])
        packed = self._blocks(wanted)
        loose = self._rows(wanted, packed, probes_only=False)
        loose = loose[np.lexsort((loose[:, 1], loose[:, 0]))]
        self.loose = loose[:, 0], loose[:, 1]
        if not keys.is_probe.all():  # a key that is no probe is only found by contents that probe for it
            passive = np.setdiff1d(keys.keys[~keys.is_probe], wanted)
            more = self._blocks(passive)
            loose = np.concatenate((loose, self._rows(passive, more, probes_only=True)))
            probes = (more[1]["member"] & 1).astype(np.bool_)
            packed = np.concatenate((packed[0], more[0][probes])), np.concatenate((packed[1], more[1][probes]))
        return self._with_facts(*packed, loose)

    def _blocks(self, keys: Ints) -> tuple[Ints, npt.NDArray[np.void]]:
        if not self._has_blocks or not len(keys):
            return np.empty(0, np.int64), np.empty(0, hot_keys.ENTRY)
        return hot_keys.read(self.store, self.connection, keys)

    def _rows(self, keys: Ints, packed: tuple[Ints, npt.NDArray[np.void]], *, probes_only: bool) -> Ints:
        """Rows (key, member) that no block has."""
        if not len(packed[0]):
            return stored_keys.find(self.store, self.connection, keys, probes_only=probes_only)
        lasts = np.flatnonzero(np.r_[packed[0][1:] != packed[0][:-1], True])
        hot = packed[0][lasts]
        others = stored_keys.find(self.store, self.connection, np.setdiff1d(keys, hot), probes_only=probes_only)
        rest = stored_keys.find_after(self.store, self.connection, hot, packed[1]["member"][lasts].astype(np.int64))
        return np.concatenate((others, rest[(rest[:, 1] & 1) == 1] if probes_only else rest))

    def _with_facts(self, keys: Ints, entries: npt.NDArray[np.void], loose: Ints) -> _KeyEntries:
        """Entries of blocks and of rows together, with the facts about their contents."""
        packed = entries["member"].astype(np.int64)
        numbers = np.unique(np.concatenate((packed, loose[:, 1])) >> 1)
        facts = np.full((len(numbers), 2), -1, np.int64)
        maps = np.zeros((len(numbers), hot_keys.FOLDED), np.uint64)
        place = np.searchsorted(numbers, packed >> 1)
        facts[place, 0], facts[place, 1], maps[place] = entries["tokens"], entries["size"], entries["map"]
        self._look_up(numbers, facts, maps)
        both, members = np.concatenate((keys, loose[:, 0])), np.concatenate((packed, loose[:, 1]))
        order = np.lexsort((members, both))
        return _KeyEntries(both[order], members[order], numbers, facts[:, 0].copy(), facts[:, 1].copy(), maps)

    def _look_up(self, numbers: Ints, facts: Ints, maps: npt.NDArray[np.uint64]) -> None:
        """Fill in the facts about contents that are in no block."""
        missing = numbers[facts[:, 0] < 0]
        if not len(missing):
            return
        columns: list[Any] = [CONTENTS.c.content, CONTENTS.c.tokens, CONTENTS.c.size]
        if not self.config.marked:
            table = self.store.fetch_numbers(self.connection, columns, CONTENTS.c.content, missing)
            facts[np.searchsorted(numbers, table[:, 0])] = table[:, 1:]
            return
        rows = self.store.fetch(self.connection, [*columns, CONTENTS.c.marks], CONTENTS.c.content, missing)
        content, tokens, sizes, marks = zip(*rows, strict=True)
        place = np.searchsorted(numbers, np.array(content, np.int64))
        facts[place, 0], facts[place, 1] = tokens, sizes
        maps[place] = hot_keys.folded(unpack_marks(marks))

    # ------------------------------------------------------------------ pairs

    def _askers(self, query: QueryKeys, owners: Ints, sets: Sets | None) -> Any:
        from roughly.kernels import meeting
        from roughly.kernels.bitmaps import draw

        maps = np.zeros((len(owners), hot_keys.FOLDED), np.uint64)
        sizes = np.zeros(len(owners), np.int64)
        if sets is not None:
            sizes = np.diff(sets.offsets)
            if self.config.marked:
                draw(sets.values, sets.offsets, maps, 0)
        before = np.full(len(owners), meeting.EVERYONE) if query.own is None else query.own[owners]
        equal = np.full(len(owners), meeting.NOBODY) if query.equal is None else query.equal[owners]
        return meeting.Queries(before, equal, sizes, maps)

    def _pairs(
        self, query: QueryKeys, owners: Ints, ranges: list[Any], found: _KeyEntries, askers: Any, prefilter: bool
    ) -> OwnerPairs:
        from roughly.kernels import meeting
        from roughly.kernels.judging import MEASURES

        config, judge = self.config, self.config.judge
        threshold = judge.threshold * (1.0 - 1e-9) if config.marked and prefilter else 0.0
        rows = meeting.find_stored(
            meeting.KeyRanges(*ranges),
            np.full(len(owners), query.own is None) & (askers.equal < 0),
            meeting.Entries(np.searchsorted(found.numbers, found.members >> 1), (found.members & 1).astype(np.bool_)),
            meeting.Contents(found.numbers, found.sizes, found.maps),
            askers,
            meeting.Sieve(MEASURES[judge.measure], float(threshold), 0, True),
        )
        owner, place, shared_keys, flags, min_difference = rows.T
        return OwnerPairs(
            owners[owner], found.numbers[place], shared_keys, (flags & 1).astype(np.bool_),
            (flags & 2).astype(np.bool_), found.tokens[place], found.sizes[place], min_difference,
        )  # fmt: skip


def _cuts(sizes: Ints, owners: Ints) -> list[tuple[int, int]]:
    """Ranges of key rows with a bounded number of entries; no owner is divided."""
    if sizes.sum() <= _ENTRIES:
        return [(0, len(sizes))]
    first = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    totals = np.add.reduceat(sizes, first)
    ends = np.r_[first[1:], len(sizes)]
    cuts, start, entries = [], 0, 0
    for total, end in zip(totals.tolist(), ends.tolist(), strict=True):
        entries += total
        if entries >= _ENTRIES:
            cuts.append((start, end))
            start, entries = end, 0
    return [*cuts, (start, len(sizes))] if start < len(sizes) else cuts
