"""How long pages live: the Kaplan–Meier estimate over dated sweeps.

A page is followed where it moves: it lives on at its new url. It dies at the first sweep that misses it, unless a later
one has its url again. Pages that the last sweep has are *censored*: they lived at least until then. The life of a page
is counted from the first sweep that saw it, since nothing is known of the time before. With d(t) deaths and n(t) pages
at risk at the age t:

    S(t) = ∏ over ages a ≤ t of (1 − d(a)/n(a))                        the fraction that lives longer than t
    V(t) = Σ over ages a ≤ t of d(a) / (n(a)·(n(a) − d(a)))            Greenwood
    95 % interval of S(t): S(t)^exp(± 1.96 · √V(t) / ln S(t))

The median is the first age at which S ≤ 1/2; its interval ends where the bounds of S cross 1/2.

Citations: E. L. Kaplan, P. Meier: Nonparametric estimation from incomplete observations. JASA 53, 1958;
D. Collett: Modelling Survival Data in Medical Research, 2003, §2.2 (the interval on the log-log scale).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import field

from roughly.dates import day_of
from roughly.fast_dataclass import dataclass
from roughly.index.answers import PlainAnswer

_NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Survival:
    """The estimate at one age at which pages died."""

    days: int
    at_risk: int
    died: int
    alive: float  # S
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Lifetimes(PlainAnswer):
    """How long pages live."""

    pages: int
    died: int
    moved: int  # times that a page went to another url
    longest_days: int  # longest time that a page was followed
    survival: tuple[Survival, ...]
    median_days: int | None  # None: more than half live longer than pages were followed
    median_low: int | None
    median_high: int | None


@dataclass
class _Life:
    first: int
    missing: int | None = None  # the day of the first sweep that did not have it


@dataclass
class LifeRecord:
    """The lives of pages, sweep by sweep."""

    _at: dict[str, _Life] = field(default_factory=dict)  # by url, those that are missing included
    _lives: list[_Life] = field(default_factory=list)
    _moved: int = 0
    _last: int = 0

    def add(self, day: str, urls: Iterable[str], moves: Iterable[tuple[str, str]]) -> None:
        """Record a sweep: its urls, and the pages that moved since the one before, as (url before, url now)."""
        self._last = day_of(day)
        here = set(urls)
        for before, after in moves:
            self._at[after] = self._at.pop(before)
            self._moved += 1
        for url in here:
            if url not in self._at:
                self._at[url] = _Life(self._last)
                self._lives.append(self._at[url])
            self._at[url].missing = None
        for url, life in self._at.items():
            if url not in here and life.missing is None:
                life.missing = self._last

    def lifetimes(self) -> Lifetimes:
        """The estimate."""
        deaths = Counter(life.missing - life.first for life in self._lives if life.missing is not None)
        ages = [(self._last if life.missing is None else life.missing) - life.first for life in self._lives]
        survival = tuple(_estimates(deaths, ages))
        return Lifetimes(
            len(self._lives), deaths.total(), self._moved, max(ages, default=0), survival,
            *(_first_half(survival, bound) for bound in ("alive", "low", "high")),
        )  # fmt: skip


def _estimates(deaths: Counter[int], ages: list[int]) -> Iterable[Survival]:
    alive, spread = 1.0, 0.0
    for age, died in sorted(deaths.items()):
        at_risk = sum(other >= age for other in ages)
        alive *= 1 - died / at_risk
        spread += died / (at_risk * (at_risk - died)) if at_risk > died else math.inf
        low, high = _interval(alive, spread)
        yield Survival(age, at_risk, died, alive, low, high)


def _interval(alive: float, spread: float) -> tuple[float, float]:
    if not 0 < alive < 1 or math.isinf(spread):
        return alive, alive
    step = _NORMAL * math.sqrt(spread) / math.log(alive)
    return alive ** math.exp(-step), alive ** math.exp(step)


def _first_half(survival: tuple[Survival, ...], bound: str) -> int | None:
    """The first age at which an estimate, or a bound of it, is not above one half."""
    return next((one.days for one in survival if getattr(one, bound) <= 0.5), None)
