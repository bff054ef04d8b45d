"""Which texts of an index are duplicates of those asked about: candidates by keys, judged as in a batch run.

    keys asked for ⋈ keys stored → candidates → windows → sizes and bitmaps → sets loaded → counts → verdict

**Hot keys.** A key that 100,000 texts share makes 100,000 candidates. Their sizes and bitmaps lie in small rows, and
rule out, for certain, those that are too unlike; only the texts of the rest are loaded. Equal documents are one
text, so copies cost nothing. Nothing is left out: the pairs are all that share a key and reach the threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, literal_column, select

from roughly.cluster.candidates import NO_DAY, Gates
from roughly.cluster.scoring import held_of, slice_of
from roughly.features.shingles import Sets, shingle_sets
from roughly.features.sketch import joined
from roughly.index import ranks
from roughly.index.bodies import unpack_marks, unpack_sets, unpack_texts
from roughly.index.bound import Bound
from roughly.index.schema import BODIES, CONTENTS, DOCUMENTS, KEYS, SIGNS
from roughly.index.signing import KeyRows, Signed
from roughly.index.store import Store
from roughly.text.canonical import Tokens

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Row = npt.NDArray[np.int32]

_LOADED = 2_000  # sets in memory at a time
_EXPANDED = 4_000_000  # pairs in memory at a time
_ASKS = KEYS.c.member.op("&")(literal_column("1")) == literal_column("1")
_FEW = 32  # so many candidates are loaded sooner than their bitmaps are


@dataclass(frozen=True)
class Asking:
    """Texts that are asked about, numbered 0, 1, …"""

    keys: KeyRows
    lengths: Ints
    sets: Callable[[Ints], Sets]  # what they are judged on
    own: Ints | None = None  # their contents where they are in the index; then only earlier ones are looked at
    ranked: list[ranks.Ranked] | None = None  # themselves, where they are not
    equal: Ints | None = None  # the contents that are equal to them, −1 for none; these are told without judging
    counts_all: bool = False  # whether keys are too common by all who have them, or by those before

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class Pairs:
    """Text `owner[i]` of those asked about and content `content[i]` of the index."""

    owner: Ints
    content: Ints
    shared: Ints  # keys
    asked: Flags  # the owner asks for a key that both have
    asks: Flags  # the content does

    def __len__(self) -> int:
        return len(self.owner)

    def of(self, use: Flags | Ints) -> Pairs:
        """Some of them."""
        return Pairs(self.owner[use], self.content[use], self.shared[use], self.asked[use], self.asks[use])


@dataclass(frozen=True)
class Verdicts:
    """The pairs that are duplicates, with their counts (see `kernels.judging`): c, m of the owner, n of the content."""

    pairs: Pairs
    c: Ints
    m: Ints
    n: Ints
    lower: Flags  # the owner ranks below the content

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, use: Flags | Ints) -> Verdicts:
        """Some of them."""
        return Verdicts(self.pairs.of(use), self.c[use], self.m[use], self.n[use], self.lower[use])

    def scores(self, measure: str) -> npt.NDArray[np.float64]:
        """By which the best is chosen."""
        if measure == "common":
            return self.c.astype(np.float64)
        if measure == "containment":
            whole = np.where(self.lower, self.m, self.n)
        else:
            whole = self.m + self.n - self.c
        return np.where(whole == 0, 1.0, self.c / np.maximum(whole, 1))


class Matcher:
    """Asks one moment of an index."""

    def __init__(self, store: Store, connection: Connection, bound: Bound) -> None:
        self.store, self.connection, self.bound = store, connection, bound
        self.judge = bound.judge
        self.order = ranks.order_of(bound.settings)

    def match(self, asking: Asking) -> Verdicts:
        """All duplicates of what is asked about."""
        parts = [self._judge(asking, pairs) for pairs in self._candidates(asking)]
        return _together([part for part in parts if len(part)])

    # ------------------------------------------------------------------ candidates

    def _candidates(self, asking: Asking) -> list[Pairs]:
        keys = asking.keys
        if not len(keys.keys):
            return []
        found, members = self._stored(keys)
        lo, hi = np.searchsorted(found, keys.keys, "left"), np.searchsorted(found, keys.keys, "right")
        sizes = hi - lo
        parts = []
        cuts = _cuts(sizes, keys.owners)
        for start, stop in cuts:
            some = slice(start, stop)
            parts.append(self._paired(asking, some, lo[some], sizes[some], members))
        return [part for part in parts if len(part)]

    def _stored(self, keys: KeyRows) -> tuple[Ints, Ints]:
        """(keys, members) of all contents that share one, in order."""
        columns = (KEYS.c.key, KEYS.c.member)
        table = self.store.numbers(self.connection, columns, KEYS.c.key, np.unique(keys.keys[keys.asks]))
        if not keys.asks.all():  # of a key that only answers, those matter who ask
            answers = np.setdiff1d(keys.keys[~keys.asks], keys.keys[keys.asks])
            asking = self.store.numbers(self.connection, columns, KEYS.c.key, answers, _ASKS)
            table = np.concatenate((table, asking))
        order = np.lexsort((table[:, 1], table[:, 0]))
        return table[order, 0], table[order, 1]

    def _paired(self, asking: Asking, some: slice, lo: Ints, sizes: Ints, members: Ints) -> Pairs:
        keys = asking.keys
        row = np.repeat(np.arange(len(sizes)), sizes)
        at = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + lo[row]
        member = members[at]
        owner, content = keys.owners[some][row], member >> 1
        asked, asks = keys.asks[some][row], (member & 1).astype(np.bool_)
        use = asked | asks
        if asking.own is not None:
            use &= content < asking.own[owner]
        if asking.equal is not None:
            use &= content != asking.equal[owner]
        if common := self.bound.method.common:
            use &= self._counts(asking, some, row, use, len(sizes))[row] <= common
        owner, content, asked, asks = owner[use], content[use], asked[use], asks[use]
        order = np.lexsort((content, owner))
        owner, content, asked, asks = owner[order], content[order], asked[order], asks[order]
        if not len(owner):
            return Pairs(owner, content, content, asked, asks)
        starts = np.flatnonzero(np.r_[True, (owner[1:] != owner[:-1]) | (content[1:] != content[:-1])])
        shared = np.diff(np.r_[starts, len(owner)])
        return Pairs(
            owner[starts], content[starts], shared, np.logical_or.reduceat(asked, starts),
            np.logical_or.reduceat(asks, starts),
        )  # fmt: skip

    def _counts(self, asking: Asking, some: slice, row: Ints, use: Flags, rows: int) -> Ints:
        """How many texts have each key, the one that is asked about among them."""
        if asking.own is not None and not asking.counts_all:
            return 1 + np.bincount(row[use], minlength=rows)
        counts = np.bincount(row, minlength=rows)
        if asking.own is None:
            known = np.zeros(len(asking), np.bool_) if asking.equal is None else asking.equal >= 0
            counts += ~known[asking.keys.owners[some]]
        return counts

    # ------------------------------------------------------------------ judging

    def _judge(self, asking: Asking, pairs: Pairs) -> Verdicts:
        contents, place = np.unique(pairs.content, return_inverse=True)
        columns = (CONTENTS.c.content, CONTENTS.c.tokens, CONTENTS.c.size)
        table = self.store.numbers(self.connection, columns, CONTENTS.c.content, contents)
        facts = np.zeros((len(contents), 2), np.int64)
        facts[np.searchsorted(contents, table[:, 0])] = table[:, 1:]
        lengths, sizes = facts[place, 0], facts[place, 1]
        lower = self._lower(asking, pairs, lengths)
        use = np.where(lower, pairs.asked, pairs.asks) & self._gates(asking, pairs, lengths)
        if self.judge.on == "keys":
            use &= pairs.shared >= self.judge.threshold
            count = pairs.shared[use]
            return Verdicts(pairs.of(use), count, count, count, lower[use])
        pairs, lower, sizes = pairs.of(use), lower[use], sizes[use]
        return self._counted(asking, pairs, lower, sizes)

    def _lower(self, asking: Asking, pairs: Pairs, lengths: Ints) -> Flags:
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

    def _gates(self, asking: Asking, pairs: Pairs, lengths: Ints) -> Flags:
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
                    ranks.days_of((ours[owner] for owner in pairs.owner.tolist()), NO_DAY),
                    ranks.days_of((theirs.get(content) for content in pairs.content.tolist()), NO_DAY),
                )
            )
            if not (days != NO_DAY).any() and not self._dated:
                days = days[:0]  # where no document has a date, the window does not apply
        lengths_apply = long if judge.lengths is not None else long[:0]
        return Gates(days, judge.dates or 0, lengths_apply, 1.0 - (judge.lengths or 0.0)).admit(both)

    @cached_property
    def _dated(self) -> bool:
        found = select(DOCUMENTS.c.document).where(DOCUMENTS.c.day.is_not(None)).limit(1)
        return self.connection.execute(found).first() is not None

    def _best(self, contents: Ints, lengths: Ints) -> dict[int, ranks.Ranked]:
        unique, first = np.unique(contents, return_index=True)
        return ranks.best_documents(self.store, self.connection, unique, lengths[first].tolist(), self.order)

    def _owners(self, asking: Asking, owners: Ints) -> dict[int, ranks.Ranked | None]:
        unique = np.unique(owners)
        if asking.own is None:
            return self._askers(asking, unique)
        best = self._best(asking.own[unique], asking.lengths[unique])
        return {owner: best.get(int(asking.own[owner])) for owner in unique.tolist()}

    def _askers(self, asking: Asking, owners: Ints) -> dict[int, ranks.Ranked | None]:
        """Documents that are not in the index; where their text is, the best of all that have it speaks for them."""
        given = asking.ranked or []
        found: dict[int, ranks.Ranked | None] = {o: given[o] if given else None for o in owners.tolist()}
        if asking.equal is None or not given:
            return found
        known = owners[asking.equal[owners] >= 0]
        best = self._best(asking.equal[known], asking.lengths[known])
        for owner in known.tolist():
            if (other := best.get(int(asking.equal[owner]))) is not None:
                found[owner] = min(given[owner], other, key=self.order)
        return found

    def _counted(self, asking: Asking, pairs: Pairs, lower: Flags, sizes: Ints) -> Verdicts:
        """Load what the pairs are judged on, and count."""
        from roughly.kernels import resolve
        from roughly.kernels.judging import MEASURES

        owners = np.unique(pairs.owner)
        mine = asking.sets(owners)
        if self.bound.marked:
            use = self._alike(mine, np.searchsorted(owners, pairs.owner), pairs, sizes, lower)
            pairs, lower = pairs.of(use), lower[use]
        rule = resolve.Rule(MEASURES[self.judge.measure], float(self.judge.threshold), 0, 0.0)
        contents = np.unique(pairs.content)
        parts = []
        for at in range(0, len(contents), _LOADED):
            block = contents[at : at + _LOADED]
            inside = np.flatnonzero((pairs.content >= block[0]) & (pairs.content <= block[-1]))
            used, place = np.unique(np.searchsorted(owners, pairs.owner[inside]), return_inverse=True)
            held = held_of(joined([slice_of(mine, used), self.load(block)]))
            theirs = len(used) + np.searchsorted(block, pairs.content[inside])
            left, right = np.where(lower[inside], place, theirs), np.where(lower[inside], theirs, place)
            numbers = np.column_stack((inside, inside)).astype(np.int32)
            rows = resolve.score_pairs(numbers, left, right, held, rule, float(self.judge.threshold))
            parts.append(rows.astype(np.int64))
        counts = np.concatenate([np.empty((0, 5), np.int64), *parts])
        chosen, c = counts[:, 0], counts[:, 2]
        down = lower[chosen]
        m, n = np.where(down, counts[:, 3], counts[:, 4]), np.where(down, counts[:, 4], counts[:, 3])
        return Verdicts(pairs.of(chosen), c, m, n, down)

    def _alike(self, mine: Sets, place: Ints, pairs: Pairs, sizes: Ints, lower: Flags) -> Flags:
        """The pairs that their sizes, and where there are many their bitmaps, do not rule out."""
        from roughly.kernels.bitmaps import draw

        t = self.judge.threshold * (1.0 - 1e-9)
        m, n = np.diff(mine.offsets)[place], sizes
        most = np.minimum(m, n)
        whole = np.maximum(m, n) if self.judge.measure == "resemblance" else np.where(lower, m, n)
        use = most >= t * whole
        if use.sum() <= _FEW:
            return use
        left = np.flatnonzero(use)
        contents = np.unique(pairs.content[left])
        rows = self.store.fetch(self.connection, (CONTENTS.c.content, CONTENTS.c.marks), CONTENTS.c.content, contents)
        rows.sort()
        maps = np.zeros((len(mine), unpack_marks([]).shape[1]), np.uint64)
        draw(mine.values, mine.offsets, maps, 0)
        theirs = unpack_marks([row[1] for row in rows])
        for at in range(0, len(left), 100_000):
            some = left[at : at + 100_000]
            bits = np.bitwise_count(maps[place[some]] ^ theirs[np.searchsorted(contents, pairs.content[some])])
            if self.judge.measure == "resemblance":
                allowed = (m[some] + n[some]) * (1.0 - t) / (1.0 + t)
            else:
                allowed = m[some] + n[some] - 2.0 * t * whole[some]
            use[some] = bits.sum(axis=1) <= allowed + 1.0
        return use

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


def asking_signed(bound: Bound, signed: Signed, own: Ints | None = None, equal: Ints | None = None) -> Asking:
    """Documents that were just signed, as what is asked about."""
    ranked = None
    if own is None:
        columns = (signed.column(name) for name in ("url", "source", "doc_id"))
        days = [None if day == NO_DAY else day for day in signed.days.tolist()]
        ranked = [
            ranks.Ranked(tokens, size, day, 2**62, url, source, doc_id or "\U0010ffff")
            for tokens, size, day, url, source, doc_id in zip(
                signed.lengths.tolist(), signed.bytes.tolist(), days, *columns, strict=True
            )
        ]
    return Asking(signed.keys, signed.lengths, lambda rows: judged_sets(bound, signed, rows), own, ranked, equal)


def judged_sets(bound: Bound, signed: Signed, rows: Ints) -> Sets:
    """What the method judges these documents on."""
    if bound.judge.on == "sketch":
        assert signed.sketch is not None  # a method that judges on sketches makes some
        return slice_of(signed.sketch, rows)
    return body_sets(bound, tokens_of(signed.tokens, rows))


def body_sets(bound: Bound, tokens: Tokens) -> Sets:
    """Shingle sets, or samples of them where only those are stored."""
    if bound.store == "sketch":
        return bound.sampling.apply(tokens, bound.settings.shingle_size)
    return shingle_sets(tokens, bound.settings.shingle_size)


def tokens_of(tokens: Tokens, rows: Ints) -> Tokens:
    """The tokens of some of the documents."""
    some = slice_of(Sets(tokens.hashes, tokens.offsets), rows)
    return Tokens(some.values, some.offsets)


def _cuts(sizes: Ints, owners: Ints) -> list[tuple[int, int]]:
    """Ranges of key rows that make a bounded number of pairs, each owner whole."""
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


def _together(parts: list[Verdicts]) -> Verdicts:
    if len(parts) == 1:
        return parts[0]
    none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
    empty = Verdicts(Pairs(none, none, none, no, no), none, none, none, no)
    parts = [empty, *parts]
    pairs = Pairs(*(np.concatenate([getattr(p.pairs, f) for p in parts]) for f in Pairs.__dataclass_fields__))
    return Verdicts(pairs, *(np.concatenate([getattr(p, f) for p in parts]) for f in ("c", "m", "n", "lower")))
