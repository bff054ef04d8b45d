"""How well documents were found: by queries (Kołcz 2008, §6.4) and by families of copies (I-Match 2002, §4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class QueryScores:
    """Averages over queries; None where no query has anything to average."""

    queries: int  # that have a true duplicate
    recall: float | None
    precision: float | None  # over the queries for which anything was found
    utility: float | None  # over all queries
    legitimate: int  # legitimate documents flagged, each once


def score_queries(
    results: Iterable[tuple[set[int], set[int]]], spam: npt.NDArray[np.bool_], cost: float = 100.0
) -> QueryScores:
    """Scores of (found, true) sets of document numbers, one pair a query, the query itself in neither.

    recall = |found ∩ true| / |true|, precision = |found ∩ true| / |found|, both among spam, and
    utility = |found spam| − cost · |found legitimate| (eq. 3–5). Eq. 3 divides all that is found by what is true, which
    may exceed one; here only true ones count.
    """
    recalls, precisions, utilities = [], [], []
    flagged: set[int] = set()
    for found, true in results:
        legitimate = {document for document in found if not spam[document]}
        bad, known = found - legitimate, {document for document in true if spam[document]}
        flagged |= legitimate
        utilities.append(len(bad) - cost * len(legitimate))
        if known:
            recalls.append(len(bad & known) / len(known))
        if bad:
            precisions.append(len(bad & known) / len(bad))
    return QueryScores(len(recalls), _mean(recalls), _mean(precisions), _mean(utilities), len(flagged))


@dataclass(frozen=True)
class FamilyScore:
    """What became of an original and its copies."""

    found: float  # share of them in a group with another of them
    clusters: int  # groups that they stand in, single ones included
    false: int  # documents of other origin in those groups


def score_family(group: Ints, family: Sequence[int]) -> FamilyScore:
    """The ratio of Table III, the number of Table IV, and what was wrongly found with them."""
    own = group[list(family)]
    names, counts = np.unique(own, return_counts=True)
    together = counts[counts > 1].sum()
    others = int(np.isin(group, names).sum()) - len(family)
    return FamilyScore(float(together) / len(family), len(names), others)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
