"""Drawings of the explorer beside those of the report: documents over time, and who resembles whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from roughly.report.plots import NARROW, WIDE, Plot
from roughly.report.scale import counts, linear
from roughly.report.svg import Frame, element, line, text
from roughly.report.wording import count, score

Floats = npt.NDArray[np.float64]
_STEPS = 120
_RADIUS = 13.0


def months(rows: Sequence[tuple[str, int, int]], removed: bool) -> Plot:
    """Documents by month, those that go in another colour; by year where there are more than ten years."""
    if len(rows) > 120:
        years: dict[str, list[int]] = {}
        for month, documents, gone in rows:
            years.setdefault(month[:4], [0, 0])
            years[month[:4]][0] += documents
            years[month[:4]][1] += gone
        rows = [(year, *values) for year, values in years.items()]  # type: ignore[misc]
    rows = _with_gaps(rows)
    highest = max(documents for _, documents, _ in rows)
    said = "; ".join(f"{name}: {count(n)}" + (f", {count(gone)} go" if removed else "") for name, n, gone in rows[-24:])

    def draw(frame: Frame, name: str) -> Markup:
        y = counts(highest, frame.y_end, frame.top, log=False)
        room = (frame.x_end - frame.left) / len(rows)
        every = max(1, math.ceil(62 / room))
        parts = [frame.axis_y(y, "documents")]
        for at, (when, documents, gone) in enumerate(rows):
            x = frame.left + at * room
            told = f"{when}: {count(documents)} documents" + (f", {count(gone)} go" if removed else "")
            for number, class_ in ((documents, "bar stays"), (gone, "bar")):
                if number:
                    top = y(number)
                    parts.append(
                        element(
                            "rect",
                            element("title", told),
                            x=x + 0.5,
                            y=top,
                            width=max(0.8, room - 1),
                            height=frame.y_end - top,
                            class_=class_,
                        )
                    )
            if at % every == 0 and x + 30 < frame.x_end:
                parts.append(text(x + room / 2, frame.y_end + 18, when, "tick middle"))
        parts.append(line(frame.left, frame.y_end, frame.x_end, frame.y_end, "axis"))
        title = "Documents by date" + (", and how many of them go" if removed else "")
        return frame.document(name, title, said, *parts)

    columns = ("when", "documents", "go") if removed else ("when", "documents")
    listed = tuple((name, count(n), count(gone))[: len(columns)] for name, n, gone in rows)
    return Plot(draw(WIDE, "time-wide"), draw(NARROW, "time-narrow"), columns, listed)


def _with_gaps(rows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """With the months, or years, in which there is nothing."""
    held = {row[0]: row for row in rows}
    if all(len(name) == 4 for name in held):
        names = [f"{year:04}" for year in range(int(min(held)), int(max(held)) + 1)]
    else:
        first, last = (int(name[:4]) * 12 + int(name[5:7]) - 1 for name in (min(held), max(held)))
        names = [f"{n // 12:04}-{n % 12 + 1:02}" for n in range(first, last + 1)]
    return [held.get(name, (name, 0, 0)) for name in names[-1200:]]


@dataclass(frozen=True, slots=True)
class Node:
    """A document in the picture: its number in the list, where it leads, whether it stays."""

    number: int
    name: str
    href: str
    kept: bool | None


def resembling(nodes: Sequence[Node], likeness: Floats, threshold: float | None) -> tuple[Markup, Markup]:
    """Who resembles whom, wide and narrow: the nearer, the more alike; a line where a pair reaches the threshold.

    `likeness` is a symmetric matrix; NaN where a pair was not measured. Places come from the two greatest axes of
    classical scaling of 1 − likeness, then circles are moved apart. The same cluster gives the same picture.
    """
    places = _places(likeness)
    return _picture(nodes, likeness, threshold, places, 720, 420, "wide"), _picture(
        nodes, likeness, threshold, places, 350, 350, "narrow"
    )


def _places(likeness: Floats) -> Floats:
    n = len(likeness)
    if n == 1:
        return np.zeros((1, 2))
    known = np.where(np.isnan(likeness), 0.0, likeness)
    squared = (1.0 - known) ** 2
    np.fill_diagonal(squared, 0.0)
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ squared @ centre)
    axes = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    for axis in (0, 1):  # an axis may point either way: the first that stands off it decides
        at = int(np.argmax(np.abs(axes[:, axis])))
        axes[:, axis] *= np.sign(axes[at, axis]) or 1.0
    turn = np.arange(n) * 2.399963229728653  # the golden angle: equal documents are set apart, and always alike
    spread = max(float(np.abs(axes).max()), 1e-6)
    return np.asarray(axes / spread + 0.05 * np.column_stack((np.cos(turn), np.sin(turn))))


def _apart(places: Floats, width: float, height: float) -> Floats:
    """The places in a field of this size, circles moved until they do not overlap."""
    at: Floats = places - (places.max(axis=0) + places.min(axis=0)) / 2
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


def _picture(
    nodes: Sequence[Node], likeness: Floats, threshold: float | None, places: Floats, width: int, height: int, name: str
) -> Markup:
    at = _apart(places, width - 60.0, height - 50.0) + np.array([width / 2, height / 2])
    limit = 0.0 if threshold is None else threshold
    lines, circles = [], []
    drawn = 0
    for i in range(len(nodes)):
        for j in range(i + 1, len(nodes)):
            value = likeness[i, j]
            if not np.isnan(value) and value >= limit and value > 0:
                drawn += 1
                strength = "strong" if value >= 0.95 else "middling" if value >= (limit + 1) / 2 else "weak"
                told = element("title", f"{nodes[i].number} and {nodes[j].number}: {score(float(value), 3)}")
                x1, y1, x2, y2 = (float(v) for v in (*at[i], *at[j]))
                lines.append(element("line", told, x1=x1, y1=y1, x2=x2, y2=y2, class_=f"link {strength}"))
    for node, (x, y) in zip(nodes, at.tolist(), strict=True):
        tone = "node" if node.kept is None else "node kept" if node.kept else "node gone"
        inside = (
            element("title", f"{node.number}: {node.name}"),
            element("circle", cx=x, cy=y, r=_RADIUS, class_=tone),
            text(x, y + 4.5, str(node.number), "number middle"),
        )
        circles.append(element("a", *inside, href=node.href, aria_label=f"document {node.number}: {node.name}"))
    title = element("title", "Who resembles whom", id=f"who-{name}-title")
    said = f"{len(nodes)} documents, {drawn} pairs that reach the threshold. The list below has the same numbers."
    about = element("desc", said, id=f"who-{name}-desc")
    return element(
        "svg", title, about, *lines, *circles, class_="plot who", viewBox=f"0 0 {width} {height}", width=width,
        height=height, role="group", aria_labelledby=f"who-{name}-title who-{name}-desc",
    )  # fmt: skip


def staying(points: Sequence[tuple[float, int]], at: float, removed: int) -> Plot:
    """Documents that go, by the threshold; the one that is asked about is marked."""
    highest = max(1, *(number for _, number in points))
    rows = tuple((f"{value:.3f}", count(number)) for value, number in points)
    said = "; ".join(f"at {value}: {number}" for value, number in rows)

    def draw(frame: Frame, name: str) -> Markup:
        low = points[0][0]
        x = linear(low, 1.0, frame.left, frame.x_end) if low < 1 else linear(0.99, 1.0, frame.left, frame.x_end)
        y = counts(highest, frame.y_end, frame.top, log=False)
        path = " ".join(f"{x(value):.1f},{y(number):.1f}" for value, number in points)
        closed = f"{x(points[0][0]):.1f},{frame.y_end} {path} {x(points[-1][0]):.1f},{frame.y_end}"
        near_end = x(at) > (frame.left + frame.x_end) / 2
        return frame.document(
            name,
            "Documents that go, by the threshold",
            said,
            frame.axis_y(y, "documents that go"),
            element("polygon", points=closed, class_="area going"),
            frame.axis_x(x, "threshold"),
            element("polyline", points=path, class_="curve going"),
            line(x(at), frame.top, x(at), frame.y_end, "mark threshold"),
            element("circle", cx=x(at), cy=y(removed), r=5, class_="dot"),
            text(
                x(at) + (-8 if near_end else 8), max(frame.top + 12, y(removed) - 8), f"{at:.3g}: {count(removed)}",
                "note halo end" if near_end else "note halo",
            ),
        )  # fmt: skip

    return Plot(draw(WIDE, "goes-wide"), draw(NARROW, "goes-narrow"), ("threshold", "documents that go"), rows)
