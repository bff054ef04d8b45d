"""Scores of queries (Kołcz 2008, §6.4, eq. 3–5).

    recall(i) = |found(i) ∩ true(i)| / |true(i)|        precision(i) = |found(i) ∩ true(i)| / |found(i)|
    utility(i) = |spam(i)| − cost · |legit(i)|

the first two among spam, averaged over the queries with a denominator above 0; spam(i) and legit(i) are the spam
and the legitimate messages found. Eq. 3 divides all that is found by what is true, which may exceed one; here only true
ones count.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.defaults import COST
from roughly.tools.metrics.overlap import Flags, Ints


@dataclass(frozen=True)
class QueryScores:
    """Averages over queries; None if no query counts."""

    queries: int  # that have a true duplicate
    recall: float | None
    precision: float | None  # over the queries for which anything was found
    utility: float | None  # over all queries
    legitimate: int  # legitimate documents flagged, each once


def score_matches(found: Ints, true: Ints, queries: int, spam: Flags, cost: float = COST) -> QueryScores:
    """Scores of rows (query, document), found and true, queries numbered from 0; the query itself in neither."""
    found, true = _distinct(found, len(spam)), _distinct(true, len(spam))
    bad = found[spam[found[:, 1]]]
    known = true[spam[true[:, 1]]]
    right = np.isin(bad @ [len(spam), 1], known @ [len(spam), 1])
    hits, named = _count(bad[right], queries), _count(bad, queries)
    truths, innocent = _count(known, queries), _count(found, queries) - named
    return QueryScores(
        int((truths > 0).sum()),
        _mean(hits[truths > 0] / truths[truths > 0]),
        _mean(hits[named > 0] / named[named > 0]),
        _mean(named - cost * innocent),
        len(np.unique(found[~spam[found[:, 1]], 1])),
    )


def score_queries(results: Iterable[tuple[set[int], set[int]]], spam: Flags, cost: float = COST) -> QueryScores:
    """The same from (found, true) sets of document numbers, one pair per query."""
    listed = list(results)
    found, true = (
        np.array([(i, d) for i, pair in enumerate(listed) for d in pair[side]], np.int64).reshape(-1, 2)
        for side in (0, 1)
    )
    return score_matches(found, true, len(listed), spam, cost)


def _distinct(rows: Ints, documents: int) -> Ints:
    codes = np.unique(np.asarray(rows, np.int64).reshape(-1, 2) @ [documents, 1])
    return np.column_stack(np.divmod(codes, max(documents, 1)))


def _count(rows: Ints, queries: int) -> Ints:
    return np.bincount(rows[:, 0], minlength=queries)


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    return float(values.mean()) if len(values) else None
