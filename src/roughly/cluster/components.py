"""`components`: Broder's union-find. Documents that are linked by a chain of duplicates are one cluster.

Resemblance is not transitive (Broder 1997, §2), so the ends of a chain may be quite unlike. Therefore `components`
decides only which documents form a cluster; which ones are *removed* is decided as in `star`, against a witness, so a
component may keep several documents and none is removed because of a chain.

`star` compares with kept documents only, so similar removed documents of different stars may not have been compared.
Those links are found here: bucket by bucket, pairs whose documents are not yet in one component are scored.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import PairConstraints, SetLoader
from roughly.cluster.ranked_walk import Resolution
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, ScoredPairs, Scorer

_PAIRS_AT_ONCE = 2_000_000
Roots = npt.NDArray[np.int32]


def components(
    resolution: Resolution,
    sets: SetLoader,
    *,
    measure: str,
    threshold: float,
    work: ResolveBudget,
    constraints: PairConstraints,
) -> tuple[Roots, ScoredPairs, int]:
    """(best document of each document's component, links found beyond the star's own, comparisons made)."""
    from roughly.kernels.bridges import bridges
    from roughly.kernels.candidate_components import linked_roots
    from roughly.kernels.judging import MEASURES
    from roughly.kernels.resolve import Rule

    candidates = resolution.candidates
    scorer = Scorer(sets, Rule(MEASURES[measure], float(threshold), 0, 0.0), work.budget, work.threads)
    offsets, docs, _ = candidates.by_bucket()
    links = resolution.pairs[:, :2]
    found = [NO_PAIRS]
    roots = linked_roots(links, candidates.documents, work.threads)
    bucket = place = compared = 0
    while bucket < candidates.buckets:
        request, bucket, place = bridges(bucket, place, offsets, docs, roots, _PAIRS_AT_ONCE)
        if not len(request):
            continue
        request = np.unique(request[constraints.admit(request)], axis=0)
        compared += len(request)
        scored = scorer.score(request, threshold)
        if len(scored):
            found.append(scored)
            links = np.concatenate((links, scored[:, :2]))
            if place == 0:  # within a bucket the order of its documents must not change
                roots = linked_roots(links, candidates.documents, work.threads)
    return linked_roots(links, candidates.documents, work.threads), np.concatenate(found), compared
