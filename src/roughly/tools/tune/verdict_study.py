"""A learned verdict examined: how certain its weights are, how well its probabilities hold, and what it gets wrong.

**Intervals of weights** are 95 %, from the sandwich estimate of their variance with true sets as clusters (Liang and
Zeger 1986), H⁻¹ (Σ g gᵀ) H⁻¹: H is the second derivative of the penalised loss, g the sum of a set's first derivatives.
Weights that lie on their bound of 0 are taken as fixed.

All else is on unseen labels: each pair has the probability that verdicts learnt without its sets give it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from roughly.report.data import PairSample
from roughly.report.verdict_page import CalibrationBin, CurvePoint, VerdictData, WeightRow, WrongPair
from roughly.tools.tune.learn import CUTS, Flags, Learned, Learning, effective_scale
from roughly.tools.tune.logistic import PENALTY
from roughly.tools.tune.reference import Floats, score
from roughly.verdict import COMPARISONS, Verdict
from roughly.verify.scores import score_texts

BINS = 10
WRONG = 10
"""Pairs of each kind that are shown."""


def study_verdict(learning: Learning, learned: Learned) -> VerdictData:
    """All figures of the page of a verdict."""
    verdict, unseen = learned.verdict, learned.unseen_pairs
    known = unseen.counts > 0
    threshold = learned.tried.trial.threshold
    accepted = (unseen.probability >= verdict.probability) & (learning.resemblance >= threshold)
    curve = [(cut, score(totals[None])) for cut, totals in zip(CUTS, unseen.curve, strict=True)]
    return VerdictData(
        prior=verdict.prior, probability=verdict.probability, threshold=threshold, shingle_size=learning.size,
        f1=learned.unseen.f1, pairs=learned.pairs, weights=_weights(learning, verdict),
        calibration=calibrated(unseen.probability[known], learning.labels.same[known], unseen.counts[known]),
        curve=[CurvePoint(cut, one.precision or 0.0, one.recall or 0.0) for cut, one in curve],
        wrongly_same=_wrong(learning, unseen.probability, known & accepted & ~learning.labels.same, sign=-1),
        missed=_wrong(learning, unseen.probability, known & ~accepted & learning.labels.same, sign=1),
    )  # fmt: skip


def calibrated(probability: Floats, same: Flags, counts: Floats) -> list[CalibrationBin]:
    """Pairs by probability, in ranges of a tenth: the mean probability, and the share that are the same."""
    at = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    sums = np.stack([np.bincount(at, own, BINS) for own in (counts, counts * probability, counts * same)])
    pairs = np.bincount(at, minlength=BINS)
    return [
        CalibrationBin(int(pairs[n]), float(sums[1, n] / sums[0, n]), float(sums[2, n] / sums[0, n]))
        for n in np.flatnonzero(pairs)
    ]


def _weights(learning: Learning, verdict: Verdict) -> list[WeightRow]:
    """What each comparison adds at most, with its interval."""
    names, given = learning.names, {name: (a, b) for name, a, b in verdict.weights}
    weights = np.array([given.get(name, (0.0, 0.0))[part] for part in (0, 1) for name in names])
    free = np.flatnonzero(weights > 0)
    ends = learning.ends(None)
    ends = ends * effective_scale(ends[ends.sum(axis=1) > 0].sum(axis=1))
    matrix = np.column_stack((np.ones(len(learning.features)), learning.features[:, free]))
    chance = 1 / (1 + np.exp(-(verdict.prior + matrix[:, 1:] @ weights[free])))
    wide = matrix * (ends.sum(axis=1) * chance * (1 - chance))[:, None]
    bread = np.linalg.pinv(matrix.T @ wide + np.diag(np.r_[0.0, np.full(len(free), PENALTY)]))
    slopes = np.zeros((int(learning.labels.sets.max(initial=-1)) + 2, matrix.shape[1]))
    for side in (0, 1):
        np.add.at(
            slopes,
            learning.labels.sets[:, side] + 1,
            matrix * (ends[:, side] * (learning.labels.same - chance))[:, None],
        )
    variance = bread @ (slopes[1:].T @ slopes[1:]) @ bread
    rows = []
    for n, name in enumerate(names):
        own = 1 + np.flatnonzero(free % len(names) == n)
        if len(own):
            most, error = sum(given[name]), float(np.sqrt(max(variance[np.ix_(own, own)].sum(), 0.0)))
            rows.append(WeightRow(name, COMPARISONS[name], most, max(0.0, most - 1.96 * error), most + 1.96 * error))
    return sorted(rows, key=lambda row: -row.most)


def _wrong(learning: Learning, probability: Floats, which: Flags, sign: int) -> tuple[int, list[WrongPair]]:
    """(how many pairs, those of which the verdict was most sure)."""
    found = np.flatnonzero(which)
    shown = found[np.lexsort((found, sign * probability[found]))][:WRONG]
    ids, texts = learning.sample.ids, learning.sample.texts

    def pair(n: int) -> WrongPair:
        left, right = (int(doc) for doc in learning.documents[n])
        both: tuple[Any, Any] = texts[left].as_py(), texts[right].as_py()
        scores = score_texts(*both, learning.size)
        sample = PairSample(
            ids[left], ids[right], *both, scores.resemblance, scores.containment, scores.contained_in
        )  # fmt: skip
        return WrongPair(float(probability[n]), sample)

    return len(found), [pair(n) for n in shown]
