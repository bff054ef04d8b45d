"""Which of the trials is chosen, and how well a choice made in this way does on labels it was not made on.

**Choice.** The goal decides (`frontier.Goal`). Trials that differ in the threshold alone form a *family*. Of trials
with the same score those in the widest *plateau* (neighbouring thresholds of one family) are taken, and of these the
middle one: the threshold farthest from where the score falls. With fewer than `FEW_SETS` true sets, differences
between families are mostly noise, so the simplest family is taken whose score is within one standard error of the best
(the difference of the two over bootstrap draws of sets; the rule of Breiman et al. 1984, §3.4.3).

**Unseen labels.** Sets are divided into folds, several times. Each fold is scored with the setting that the others
choose, so every set is scored by a choice it had no part in; the final choice uses all labels. Intervals draw whole
sets with replacement. Two sets are added to the draw for the lower end, one all right and one all wrong (as Agresti and
Coull 1998 add two successes and two failures), as large as the root mean square of the true sets, and the distances are
widened by Student's t. Large sets have most pairs, so what counts for t is the effective number of true sets (Kish
1965), weighted by their pairs. Otherwise intervals of few sets, of sets that are all right, or of which a few are far
larger than others, hold the truth too rarely (`benchmarks.learning_curves`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from roughly.tools.metrics.intervals import Interval
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.reference import Floats

FEW_SETS = 30
"""Below this number of true sets, the simplest family within the noise is chosen."""
REPEATS = 4
"""Times that the sets are divided into folds."""
DRAWS = 1000
_SAME = 1e-9

Ints = npt.NDArray[np.int64]


class Selection:
    """Trials with their scores by set."""

    def __init__(self, tried: Sequence[Tried], goal: Goal, seed: int = 0) -> None:
        self._tried, self._goal, self._seed = tried, goal, seed
        self._columns = np.stack([one.columns for one in tried]).astype(np.float32)  # (trials, sets, 3)
        self._simple = np.array([one.trial.choices for one in tried])
        self._bytes = np.array([one.bytes for one in tried])
        families: dict[object, list[int]] = {}
        for number, one in enumerate(tried):
            families.setdefault(one.trial.family, []).append(number)
        self._families = [
            np.array(sorted(own, key=lambda n: tried[n].trial.threshold)) for own in families.values()
        ]  # fmt: skip

    def best(self, sets: npt.NDArray[np.bool_] | None = None) -> int | None:
        """The trial chosen on all sets, or on some; None if none reaches the goal."""
        used = self._columns if sets is None else self._columns[:, sets]
        ratios = _ratios(used.sum(axis=1, dtype=np.float64))
        chosen = self._middle(ratios)
        plain = self._goal.precision is None and self._goal.recall is None and not self._goal.slack
        if chosen is not None and plain and (used[chosen, :, 2] > 0).sum() < FEW_SETS:
            return self._simplest(used, ratios, chosen)
        return chosen

    def _middle(self, ratios: Floats, among: Ints | None = None) -> int | None:
        """The middle of the widest plateau at the highest worth."""
        precision, recall, f1 = ratios
        goal, usable = self._goal, np.zeros(len(f1), np.bool_)
        usable[slice(None) if among is None else among] = True
        usable &= (precision >= (goal.precision or 0)) & (recall >= (goal.recall or 0)) & (f1 > 0)
        if not usable.any():
            return None
        both = goal.precision is not None and goal.recall is not None
        worth = -self._bytes if both else recall if goal.precision is not None else f1
        worth = precision if goal.recall is not None and not both else worth
        near = usable & (worth >= worth[usable].max() - _SAME - (0.0 if both else goal.slack))
        if goal.slack and not both:
            return int(min(np.flatnonzero(near), key=lambda n: (self._bytes[n], -worth[n], n)))
        near &= f1 >= f1[near].max() - _SAME
        runs = [run for family in self._families for run in _runs(family, near)]
        widest = min(runs, key=lambda run: (-self._span(run), self._simple[run[0]], self._bytes[run[0]], run[0]))
        ends = self._tried[widest[0]].trial.threshold, self._tried[widest[-1]].trial.threshold
        middle = sum(ends) / 2
        return int(min(widest, key=lambda n: (abs(self._tried[n].trial.threshold - middle), n)))

    def _span(self, run: Ints) -> float:
        ends = self._tried[run[0]].trial.threshold, self._tried[run[-1]].trial.threshold
        return float(round(ends[1] - ends[0], 9))

    def _simplest(self, used: npt.NDArray[np.float32], ratios: Floats, chosen: int) -> int:
        """The trial of the simplest family within a standard error of the chosen one."""
        for simple in np.unique(self._simple[self._simple < self._simple[chosen]]):
            candidate = self._middle(ratios, np.flatnonzero(self._simple == simple))
            if candidate is None:
                continue
            if ratios[2][chosen] - ratios[2][candidate] <= error_of_gain(used[chosen], used[candidate], self._seed):
                return candidate
        return chosen

    def unseen(self, held_back: float) -> Floats | None:
        """(both, found, true) of each set, scored by choices made without it; None with fewer than two true sets."""
        true = self._columns[0, :, 2] > 0
        if true.sum() < 2:
            return None
        sums = np.zeros(self._columns.shape[1:])
        whole = self.best()
        for fold in folds_of(true, held_back, REPEATS, self._seed):
            for number in range(int(fold.max()) + 1):
                chosen = self.best(fold != number)
                chosen = whole if chosen is None else chosen
                if chosen is None:
                    return None
                sums[fold == number] += self._columns[chosen, fold == number]
        return sums / REPEATS

    def is_on_edge(self, number: int) -> tuple[bool, bool]:
        """Whether a trial has the lowest, and the highest, threshold of its family."""
        family = next(own for own in self._families if number in own)
        return len(family) > 1 and number == family[0], len(family) > 1 and number == family[-1]


def too_few_to_choose(what: str, remedy: str) -> str:
    """The warning about fewer than `FEW_SETS` sets."""
    return f"{what}: too few to distinguish settings well; {remedy}"


def error_of_gain(columns: Floats, other: Floats, seed: int = 0) -> float:
    """The standard error of the difference of two F1, over bootstrap draws of the sets that both are scored on."""
    sets = len(columns)
    draws = np.random.default_rng(seed).multinomial(sets, np.full(sets, 1 / sets), size=200).astype(np.float32)
    return float(np.nanstd(_ratios(draws @ columns)[2] - _ratios(draws @ other)[2]))


def effective_sets(columns: Floats) -> float:
    """The effective number of true sets (Kish 1965), weighted by their pairs."""
    true = columns[:, 2]
    return float(true.sum() ** 2 / (true**2).sum()) if true.any() else 0.0


def folds_of(true: npt.NDArray[np.bool_], held_back: float, repeats: int, seed: int) -> Iterator[Ints]:
    """The fold of each set, several times; true sets and others are divided alike."""
    folds = int(min(max(2, round(1 / held_back)), true.sum()))
    stream = np.random.default_rng(seed)
    for _ in range(repeats):
        fold = np.empty(len(true), np.int64)
        for own in (true, ~true):
            fold[own] = stream.permutation(np.arange(own.sum()) % folds)
        yield fold


def interval_figures(columns: Floats, level: float = 0.95, seed: int = 0) -> dict[str, Interval | None]:
    """Intervals of precision, recall and F1, from (both, found, true) of each set."""
    names = ("precision", "recall", "f1")
    real = int((columns[:, 2] > 0).sum())
    if real < 2:
        return dict.fromkeys(names)
    kinds, counts = np.unique(columns, axis=0, return_counts=True)
    stream, sets = np.random.default_rng(seed), len(columns)
    draws = stream.multinomial(sets, counts / sets, size=DRAWS) @ kinds
    true = columns[columns[:, 2] > 0]
    size = np.sqrt((true**2).mean(axis=0))
    added = np.array([[size[2], size[2], size[2]], [0.0, max(size[1], 1e-9), size[2]]])
    extra = stream.multinomial(2, [0.5, 0.5], size=DRAWS) @ added
    effective = max(2.0, effective_sets(true))
    wider = student_quantile(level, int(effective) - 1) / NormalDist().inv_cdf((1 + level) / 2)
    wider *= (effective / (effective - 1)) ** 0.5
    middle, plain, careful = (_ratios(one) for one in (columns.sum(axis=0)[None], draws, draws + extra))
    found: dict[str, Interval | None] = {}
    for row, name in enumerate(names):
        at = float(middle[row][0])
        low = min(np.quantile(plain[row], (1 - level) / 2), np.quantile(careful[row], (1 - level) / 2))
        high = np.quantile(plain[row], (1 + level) / 2)
        found[name] = Interval(max(0.0, at - (at - float(low)) * wider), min(1.0, at + (float(high) - at) * wider))
    return found


def _ratios(totals: Floats) -> Floats:
    """Precision, recall and F1 of rows (both, found, true); 0 where they are not defined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = np.nan_to_num(totals[:, 0] / totals[:, 1]), np.nan_to_num(totals[:, 0] / totals[:, 2])
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall))
    return np.stack((precision, recall, f1))


def _runs(family: Ints, near: npt.NDArray[np.bool_]) -> list[Ints]:
    """The runs of neighbours in a family that are near the best."""
    inside = near[family]
    edges = np.flatnonzero(np.diff(np.r_[False, inside, False]))
    return [family[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def student_quantile(level: float, freedom: int) -> float:
    """The t with P(|T| ≤ t) = level for Student's T (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    odd = freedom % 2
    steps = 2.0 * np.arange(1, freedom // 2) + odd
    ratios = (steps - 1) / steps

    def inside(t: float) -> float:
        angle = math.atan2(t, math.sqrt(freedom))
        cosine = math.cos(angle)
        total = (1 + float(np.cumprod(ratios * cosine**2).sum())) * math.sin(angle) if freedom > 1 else 0.0
        return 2 / math.pi * (angle + cosine * total) if odd else total

    low, high = 0.0, 1.0
    while inside(high) < level:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if inside(middle) < level else (low, middle)
    return high
