"""One pass over documents in order of rank: each is compared with the kept ones that share a bucket with it.

**Threads.** Documents that no chain of shared buckets connects do not affect each other. So the components of the
candidate graph are resolved in parallel, those with the most work first, each by one thread in order of rank. In a
component that is too large for that, some documents at a time are compared with those before them on all threads, and
then with each other in order of rank; the floor rises after every `RUN` of them.

**Memory.** Sets are loaded in blocks that fit the budget, whole components together. A component that does not fit is
cut: each block of it is first compared with the kept documents of earlier blocks, whose bitmaps are still in memory and
rule out nearly all of them; then it is resolved within itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.hot_buckets import LATE
from roughly.cluster.scoring import (
    NO_PAIRS,
    ResolveBudget,
    ScoredPairs,
    Scorer,
    blocks,
    fingerprints,
    scores_of,
    set_arrays,
    slice_of,
)
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.meter import give_back
from roughly.threads import map_in_order

RUN = 1024
_SHORT_RUN = 128
"""Documents that are compared at a time; fewer if a pass may end early."""
DENSE = 512
"""Buckets with at least this number of members store the sizes and bitmaps of these contiguously."""
NEAR = 64
"""Number of pairs just below the threshold that are recorded for the report."""
NEAR_MARGIN = 0.1
EVIDENCE = 16
"""Number of similar kept documents recorded per removed document, the most similar first. A page between two versions
may resemble thousands of kept ones; recording them all would be quadratic."""
_LARGE = 1 << 22
"""Number of pairs in a component from which on it is resolved by several threads."""
_DOCUMENTS_AT_ONCE = 1 << 18
"""Documents of small components resolved between two progress reports."""
_LEAST_PAIRS = 50_000
_BYTES_A_PAIR = 64
"""Memory per pair while it is scored: sorted, weighed, looked up on both sides."""
_MAP_WORDS = 16
_DENSE_ROW = 8 * _MAP_WORDS + 4
"""Bytes stored per document of such a bucket."""


@dataclass(frozen=True)
class Resolution:
    """Which documents are kept, and the evidence. Rows are (document, better-ranked document, c, m, n): see
    `kernels.judging`."""

    kept: npt.NDArray[np.bool_]
    pairs: ScoredPairs
    near: ScoredPairs  # the best pairs below the threshold
    compared: int
    hot: int  # buckets that were split
    equivalent: int  # documents with the same set as a better-ranked one
    candidates: Candidates  # as they were used: with hot buckets split


@dataclass(frozen=True)
class PairRules:
    """The rules for a pair."""

    measure: str
    threshold: float
    constraints: PairConstraints
    every_pair: bool


class SomeSets:
    """Some of the sets, renumbered."""

    complete = True

    def __init__(self, sets: SetLoader, docs: Ints, weight: Ints) -> None:
        self._sets, self._docs, self._weight = sets, docs, weight

    def weight(self) -> Ints:
        return self._weight

    def load(self, docs: Ints) -> Sets:
        return self._sets.load(self._docs[docs])


class LoadedSets:
    """All sets, which fit into memory, loaded once."""

    def __init__(self, sets: SetLoader) -> None:
        self._weight, self.complete = sets.weight(), sets.complete
        self.all = sets.load(np.arange(len(self._weight)))

    def weight(self) -> Ints:
        return self._weight

    def load(self, docs: Ints) -> Sets:
        return slice_of(self.all, docs)


class RankedWalk:
    """One pass over all documents, component by component, each in order of rank.

    Documents are numbered here by their positions in that order; `self.order.ranks` has their ranks.
    """

    def __init__(
        self,
        candidates: Candidates,
        free: int,
        sets: SetLoader,
        rules: PairRules,
        work: ResolveBudget,
        enough: int | None = None,
    ) -> None:
        """Buckets with index ≥ `free` are uncapped; earlier ones hold at most `LATE` kept documents.

        With `enough`, all documents are treated as one component, and the pass ends as soon as more than that number
        are kept; documents not reached are kept as well.
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
        incidence = (candidates.doc_offsets, candidates.doc_buckets, candidates.probes)
        if enough is None:
            self.order = components.order_by_component(*incidence[:2], starts, work.threads)
            incidence = components.reorder(*incidence, self.order.ranks, work.threads)
            constraints = constraints.of(self.order.ranks)
        else:
            self.order = components.Order(np.arange(count), np.array([0, count]), np.zeros(1, np.int64))
        self.loaded = sets if isinstance(sets, LoadedSets) else None
        self.sets = SomeSets(sets, self.order.ranks, sets.weight()[self.order.ranks])
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
        self.stamps = np.full((work.threads if self.large or self.loaded is None else 1, count), -1, np.int32)
        self.near, self.compared = NO_PAIRS, 0
        self.prints = np.zeros(count if enough is None else 0, np.uint64)  # of the sets; 0 for an empty one
        left = work.budget - 8 * words * count - self.joined.dense.maps.nbytes - self.joined.dense.sizes.nbytes
        self.memory = int(sets.weight().sum()) if self.loaded is not None else max(1, left // 3)
        self.scorer = Scorer(self.sets, self.rule, max(1, left // 8), work.threads)
        self.pairs_at_once = max(_LEAST_PAIRS, left // 8 // _BYTES_A_PAIR)

    def _dense(self, starts: Ints, free: int, usable: bool) -> Any:
        """Memory for sizes and bitmaps of the members of large buckets, the largest first."""
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

    def hot(self) -> npt.NDArray[np.bool_]:
        """Which of the capped buckets have more than `LATE` kept documents."""
        return self.joined.kept_counts[: self.joined.free] > LATE

    def resolve(self) -> Resolution:
        found = [NO_PAIRS]
        for lo, hi in self._blocks():
            block = self._load(lo, hi)
            found += self._block(lo, hi, block)
            del block
            if hi < self.candidates.documents:  # before the next one is loaded
                give_back(unless_below=self.work.ample)
            if self._are_enough():
                break
        pairs = self._ranked(np.concatenate(found))
        kept = np.empty(self.candidates.documents, np.bool_)
        kept[self.order.ranks] = self.documents.kept != 0
        pairs = self.components.sort_pairs(pairs, self.candidates.documents)
        equivalent = _repeated(self.prints)
        return Resolution(kept, pairs, self.near, self.compared, 0, equivalent, self.candidates)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of documents whose sets fit into memory: several components, or part of one that does not fit."""
        ends = np.r_[0, np.cumsum(self.sets.weight())][self.order.cuts]
        for first, last in blocks(np.diff(ends), self.memory):
            lo, hi = int(self.order.cuts[first]), int(self.order.cuts[last])
            for start, stop in blocks(self.sets.weight()[lo:hi], self.memory):
                yield lo + start, lo + stop

    def _load(self, lo: int, hi: int) -> Any:
        """The sets of a block, and the sizes and bitmaps of its documents.

        If bitmaps are narrow, there are others as wide as those of large buckets.
        """
        if self.loaded is not None:
            sets, rows = self.loaded.all, self.order.ranks[lo:hi]
        else:
            sets, rows = self.sets.load(np.arange(lo, hi)), np.arange(hi - lo)
        block = self.components.Block(set_arrays(sets), rows)
        self.documents.sizes[lo:hi] = np.diff(sets.offsets)[rows]
        if len(self.prints):
            self.prints[lo:hi] = fingerprints(sets, self.work.threads)[rows]
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
                self.components.resolve_components(
                    cuts[start : stop + 1], self.joined, self.documents, self.stamps[0], block, self.rule, self.limits,
                    self.order.ranks, self.work.threads,
                )
            )  # fmt: skip
            start = stop

    def _large(self, start: int, stop: int, block: Any) -> ScoredPairs:
        """Resolve a large component, or a part of it, run by run."""
        run, enough = (RUN, -1) if self.enough is None else (_SHORT_RUN, self.enough)
        return self._take(
            self.components.resolve_large_component(
                start, stop, run, enough, self.joined, self.documents, self.stamps, block, self.rule, self.limits,
                self.order.ranks,
            )
        )  # fmt: skip

    def _are_enough(self) -> bool:
        """Whether more than `enough` documents are kept, so that the pass can end."""
        done = self.documents.first + len(self.documents.wide)
        return self.enough is not None and int(self.documents.kept[:done].sum()) > self.enough

    def _against_earlier(self, lo: int, hi: int, block: Any) -> Iterator[ScoredPairs]:
        """Compare a block with the kept documents of earlier blocks."""
        values, offsets, limits, most = block.sets
        sets = Sets(values, offsets, limits if len(limits) else None, most)

        def find(part: tuple[int, int, npt.NDArray[np.int32]]) -> tuple[ScoredPairs, int, int]:
            d, end, stamp = part
            found: tuple[ScoredPairs, int, int] = self.kernel.find_candidates(
                d, end, 0, lo, self.joined, self.documents, stamp, self.rule, self.limits.floor, self.pairs_at_once
            )
            return found

        for start in range(lo, hi, 16 * RUN):
            parts = self._split(start, min(start + 16 * RUN, hi))
            while parts:
                done = list(map_in_order(find, parts, self.work.threads))
                parts = [(d, end, stamp) for (_, d, _), (_, end, stamp) in zip(done, parts, strict=True) if d < end]
                for pairs, _, shared in done:
                    rows = self.scorer.score(pairs, self.limits.floor, (lo, sets))
                    passed = scores_of(rows, self.rule.measure) >= self.rule.threshold
                    reached = rows[passed]
                    self.documents.kept[reached[self.documents.kept[reached[:, 1]] != 0, 0]] = 0
                    reached = self._most_alike(reached)  # all pairs of a document come together
                    yield self._take(self.components.Resolved(reached, rows[~passed], shared, lo))

    def _split(self, start: int, stop: int) -> list[tuple[int, int, npt.NDArray[np.int32]]]:
        cuts = np.linspace(start, stop, len(self.stamps) + 1).astype(int)
        return [(int(a), int(b), stamp) for a, b, stamp in zip(cuts[:-1], cuts[1:], self.stamps, strict=True) if b > a]

    def _take(self, found: Any) -> ScoredPairs:
        """Record the near misses and the progress; returns the pairs that reach the threshold."""
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
        """Rows with the ranks of documents instead of their positions in the order by component."""
        ranked = rows.copy()
        ranked[:, :2] = self.order.ranks[rows[:, :2]]
        return ranked

    def _most_alike(self, rows: ScoredPairs) -> ScoredPairs:
        """The EVIDENCE most similar pairs of each document; all of them with `every_pair`."""
        if len(rows) <= EVIDENCE or self.limits.every_pair:
            return rows
        order = np.lexsort((rows[:, 1], -scores_of(rows, self.rule.measure), rows[:, 0]))
        rows = rows[order]
        new = np.r_[True, rows[1:, 0] != rows[:-1, 0]]
        place = np.arange(len(rows)) - np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))
        return rows[place < EVIDENCE]


def _repeated(prints: npt.NDArray[np.uint64]) -> int:
    """How many sets have the same fingerprint as an earlier one; empty sets (0) do not count. Sorts in place."""
    prints.sort()
    empty = int(np.count_nonzero(prints == 0))
    return int(np.count_nonzero(prints[1:] == prints[:-1])) - max(0, empty - 1)
