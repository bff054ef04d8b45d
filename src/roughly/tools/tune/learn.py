"""A verdict learnt from labels: a logistic regression over comparisons of candidate pairs (`roughly.verdict`).

1. *Candidates*: pairs that share enough shingles of words. Of some sizes the one is taken whose stored pairs hold the
   most true ones.
2. *Fit*: weights of 0 or more, with a penalty on their squares (`logistic`). A pair counts once for each of its
   documents whose set is used. What pairs count is divided so that it adds up to their effective number (Kish 1965):
   100 pairs that stand for 10,000 are evidence of 100. Listed pairs with weights count the square root of them, between
   what has no bias (weights) and what has the least variance (none, as pairs are drawn by what is compared).
3. *Threshold*: for each probability, the highest resemblance below which at most `LOST` of the true pairs of that
   probability lie, times `MARGIN`, since unseen pairs may lie lower; or what the weights imply, if that is more
   (`Verdict.implied`). It is a part of the verdict: pairs below it are different.
4. *Probability*: of all probabilities in steps of 0.05 and both clusterings, what has the highest F1 (`selection`).

Scores on unseen labels are made as those of `selection`: each fold is scored by a verdict fitted and chosen without it.

Verdicts over a single comparison, such as overlap weighted by rarity, are not fitted: scores on unseen labels overrate
them where labels are few.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.amounts import counted
from roughly.cluster.comparisons import compare_pairs
from roughly.cluster.learned import groups_of
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.intervals import Interval
from roughly.tools.tune.draw import DrawnSample
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.grid import named_trial
from roughly.tools.tune.logistic import fit_weights
from roughly.tools.tune.reference import Floats, LabelledReference, Score, score
from roughly.tools.tune.scored_sample import PairScores, ScoredSample
from roughly.tools.tune.selection import (
    REPEATS,
    Selection,
    effective_sets,
    error_of_gain,
    folds_of,
    interval_figures,
)
from roughly.tools.tune.trial import TrialOutcome
from roughly.verdict import COMPARISONS, FIELDS, Verdict, spread_of

Flags = npt.NDArray[np.bool_]
SIZES = (2, 3, 5)
CUTS = [round(0.05 * step, 2) for step in range(1, 20)]
LOST = 0.01
MARGIN = 0.8
LEAST = 5
"""True sets that a verdict needs; with fewer effective ones it must be clearly better to be recommended."""
LEARNED_PAIRS = 300_000
"""Candidate pairs that are looked at, about; they are those with the highest resemblance."""
MOST_FITTED = 200_000
"""Pairs that a fit uses at most; if there are more, a sample."""


@dataclass(frozen=True)
class Learned:
    """A verdict, its settings and its scores."""

    verdict: Verdict
    tried: Tried
    unseen: Score
    intervals: dict[str, Interval | None]
    pairs: int  # that were fitted to
    floor: float  # candidates below this resemblance were not looked at
    unseen_pairs: UnseenPairs

    @property
    def implied(self) -> float:
        """The resemblance that follows from the weights, on shingles of the settings' size."""
        return self.verdict.implied(int(self.tried.trial.values["shingle_size"]))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "prior": self.verdict.prior, "probability": self.verdict.probability,
            "weights": {name: [a, b] for name, a, b in self.verdict.weights}, "settings": dict(self.tried.trial.values),
            "score": self.tried.score.to_dict(), "unseen": self.unseen.to_dict(), "pairs": self.pairs,
            "intervals": {n: None if i is None else [i.low, i.high] for n, i in self.intervals.items()},
            "floor": self.floor, "implied": self.implied,
        }  # fmt: skip

    def lines(self) -> list[str]:
        """The weights, those that can add most first."""
        return verdict_lines(self.verdict, self.tried.trial.threshold, int(self.tried.trial.values["shingle_size"]))


def verdict_lines(verdict: Verdict, threshold: float, size: int) -> list[str]:
    """A verdict for people: what each comparison adds at most, and what is needed."""
    found = [f"verdict     prior {verdict.prior:+.2f}; what each comparison adds at most:"]
    for name, a, b in sorted(verdict.weights, key=lambda one: -(one[1] + one[2])):
        found.append(f"            {a + b:+7.2f}  {name}: {COMPARISONS[name]}")
    at = math.log(verdict.probability / (1 - verdict.probability))
    found.append(f"            {at:+7.2f}  needed, for a probability of {verdict.probability:g}")
    found.append(
        f"            and a resemblance of {threshold:g} or more on shingles of {size} words "
        f"({verdict.implied(size):.2f} follows from the weights)"
    )
    return found


