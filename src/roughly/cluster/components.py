"""`components`: Broder's union-find. Documents that are linked by a chain of duplicates are one cluster.

Resemblance is not transitive (Broder 1997, §2), so the ends of a chain may be quite unlike. Therefore `components`
decides only which documents stand together; who is *removed* is decided as in `star`, against a witness, so a
component may keep several documents and none goes because of a chain.

`star` compares with kept documents only, so two removed documents of different stars may resemble each other
unseen. Those links are looked for here: bucket by bucket, pairs whose documents are not yet in one component are
scored.
"""

from __future__ import annotations

import numpy as np

from roughly.cluster.candidates import Ints, SetLoader
from roughly.cluster.star import Resolution, score

_PAIRS_AT_ONCE = 2_000_000


def components(
    resolution: Resolution, sets: SetLoader, *, measure: str, threshold: float, budget: int
) -> tuple[Ints, Ints, int]:
    """(best document of each document's component, links found beyond the star's own, comparisons made)."""
    from roughly.kernels import resolve as kernel

    code = kernel.CONTAINMENT if measure == "containment" else kernel.RESEMBLANCE
    candidates = resolution.candidates
    offsets, docs = candidates.by_bucket()
    links = resolution.pairs[:, :2]
    found = [np.empty((0, 3), np.int64)]
    roots = _roots(links, candidates.documents)
    bucket = place = compared = 0
    while bucket < candidates.buckets:
        asked, bucket, place = kernel.bridges(bucket, place, offsets, docs, roots, _PAIRS_AT_ONCE)
        if not len(asked):
            continue
        asked = np.unique(asked, axis=0)
        compared += len(asked)
        scored = score(asked, sets, code, threshold, budget)
        if len(scored):
            found.append(scored)
            links = np.concatenate((links, scored[:, :2]))
            if place == 0:  # within a bucket the order of its documents must stay as it was
                roots = _roots(links, candidates.documents)
    return _roots(links, candidates.documents), np.concatenate(found), compared


def _roots(links: Ints, documents: int) -> Ints:
    """The smallest document of each document's component."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(links), np.bool_), (links[:, 0], links[:, 1])), shape=(documents, documents))
    count, label = connected_components(graph, directed=False)
    least = np.full(count, documents, np.int64)
    np.minimum.at(least, label, np.arange(documents))
    roots: Ints = least[label]
    return roots
