"""Plots of the explorer: documents over time, similarity in a cluster, removed documents by threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from roughly.fast_dataclass import dataclass
from roughly.report.plots import NARROW, WIDE, Plot
from roughly.report.scale import counts, linear
from roughly.report.svg import Frame, element, line, text
from roughly.report.wording import count, counted, score

Floats = npt.NDArray[np.float64]
_STEPS = 120
_RADIUS = 13.0
OUTLIERS, OUTLIER_SHARE, OUTLIER_MONTHS = 3, 0.01, 60
"""Documents, or the share of all, that are outliers if no other date is within these months."""


@dataclass(frozen=True, slots=True)
class MonthPlot:
    """Documents over time, and those whose dates are too far away to be drawn with the others."""

    plot: Plot
    first: str  # the first and the last month drawn
    last: str
    before: int  # documents with dates before that, and after it
    after: int


def draw_months(
    rows: Sequence[tuple[str, int, int]], with_removed: bool, link: Callable[[str], str] | None = None
) -> MonthPlot:
    """Documents by month, the removed ones in another colour; by year if there are more than ten years.

    A few documents with dates more than five years away from all others would stretch the plot: they are only counted.
    """
    drawn, before, after = _without_outliers(rows)
    first, last = drawn[0][0], drawn[-1][0]
    if len(drawn) > 120 or _month(last) - _month(first) > 120:
        years: dict[str, list[int]] = {}
        for month, documents, removed in drawn:
            years.setdefault(month[:4], [0, 0])
            years[month[:4]][0] += documents
            years[month[:4]][1] += removed
        drawn = [(year, *values) for year, values in years.items()]  # type: ignore[misc]
    filled = _fill_gaps(drawn)
    plot = _plot_months(filled, with_removed, link)
    return MonthPlot(plot, first.lstrip("0"), last.lstrip("0"), before, after)


def _plot_months(
    rows: Sequence[tuple[str, int, int]], with_removed: bool, link: Callable[[str], str] | None
) -> Plot:  # fmt: skip
    highest = max(documents for _, documents, _ in rows)
    description = "; ".join(_month_text(*row, with_removed) for row in rows[-24:])

    def draw(frame: Frame, name: str) -> Markup:
        y = counts(highest, frame.y_end, frame.top, log=False)
        room = (frame.x_end - frame.left) / len(rows)
        every = max(1, math.ceil(62 / room))
        parts = [frame.axis_y(y, "documents")]
        for at, (when, documents, removed) in enumerate(rows):
            x = frame.left + at * room
            told = _month_text(when, documents, removed, with_removed)
            shapes = [
                element("rect", element("title", told), x=x + 0.5, y=y(number), width=max(0.8, room - 1),
                        height=frame.y_end - y(number), class_=class_)
                for number, class_ in ((documents, "bar kept"), (removed, "bar")) if number
            ]  # fmt: skip
            parts += [element("a", *shapes, href=link(when), aria_label=told)] if link and shapes else shapes
            if at % every == 0 and x + 30 < frame.x_end:
                parts.append(text(x + room / 2, frame.y_end + 18, when.lstrip("0"), "tick middle"))
        parts.append(line(frame.left, frame.y_end, frame.x_end, frame.y_end, "axis"))
        title = "Documents by date" + (", and how many of them are removed" if with_removed else "")
        return frame.document(name, title, description, *parts, role="group" if link else "img")

    columns = ("when", "documents", "removed") if with_removed else ("when", "documents")
    listed = tuple((name.lstrip("0"), count(n), count(removed))[: len(columns)] for name, n, removed in rows)
    return Plot(draw(WIDE, "time-wide"), draw(NARROW, "time-narrow"), columns, listed)


def _month_text(when: str, documents: int, removed: int, with_removed: bool) -> str:
    told = f"{when.lstrip('0')}: {counted(documents, 'document')}"
    return told + (f", {count(removed)} removed" if with_removed else "")


def _month(name: str) -> int:
    """A month, or the first month of a year, as a number."""
    return int(name[:4]) * 12 + int(name[5:7] or 1) - 1


def _without_outliers(rows: Sequence[tuple[str, int, int]]) -> tuple[list[tuple[str, int, int]], int, int]:
    """(the rows to draw, documents before them, documents after them)."""
    drawn, before, after = list(rows), 0, 0
    allowed = max(OUTLIERS, OUTLIER_SHARE * sum(documents for _, documents, _ in rows))
    for ends in ("before", "after"):
        if ends == "after":
            drawn.reverse()
        documents = cut = found = 0
        for at in range(len(drawn) - 1):
            documents += drawn[at][1]
            if documents > allowed:
                break
            if abs(_month(drawn[at + 1][0]) - _month(drawn[at][0])) > OUTLIER_MONTHS:
                cut, found = at + 1, documents
        drawn = drawn[cut:]
        before, after = (found, 0) if ends == "before" else (before, found)
    drawn.reverse()
    return drawn, before, after


def _fill_gaps(rows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """With the months, or years, that have no documents."""
    known = {row[0]: row for row in rows}
    if all(len(name) == 4 for name in known):
        names = [f"{year:04}" for year in range(int(min(known)), int(max(known)) + 1)]
    else:
        names = [f"{n // 12:04}-{n % 12 + 1:02}" for n in range(_month(min(known)), _month(max(known)) + 1)]
    return [known.get(name, (name, 0, 0)) for name in names[-1200:]]


@dataclass(frozen=True, slots=True)
class Node:
    """A document in the picture: its number in the list, its address, whether it is kept."""

    number: int
    name: str
    href: str
    kept: bool | None


def draw_cluster(nodes: Sequence[Node], similarity: Floats, threshold: float | None) -> tuple[Markup, Markup]:
    """The documents of a cluster, wide and narrow: similar ones are close, a line joins pairs that reach the threshold.

    `similarity` is a symmetric matrix; NaN where a pair was not measured. Positions come from the two greatest axes of
    classical scaling of 1 − similarity, then circles are moved apart. The same cluster gives the same picture.
    """
    picture = _Picture(nodes, similarity, threshold or 0.0, _positions(similarity))
    return picture.draw(720, 420, "wide"), picture.draw(350, 350, "narrow")


def _positions(similarity: Floats) -> Floats:
    n = len(similarity)
    if n == 1:
        return np.zeros((1, 2))
    known = np.where(np.isnan(similarity), 0.0, similarity)
    squared = (1.0 - known) ** 2
    np.fill_diagonal(squared, 0.0)
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ squared @ centre)
    axes = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    for axis in (0, 1):  # an axis may point either way: its largest value decides
        at = int(np.argmax(np.abs(axes[:, axis])))
        axes[:, axis] *= np.sign(axes[at, axis]) or 1.0
    turn = np.arange(n) * 2.399963229728653  # the golden angle separates equal documents, always in the same way
    spread = max(float(np.abs(axes).max()), 1e-6)
    return np.asarray(axes / spread + 0.05 * np.column_stack((np.cos(turn), np.sin(turn))))


def _separate(positions: Floats, width: float, height: float) -> Floats:
    """The positions in a field of this size, circles moved until they do not overlap."""
    at: Floats = positions - (positions.max(axis=0) + positions.min(axis=0)) / 2
    reach = np.maximum(np.abs(at).max(axis=0), 1e-6)
    at = at / reach * np.array([width / 2, height / 2])
    least = min(2.3 * _RADIUS, 0.9 * math.sqrt(width * height / len(at)))
    for _ in range(_STEPS):
        away = at[:, None, :] - at[None, :, :]
        distance = np.sqrt((away**2).sum(axis=2)) + np.eye(len(at)) * 1e9
        push = np.maximum(0.0, least - distance) / 2
        if not push.any():
            break
        at = at + (away / np.maximum(distance, 1e-6)[:, :, None] * push[:, :, None]).sum(axis=1)
        at = np.clip(at, [-width / 2, -height / 2], [width / 2, height / 2])
    return at


@dataclass(frozen=True)
class _Picture:
    """The documents of a cluster and their positions, to be drawn in any size."""

    nodes: Sequence[Node]
    similarity: Floats
    threshold: float
    positions: Floats

    def draw(self, width: int, height: int, name: str) -> Markup:
        at = _separate(self.positions, width - 60.0, height - 50.0) + np.array([width / 2, height / 2])
        lines = self._lines(at)
        circles = [self._circle(node, x, y) for node, (x, y) in zip(self.nodes, at.tolist(), strict=True)]
        title = element("title", "Similarity in the cluster", id=f"who-{name}-title")
        words = f"{len(circles)} documents, {len(lines)} pairs that reach the threshold. The list has the same numbers."
        description = element("desc", words, id=f"who-{name}-desc")
        return element(
            "svg", title, description, *lines, *circles, class_="plot who", viewBox=f"0 0 {width} {height}",
            width=width, height=height, role="group", aria_labelledby=f"who-{name}-title who-{name}-desc",
        )  # fmt: skip

    def _lines(self, at: Floats) -> list[Markup]:
        lines = []
        for (i, left), (j, right) in combinations(enumerate(self.nodes), 2):
            value = float(self.similarity[i, j])
            if value > 0 and value >= self.threshold:  # false for NaN
                strong, middling = value >= 0.95, value >= (self.threshold + 1) / 2
                strength = "strong" if strong else "middling" if middling else "weak"
                title = element("title", f"{left.number} and {right.number}: {score(value, 3)}")
                x1, y1, x2, y2 = (float(v) for v in (*at[i], *at[j]))
                lines.append(element("line", title, x1=x1, y1=y1, x2=x2, y2=y2, class_=f"link {strength}"))
        return lines

    @staticmethod
    def _circle(node: Node, x: float, y: float) -> Markup:
        tone = "node" if node.kept is None else "node kept" if node.kept else "node removed"
        return element(
            "a",
            element("title", f"{node.number}: {node.name}"),
            element("circle", cx=x, cy=y, r=_RADIUS, class_=tone),
            text(x, y + 4.5, str(node.number), "number middle"),
            href=node.href,
            aria_label=f"document {node.number}: {node.name}",
        )


def draw_removed(points: Sequence[tuple[float, int]], at: float, removed: int) -> Plot:
    """Removed documents by threshold; one threshold is marked."""
    highest = max(1, *(number for _, number in points))
    rows = tuple((f"{value:.3f}", count(number)) for value, number in points)
    description = "; ".join(f"at {value}: {number}" for value, number in rows)

    def draw(frame: Frame, name: str) -> Markup:
        low = points[0][0]
        x = linear(low, 1.0, frame.left, frame.x_end) if low < 1 else linear(0.99, 1.0, frame.left, frame.x_end)
        y = counts(highest, frame.y_end, frame.top, log=False)
        path = " ".join(f"{x(value):.1f},{y(number):.1f}" for value, number in points)
        closed = f"{x(points[0][0]):.1f},{frame.y_end} {path} {x(points[-1][0]):.1f},{frame.y_end}"
        near_end = x(at) > (frame.left + frame.x_end) / 2
        return frame.document(
            name,
            "Removed documents, by threshold",
            description,
            frame.axis_y(y, "documents removed"),
            element("polygon", points=closed, class_="area removed"),
            frame.axis_x(x, "threshold"),
            element("polyline", points=path, class_="curve removed"),
            line(x(at), frame.top, x(at), frame.y_end, "mark threshold"),
            element("circle", cx=x(at), cy=y(removed), r=5, class_="dot"),
            text(
                x(at) + (-8 if near_end else 8), max(frame.top + 12, y(removed) - 8), f"{at:.3g}: {count(removed)}",
                "note halo end" if near_end else "note halo",
            ),
        )  # fmt: skip

    return Plot(draw(WIDE, "removed-wide"), draw(NARROW, "removed-narrow"), ("threshold", "documents removed"), rows)