@dataclass(frozen=True)
class UnseenPairs:
    """What verdicts say that were learnt without the sets of a pair."""

    columns: Floats  # (both, found, true) of each set
    curve: Floats  # the same summed over sets, for each of CUTS
    probability: Floats  # of each candidate pair
    counts: Floats  # what each counts; 0: nothing is known of it


class Learning:
    """Candidate pairs of a sample, their comparisons, and what is known of them."""

    def __init__(
        self, sample: DrawnSample, truth: LabelledReference, threads: int, most: int, sizes: Sequence[int] = SIZES,
        *, with_fields: bool = False, advance: Callable[[float], None] = lambda share: None,
    ) -> None:  # fmt: skip
        """`advance` is given the share of the pairs that have been compared."""
        self.sample, self._truth = sample, truth
        self._scored = ScoredSample(sample, threads, most, with_fields=with_fields)
        columns = sample.known.columns if with_fields and sample.known is not None else frozenset()
        self.names = [name for name in COMPARISONS if name not in FIELDS or FIELDS[name] in columns]
        self.size, self._pairs = self._best_size(sizes)
        self.listed, leaders = self._scored.leader_pairs(self._pairs)
        use = self._pairs.scores["resemblance"] >= self._pairs.floors["resemblance"]
        self.listed, self.resemblance = self.listed[use], self._pairs.scores["resemblance"][use]
        self._leaders = len(leaders)
        pairs = self.listed.astype(np.int64)
        self.compared = compare_pairs(pairs, self._scored.words, threads, lambda done: advance(done / len(pairs)))
        own = self.compared[:, [list(COMPARISONS).index(name) for name in self.names]]
        self.features = np.column_stack((own, spread_of(own)))
        self.documents = leaders[self.listed]  # of the sample
        self.labels = truth.pair_labels(self.documents)

    def _best_size(self, sizes: Sequence[int]) -> tuple[int, PairScores]:
        found: list[tuple[int, int, PairScores]] = []
        for size in sizes:
            pairs = self._scored.score("word", size)
            listed, leaders = self._scored.leader_pairs(pairs)
            use = pairs.scores["resemblance"] >= pairs.floors["resemblance"]
            labels = self._truth.pair_labels(leaders[listed[use]])
            found.append((true_count(labels.same, labels.weights), size, pairs))
        most = max(one[0] for one in found)
        _, size, pairs = next(one for one in reversed(found) if one[0] >= most)
        return size, pairs

    def with_truth(self, truth: LabelledReference) -> Learning:
        """The same candidates with other labels."""
        found = copy.copy(self)
        found._truth, found.labels = truth, truth.pair_labels(self.documents)
        return found

    @property
    def floor(self) -> float:
        """The resemblance from which on candidates were looked at."""
        return self._pairs.floors["resemblance"]

    def ends(self, sets: Flags | None) -> Floats:
        """What both documents of each pair count, if these sets are used."""
        if sets is None:
            return self.labels.weights
        return self.labels.weights * ((self.labels.sets >= 0) & sets[np.maximum(self.labels.sets, 0)])

    def true_pairs(self, sets: Flags | None = None) -> int:
        """The number of candidates that are the same by the labels of these sets."""
        return true_count(self.labels.same, self.ends(sets))

    def fit(self, sets: Flags | None = None, near: Verdict | None = None) -> tuple[Verdict, Floats, int]:
        """(A verdict fitted to the pairs of all sets, or of some; the probability of every pair; pairs used)."""
        weights = self.ends(sets).sum(axis=1)
        use = np.flatnonzero(weights > 0)
        if len(use) > MOST_FITTED:
            use = np.sort(np.random.default_rng(0).choice(use, MOST_FITTED, replace=False))
        same = self.labels.same[use]
        if not same.any() or same.all():
            more = "different documents that are similar" if same.any() else "documents that are the same but not equal"
            kind = "the same" if same.any() else "different"
            raise InputError(
                f"all similar pairs are {kind} by the labels, so no verdict can be learnt; label {more} too"
            )
        counts = weights[use] ** 0.5 if self.labels.sampled else weights[use]
        verdict = fit_verdict(self.features[use], same, counts * effective_scale(counts), self.names, near)
        return verdict, verdict.probabilities(self.compared), len(use)

    def trials(self, verdict: Verdict, probabilities: Floats, sets: Flags | None = None) -> list[Tried]:
        """The verdict at every probability, with both clusterings; thresholds follow from the labels of these sets."""
        found = []
        for cut in CUTS:
            accepted = self.accepted(replace(verdict, probability=cut), probabilities, sets)
            for cluster in ("star", "components"):
                columns = self.columns(accepted, cluster)
                values = {"method": "minhash", "threshold": cut, "cluster": cluster, "shingle_size": self.size}
                found.append(Tried(named_trial(values), score(columns), float("nan"), 0.0, columns))
        return found

    def accepted(self, verdict: Verdict, probabilities: Floats, sets: Flags | None = None) -> Flags:
        """Which pairs are the same: the threshold follows from the labels of these sets."""
        likely: Flags = probabilities >= verdict.probability
        return likely & (self.resemblance >= self.threshold(verdict, likely, sets))

    def columns(self, accepted: Flags, cluster: str) -> Floats:
        """(both, found, true) of each set, if these pairs are the same."""
        linked = cluster == "components"
        group = groups_of(self.listed[accepted], self.resemblance[accepted], self._leaders, linked=linked)
        return self._truth.columns(TrialOutcome(self._scored.expanded(group), None, 0.0, 0.0))

    def threshold(self, verdict: Verdict, accepted: Flags, sets: Flags | None = None) -> float:
        """The resemblance that the weights imply, or MARGIN of what all but LOST of the accepted true pairs reach."""
        true = self.resemblance[accepted & self.labels.same & (self.ends(sets).sum(axis=1) > 0)]
        return lowest_resemblance(true, verdict, self.size, self.floor)

    def settle(
        self, verdict: Verdict, probabilities: Floats, chosen: Tried, sets: Flags | None = None
    ) -> tuple[Verdict, Tried]:
        """The verdict at its probability, and its settings with their score."""
        cut, cluster = chosen.trial.threshold, str(chosen.trial.values["cluster"])
        verdict = replace(verdict, probability=cut)
        threshold = self.threshold(verdict, probabilities >= cut, sets)
        values = {"method": "minhash", "threshold": threshold, "shingle_size": self.size, "verdict": str(verdict)}
        values |= {"tokens": self.sample.tokens} if self.sample.tokens != "words" else {}
        has_titles = self.sample.titled is not None and self.sample.titles is None
        values |= {"text_column": self.sample.titled} if has_titles else {}
        trial = named_trial(values | ({"cluster": cluster} if cluster != "star" else {}))
        return verdict, replace(chosen, trial=trial)


