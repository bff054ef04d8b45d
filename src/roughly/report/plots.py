"""The plots of the page: cluster sizes, resemblances, the candidate probability.

Each plot is drawn twice from the same data, wide for a laptop or paper and narrow for a phone, and the
style sheet shows the one that fits: text in a plot that is only scaled down cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from roughly.fast_dataclass import dataclass
from roughly.report.run_request import RequestedQuality
from roughly.report.scale import Scale, Tick, counts, linear
from roughly.report.svg import Frame, element, line, text
from roughly.report.wording import count, counted, plain

WIDE = Frame(560, 290)
NARROW = Frame(340, 250, left=36, right=20)
CURVE_WIDE = Frame(560, 320)
CURVE_NARROW = Frame(340, 270, left=36, right=20)


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot in both widths, and the numbers in it as rows for a table."""

    wide: Markup
    narrow: Markup
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    log: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """Things counted between two values of the horizontal axis."""

    start: float
    end: float
    number: int
    name: str


Link = Callable[[Bar], str]
"""The address of what a bar counts, for plots whose bars are links."""


def plot_cluster_sizes(sizes: Sequence[tuple[int, int]], link: Link | None = None) -> Plot:
    """Clusters by size, in classes that double (2–3, 4–7, 8–15, …), on logarithmic axes."""
    bars = doubling(sizes)
    total = sum(bar.number for bar in bars)
    highest = max(bar.number for bar in bars)
    title = "Clusters by size"
    description = f"{counted(total, 'cluster')}. " + "; ".join(
        f"{bar.name} documents: {count(bar.number)}" for bar in bars if bar.number
    )

    def draw(frame: Frame, name: str) -> Markup:
        room = (frame.x_end - frame.left) / len(bars)
        every = max(1, round(38 / room + 0.49))
        edges = [bar.start for bar in bars] + [bars[-1].end]
        ticks = [Tick(edge, _rounded(int(edge))) for edge in edges[::every]]
        x = Scale(edges[0], edges[-1], frame.left, frame.x_end, log=True, ticks=ticks)
        y = counts(highest, frame.y_end, frame.top, log=highest > 20)
        return frame.document(
            name,
            title,
            description,
            frame.axis_y(y, "clusters"),
            _bars(frame, bars, x, y, figures=room >= 34, unit="cluster", link=link),
            frame.axis_x(x, "documents in the cluster"),
            role="group" if link else "img",
        )

    rows = tuple((bar.name, count(bar.number)) for bar in bars)
    return _both("sizes", draw, (WIDE, NARROW), ("documents in the cluster", "clusters"), rows, highest > 20)


def doubling(sizes: Sequence[tuple[int, int]]) -> list[Bar]:
    """Sizes in classes that double, including the empty classes in between."""
    numbers: dict[int, int] = {}
    for size, number in sizes:
        if size > 0 and number > 0:
            power = size.bit_length() - 1
            numbers[power] = numbers.get(power, 0) + number
    powers = range(min(numbers), max(numbers) + 1)
    return [Bar(2**p, 2 ** (p + 1), numbers.get(p, 0), _between(2**p, 2 ** (p + 1) - 1)) for p in powers]


def plot_resemblances(
    edges: Sequence[float], numbers: Sequence[int], threshold: float | None, link: Link | None = None
) -> Plot:
    """Removed documents by their resemblance to the kept document, the threshold marked."""
    bars = _without_empty_start(
        [
            Bar(low, high, number, f"{plain(round(low, 4))} to {plain(round(high, 4))}")
            for low, high, number in zip(edges[:-1], edges[1:], numbers, strict=True)
        ],
        threshold,
    )
    highest = max(bar.number for bar in bars)
    log = highest > 12 * np.median([bar.number for bar in bars if bar.number])
    title = "Removed documents by their resemblance to the kept document"
    description = "; ".join(f"{bar.name}: {count(bar.number)}" for bar in bars if bar.number)

    def draw(frame: Frame, name: str) -> Markup:
        at_most = 8 if frame.width > 400 else 6
        x = linear(bars[0].start, bars[-1].end, frame.left, frame.x_end, at_most=at_most)
        y = counts(highest, frame.y_end, frame.top, log=log)
        return frame.document(
            name,
            title,
            description,
            frame.axis_y(y, "documents removed"),
            _bars(frame, bars, x, y, figures=False, unit="document", link=link),
            frame.axis_x(x, "resemblance to the kept document"),
            _mark_threshold(frame, x, threshold),
            role="group" if link else "img",
        )

    rows = tuple((bar.name, count(bar.number)) for bar in bars)
    return _both("resemblance", draw, (WIDE, NARROW), ("resemblance", "documents removed"), rows, log)


