"""`star`: every removed document is verified against the one that stays.

Documents are taken in order of rank. Each is compared, exactly, with the kept documents that share a bucket with
it; if one of them reaches the threshold it goes, and names that one; otherwise it stays. So a~b~c never removes c
because of a, no document goes without a witness, and the answer depends on the ranks alone: not on threads, blocks
or input order.

**Hot buckets.** A bucket of 100,000 near-copies of one page has few kept documents, and only those are compared
with: 100,000 comparisons. A bucket of 100,000 *different* documents that share boilerplate has 100,000 kept ones,
and would be quadratic. When more than `CROWD` kept documents stand in one bucket it is *crowded*: it is dissolved,
and its documents are joined by their rarest shingles instead (the prefix-filter principle: two sets at or above the
threshold must share one of the rarest 1 − threshold of their shingles). Boilerplate shingles are common, so they no
longer join anything. The filter is exact: no pair at or above the threshold is lost.

**Memory.** Shingle sets are loaded in blocks that fit the budget. A block is first compared with the kept documents
of earlier blocks, then resolved within itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import NO_ASKS, Candidates, Ints, SetLoader
from roughly.features.shingles import Sets

CROWD = 200
NEAR = 64
"""How many pairs just below the threshold are remembered, for the report."""
NEAR_MARGIN = 0.1
EVIDENCE = 16
"""How many of the kept documents that resemble a removed one are named, the most alike first. A page between two
versions may resemble thousands of kept ones; naming them all would be quadratic."""
_PAIRS_AT_ONCE = 2_000_000
_NO_PAIRS = np.empty((0, 3), np.int64)
_UNLIMITED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Resolution:
    """Who stays, and the evidence. Pairs are rows (document, better-ranked document, shingles shared)."""

    kept: npt.NDArray[np.bool_]
    sizes: Ints  # distinct shingles of each document
    pairs: Ints
    near: Ints  # the best pairs below the threshold
    compared: int
    crowded: int  # buckets dissolved
    candidates: Candidates  # as they were used: without the crowded buckets


def resolve(
    candidates: Candidates,
    sets: SetLoader,
    *,
    measure: str,
    threshold: float,
    budget: int,
    every_pair: bool = False,
    advance: Callable[[int], None] = lambda done: None,
) -> Resolution:
    """Decide who stays. `budget` is the memory for shingle sets, in bytes; it never changes the answer."""
    if sets.weight().sum() <= budget // 2:
        sets = _Held(sets)
    run = _Pass(candidates, sets, measure, threshold, budget, every_pair, CROWD, advance)
    first = run.resolve()
    if not first.crowded:
        return first
    relieved = _relieve(candidates, run.crowds > CROWD, sets, measure, threshold, budget)
    again = _Pass(relieved, sets, measure, threshold, budget, every_pair, _UNLIMITED, advance).resolve()
    return replace(again, compared=first.compared + again.compared, crowded=first.crowded)


class _Held:
    """Sets that fit into memory all together, loaded once."""

    def __init__(self, sets: SetLoader) -> None:
        self._weight = sets.weight()
        self._all = sets.load(np.arange(len(self._weight)))

    def weight(self) -> Ints:
        return self._weight

    def load(self, docs: Ints) -> Sets:
        from roughly.kernels.gathering import gather_ranges

        if len(docs) == len(self._weight):
            return self._all
        offsets = np.zeros(len(docs) + 1, np.int64)
        np.cumsum(np.diff(self._all.offsets)[docs], out=offsets[1:])
        return Sets(gather_ranges(self._all.values, self._all.offsets[docs], offsets), offsets)


class _Pass:
    """One walk over all documents in order of rank."""

    def __init__(
        self,
        candidates: Candidates,
        sets: SetLoader,
        measure: str,
        threshold: float,
        budget: int,
        every_pair: bool,
        crowd: int,
        advance: Callable[[int], None],
    ) -> None:
        from roughly.kernels import resolve as kernel

        self.kernel = kernel
        self.candidates, self.sets, self.budget = candidates, sets, budget
        self.measure = kernel.CONTAINMENT if measure == "containment" else kernel.RESEMBLANCE
        self.threshold, self.floor = threshold, max(0.0, threshold - NEAR_MARGIN)
        self.every_pair, self.crowd, self.advance = every_pair, crowd, advance
        self.kept = np.ones(candidates.documents, np.uint8)
        self.sizes = np.zeros(candidates.documents, np.int64)
        self.heads = np.full(candidates.buckets, -1, np.int64)
        self.links = np.empty((len(candidates.doc_buckets), 2), np.int64)
        self.crowds = np.zeros(candidates.buckets, np.int64)
        self.used = self.compared = 0

    def resolve(self) -> Resolution:
        pairs, near = [_NO_PAIRS], [_NO_PAIRS]
        for lo, hi in blocks(self.sets.weight(), self.budget // 2):
            block = self.sets.load(np.arange(lo, hi))
            self.sizes[lo:hi] = np.diff(block.offsets)
            if lo:
                self._against_earlier(lo, hi, block, pairs, near)
            self._within(lo, block, pairs, near)
            self.advance(hi)
        found = np.concatenate(pairs)
        if not self.every_pair:
            found = self._most_alike(found)
        return Resolution(
            self.kept.astype(np.bool_),
            self.sizes,
            found[np.lexsort((found[:, 1], found[:, 0]))],
            self._best(np.concatenate(near)),
            self.compared,
            int((self.crowds > self.crowd).sum()),
            self.candidates,
        )

    def _most_alike(self, pairs: Ints) -> Ints:
        """The EVIDENCE most alike pairs of each document."""
        pairs = pairs[np.lexsort((pairs[:, 1], -self._scores(pairs), pairs[:, 0]))]
        new = np.r_[True, pairs[1:, 0] != pairs[:-1, 0]] if len(pairs) else np.empty(0, np.bool_)
        place = np.arange(len(pairs)) - np.maximum.accumulate(np.where(new, np.arange(len(pairs)), 0))
        return pairs[place < EVIDENCE]

    def _within(self, lo: int, block: Sets, pairs: list[Ints], near: list[Ints]) -> None:
        c = self.candidates
        found, missed, self.used, compared = self.kernel.greedy(
            lo, c.doc_offsets, c.doc_buckets, c.asks, block.values, block.offsets, self.kept,
            self.heads, self.links, self.used, self.crowds,
            self.measure, self.threshold, self.floor, self.crowd, self.every_pair, NEAR, EVIDENCE,
        )  # fmt: skip
        pairs.append(found)
        near.append(missed)
        self.compared += int(compared)

    def _against_earlier(self, lo: int, hi: int, block: Sets, pairs: list[Ints], near: list[Ints]) -> None:
        c = self.candidates
        d = lo
        while d < hi:
            asked, d = self.kernel.gather(
                d, hi, lo, c.doc_offsets, c.doc_buckets, c.asks, self.heads, self.links, _PAIRS_AT_ONCE
            )
            self.compared += len(asked)
            scored = score(asked, self.sets, self.measure, self.floor, self.budget // 2, (lo, block))
            passed = self._reached(scored)
            reached = scored[passed]
            pairs.append(reached if self.every_pair else self._most_alike(reached))
            near.append(self._best(scored[~passed]))
            witnessed = passed & self.kept[scored[:, 1]].astype(np.bool_)
            self.kept[scored[witnessed, 0]] = 0

    def _scores(self, pairs: Ints) -> npt.NDArray[np.float64]:
        left, right, shared = self.sizes[pairs[:, 0]], self.sizes[pairs[:, 1]], pairs[:, 2]
        whole = left if self.measure == self.kernel.CONTAINMENT else left + right - shared
        return shared / np.maximum(whole, 1)

    def _reached(self, pairs: Ints) -> npt.NDArray[np.bool_]:
        return self._scores(pairs) >= self.threshold

    def _best(self, near: Ints) -> Ints:
        order = np.lexsort((near[:, 1], near[:, 0], -self._scores(near)))
        return near[order[:NEAR]]


def blocks(weight: Ints, budget: int) -> Iterator[tuple[int, int]]:
    """Ranges of documents whose weights add up to at most the budget (or one document)."""
    ends = np.cumsum(weight)
    lo = 0
    while lo < len(weight):
        base = int(ends[lo - 1]) if lo else 0
        hi = max(lo + 1, int(np.searchsorted(ends, base + budget, side="right")))
        yield lo, hi
        lo = hi


def score(
    pairs: Ints, sets: SetLoader, measure: int, floor: float, budget: int, held: tuple[int, Sets] | None = None
) -> Ints:
    """Pairs with their exact intersections; those below `floor` are left out.

    Sets are loaded for as many right-hand documents at a time as the budget allows. `held` is a block of sets at
    hand (its first document, the sets) that has every left-hand document; otherwise those are loaded too.
    """
    from roughly.kernels.resolve import score_pairs

    if not len(pairs):
        return _NO_PAIRS
    weight = sets.weight()
    pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    cost = weight[pairs[:, 1]] * np.r_[True, pairs[1:, 1] != pairs[:-1, 1]]
    if held is None:
        cost = cost + weight[pairs[:, 0]]
    out = []
    for lo, hi in blocks(cost, budget):
        part = pairs[lo:hi]
        wanted = part[:, 1] if held is not None else part[:, :2]
        docs, _ = np.unique(wanted, return_inverse=True)
        loaded = sets.load(docs)
        right = np.searchsorted(docs, part[:, 1])
        if held is None:
            values, offsets = loaded.values, loaded.offsets
            left = np.searchsorted(docs, part[:, 0])
        else:
            first, block = held
            values = np.concatenate((block.values, loaded.values))
            offsets = np.concatenate((block.offsets, loaded.offsets[1:] + block.offsets[-1]))
            left = part[:, 0] - first
            right = right + len(block.offsets) - 1
        shared = score_pairs(values, offsets, left, right, measure, floor)
        reached = shared >= 0
        out.append(np.column_stack((part[reached, :2], shared[reached])))
    return np.concatenate(out)


def _relieve(
    candidates: Candidates,
    crowded: npt.NDArray[np.bool_],
    sets: SetLoader,
    measure: str,
    threshold: float,
    budget: int,
) -> Candidates:
    """The candidates with crowded buckets dissolved and their documents joined by rare shingles."""
    from roughly.kernels.resolve import count_hashed, prefix_keys

    entry = crowded[candidates.doc_buckets]
    owners = candidates.owners()
    members = np.unique(owners[entry])
    containment = measure == "containment"
    asking = np.unique(owners[entry & candidates.asks]) if len(candidates.asks) else members
    spans = list(blocks(sets.weight()[members], budget))
    counts = np.zeros(1 << 24, np.uint32)
    for lo, hi in spans:
        count_hashed(sets.load(members[lo:hi]).values, counts)
    keys, docs = [], []
    for lo, hi in spans:
        block = members[lo:hi]
        key, owner = prefix_keys(*_arrays(sets.load(block)), counts, threshold)
        use = np.isin(block[owner], asking)
        keys.append(key[use])
        docs.append(block[owner[use]])
    key, doc = np.concatenate(keys), np.concatenate(docs)
    ask = np.ones(len(key), np.bool_)
    if containment:
        answers = [_answers(sets.load(members[lo:hi]), members[lo:hi], np.unique(key)) for lo, hi in spans]
        key = np.concatenate([key, *(a[0] for a in answers)])
        doc = np.concatenate([doc, *(a[1] for a in answers)])
        ask = np.concatenate([ask, np.zeros(len(key) - len(ask), np.bool_)])
    _, bucket = np.unique(key, return_inverse=True)
    sizes = np.bincount(bucket).astype(np.float64) if len(bucket) else np.zeros(0)
    if (sizes * (sizes - 1)).sum() > float(len(members)) * (len(members) - 1):
        # nearly alike, all of them: their rare shingles are shared as well, and one bucket of all is cheaper
        bucket, doc = np.zeros(len(members), np.int64), members
        ask, sizes = np.isin(members, asking), np.full(1, 2.0)
    shared = sizes[bucket] > 1
    stays = ~entry
    return Candidates.from_pairs(
        np.concatenate((candidates.doc_buckets[stays].astype(np.int64), bucket[shared] + candidates.buckets)),
        np.concatenate((owners[stays], doc[shared])),
        np.concatenate((candidates.asks[stays], ask[shared])) if containment else NO_ASKS,
        candidates.documents,
        candidates.buckets + len(sizes),
    )


def _answers(sets: Sets, docs: Ints, asked: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], Ints]:
    """(shingle, document) for every shingle of these documents that is asked for."""
    at = np.minimum(np.searchsorted(asked, sets.values), max(len(asked) - 1, 0))
    hit = asked[at] == sets.values if len(asked) else np.zeros(len(sets.values), np.bool_)
    return sets.values[hit], np.repeat(docs, np.diff(sets.offsets))[hit]


def _arrays(sets: Sets) -> tuple[npt.NDArray[np.uint64], Ints]:
    return sets.values, sets.offsets
