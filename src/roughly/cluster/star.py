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

**Memory.** Sets are loaded in blocks that fit the budget. A block is first compared with the kept documents of earlier
blocks, whose bitmaps are still at hand and rule out nearly all of them; then it is resolved within itself.

**Threads.** Within a block, `RUN` documents at a time are compared with those before them on all threads, and then
with each other in order of rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
_PAIRS_AT_ONCE = 250_000
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


def overhead(candidates: Candidates, threads: int) -> int:
    """Bytes that resolution takes besides the candidates, sets and bitmaps."""
    entries, buckets = len(candidates.doc_buckets), candidates.buckets
    relief = 24 * entries  # while crowded buckets are dissolved, and what that leaves in pieces
    return 4 * entries + relief + 16 * buckets + (16 + 4 * threads) * candidates.documents


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
    options = (sets, measure, threshold, constraints, every_pair, work)
    if not sets.complete:
        return _Pass(candidates, 0, *options).resolve()
    free, compared, dissolved = candidates.buckets, 0, 0
    crowded = _crowded_at_the_top(candidates, *options)
    while True:
        if crowded.any():
            dissolved += int(crowded.sum())
            # buckets that relief made are never dissolved again
            crowded = np.r_[crowded, np.zeros(candidates.buckets - len(crowded), np.bool_)]
            candidates = split_hot_buckets(candidates, crowded, sets, measure, threshold, work)
            free = int((~crowded[:free]).sum())
        give_back()
        walk = _Pass(candidates, free, *options)
        found = walk.resolve()
        compared += found.compared
        crowded = walk.crowded()
        if not crowded.any():
            return replace(found, compared=compared, crowded=dissolved)