def plot_s_curve(points: Sequence[tuple[float, float]], quality: RequestedQuality, met: float | None) -> Plot:
    """The probability that a pair becomes a candidate, by its similarity; `met` is the one at the threshold."""
    threshold, recall, measure = quality.threshold, quality.recall, quality.measure
    title = f"Probability that a pair becomes a candidate, by its {measure}"
    shown = [point(points, tenth / 10) for tenth in range(1, 10)]
    rows = tuple((plain(similarity), f"{chance:.4f}") for similarity, chance in shown)
    description = "; ".join(f"at {similarity}: {chance}" for similarity, chance in rows)
    if threshold is not None and met is not None:
        description += f". At the threshold {plain(threshold)}: {met:.4f}"

    def draw(frame: Frame, name: str) -> Markup:
        x = linear(0, 1, frame.left, frame.x_end)
        y = linear(0, 1, frame.y_end, frame.top)
        path = " ".join(f"{x(s):.1f},{y(p):.1f}" for s, p in points)
        closed = f"{x(points[0][0]):.1f},{frame.y_end} {path} {x(points[-1][0]):.1f},{frame.y_end}"
        parts = [
            frame.axis_y(y, "candidate probability"),
            element("polygon", points=closed, class_="area"),
            frame.axis_x(x, f"{measure} of the pair"),
        ]
        if recall is not None:
            parts.append(line(frame.left, y(recall), frame.x_end, y(recall), "mark recall"))
            label = f"requested recall: {plain(recall)}"
            parts.append(text(frame.left + 6, y(recall) + 16, label, "note halo"))
        parts.append(element("polyline", points=path, class_="curve"))
        parts.append(_mark_threshold(frame, x, threshold))
        if threshold is not None and met is not None:
            parts.append(element("circle", cx=x(threshold), cy=y(met), r=4.5, class_="dot"))
        return frame.document(name, title, description, *parts)

    frames = (CURVE_WIDE, CURVE_NARROW)
    return _both("s-curve", draw, frames, (f"{measure} of the pair", "candidate probability"), rows)


def point(points: Sequence[tuple[float, float]], similarity: float) -> tuple[float, float]:
    """The point of the curve at a similarity, interpolated between its neighbours if it is not given."""
    before, after = points[0], points[-1]
    for here in points:
        if here[0] <= similarity:
            before = here
        if here[0] >= similarity:
            after = here
            break
    if after[0] <= before[0]:
        return similarity, before[1]
    part = min(max((similarity - before[0]) / (after[0] - before[0]), 0.0), 1.0)
    return similarity, before[1] + part * (after[1] - before[1])


def _both(
    name: str,
    draw: Callable[[Frame, str], Markup],
    frames: tuple[Frame, Frame],
    columns: tuple[str, ...],
    rows: tuple[tuple[str, ...], ...],
    log: bool = False,
) -> Plot:
    wide, narrow = frames
    return Plot(draw(wide, f"{name}-wide"), draw(narrow, f"{name}-narrow"), columns, rows, log)


def _bars(
    frame: Frame, bars: Sequence[Bar], x: Scale, y: Scale, *, figures: bool, unit: str, link: Link | None
) -> Markup:
    parts = []
    for bar in bars:
        if not bar.number:
            continue
        left, right, top = x(bar.start), x(bar.end), y(bar.number)
        gap = 1.0 if right - left > 4 else 0.0
        shape = element(
            "rect",
            element("title", f"{bar.name}: {counted(bar.number, unit)}"),
            x=left + gap / 2,
            y=top,
            width=max(0.5, right - left - gap),
            height=frame.y_end - top,
            class_="bar",
        )
        if link is not None:
            shape = element("a", shape, href=link(bar), aria_label=f"{bar.name}: {counted(bar.number, unit)}")
        parts.append(shape)
        if figures:
            parts.append(text((left + right) / 2, top - 5, count(bar.number), "figure middle"))
    return Markup("").join(parts)


def _mark_threshold(frame: Frame, x: Scale, threshold: float | None) -> Markup:
    if threshold is None or not x.low <= threshold <= x.high:
        return Markup("")
    at = x(threshold)
    near_end = at > (frame.left + frame.x_end) / 2
    return line(at, frame.top - 6, at, frame.y_end, "mark threshold") + text(
        at - 6 if near_end else at + 6,
        frame.y_end - 10 if near_end else frame.top + 6,
        f"threshold {plain(threshold)}",
        "note halo end" if near_end else "note halo",
    )


def _without_empty_start(bars: list[Bar], threshold: float | None) -> list[Bar]:
    """Without the empty bars far below the threshold, so that the plot shows the others larger."""
    first = next((at for at, bar in enumerate(bars) if bar.number), 0)
    if threshold is not None:
        first = min(first, sum(bar.end <= threshold for bar in bars))
    return bars[max(0, first - 1) :]


def _between(low: int, high: int) -> str:
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def _rounded(number: int) -> str:
    """An edge as a label: exact below ten thousand, then to two or three digits."""
    if number < 10_000:
        return count(number)
    for limit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= limit:
            return f"{number / limit:.3g}{letter}"
    return count(number)
