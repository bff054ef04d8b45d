"""Scales: from a value to a position on an axis, with ticks at round numbers.

A linear scale for shares and scores, a logarithmic one for counts with heavy tails (cluster sizes run
from two to millions, and most of them are two).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from roughly.fast_dataclass import dataclass
from roughly.report.wording import plain, short


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps ``low … high`` onto ``start … end`` of the drawing; values outside are moved to the ends."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    ticks: Sequence[Tick] = ()

    def __call__(self, value: float) -> float:
        """The position of the value."""
        value = min(max(value, self.low), self.high)
        if self.log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def linear(low: float, high: float, start: float, end: float, at_most: int = 6) -> Scale:
    """A linear scale from ``low`` to ``high`` exactly, ticks at multiples of 1, 2 or 5."""
    step = round_step((high - low) / max(1, at_most - 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [round(n * step, 12) for n in range(first, last + 1)]
    write = short if high >= 1000 else plain
    return Scale(low, high, start, end, ticks=[Tick(value, write(value)) for value in values])


def counts(highest: int, start: float, end: float, log: bool) -> Scale:
    """A scale for bars of counts: from 0, or from 1/2 if it is logarithmic.

    A logarithmic scale has no 0; bars start at one half, so that a count of 1 is still visible.
    """
    highest = max(1, highest)
    if not log:
        step = max(1.0, round_step(highest / 4))
        return linear(0, math.ceil(highest / step) * step, start, end, at_most=5)
    top = max(1, math.ceil(math.log10(highest)))
    every = 1 + top // 6
    ticks = [Tick(10.0**power, short(10**power)) for power in range(0, top + 1, every)]
    return Scale(0.5, 10.0**top, start, end, log=True, ticks=ticks)


def round_step(step: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least ``step``."""
    power = 10.0 ** math.floor(math.log10(step))
    for factor in (1, 2, 5, 10):
        if factor * power >= step * (1 - 1e-9):
            return factor * power
    return 10 * power