def _crowded_at_the_top(
    candidates: Candidates,
    sets: SetLoader,
    measure: str,
    threshold: float,
    constraints: PairConstraints,
    every_pair: bool,
    work: ResolveBudget,
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
            walk = _Pass(one, 0, some, measure, threshold, constraints.of(top), every_pair, alone, enough=CROWD)
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
        self._all = sets.load(np.arange(len(self._weight)))

    def weight(self) -> Ints:
        return self._weight

    def load(self, docs: Ints) -> Sets:
        return self._all if len(docs) == len(self._weight) else slice_of(self._all, docs)


class _Pass:
    """One walk over all documents in order of rank."""

    def __init__(
        self,
        candidates: Candidates,
        free: int,
        sets: SetLoader,
        measure: str,
        threshold: float,
        constraints: PairConstraints,
        every_pair: bool,
        work: ResolveBudget,
        enough: int | None = None,
    ) -> None:
        """Buckets from `free` on take any number of documents, those before it `LATE` at most.

        With `enough`, the walk ends as soon as more documents than that stay; those it did not come to stay as well.
        """
        from roughly.kernels import resolve as kernel
        from roughly.kernels.judging import MEASURES

        self.kernel = kernel
        self.candidates, self.sets, self.work = candidates, sets, work
        self.rule = kernel.Rule(MEASURES[measure], float(threshold), constraints.most_days, constraints.least_share)
        self.floor = threshold if measure == "common" else max(0.0, threshold - NEAR_MARGIN)
        self.every_pair, self.enough = every_pair, enough
        count, starts = candidates.documents, candidates.bucket_starts()
        words = _MAP_WORDS if sets.complete else 0
        while words and 8 * words * count > work.budget // 4:
            words //= 2
        self.joined = kernel.Joined(
            candidates.doc_offsets,
            candidates.doc_buckets,
            candidates.asks,
            starts,
            np.zeros(candidates.buckets, np.uint32),
            np.empty(len(candidates.doc_buckets), np.uint32),
            np.zeros(candidates.buckets, np.uint32),
            free,
            self._dense(starts, free, constraints),
        )
        maps = np.zeros((count, words), np.uint64)
        self.documents = kernel.Documents(
            np.ones(count, np.uint8), np.zeros(count, np.int32), maps, maps, 0, constraints.days, constraints.lengths
        )
        self.stamps = [np.full(count, -1, np.int32) for _ in range(work.threads)]
        self.near, self.compared = NO_PAIRS, 0
        left = work.budget - 8 * words * count - self.joined.dense.maps.nbytes - self.joined.dense.sizes.nbytes
        self.room = int(sets.weight().sum()) if isinstance(sets, _HeldSets) else max(1, left // 3)
        self.scorer = Scorer(sets, self.rule, max(1, left // 8), work.threads)
        self.pairs_at_once = max(_LEAST_PAIRS, left // 8 // _BYTES_A_PAIR)

    def _dense(self, starts: Ints, free: int, constraints: PairConstraints) -> Any:
        """Room for what is known of the documents of large crowds, the largest first."""
        sizes = np.diff(starts)
        large = free + np.flatnonzero(sizes[free:] >= DENSE)
        large = large[np.argsort(-sizes[large], kind="stable")]
        large = large[np.cumsum(sizes[large]) * _DENSE_ROW <= self.work.budget // 4]
        words = _MAP_WORDS if len(large) else 0
        if not self.sets.complete or not words or len(constraints.days) or len(constraints.lengths):
            return self.kernel.Dense(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, words), np.uint64))
        first = np.full(len(sizes), -1, np.int64)
        first[large] = np.cumsum(sizes[large]) - sizes[large]
        rows = int(sizes[large].sum())
        return self.kernel.Dense(first, np.zeros(rows, np.int32), np.zeros((rows, words), np.uint64))

    def crowded(self) -> npt.NDArray[np.bool_]:
        """Which of the buckets that take so many at most have more than `LATE` kept documents."""
        return self.joined.crowds[: self.joined.free] > LATE

    def resolve(self) -> Resolution:
        pairs = [NO_PAIRS]
        with ThreadPoolExecutor(self.work.threads, thread_name_prefix="roughly") as self.pool:
            for lo, hi in list(blocks(self.sets.weight(), self.room)):
                block = self.sets.load(np.arange(lo, hi))
                self.documents.sizes[lo:hi] = np.diff(block.offsets)
                self._draw(lo, hi, block)
                pairs.append(self._in_order(np.concatenate([NO_PAIRS, *self._block(lo, hi, block)])))
                del block
                if hi < self.candidates.documents:  # before the next one is loaded
                    give_back()
                self.work.advance(hi)
                if self._are_enough(hi):
                    break
        return Resolution(
            self.documents.kept.astype(np.bool_),
            np.concatenate(pairs),
            self.near,
            self.compared,
            0,
            self.candidates,
        )

    def _draw(self, lo: int, hi: int, block: Sets) -> None:
        """Bitmaps of the block's documents, and where these are narrow, others that are as wide as those of crowds."""
        from roughly.kernels.bitmaps import draw

        words, maps = self.joined.dense.maps.shape[1], self.documents.maps
        draw(block.values, block.offsets, maps, lo)
        wide = maps[lo:hi]
        if words > maps.shape[1]:
            wide = np.zeros((hi - lo, words), np.uint64)
            draw(block.values, block.offsets, wide, 0)
        self.documents = self.documents._replace(wide=wide, first=lo)

    def _block(self, lo: int, hi: int, block: Sets) -> Iterator[ScoredPairs]:
        held = held_of(block)
        if lo:
            yield from self._against_earlier(lo, hi, block)
        run = RUN if self.enough is None else _SHORT_RUN
        for start in range(lo, hi, run):
            stop = min(start + run, hi)
            if start > lo:
                yield from self._ahead(start, stop, lo, held)
            rows, met = self.kernel.settle(
                start, stop, lo, self.joined, self.documents, self.stamps[0], held, self.rule,
                self.floor, LATE, self.every_pair,
            )  # fmt: skip
            self.compared += met
            yield self._take(rows)
            if self._are_enough(stop):
                return

    def _are_enough(self, done: int) -> bool:
        """Whether so many of the first `done` documents stay that it is known what the walk was to tell."""
        return self.enough is not None and int(self.documents.kept[:done].sum()) > self.enough

    def _ahead(self, start: int, stop: int, lo: int, held: Any) -> Iterator[ScoredPairs]:
        """Compare a run with the documents of its block that rank above it."""

        def compare(part: tuple[int, int, npt.NDArray[np.int32]]) -> tuple[list[ScoredPairs], int]:
            d, end, stamp = part
            rows, met = [], 0
            while d < end:
                pairs, d, more = self.kernel.meet(
                    d, end, lo, start, self.joined, self.documents, stamp, self.rule, self.floor, _PAIRS_AT_ONCE
                )
                met += more
                left, right = pairs[:, 0].astype(np.int64) - lo, pairs[:, 1].astype(np.int64) - lo
                found = self.kernel.score_pairs(pairs, left, right, held, self.rule, self.floor)
                rows.append(found if self.every_pair else self._most_alike(found, below=True))
            return rows, met

        for rows, met in list(self.pool.map(compare, self._split(start, stop))):
            self.compared += met
            for some in rows:
                yield self._take(some)

    def _against_earlier(self, lo: int, hi: int, block: Sets) -> Iterator[ScoredPairs]:
        """Compare a block with the kept documents of earlier blocks."""

        def meet(part: tuple[int, int, npt.NDArray[np.int32]]) -> tuple[ScoredPairs, int, int]:
            d, end, stamp = part
            found: tuple[ScoredPairs, int, int] = self.kernel.meet(
                d, end, 0, lo, self.joined, self.documents, stamp, self.rule, self.floor, self.pairs_at_once
            )
            return found

        for start in range(lo, hi, 16 * RUN):
            parts = self._split(start, min(start + 16 * RUN, hi))
            while parts:
                done = list(self.pool.map(meet, parts))
                parts = [(d, end, stamp) for (_, d, _), (_, end, stamp) in zip(done, parts, strict=True) if d < end]
                for pairs, _, met in done:
                    self.compared += met
                    yield self._take(self.scorer.score(pairs, self.floor, (lo, block)))

    def _split(self, start: int, stop: int) -> list[tuple[int, int, npt.NDArray[np.int32]]]:
        cuts = np.linspace(start, stop, self.work.threads + 1).astype(int)
        return [(int(a), int(b), stamp) for a, b, stamp in zip(cuts[:-1], cuts[1:], self.stamps, strict=True) if b > a]

    def _take(self, rows: ScoredPairs) -> ScoredPairs:
        """Note who goes and the near misses; returns the pairs that reach the threshold."""
        scores = self._scores(rows)
        passed = scores >= self.rule.threshold
        reached = rows[passed]
        self.documents.kept[reached[self.documents.kept[reached[:, 1]] != 0, 0]] = 0
        if len(reached) < len(rows):
            near = np.concatenate((self.near, rows[~passed]))
            order = np.lexsort((near[:, 1], near[:, 0], -self._scores(near)))
            self.near = near[order[:NEAR]]
            if len(self.near) == NEAR:  # only better ones matter from here on
                self.floor = max(self.floor, float(self._scores(self.near[-1:])[0]))
        return reached if self.every_pair else self._most_alike(reached)

    def _most_alike(self, rows: ScoredPairs, below: bool = False) -> ScoredPairs:
        """The EVIDENCE most alike pairs of each document; with `below`, near misses are left as they are."""
        if len(rows) <= EVIDENCE:
            return rows
        scores = self._scores(rows)
        order = np.lexsort((rows[:, 1], -scores, rows[:, 0]))
        rows, scores = rows[order], scores[order]
        new = np.r_[True, rows[1:, 0] != rows[:-1, 0]]
        place = np.arange(len(rows)) - np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))
        use = place < EVIDENCE
        if below:
            use |= scores < self.rule.threshold
        return rows[use]

    def _in_order(self, rows: ScoredPairs) -> ScoredPairs:
        if not self.every_pair:
            rows = self._most_alike(rows)
        return rows[np.lexsort((rows[:, 1], rows[:, 0]))]

    def _scores(self, rows: ScoredPairs) -> npt.NDArray[np.float64]:
        return scores_of(rows, self.rule.measure)