def learn(learning: Learning, goal: Goal, held_back: float, seed: int = 0, sets: Flags | None = None) -> Learned | None:
    """Fit to the labels of all sets, or of some, choose the probability and score on unseen ones of these sets.

    None if no probability reaches the goal.
    """
    verdict, probabilities, used = learning.fit(sets)
    chosen = choose(learning, verdict, probabilities, goal, seed, sets)
    if chosen is None:
        return None
    verdict, settled = chosen
    known = np.ones(len(settled.columns), np.bool_) if sets is None else sets
    unseen = _unseen(learning, goal, verdict, settled, held_back, seed, known)
    figures = score(unseen.columns), interval_figures(unseen.columns[known])
    return Learned(verdict, settled, *figures, used, learning.floor, unseen)


def learn_from(
    sample: DrawnSample, truth: LabelledReference, threads: int, goal: Goal, held_back: float, seed: int,
    advance: Callable[[float], None] = lambda share: None,
) -> tuple[Learning, Learned | None]:  # fmt: skip
    """A verdict over the texts alone; one over their fields too, if that is better on unseen labels.

    `advance` is given the share of the work that is done: nearly all of it are the comparisons.
    """
    found: list[tuple[Learning, Learned | None]] = []
    problems = []
    kinds = (False, True)[: 1 if sample.known is None else 2]

    def compared(before: int, share: float) -> None:
        advance((before + share) / len(kinds))

    for before, with_fields in enumerate(kinds):
        try:
            learning = Learning(
                sample, truth, threads, LEARNED_PAIRS, with_fields=with_fields, advance=partial(compared, before)
            )  # fmt: skip
            found.append((learning, learn(learning, goal, held_back, seed)))
        except InputError as problem:
            problems.append(problem)
    if not found:
        raise problems[0]
    return max(found, key=lambda one: -1.0 if one[1] is None else one[1].unseen.f1)


