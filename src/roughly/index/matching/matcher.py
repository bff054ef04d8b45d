"""Which texts of an index are duplicates of those asked about: candidates by keys, judged as in a batch run.

    pairs that share a key and may be alike (`meeting`) → windows → whole bitmaps → sets loaded → counts → verdict

Where only the best are wanted, sets are loaded in the order of how alike the two can be (`nearest`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from roughly.cluster.candidates import PairConstraints
from roughly.cluster.scoring import held_of, slice_of
from roughly.dates import NO_DAY
from roughly.features.shingles import Sets, shingle_sets
from roughly.features.sketch import joined
from roughly.index.config import IndexConfig
from roughly.index.matching import rank_order as ranks
from roughly.index.matching.candidate_finder import CandidateFinder, CandidatePairs, OwnerPairs, QueryKeys
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.storage.bodies import MARK_WORDS, unpack_marks, unpack_sets, unpack_texts
from roughly.index.storage.schema import BODIES, CONTENTS, DOCUMENTS, SIGNS
from roughly.index.storage.store import IndexStore
from roughly.keep_rules import sort_order
from roughly.text.canonical import Tokens

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Row = npt.NDArray[np.int32]

_LOADED = 2_000  # sets in memory at a time
_FEW = 32  # so many candidates are loaded sooner than their bitmaps are


@dataclass(frozen=True)
class MatchVerdicts:
    """The pairs that are duplicates, with their counts (see `kernels.judging`): c, m of the owner, n of the content."""

    pairs: OwnerPairs
    c: Ints
    m: Ints
    n: Ints
    lower: Flags  # the owner ranks below the content

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, use: Flags | Ints) -> MatchVerdicts:
        """Some of them."""
        return MatchVerdicts(self.pairs.of(use), self.c[use], self.m[use], self.n[use], self.lower[use])

    @classmethod
    def none(cls) -> Self:
        """No duplicates."""
        none = np.empty(0, np.int64)
        return cls(OwnerPairs.none(), none, none, none, np.empty(0, np.bool_))

    def scores(self, measure: str) -> npt.NDArray[np.float64]:
        """By which the best is chosen."""
        return scores(self.c, self.m, self.n, self.lower, measure)


def scores(c: Ints, m: Ints, n: Ints, lower: Flags, measure: str) -> npt.NDArray[np.float64]:
    """The measure of pairs from their counts."""
    if measure == "common":
        return c.astype(np.float64)
    whole = np.where(lower, m, n) if measure == "containment" else m + n - c
    return np.where(whole == 0, 1.0, c / np.maximum(whole, 1))


def at_most(pairs: OwnerPairs, mine: Ints, lower: Flags, measure: str) -> npt.NDArray[np.float64]:
    """The most that the measure of pairs can be; `mine` are the sizes of the owners' sets.

    With h = `differ`, m + n − 2c ≥ h, hence c ≤ min(m, n, ⌊(m + n − h) / 2⌋); both measures rise with c, and a
    division that is correctly rounded keeps that order, so no score is above what is said here.
    """
    c = np.minimum(np.minimum(mine, pairs.sizes), (mine + pairs.sizes - pairs.differ) // 2)
    return scores(np.maximum(c, 0), mine, pairs.sizes, lower, measure)


class Matcher:
    """Asks one moment of an index."""

    def __init__(self, store: IndexStore, connection: Connection, bound: IndexConfig) -> None:
        self.store, self.connection, self.bound = store, connection, bound
        self.judge = bound.judge
        self.meeting = CandidateFinder(store, connection, bound)
        self.order = sort_order(bound.settings.keep, bound.settings.measure)

    def match(self, asking: QueryKeys, best: int | None = None) -> MatchVerdicts:
        """All duplicates of what is asked about, or at least the `best` so many of each, by `MatchVerdicts.scores`.

        Of equals the contents with the smaller numbers come first.
        """
        parts = [self._judge(asking, met, best) for met in self.meeting.meet(asking)]
        return together([part for part in parts if len(part)])

    # ------------------------------------------------------------------ judging

    def _judge(self, asking: QueryKeys, met: CandidatePairs, best: int | None) -> MatchVerdicts:
        from roughly.index.matching.nearest import nearest  # which asks this module what to count

        pairs = met.pairs
        lower = self._lower(asking, pairs, pairs.tokens)
        use = np.where(lower, pairs.asked, pairs.asks) & self._gates(asking, pairs, pairs.tokens)
        if self.judge.on == "keys":
            use &= pairs.shared >= self.judge.threshold
            count = pairs.shared[use]
            return MatchVerdicts(pairs.of(use), count, count, count, lower[use])
        pairs, lower = pairs.of(use), lower[use]
        assert met.sets is not None  # the method judges on sets, so they were made
        if best is not None and self.bound.marked:
            return nearest(self, met, pairs, lower, best)
        return self.counted(met, *self.alike(met, pairs, lower))

    def _lower(self, asking: QueryKeys, pairs: OwnerPairs, lengths: Ints) -> Flags:
        """Whether the owner ranks below the content."""
        mine = asking.lengths[pairs.owner]
        lower = mine < lengths
        equal = np.flatnonzero(mine == lengths)
        if self.judge.measure == "containment" and len(equal):
            theirs = self._best(pairs.content[equal], lengths[equal])
            ours = self._owners(asking, pairs.owner[equal])
            for pair in equal.tolist():
                one, other = ours[int(pairs.owner[pair])], theirs.get(int(pairs.content[pair]))
                lower[pair] = one is None or other is None or self.order(one) > self.order(other)
        return lower

    def _gates(self, asking: QueryKeys, pairs: OwnerPairs, lengths: Ints) -> Flags:
        """Whether dates and lengths allow the two to be duplicates."""
        judge = self.judge
        if judge.dates is None and judge.lengths is None:
            return np.ones(len(pairs), np.bool_)
        both = np.column_stack((np.arange(len(pairs)), np.arange(len(pairs)) + len(pairs))).astype(np.int32)
        long = np.concatenate((asking.lengths[pairs.owner], lengths))
        days = np.empty(0, np.int32)
        if judge.dates is not None:
            ours, theirs = self._owners(asking, pairs.owner), self._best(pairs.content, lengths)
            days = np.concatenate(
                (
                    ranks.days_of(ours[owner] for owner in pairs.owner.tolist()),
                    ranks.days_of(theirs.get(content) for content in pairs.content.tolist()),
                )
            )
            if not (days != NO_DAY).any() and not self._dated:
                days = days[:0]  # where no document has a date, the window does not apply
        lengths_apply = long if judge.lengths is not None else long[:0]
        return PairConstraints(days, judge.dates or 0, lengths_apply, 1.0 - (judge.lengths or 0.0)).admit(both)

    @cached_property
    def _dated(self) -> bool:
        found = select(DOCUMENTS.c.document).where(DOCUMENTS.c.day.is_not(None)).limit(1)
        return self.connection.execute(found).first() is not None

    def _best(self, contents: Ints, lengths: Ints) -> dict[int, ranks.RankedDocument]:
        unique, first = np.unique(contents, return_index=True)
        tokens = dict(zip(unique.tolist(), lengths[first].tolist(), strict=True))
        return {text: min(listed, key=self.order) for text, listed in self.documents_of(unique, tokens).items()}

    def documents_of(self, contents: Ints, tokens: dict[int, int]) -> dict[int, list[ranks.RankedDocument]]:
        """The documents of each of these contents, which have so many tokens; contents without one are left out."""
        rows = self.store.fetch(self.connection, ranks.COLUMNS, DOCUMENTS.c.content, contents)
        return ranks.documents_of(rows, tokens, self.bound.settings.date_format)

    def _owners(self, asking: QueryKeys, owners: Ints) -> dict[int, ranks.RankedDocument | None]:
        unique = np.unique(owners)
        if asking.own is None:
            return self._askers(asking, unique)
        best = self._best(asking.own[unique], asking.lengths[unique])
        return {owner: best.get(int(asking.own[owner])) for owner in unique.tolist()}

    def _askers(self, asking: QueryKeys, owners: Ints) -> dict[int, ranks.RankedDocument | None]:
        """Documents that are not in the index; where their text is, the best of all that have it speaks for them."""
        given = asking.ranked or []
        found: dict[int, ranks.RankedDocument | None] = {o: given[o] if given else None for o in owners.tolist()}
        if asking.equal is None or not given:
            return found
        known = owners[asking.equal[owners] >= 0]
        best = self._best(asking.equal[known], asking.lengths[known])
        for owner in known.tolist():
            if (other := best.get(int(asking.equal[owner]))) is not None:
                found[owner] = min(given[owner], other, key=self.order)
        return found

    def counted(self, met: CandidatePairs, pairs: OwnerPairs, lower: Flags) -> MatchVerdicts:
        """Load what the pairs are judged on, and count."""
        from roughly.kernels import resolve
        from roughly.kernels.judging import MEASURES

        assert met.sets is not None
        rule = resolve.Rule(MEASURES[self.judge.measure], float(self.judge.threshold), 0, 0.0)
        contents = np.unique(pairs.content)
        parts = []
        for at in range(0, len(contents), _LOADED):
            block = contents[at : at + _LOADED]
            inside = np.flatnonzero((pairs.content >= block[0]) & (pairs.content <= block[-1]))
            used, place = np.unique(np.searchsorted(met.owners, pairs.owner[inside]), return_inverse=True)
            held = held_of(joined([slice_of(met.sets, used), self.load(block)]))
            theirs = len(used) + np.searchsorted(block, pairs.content[inside])
            left, right = np.where(lower[inside], place, theirs), np.where(lower[inside], theirs, place)
            numbers = np.column_stack((inside, inside)).astype(np.int32)
            rows = resolve.score_pairs(numbers, left, right, held, rule, float(self.judge.threshold))
            parts.append(rows.astype(np.int64))
        counts = np.concatenate([np.empty((0, 5), np.int64), *parts])
        chosen, c = counts[:, 0], counts[:, 2]
        down = lower[chosen]
        m, n = np.where(down, counts[:, 3], counts[:, 4]), np.where(down, counts[:, 4], counts[:, 3])
        return MatchVerdicts(pairs.of(chosen), c, m, n, down)

    def alike(self, met: CandidatePairs, pairs: OwnerPairs, lower: Flags) -> tuple[OwnerPairs, Flags]:
        """The pairs that their whole bitmaps do not rule out, with what those say; few are judged sooner."""
        from roughly.kernels.bitmaps import draw

        if not self.bound.marked or len(pairs) <= _FEW or met.sets is None:
            return pairs, lower
        owners, place = np.unique(np.searchsorted(met.owners, pairs.owner), return_inverse=True)
        mine = slice_of(met.sets, owners)
        maps = np.zeros((len(mine), MARK_WORDS), np.uint64)
        draw(mine.values, mine.offsets, maps, 0)
        contents, other = np.unique(pairs.content, return_inverse=True)
        theirs = unpack_marks(self._column(CONTENTS.c.content, CONTENTS.c.marks, contents))
        differ = pairs.differ.copy()
        for at in range(0, len(pairs), 100_000):
            some = slice(at, at + 100_000)
            bits = np.bitwise_count(maps[place[some]] ^ theirs[other[some]]).sum(axis=1)
            differ[some] = np.maximum(differ[some], bits)
        pairs = replace(pairs, differ=differ)
        use = at_most(pairs, np.diff(mine.offsets)[place], lower, self.judge.measure) >= self.judge.threshold
        return pairs.of(use), lower[use]

    # ------------------------------------------------------------------ sets

    def load(self, contents: Ints) -> Sets:
        """What these contents are judged on, in this order."""
        if self.judge.on == "sketch":
            return unpack_sets(self._column(SIGNS.c.content, SIGNS.c.sketch, contents), self.bound.most)
        return self.load_bodies(contents)

    def load_bodies(self, contents: Ints) -> Sets:
        """The shingle sets of these contents, or samples of them, in this order."""
        bodies = self._column(BODIES.c.content, BODIES.c.body, contents)
        if self.bound.store == "text":
            from roughly.text.canonical import tokenise

            return shingle_sets(tokenise(unpack_texts(bodies)), self.bound.settings.shingle_size)
        return unpack_sets(bodies, self.bound.most)

    def _column(self, key: object, column: object, contents: Ints) -> list[bytes]:
        found = {row[0]: bytes(row[1]) for row in self.store.fetch(self.connection, (key, column), key, contents)}
        return [found[content] for content in contents.tolist()]


def asking_signed(
    bound: IndexConfig, signed: SignedBatch, own: Ints | None = None, equal: Ints | None = None
) -> QueryKeys:
    """Documents that were just signed, as what is asked about."""
    ranked = None
    if own is None:
        columns = (signed.column(name) for name in ("url", "source", "doc_id"))
        ranked = [
            ranks.RankedDocument(tokens, size, published, 2**62, url, source, doc_id or "\U0010ffff")
            for tokens, size, published, url, source, doc_id in zip(
                signed.lengths.tolist(), signed.bytes.tolist(), signed.published.to_pylist(), *columns, strict=True
            )
        ]
    return QueryKeys(signed.keys, signed.lengths, lambda rows: judged_sets(bound, signed, rows), own, ranked, equal)


def judged_sets(bound: IndexConfig, signed: SignedBatch, rows: Ints) -> Sets:
    """What the method judges these documents on."""
    if bound.judge.on == "sketch":
        assert signed.sketch is not None  # a method that judges on sketches makes some
        return slice_of(signed.sketch, rows)
    return body_sets(bound, tokens_of(signed.tokens, rows))


def body_sets(bound: IndexConfig, tokens: Tokens) -> Sets:
    """Shingle sets, or samples of them where only those are stored."""
    if bound.store == "sketch":
        return bound.sampling.apply(tokens, bound.settings.shingle_size)
    return shingle_sets(tokens, bound.settings.shingle_size)


def tokens_of(tokens: Tokens, rows: Ints) -> Tokens:
    """The tokens of some of the documents."""
    some = slice_of(Sets(tokens.hashes, tokens.offsets), rows)
    return Tokens(some.values, some.offsets)


def together(parts: list[MatchVerdicts]) -> MatchVerdicts:
    if len(parts) == 1:
        return parts[0]
    parts = [MatchVerdicts.none(), *parts]
    pairs = OwnerPairs(*(np.concatenate([getattr(p.pairs, f) for p in parts]) for f in OwnerPairs.__dataclass_fields__))
    return MatchVerdicts(pairs, *(np.concatenate([getattr(p, f) for p in parts]) for f in ("c", "m", "n", "lower")))
