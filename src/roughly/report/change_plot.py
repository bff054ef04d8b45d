"""A plot of how pages changed between sweeps: what happened to them, and how much they changed.

Above, a bar per interval, divided by what happened to the pages of the earlier sweep, with a bar for the new pages
beside it. Below, all changed pages by the resemblance of their two versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from roughly.report.scale import counts, linear
from roughly.report.svg import Frame, element, text
from roughly.report.wording import count

KINDS = ("unchanged", "changed", "moved_within", "moved_between", "died", "born")
NAMES = {"moved_within": "moved within a host", "moved_between": "moved between hosts"}
_COLOURS = dict(zip(KINDS, ("#9ca3af", "#3f51b5", "#0e7490", "#65a30d", "#c2410c", "#7c3aed"), strict=True))
_STYLE = """
  .paper { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #333333 }
  .tick { font-size: 12px } .grid { stroke: #e3e3e8 } .axis { stroke: #777777 } .bar { fill: #3f51b5 }
  .middle { text-anchor: middle } .end { text-anchor: end }
"""
_UPPER = Frame(720, 320, left=56, right=180)
_HEIGHT = 620
_LOWER = Frame(_UPPER.width, _HEIGHT, left=56, right=180, top=_UPPER.height + 40)


def draw_changes(intervals: Sequence[Mapping[str, Any]]) -> str:
    """The plot of intervals as `index.sweeps.changes` returns them, as an SVG file."""
    drawing = _draw(
        intervals,
        element("style", Markup(_STYLE)),
        element("rect", class_="paper", width=_LOWER.width, height=_HEIGHT),
    )
    return str(drawing).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + "\n"


def plot_changes(intervals: Sequence[Mapping[str, Any]]) -> Markup:
    """The same plot for a page, with the style sheet of the page."""
    return _draw(intervals)


def _draw(intervals: Sequence[Mapping[str, Any]], *before: Markup) -> Markup:
    description = "; ".join(
        f"{i['before']} to {i['after']}: " + ", ".join(f"{i[k]} {k}" for k in KINDS) for i in intervals
    )
    return _LOWER.document(
        "changes",
        "How pages changed from sweep to sweep",
        description,
        *before,
        _outcomes(intervals),
        _resemblances(intervals, _LOWER),
    )


def _outcomes(intervals: Sequence[Mapping[str, Any]]) -> Markup:
    frame = _UPPER
    highest = max((max(i["pages_before"], i["born"]) for i in intervals), default=1)
    y = counts(highest, frame.y_end, frame.top, log=False)
    room = (frame.x_end - frame.left) / max(len(intervals), 1)
    parts = [frame.axis_y(y, "pages")]
    every = max(1, round(90 / room + 0.49))
    for place, interval in enumerate(intervals):
        left, low = frame.left + room * (place + 0.12), 0
        for kind in KINDS:
            number = interval[kind]
            start = left if kind != "born" else left + room * 0.5
            base = low if kind != "born" else 0
            if number:
                name = f"{NAMES.get(kind, kind)}: {count(number)}"
                top, bottom = y(base + number), y(base)
                bar = element(
                    "rect", element("title", name), x=start, y=top, width=room * (0.48 if kind != "born" else 0.24),
                    height=bottom - top, fill=_COLOURS[kind],
                )  # fmt: skip
                parts.append(bar)
            low += number if kind != "born" else 0
        if place % every == 0:
            parts.append(text(frame.left + room * (place + 0.5), frame.y_end + 18, interval["after"], "tick middle"))
    parts.append(text((frame.left + frame.x_end) / 2, frame.height - 6, "later sweep of the interval", "middle"))
    for place, kind in enumerate(KINDS):
        at = frame.top + 8 + 20 * place
        parts.append(element("rect", x=frame.x_end + 12, y=at - 8, width=12, height=12, fill=_COLOURS[kind]))
        parts.append(text(frame.x_end + 30, at + 3, NAMES.get(kind, kind), "tick"))
    return Markup("").join(parts)


def _resemblances(intervals: Sequence[Mapping[str, Any]], frame: Frame) -> Markup:
    bins = len(intervals[0]["resemblances"]) if intervals else 10
    numbers = [sum(interval["resemblances"][at] for interval in intervals) for at in range(bins)]
    y = counts(max(numbers, default=1), frame.y_end, frame.top, log=False)
    x = linear(0, 1, frame.left, frame.x_end)
    parts = [text(2, frame.top - 14, "changed pages", "label")]
    for tick in y.ticks:
        at = y(tick.value)
        parts.append(element("line", x1=frame.left, y1=at, x2=frame.x_end, y2=at, class_="grid"))
        parts.append(text(frame.left - 7, at + 4, tick.label, "tick end"))
    for at, number in enumerate(numbers):
        if number:
            left, right = x(at / bins), x((at + 1) / bins)
            name = f"{at / bins:g} to {(at + 1) / bins:g}: {count(number)}"
            parts.append(
                element(
                    "rect",
                    element("title", name),
                    x=left + 1,
                    y=y(number),
                    width=right - left - 2,
                    height=frame.y_end - y(number),
                    class_="bar",
                )
            )
    parts.append(frame.axis_x(x, "resemblance of the two versions"))
    return Markup("").join(parts)
