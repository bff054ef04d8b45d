"""`star`: every removed document is verified against the one that stays.

Documents are taken in order of rank. Each is compared with the kept documents that share a bucket with it; if one of
them reaches the threshold it goes, and names that one; otherwise it stays. So a~b~c never removes c because of a, no
document goes without a witness, and the answer depends on the ranks alone: not on threads, blocks or input order.

**Hot buckets.** A bucket of 100,000 near-copies of one page has few kept documents, and only those are compared
with: 100,000 comparisons. A bucket of 100,000 *different* documents that share boilerplate has 100,000 kept ones,
and would be quadratic. When more than `CROWD` kept documents stand in one bucket it is *crowded*: it is dissolved,
and its documents are joined by their rarest shingles instead (see `relief`). That shows in its best documents before
the walk. Where it does not, and only the walk finds a crowd, the walk goes on up to `LATE` of them, which costs less
than walking again; a bucket with more than that is dissolved after all.

**Threads.** Documents that no chain of shared buckets joins make no difference to each other. So the components of the
candidate graph are resolved side by side, those with the most work first, each by one thread in order of rank. In a
component that is too large for that, `RUN` documents at a time are compared with those before them on all threads, and
then with each other in order of rank.

**Memory.** Sets are loaded in blocks that fit the budget, whole components together. A component that does not fit is
cut: each block of it is first compared with the kept documents of earlier blocks, whose bitmaps are still at hand and
rule out nearly all of them; then it is resolved within itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import NO_ASKS, Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.hot_buckets import split_hot_buckets
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, ScoredPairs, Scorer, blocks, held_of, scores_of, slice_of
from roughly.features.shingle_sets import Sets
from roughly.meter import give_back
from roughly.threads import map_in_order

CROWD = 200
LATE = 16 * CROWD
RUN = 1024
_SHORT_RUN = 128
"""Documents that are compared at a time; fewer where a walk may end early."""
DENSE = 512
"""Members of a crowd whose sizes and bitmaps are kept side by side."""
NEAR = 64
"""How many pairs just below the threshold are remembered, for the report."""
NEAR_MARGIN = 0.1
EVIDENCE = 16
"""How many of the kept documents that resemble a removed one are named, the most alike first. A page between two
versions may resemble thousands of kept ones; naming them all would be quadratic."""
_LARGE = 1 << 22
"""Pairs that share a bucket in a component, from which on it is more than one thread should do alone."""
_DOCUMENTS_AT_ONCE = 1 << 18
"""Documents of small components that are resolved between two reports of progress."""
_LEAST_PAIRS = 50_000
_BYTES_A_PAIR = 64
"""While it is scored: sorted, weighed, looked up on both sides."""
_LOOKS = (2 * CROWD, 8 * CROWD, 32 * CROWD)
_MAP_WORDS = 16
_DENSE_ROW = 8 * _MAP_WORDS + 4
"""Bytes that are kept of a document of a crowd."""


@dataclass(frozen=True)
class Resolution:
    """Who stays, and the evidence. Rows are (document, better-ranked document, c, m, n): see `kernels.judging`."""

    kept: npt.NDArray[np.bool_]
    pairs: ScoredPairs
    near: ScoredPairs  # the best pairs below the threshold
    compared: int
    crowded: int  # buckets dissolved
    candidates: Candidates  # as they were used: without the crowded buckets


@dataclass(frozen=True)
class _Rules:
    """What decides about a pair."""

    measure: str
    threshold: float
    constraints: PairConstraints
    every_pair: bool


def overhead(candidates: Candidates, threads: int) -> int:
    """Bytes that resolution takes besides the candidates, sets and bitmaps."""
    entries, buckets = len(candidates.doc_buckets), candidates.buckets
    relief = (
        24 * entries
    )  # while crowded buckets are dissolved, and what that leaves in pieces; later, their copy in order
    return 4 * entries + relief + 16 * buckets + (40 + 4 * threads) * candidates.documents


def resolve(
    candidates: Candidates,
    sets: SetLoader,
    *,
    measure: str,
    threshold: float,
    work: ResolveBudget,
    every_pair: bool = False,
    constraints: PairConstraints | None = None,
) -> Resolution:
    """Decide who stays."""
    if sets.weight().sum() <= work.budget // 2:
        sets = _HeldSets(sets)
    constraints = constraints or PairConstraints()
    rules = _Rules(measure, threshold, constraints, every_pair)
    if not sets.complete:
        return _Pass(candidates, 0, sets, rules, work).resolve()
    free, compared, dissolved = candidates.buckets, 0, 0
    crowded = _crowded_at_the_top(candidates, sets, rules, work)
    while True:
        if crowded.any():
            dissolved += int(crowded.sum())
            # buckets that relief made are never dissolved again
            crowded = np.r_[crowded, np.zeros(candidates.buckets - len(crowded), np.bool_)]
            candidates = split_hot_buckets(candidates, crowded, sets, measure, threshold, work)
            free = int((~crowded[:free]).sum())
        give_back()
        walk = _Pass(candidates, free, sets, rules, work)
        found = walk.resolve()
        compared += found.compared
        crowded = walk.crowded()
        if not crowded.any():
            return replace(found, compared=compared, crowded=dissolved)


def _crowded_at_the_top(
    candidates: Candidates, sets: SetLoader, rules: _Rules, work: ResolveBudget
) -> npt.NDArray[np.bool_]:
    """Which buckets are crowded by their best documents alone: so most crowds are known before the walk over all."""
    starts = candidates.bucket_starts()
    crowded = np.zeros(candidates.buckets, np.bool_)
    large = np.flatnonzero(np.diff(starts) > CROWD)
    if not len(large):
        return crowded
    starts, docs, _ = candidates.by_bucket()
    weight = sets.weight()
    alone = replace(work, threads=1, budget=work.budget // work.threads, advance=_silent)

    def has_a_crowd(bucket: int) -> bool:
        """Look at its best documents, and at more of them while they are as many different ones as make a crowd."""
        members = docs[starts[bucket] : starts[bucket + 1]]
        for looked in _LOOKS:
            top = members[:looked].astype(np.int64)
            one = Candidates.from_buckets(
                np.array([len(top)], np.uint32), np.arange(len(top), dtype=np.uint32), NO_ASKS, len(top)
            )
            some = _Some(sets, top, weight[top])
            own = replace(rules, constraints=rules.constraints.of(top))
            walk = _Pass(one, 0, some, own, alone, enough=CROWD)
            stay = int(walk.resolve().kept.sum())
            if stay > CROWD or len(top) == len(members) or stay * len(members) <= CROWD * len(top):
                break
        return stay > CROWD

    crowded[large] = list(map_in_order(has_a_crowd, large.tolist(), work.threads))
    return crowded


class _Some:
    """A few of the sets, numbered anew."""

    complete = True

    def __init__(self, sets: SetLoader, docs: Ints, weight: Ints) -> None:
        self._sets, self._docs, self._weight = sets, docs, weight

    def weight(self) -> Ints:
        return self._weight

    def load(self, docs: Ints) -> Sets:
        return self._sets.load(self._docs[docs])


def _silent(done: int) -> None:
    pass


class _HeldSets:
    """Sets that fit into memory all together, loaded once."""

    def __init__(self, sets: SetLoader) -> None:
        self._weight, self.complete = sets.weight(), sets.complete
        self.all = sets.load(np.arange(len(self._weight)))

    def weight(self) -> Ints:
        return self._weight

    def load(self, docs: Ints) -> Sets:
        return slice_of(self.all, docs)


class _Pass:
    """One walk over all documents, component by component, each in order of rank.

    Documents are numbered here by their places in that order; `self.order.ranks` has their ranks.
    """

    def __init__(
        self,
        candidates: Candidates,
        free: int,
        sets: SetLoader,
        rules: _Rules,
        work: ResolveBudget,
        enough: int | None = None,
    ) -> None:
        """Buckets with index ≥ `free` are uncapped; earlier ones take at most `LATE` kept documents.

        With `enough`, all documents are taken for one component, and the walk ends as soon as more of them than that
        are kept; those it did not come to are kept as well.
        """
        from roughly.kernels import candidate_components as components
        from roughly.kernels import resolve as kernel
        from roughly.kernels.judging import MEASURES

        measure, threshold, constraints = rules.measure, rules.threshold, rules.constraints
        self.kernel, self.components = kernel, components
        self.candidates, self.work, self.enough = candidates, work, enough
        self.rule = kernel.Rule(MEASURES[measure], float(threshold), constraints.most_days, constraints.least_share)
        floor = threshold if measure == "common" else max(0.0, threshold - NEAR_MARGIN)
        self.limits = components.Limits(float(floor), LATE, rules.every_pair, EVIDENCE, NEAR)
        count, starts = candidates.documents, candidates.bucket_starts()
        incidence = (candidates.doc_offsets, candidates.doc_buckets, candidates.asks)
        if enough is None:
            self.order = components.order_by_component(*incidence[:2], starts, work.threads)
            incidence = components.reorder(*incidence, self.order.ranks, work.threads)
            constraints = constraints.of(self.order.ranks)
        else:
            self.order = components.Order(np.arange(count), np.array([0, count]), np.zeros(1, np.int64))
        self.held = sets if isinstance(sets, _HeldSets) else None
        self.sets = _Some(sets, self.order.ranks, sets.weight()[self.order.ranks])
        words = _MAP_WORDS if sets.complete else 0
        while words and 8 * words * count > work.budget // 4:
            words //= 2
        self.joined = kernel.Joined(
            *incidence,
            starts,
            np.zeros(candidates.buckets, np.uint32),
            np.empty(len(candidates.doc_buckets), np.uint32),
            np.zeros(candidates.buckets, np.uint32),
            free,
            self._dense(starts, free, sets.complete and not len(constraints.days) and not len(constraints.lengths)),
        )
        maps = np.zeros((count, words), np.uint64)
        self.documents = kernel.Documents(
            np.ones(count, np.uint8), np.zeros(count, np.int32), maps, maps, 0, constraints.days, constraints.lengths
        )
        self.large = int((self.order.work > _LARGE).sum()) if enough is None else 1
        self.stamps = np.full((work.threads if self.large or self.held is None else 1, count), -1, np.int32)
        self.near, self.compared = NO_PAIRS, 0
        left = work.budget - 8 * words * count - self.joined.dense.maps.nbytes - self.joined.dense.sizes.nbytes
        self.room = int(sets.weight().sum()) if self.held is not None else max(1, left // 3)
        self.scorer = Scorer(self.sets, self.rule, max(1, left // 8), work.threads)
        self.pairs_at_once = max(_LEAST_PAIRS, left // 8 // _BYTES_A_PAIR)

    def _dense(self, starts: Ints, free: int, usable: bool) -> Any:
        """Room for what is known of the documents of large crowds, the largest first."""
        sizes = np.diff(starts)
        large = free + np.flatnonzero(sizes[free:] >= DENSE)
        large = large[np.argsort(-sizes[large], kind="stable")]
        large = large[np.cumsum(sizes[large]) * _DENSE_ROW <= self.work.budget // 4]
        words = _MAP_WORDS if len(large) else 0
        if not words or not usable:
            return self.kernel.Dense(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, words), np.uint64))
        first = np.full(len(sizes), -1, np.int64)
        first[large] = np.cumsum(sizes[large]) - sizes[large]
        rows = int(sizes[large].sum())
        return self.kernel.Dense(first, np.zeros(rows, np.int32), np.zeros((rows, words), np.uint64))

    def crowded(self) -> npt.NDArray[np.bool_]:
        """Which of the capped buckets have more than `LATE` kept documents."""
        return self.joined.crowds[: self.joined.free] > LATE

    def resolve(self) -> Resolution:
        found = [NO_PAIRS]
        for lo, hi in self._blocks():
            block = self._load(lo, hi)
            found += self._block(lo, hi, block)
            del block
            if hi < self.candidates.documents:  # before the next one is loaded
                give_back()
            if self._are_enough():
                break
        pairs = self._ranked(np.concatenate(found))
        kept = np.empty(self.candidates.documents, np.bool_)
        kept[self.order.ranks] = self.documents.kept != 0
        pairs = self.components.sort_pairs(pairs, self.candidates.documents)
        return Resolution(kept, pairs, self.near, self.compared, 0, self.candidates)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of documents whose sets fit into the room: components together, or a part of one that does not fit."""
        ends = np.r_[0, np.cumsum(self.sets.weight())][self.order.cuts]
        for first, last in blocks(np.diff(ends), self.room):
            lo, hi = int(self.order.cuts[first]), int(self.order.cuts[last])
            for start, stop in blocks(self.sets.weight()[lo:hi], self.room):
                yield lo + start, lo + stop

    def _load(self, lo: int, hi: int) -> Any:
        """The sets of a block, and what is known of its documents: sizes and bitmaps.

        Where bitmaps are narrow, there are others that are as wide as those of crowds.
        """
        if self.held is not None:
            sets, rows = self.held.all, self.order.ranks[lo:hi]
        else:
            sets, rows = self.sets.load(np.arange(lo, hi)), np.arange(hi - lo)
        block = self.components.Block(held_of(sets), rows)
        self.documents.sizes[lo:hi] = np.diff(sets.offsets)[rows]
        words, maps = self.joined.dense.maps.shape[1], self.documents.maps
        self.components.draw_rows(block, maps, lo, self.work.threads)
        wide = maps[lo:hi]
        if words > maps.shape[1]:
            wide = np.zeros((hi - lo, words), np.uint64)
            self.components.draw_rows(block, wide, 0, self.work.threads)
        self.documents = self.documents._replace(wide=wide, first=lo)
        return block

    def _block(self, lo: int, hi: int, block: Any) -> Iterator[ScoredPairs]:
        """Resolve a block: first its large component, or several, and then the small ones."""
        cuts = self.order.cuts
        first, last = (int(c) for c in np.searchsorted(cuts, (lo, hi)))
        if cuts[first] > lo or cuts[last] > hi:  # a part of a component
            earlier = list(self._against_earlier(lo, hi, block)) if cuts[first] > lo else []
            yield self._most_alike(np.concatenate([*earlier, self._large(lo, hi, block)]))
            return
        for c in range(first, min(last, self.large)):
            yield self._large(int(cuts[c]), int(cuts[c + 1]), block)
        start = max(first, self.large)
        while start < last:
            fit = int(np.searchsorted(cuts, cuts[start] + _DOCUMENTS_AT_ONCE, side="right")) - 1
            stop = min(last, max(start + 1, fit))
            yield self._take(
                self.components.settle_components(
                    cuts[start : stop + 1], self.joined, self.documents, self.stamps[0], block, self.rule, self.limits,
                    self.order.ranks, self.work.threads,
                )
            )  # fmt: skip
            start = stop

    def _large(self, start: int, stop: int, block: Any) -> ScoredPairs:
        """Resolve a large component, or a part of it, run by run."""
        run, enough = (RUN, -1) if self.enough is None else (_SHORT_RUN, self.enough)
        return self._take(
            self.components.settle_large(
                start, stop, run, enough, self.joined, self.documents, self.stamps, block, self.rule, self.limits,
                self.order.ranks,
            )
        )  # fmt: skip

    def _are_enough(self) -> bool:
        """Whether so many documents are kept that it is known what the walk was to tell."""
        done = self.documents.first + len(self.documents.wide)
        return self.enough is not None and int(self.documents.kept[:done].sum()) > self.enough

    def _against_earlier(self, lo: int, hi: int, block: Any) -> Iterator[ScoredPairs]:
        """Compare a block with the kept documents of earlier blocks."""
        values, offsets, limits, most = block.held
        sets = Sets(values, offsets, limits if len(limits) else None, most)

        def meet(part: tuple[int, int, npt.NDArray[np.int32]]) -> tuple[ScoredPairs, int, int]:
            d, end, stamp = part
            found: tuple[ScoredPairs, int, int] = self.kernel.meet(
                d, end, 0, lo, self.joined, self.documents, stamp, self.rule, self.limits.floor, self.pairs_at_once
            )
            return found

        for start in range(lo, hi, 16 * RUN):
            parts = self._split(start, min(start + 16 * RUN, hi))
            while parts:
                done = list(map_in_order(meet, parts, self.work.threads))
                parts = [(d, end, stamp) for (_, d, _), (_, end, stamp) in zip(done, parts, strict=True) if d < end]
                for pairs, _, met in done:
                    rows = self.scorer.score(pairs, self.limits.floor, (lo, sets))
                    passed = scores_of(rows, self.rule.measure) >= self.rule.threshold
                    reached = rows[passed]
                    self.documents.kept[reached[self.documents.kept[reached[:, 1]] != 0, 0]] = 0
                    yield self._take(self.components.Resolved(reached, rows[~passed], met, lo))

    def _split(self, start: int, stop: int) -> list[tuple[int, int, npt.NDArray[np.int32]]]:
        cuts = np.linspace(start, stop, len(self.stamps) + 1).astype(int)
        return [(int(a), int(b), stamp) for a, b, stamp in zip(cuts[:-1], cuts[1:], self.stamps, strict=True) if b > a]

    def _take(self, found: Any) -> ScoredPairs:
        """Note the near misses and how far it is; returns the pairs that reach the threshold."""
        self.compared += found.compared
        self.work.advance(found.stop)
        if len(found.near):
            near = np.concatenate((self.near, self._ranked(found.near)))
            scores = scores_of(near, self.rule.measure)
            best = np.lexsort((near[:, 1], near[:, 0], -scores))[:NEAR]
            self.near = near[best]
            if len(best) == NEAR:  # only better ones matter from here on
                self.limits = self.limits._replace(floor=max(self.limits.floor, float(scores[best[-1]])))
        pairs: ScoredPairs = found.pairs
        return pairs

    def _ranked(self, rows: ScoredPairs) -> ScoredPairs:
        """Rows with the ranks of documents for their places in the order by component."""
        ranked = rows.copy()
        ranked[:, :2] = self.order.ranks[rows[:, :2]]
        return ranked

    def _most_alike(self, rows: ScoredPairs) -> ScoredPairs:
        """The EVIDENCE most alike pairs of each document; all of them where every pair is asked for."""
        if len(rows) <= EVIDENCE or self.limits.every_pair:
            return rows
        order = np.lexsort((rows[:, 1], -scores_of(rows, self.rule.measure), rows[:, 0]))
        rows = rows[order]
        new = np.r_[True, rows[1:, 0] != rows[:-1, 0]]
        place = np.arange(len(rows)) - np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))
        return rows[place < EVIDENCE]
