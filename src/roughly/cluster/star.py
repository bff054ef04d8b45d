"""`star`: every removed document is verified against a kept one.

Documents are processed in order of rank. Each is compared with the kept documents that share a bucket with it; if one
of them reaches the threshold, the document is removed, with that one as witness; otherwise it is kept. So a~b~c never
removes c because of a, no document is removed without a witness, and the answer depends on the ranks alone: not on
threads, blocks or input order.

**Hot buckets.** A bucket of 100,000 near-copies of one page has few kept documents, and only those are compared
with: 100,000 comparisons. A bucket of 100,000 *different* documents that share boilerplate has 100,000 kept ones,
and would be quadratic. A bucket with more than `HOT` kept documents is *hot*: it is split, and its documents are
grouped by their rarest shingles instead (see `hot_buckets`). Most hot buckets are recognised by their best documents
before the pass. If only the pass finds one, it continues up to `LATE` kept documents, which costs less than a second
pass; a bucket with more is split after all.

`ranked_walk` is the pass itself: its threads and its memory.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import NO_PROBES, Candidates, PairConstraints, SetLoader
from roughly.cluster.hot_buckets import HOT, split_hot_buckets
from roughly.cluster.ranked_walk import LoadedSets, PairRules, RankedWalk, Resolution, SomeSets
from roughly.cluster.scoring import ResolveBudget
from roughly.meter import give_back
from roughly.threads import map_in_order

_LOOKS = (2 * HOT, 8 * HOT, 32 * HOT)


def overhead(candidates: Candidates, threads: int) -> int:
    """Memory of resolution without the candidates, sets and bitmaps."""
    entries, buckets = len(candidates.doc_buckets), candidates.buckets
    splitting = 24 * entries  # hot buckets while they are split, and later their copy in order
    return 4 * entries + splitting + 16 * buckets + (40 + 4 * threads) * candidates.documents


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
    """Decide which documents are kept."""
    if sets.weight().sum() <= work.budget // 2:
        sets = LoadedSets(sets)
    constraints = constraints or PairConstraints()
    rules = PairRules(measure, threshold, constraints, every_pair)
    if not sets.complete:
        return RankedWalk(candidates, 0, sets, rules, work).resolve()
    free, compared, split = candidates.buckets, 0, 0
    hot = _hot_at_the_top(candidates, sets, rules, work)
    while True:
        if hot.any():
            split += int(hot.sum())
            # buckets of rare shingles are never split again
            hot = np.r_[hot, np.zeros(candidates.buckets - len(hot), np.bool_)]
            candidates = split_hot_buckets(candidates, hot, sets, measure, threshold, work)
            free = int((~hot[:free]).sum())
        give_back(unless_below=work.ample)
        walk = RankedWalk(candidates, free, sets, rules, work)
        found = walk.resolve()
        compared += found.compared
        hot = walk.hot()
        if not hot.any():
            return replace(found, compared=compared, hot=split)


def _hot_at_the_top(
    candidates: Candidates, sets: SetLoader, rules: PairRules, work: ResolveBudget
) -> npt.NDArray[np.bool_]:
    """Which buckets are hot by their best documents alone: so most hot buckets are known before the pass over all."""
    starts = candidates.bucket_starts()
    hot = np.zeros(candidates.buckets, np.bool_)
    large = np.flatnonzero(np.diff(starts) > HOT)
    if not len(large):
        return hot
    starts, docs, _ = candidates.by_bucket(work.threads)
    weight = sets.weight()
    alone = replace(work, threads=1, budget=work.budget // work.threads, advance=_silent)

    def is_hot(bucket: int) -> bool:
        """Resolve its best documents, and more of them while their rate of kept ones would make the bucket hot."""
        members = docs[starts[bucket] : starts[bucket + 1]]
        for looked in _LOOKS:
            top = members[:looked].astype(np.int64)
            one = Candidates.from_buckets(
                np.array([len(top)], np.uint32), np.arange(len(top), dtype=np.uint32), NO_PROBES, len(top)
            )
            some = SomeSets(sets, top, weight[top])
            own = replace(rules, constraints=rules.constraints.of(top))
            walk = RankedWalk(one, 0, some, own, alone, enough=HOT)
            kept = int(walk.resolve().kept.sum())
            if kept > HOT or len(top) == len(members) or kept * len(members) <= HOT * len(top):
                break
        return kept > HOT

    hot[large] = list(map_in_order(is_hot, large.tolist(), work.threads))
    return hot


def _silent(done: int) -> None:
    pass
