"""A verdict without labels: the weights of Fellegi and Sunter (1969), by expectation–maximisation.

1. *Pairs*: candidates on shingles of two words, and random pairs, at most as many. Without random pairs, a collection
   whose candidates are all duplicates would be split in the middle of them.
2. *Levels*: each of `COMPARED` in five (`CUTS`). Comparisons are taken as independent within a class. They are not, so
   probabilities are nearer to 0 and 1 than they should be; few comparisons lessen that.
3. *Expectation–maximisation*: the share of pairs that are the same, and how frequent each level is among those (m) and
   among the others (u). It starts from pairs with a resemblance of `START` or more, and is the same in every run.
4. *Weights*: log(m/u) of the levels becomes c + a·x + b·g(x), with a and b of 0 or more, by least squares weighted with
   the pairs of each level. So the verdict is one as any other, and more alike is never less of a duplicate.

Two classes need not be duplicates and others. There is no verdict if the pairs of one class are fewer than `LEAST`, if
the median resemblance of the more alike ones is below `START`, or if all candidates are of one class although less
alike pairs were not looked at.
"""

from __future__ import annotations

import math
from itertools import compress, product
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.amounts import counted, share
from roughly.cluster.comparisons import compare_pairs
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.tools.tune.draw import DrawnSample
from roughly.tools.tune.grid import Trial, named_trial
from roughly.tools.tune.learn import LEARNED_PAIRS, LEAST, lowest_resemblance, verdict_lines
from roughly.tools.tune.scored_sample import LOWEST, ScoredSample
from roughly.verdict import COMPARISONS, Verdict, spread_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
COMPARED = ("words", "word_pairs", "shingles", "rare_words", "numbers", "length", "longest_run")
CUTS = (0.2, 0.4, 0.6, 0.8)
SIZE = 2
"""Words per shingle of candidates."""
START = 0.5
RANDOM_PAIRS = 5000
_ROUNDS, _CLOSE = 500, 1e-6
_LEVELS = len(CUTS) + 1


@dataclass(frozen=True)
class EstimatedVerdict:
    """A verdict, its settings, and the pairs that it was estimated from."""

    verdict: Verdict
    trial: Trial
    candidates: int
    random: int
    accepted: float  # share of the candidates that are the same
    medians: tuple[float, float]  # resemblance of the pairs of either class, those that are the same first

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "prior": self.verdict.prior, "probability": self.verdict.probability,
            "weights": {name: [a, b] for name, a, b in self.verdict.weights}, "settings": dict(self.trial.values),
            "candidates": self.candidates, "random": self.random, "accepted": self.accepted,
            "medians": list(self.medians),
        }  # fmt: skip

    @property
    def summary(self) -> str:
        """The two classes."""
        same, others = self.medians
        return (
            f"{share(self.accepted)} of {self.candidates:,} candidate pairs are the same; median resemblance "
            f"{same:.2f}, of the others {others:.2f}"
        )

    def lines(self) -> list[str]:
        """The weights, those that can add most first."""
        return verdict_lines(self.verdict, self.trial.threshold, SIZE)


def estimate_verdict(sample: DrawnSample, threads: int) -> EstimatedVerdict:
    """The verdict for a sample; `InputError` says why there is none."""
    scored = ScoredSample(sample, threads, LEARNED_PAIRS)
    pairs = scored.score("word", SIZE)
    listed, leaders = scored.leader_pairs(pairs)
    floor, resemblance = pairs.floors["resemblance"], pairs.scores["resemblance"]
    use = resemblance >= floor
    candidates = int(use.sum())
    if candidates < LEAST:
        raise _one_class(f"{counted(candidates, 'pair')} of {len(leaders):,} documents share any text")
    drawn = _random_pairs(len(leaders), min(RANDOM_PAIRS, candidates))
    every = np.concatenate((listed[use].astype(np.int64), drawn))
    compared = compare_pairs(every, scored.words, threads)
    verdict, same = fit_classes(compared)
    _check(same, compared, candidates, floor)
    accepted = same[:candidates]
    threshold = lowest_resemblance(resemblance[use][accepted], verdict, SIZE, floor)
    values = {"method": "minhash", "threshold": threshold, "shingle_size": SIZE, "verdict": str(verdict)}
    middle = [float(np.median(_resemblance(compared)[own])) for own in (same, ~same)]
    return EstimatedVerdict(
        verdict, named_trial(values), candidates, len(drawn), float(accepted.mean()), (middle[0], middle[1])
    )