def too_few_to_learn(sets: int) -> str:
    """Why nothing is learnt from this number of true sets."""
    return f"a verdict is not learnt from {counted(sets, 'true set')}; label {LEAST} or more"


def choose(
    learning: Learning, verdict: Verdict, probabilities: Floats, goal: Goal, seed: int = 0, sets: Flags | None = None
) -> tuple[Verdict, Tried] | None:
    """The verdict at the probability chosen on the labels of these sets (None: all), and its settings with a score."""
    tried = learning.trials(verdict, probabilities, sets)
    best = Selection(tried, goal, seed).best(sets)
    return None if best is None else learning.settle(verdict, probabilities, tried[best], sets)


def is_recommended(learned: Learned, without: Floats | None, sets: Flags | None = None) -> bool:
    """Whether the verdict does at least as well on the unseen labels of these sets as the settings without one, scored
    by set; where few sets have most pairs, better by more than a standard error."""
    if without is None:
        return True
    own = learned.unseen_pairs.columns if sets is None else learned.unseen_pairs.columns[sets]
    gain = score(own).f1 - score(without).f1
    return gain >= 0 if effective_sets(without) >= LEAST else gain > error_of_gain(own, without)


def _unseen(
    learning: Learning, goal: Goal, verdict: Verdict, settled: Tried, held_back: float, seed: int, known: Flags
) -> UnseenPairs:
    """What verdicts say that were learnt without a fold of the known sets."""
    sums, repeats = np.zeros(settled.columns.shape), max(1, REPEATS // 2)
    curve, probability = np.zeros((len(CUTS), 3)), np.zeros(len(learning.listed))
    counts = learning.ends(known).sum(axis=1)
    linked = settled.trial.values.get("cluster") == "components"
    for fold in folds_of(np.asarray(settled.columns[known, 2] > 0), held_back, repeats, seed):
        for number in range(int(fold.max()) + 1):
            own, others = known.copy(), known.copy()
            own[known], others[known] = fold == number, fold != number
            try:
                found, probabilities, _ = learning.fit(others, verdict)
                tried = learning.trials(found, probabilities, others)
                chosen = Selection(tried, goal, seed).best(others)
            except InputError:  # a fold without pairs of both kinds
                probabilities, chosen = verdict.probabilities(learning.compared), None
                tried = learning.trials(verdict, probabilities, known)
            sums[own] += (settled if chosen is None else tried[chosen]).columns[own]
            curve += [one.columns[own].sum(axis=0) for one in tried[linked::2]]
            probability += probabilities * learning.ends(own).sum(axis=1)
    return UnseenPairs(sums / repeats, curve / repeats, probability / repeats / np.maximum(counts, 1e-12), counts)


def lowest_resemblance(true: Floats, verdict: Verdict, size: int, floor: float) -> float:
    """The threshold of a verdict whose true pairs have these resemblances."""
    low = float(np.quantile(true, LOST, method="lower")) if len(true) else floor
    low = max(MARGIN * low, verdict.implied(size))
    return max(round(math.floor(low * 100) / 100, 2), round(math.ceil(floor * 100) / 100, 2), 0.05)


def true_count(same: Flags, ends: Floats) -> int:
    """The number of pairs that are the same and count."""
    return int((same & (ends.sum(axis=1) > 0)).sum())


def effective_scale(weights: Floats) -> float:
    """The factor with which weights add up to the effective number of what they weight."""
    return float(weights.sum() / (weights**2).sum())


def fit_verdict(
    features: Floats, same: Flags, weights: Floats, names: Sequence[str], near: Verdict | None = None
) -> Verdict:
    """The verdict over these comparisons that fits pairs best; its probability is 0.5. It is found sooner from one that
    is `near`."""
    fitted = fit_weights(features, same, weights, None if near is None else near.coefficients(names))
    count = len(names)
    named = zip(names, fitted[1 : count + 1].tolist(), fitted[count + 1 :].tolist(), strict=True)
    weighted = tuple((name, a, b) for name, a, b in named if max(a, b) > 1e-4)
    return Verdict.parse(str(Verdict(0.5, float(fitted[0]), weighted)))
