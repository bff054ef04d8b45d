"""The curve of kept documents by threshold, as an SVG file with colours of its own."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from roughly.report.scale import counts, linear
from roughly.report.svg import Frame, element, line, text
from roughly.report.wording import count

_FRAME = Frame(560, 290)
_STYLE = """
  .roughly-curve text { font: 13px system-ui, sans-serif; fill: currentColor } .roughly-curve .grid { stroke: #8884 }
  .roughly-curve .axis { stroke: #888 } .roughly-curve .area { fill: #1f6a8c33 } .roughly-curve .mark { stroke: #888 }
  .roughly-curve .curve { fill: none; stroke: #1f6a8c; stroke-width: 2.5 } .roughly-curve .dot { fill: #1f6a8c }
  .roughly-curve .middle { text-anchor: middle } .roughly-curve .end { text-anchor: end }
"""


def draw_kept(points: Sequence[tuple[float, int]], own: float, *, exact: bool) -> str:
    """Kept documents by threshold; the run's own threshold is marked."""
    low = min(value for value, _ in points)
    x = linear(low if low < 1 else 0.99, 1.0, _FRAME.left, _FRAME.x_end)
    y = counts(max(1, *(number for _, number in points)), _FRAME.y_end, _FRAME.top, log=False)
    path = " ".join(f"{x(value):.1f},{y(number):.1f}" for value, number in points)
    closed = f"{x(points[0][0]):.1f},{_FRAME.y_end} {path} {x(points[-1][0]):.1f},{_FRAME.y_end}"
    kept = dict(points).get(own, points[0][1])
    drawing = _FRAME.document(
        "kept-by-threshold",
        "Kept documents, by threshold",
        "; ".join(f"at {value:.3f}: {number}" for value, number in points),
        element("style", Markup(_STYLE)),
        _FRAME.axis_y(y, "documents kept" if exact else "documents kept (estimated)"),
        element("polygon", points=closed, class_="area"),
        _FRAME.axis_x(x, "threshold"),
        element("polyline", points=path, class_="curve"),
        line(x(own), _FRAME.top, x(own), _FRAME.y_end, "mark"),
        element("circle", cx=x(own), cy=y(kept), r=5, class_="dot"),
        text(x(own) + 8, max(_FRAME.top + 12, y(kept) - 8), f"{own:.3g}: {count(kept)}", "note"),
    )
    return str(drawing).replace(
        '<svg class="plot"', '<svg xmlns="http://www.w3.org/2000/svg" class="plot roughly-curve"', 1
    )