def fit_classes(compared: Floats) -> tuple[Verdict, npt.NDArray[np.bool_]]:
    """(The verdict, at a probability of 0.5; the pairs that are the same by it)."""
    columns = compared[:, [list(COMPARISONS).index(name) for name in COMPARED]]
    levels = np.searchsorted(CUTS, columns, side="right")
    prior, m, u = _maximised(levels, np.where(_resemblance(compared) >= START, 0.95, 0.05))
    mass = prior * m + (1 - prior) * u
    log_odds, weights = math.log(prior / (1 - prior)), []
    for n, name in enumerate(COMPARED):
        counts = np.bincount(levels[:, n], minlength=_LEVELS)
        at = np.bincount(levels[:, n], columns[:, n], _LEVELS) / np.maximum(counts, 1)
        first, a, b = _as_weights(np.log(m[n] / u[n])[counts > 0], mass[n][counts > 0], at[counts > 0])
        log_odds += first
        if max(a, b) > 1e-4:
            weights.append((name, a, b))
    verdict = Verdict.parse(str(Verdict(0.5, log_odds, tuple(weights))))
    return verdict, verdict.accepts(compared)


def _maximised(levels: Ints, start: Floats) -> tuple[float, Floats, Floats]:
    """(the share of pairs that are the same, m, u): (comparisons, levels) each. Equal rows are summed up first."""
    numbers = levels @ _LEVELS ** np.arange(levels.shape[1])
    _, first, inverse, counts = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    flags = np.eye(_LEVELS)[levels[first]].reshape(len(first), -1)
    same = np.bincount(inverse, start) / counts

    def frequencies(of: Floats) -> Floats:
        found = (of @ flags).reshape(-1, _LEVELS) + 1 / _LEVELS  # as if one more pair were spread over the levels
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    for _ in range(_ROUNDS):
        share_same = float(np.clip(counts @ same / counts.sum(), 1e-9, 1 - 1e-9))
        m, u = frequencies(counts * same), frequencies(counts * (1 - same))
        log_odds = math.log(share_same / (1 - share_same)) + flags @ np.log(m / u).ravel()
        before, same = same, 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
        if np.abs(same - before).max() < _CLOSE:
            break
    return share_same, m, u


def _as_weights(wanted: Floats, mass: Floats, at: Floats) -> tuple[float, float, float]:
    """(c, a, b), a and b not below 0, for which c + a·x + b·g(x) is nearest to what is wanted at `at`."""
    best, least = (0.0, 0.0, 0.0), math.inf
    for use in product((True, False), repeat=2):
        matrix = np.column_stack((np.ones(len(at)), *compress((at, spread_of(at)), use)))
        found = np.linalg.lstsq(matrix * np.sqrt(mass)[:, None], wanted * np.sqrt(mass), rcond=None)[0]
        error = float(mass @ (matrix @ found - wanted) ** 2)
        if (found[1:] >= 0).all() and error < least - 1e-12:
            given = iter(found[1:].tolist())
            best, least = (float(found[0]), *(next(given) if one else 0.0 for one in use)), error  # type: ignore[assignment]
    return best


def _check(same: npt.NDArray[np.bool_], compared: Floats, candidates: int, floor: float) -> None:
    """Refuse what is but one class."""
    few = min(int(same.sum()), int((~same).sum()))
    if few < LEAST:
        raise _one_class(f"all but {few} of {len(same):,} pairs are of one class")
    middle = float(np.median(_resemblance(compared)[same]))
    if middle < START:
        raise _one_class(f"the median resemblance of the more alike pairs is {middle:.2f}, below {START}")
    if floor > LOWEST and same[:candidates].all():
        raise _one_class(f"all {candidates:,} pairs with a resemblance of {floor:.2f} or more are of one class")


def _one_class(problem: str) -> InputError:
    return InputError(f"without labels, duplicates cannot be distinguished from other pairs: {problem}; add --labels")


def _resemblance(compared: Floats) -> Floats:
    return compared[:, list(COMPARISONS).index("word_pairs")]


def _random_pairs(documents: int, count: int) -> Ints:
    """Pairs of different documents, the higher number first."""
    chance = np.random.default_rng(0)
    left, step = chance.integers(0, documents, count), chance.integers(1, documents, count)
    return np.sort(np.column_stack((left, (left + step) % documents)), axis=1)[:, ::-1].copy()
