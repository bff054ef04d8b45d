"""The threshold that verdicts imply.

A logistic curve is fitted to score and verdict,

    P(same | s) = 1 / (1 + exp(−(a + b·z))),   z = (s − mean) / deviation,

with a weak normal prior on a and b (deviation `PRIOR`), so that it has an answer even if the scores separate the
verdicts without exception. *Even* is the score at which a pair is as likely the same as not: −a/b. For a precision, it
is the lowest threshold at which the pairs at or above it reach the precision: each drawn pair has the weight of the
pairs that it represents, and counts as the same with the probability of the curve.

Why not isotonic regression: it assumes less, but with a hundred verdicts its steps are single pairs; the score at which
it crosses one half jumps from one pair to the next between draws. So few verdicts support two parameters. Verdicts that
do not rise with the score (b ≤ 0) imply no threshold, and the result says so.

Intervals are by bootstrap: verdicts drawn again within each stratum, `DRAWS` times with the seed; the middle 95 %.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.tools.judge.statistics import consensus
from roughly.tools.judge.verdict_file import VerdictFile
from roughly.tools.metrics.intervals import Interval

Floats = npt.NDArray[np.float64]
PRIOR = 10.0
DRAWS = 1000
_STEPS = 60
_USABLE = 0.5
"""An interval is given if at least this share of the draws has a threshold."""


@dataclass(frozen=True)
class Implied:
    """The threshold, or why there is none."""

    value: float | None
    interval: Interval | None = None
    reason: str = ""


@dataclass(frozen=True)
class _Judged:
    score: Floats
    same: Floats
    weight: Floats
    stratum: npt.NDArray[np.int64]


def implied_threshold(verdicts: VerdictFile, precision: float | None = None) -> Implied:
    """The score at which a pair is as likely the same as not; with a precision, the lowest threshold that reaches
    it."""
    judged = _judged(verdicts)
    reason = _refusal(judged)
    if reason:
        return Implied(None, reason=reason)
    rows = np.arange(len(judged.score))[None, :]
    value = _thresholds(judged, rows, precision)[0]
    if np.isnan(value):
        return Implied(None, reason=_WHY_NONE if precision is None else _WHY_NOT_REACHED.format(precision))
    stream = np.random.default_rng(verdicts.drawn.seed)
    draws = np.empty((DRAWS, len(judged.score)), np.int64)
    for stratum in np.unique(judged.stratum):
        own = np.flatnonzero(judged.stratum == stratum)
        draws[:, own] = own[stream.integers(0, len(own), (DRAWS, len(own)))]
    found = _thresholds(judged, draws, precision)
    found = found[~np.isnan(found)]
    if len(found) < _USABLE * DRAWS:
        return Implied(float(value), reason="too few verdicts for an interval")
    low, high = np.quantile(found, [0.025, 0.975])
    return Implied(float(value), Interval(float(low), float(high)))


_WHY_NONE = "verdicts do not rise with the score, or part from it outside the scores judged"
_WHY_NOT_REACHED = "no threshold among the scores judged has a precision of {:g}"


def _judged(verdicts: VerdictFile) -> _Judged:
    drawn = verdicts.drawn
    decided = [(pair, same) for pair, same in consensus(verdicts).items() if same is not None]
    pairs = [drawn.pairs[pair] for pair, _ in decided]
    stratum = np.array([pair.stratum for pair in pairs], np.int64)
    count = np.bincount(stratum, minlength=len(drawn.strata))
    sizes = np.array([one.pairs for one in drawn.strata], np.float64)
    weight = sizes[stratum] / count[stratum] if len(pairs) else np.empty(0)
    same = np.array([same for _, same in decided], np.float64)
    return _Judged(np.array([pair.score for pair in pairs], np.float64), same, weight, stratum)


def _refusal(judged: _Judged) -> str:
    if not len(judged.score):
        return "nothing is judged yet"
    if judged.same.min() == judged.same.max():
        low, high = judged.score.min(), judged.score.max()
        if judged.same[0]:
            return f"every pair is judged the same: the threshold is below {low:.3f}, the lowest score judged"
        return f"every pair is judged different: the threshold is above {high:.3f}, the highest score judged"
    if judged.score.min() == judged.score.max():
        return "all pairs judged have one score"
    return ""


def _thresholds(judged: _Judged, rows: npt.NDArray[np.int64], precision: float | None) -> Floats:
    """The threshold of each draw; NaN if it has none."""
    score, same = judged.score[rows], judged.same[rows]
    middle, spread = judged.score.mean(), max(float(judged.score.std()), 1e-9)
    a, b = fit_logistic((score - middle) / spread, same)
    one_sided = (same.min(axis=1) == same.max(axis=1)) | (b <= 0)
    if precision is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            even = middle - spread * a / b
        outside = (even < judged.score.min()) | (even > judged.score.max())
        return np.where(one_sided | outside, np.nan, even)
    weight = judged.weight[rows]
    likely = 1 / (1 + np.exp(-(a[:, None] + b[:, None] * (score - middle) / spread)))
    order = np.argsort(-score, axis=1, kind="stable")
    weight, likely, score = (np.take_along_axis(values, order, 1) for values in (weight, likely, score))
    precision_above = np.cumsum(weight * likely, axis=1) / np.cumsum(weight, axis=1)
    reached = precision_above >= precision
    last = reached.shape[1] - 1 - np.argmax(reached[:, ::-1], axis=1)
    found = np.take_along_axis(score, last[:, None], 1)[:, 0]
    return np.where(one_sided | ~reached.any(axis=1), np.nan, found)


def fit_logistic(z: Floats, same: Floats) -> tuple[Floats, Floats]:
    """Intercept and slope of each row, by Newton's method on the penalised likelihood, which has one peak."""
    a, b = np.zeros(len(z)), np.zeros(len(z))
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(a[:, None] + b[:, None] * z, -35, 35)))
        slope_a = (same - p).sum(axis=1) - a / PRIOR**2
        slope_b = ((same - p) * z).sum(axis=1) - b / PRIOR**2
        w = p * (1 - p)
        aa, ab, bb = w.sum(axis=1) + PRIOR**-2, (w * z).sum(axis=1), (w * z * z).sum(axis=1) + PRIOR**-2
        under = aa * bb - ab * ab
        da, db = (bb * slope_a - ab * slope_b) / under, (aa * slope_b - ab * slope_a) / under
        shrink = np.minimum(1.0, 4.0 / np.maximum(np.maximum(np.abs(da), np.abs(db)), 1e-12))  # limit the step
        a, b = a + shrink * da, b + shrink * db
        if max(np.abs(da).max(), np.abs(db).max()) < 1e-10:
            break
    return a, b
