"""Confidence intervals by bootstrap over true sets.

Documents of one true set are found or missed together, so drawing single pairs or documents would make intervals far
too narrow. Whole true sets are drawn with replacement instead, as many as there are (a document without a duplicate
is a set of one), a statistic is computed of each draw, and the interval is the range of the middle `level` of them.

A statistic is a function of sums over documents. Sets with the same sums are equivalent, and nearly all sets are alike
(single documents that nothing was found for); so sets are drawn by kind, from a multinomial distribution, and a
thousand draws of a million sets take less than a second.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.defaults import DRAWS, LEVEL
from roughly.tools.metrics.overlap import Ints

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""From sums (draws, columns) to a value per draw; NaN where it is not defined."""

_CELLS = 4_000_000


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`."""

    low: float
    high: float


def bootstrap(
    columns: Floats,
    sets: Ints,
    statistics: dict[str, Statistic],
    *,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """The interval of each statistic. `columns` has a row for every document, `sets` the true set of each.

    None where a statistic is undefined in every draw, or where there are fewer than two sets.
    """
    checks.refuse([*checks.whole("draws", draws, 1, 10**6), *checks.above_zero("level", level)])
    count = int(sets.max(initial=-1)) + 1
    if count < 2:
        return dict.fromkeys(statistics)
    sums = np.column_stack(
        [np.bincount(sets, weights=columns[:, column], minlength=count) for column in range(columns.shape[1])]
    )
    kinds, many = np.unique(sums, axis=0, return_counts=True)
    stream = np.random.default_rng(seed)
    values: dict[str, list[Floats]] = {name: [] for name in statistics}
    at_once = max(1, _CELLS // len(kinds))
    for first in range(0, draws, at_once):
        drawn = stream.multinomial(count, many / count, size=min(at_once, draws - first))
        totals = drawn.astype(np.float64) @ kinds
        with np.errstate(divide="ignore", invalid="ignore"):
            for name, statistic in statistics.items():
                values[name].append(statistic(totals))
    return {name: _middle(np.concatenate(parts), level) for name, parts in values.items()}


def ratio(above: int, below: int) -> Statistic:
    """The statistic Σ column `above` / Σ column `below`."""

    def of(totals: Floats) -> Floats:
        found: Floats = totals[:, above] / totals[:, below]
        return found

    return of


def f1_of(precision: Statistic, recall: Statistic) -> Statistic:
    """The harmonic mean of two statistics."""

    def of(totals: Floats) -> Floats:
        p, r = precision(totals), recall(totals)
        found: Floats = np.where(p + r == 0, 0.0, 2 * p * r / (p + r))
        return found

    return of


def _middle(values: Floats, level: float) -> Interval | None:
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
