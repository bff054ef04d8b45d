"""Pairs just below the threshold: near misses, which a run does not list.

Two kept documents do not reach the threshold with each other. Pairs of them that reach a lower one are found with the
method `minhash` (for containment, with shingle probes) at that lower threshold, with a recall of 0.99, and measured
exactly. If more than `MOST` documents are kept, a sample by the hash of their ids is used: a share s of documents has
s² of the pairs, so each represents 1/s² pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from roughly.cluster.comparisons import WordsInMemory, compare_pairs
from roughly.cluster.fields import Fields
from roughly.cluster.in_memory import ClusterRules, DocumentFacts, equivalent, longest_first, resolve_in_memory, work_of
from roughly.features.shingle_sets import shingle_sets
from roughly.methods import make
from roughly.settings import Resources, Settings
from roughly.text.canonical import Tokens
from roughly.tools.judge.strata import SPAN, Candidate
from roughly.verdict import Verdict

MOST = 50_000
LOWEST = 0.05


def near_misses(
    ids: Sequence[str],
    tokens: Tokens,
    *,
    measure: str,
    threshold: float,
    shingle_size: int,
    resources: Resources,
    learned: str | None = None,
    fields: Fields | None = None,
) -> list[Candidate]:
    """Pairs of these documents whose score is below the threshold by at most `SPAN`; with a learned verdict, pairs that
    reach the threshold and are rejected, with their probability. `left` is the one that would be removed: the shorter.
    `fields` are what a learned verdict compares beside texts."""
    lowest = threshold if learned is not None else max(LOWEST, round(threshold - SPAN, 6))
    settings = Settings(method="minhash", measure=measure, threshold=lowest, recall=0.99, shingle_size=shingle_size)
    method = make(settings)
    keys, sets = method.sign(tokens).keys, shingle_sets(tokens, shingle_size)
    assert keys is not None  # minhash has keys
    lengths = np.diff(tokens.offsets)
    rank = longest_first(lengths)
    verdict = resolve_in_memory(
        keys,
        method.judge(),
        DocumentFacts(sets, lengths),
        rank=rank,
        work=work_of(resources),
        first=equivalent(sets, rank) if fields is None else None,
        rules=ClusterRules(every_pair=True),
    )
    if learned is None:
        scores, limit = _scores(verdict.pairs, measure), threshold
    else:
        own = Verdict.parse(learned)
        scores, limit = own.probabilities(compare_pairs(verdict.pairs, WordsInMemory(tokens, fields))), own.probability
    use = np.flatnonzero(scores < limit)
    found = [
        Candidate(ids[int(left)], ids[int(right)], float(score), False)
        for left, right, score in zip(verdict.pairs[use, 0], verdict.pairs[use, 1], scores[use], strict=True)
    ]
    return sorted(found, key=lambda one: (one.left_id, one.right_id))


def _scores(rows: npt.NDArray[np.int64], measure: str) -> npt.NDArray[np.float64]:
    c, m, n = (rows[:, column].astype(np.float64) for column in (2, 3, 4))
    return c / m if measure == "containment" else c / (m + n - c)
