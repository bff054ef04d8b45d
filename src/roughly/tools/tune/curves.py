"""Curves of a study as pictures, after the figures 2 to 4 of Ye 2008: self-contained SVG files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from roughly.fast_dataclass import dataclass
from roughly.report.scale import linear
from roughly.report.svg import Frame, element, text
from roughly.tools.tune.adaptive import LEAST, Study

FRAME = Frame(680, 360, right=170)
PRECISIONS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
_COLOURS = (
    "#3f51b5",
    "#c2410c",
    "#15803d",
    "#7c3aed",
    "#111827",
    "#0e7490",
    "#be185d",
    "#4b5563",
    "#65a30d",
    "#1d4ed8",
)
_STYLE = """
  .paper { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #333333 }
  .tick { font-size: 12px } .grid { stroke: #e3e3e8 } .axis { stroke: #777777 }
  .middle { text-anchor: middle } .end { text-anchor: end } polyline { fill: none; stroke-width: 2 }
"""


@dataclass(frozen=True)
class Series:
    """One curve; points that are not numbers are left out."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    colour: int | None = None  # None: the next one


def chart(title: str, series: Sequence[Series], x_label: str, y_label: str) -> str:
    """A picture of curves over one axis each, both from what they show up to 1."""
    drawn = [replace(s, points=[p for p in s.points if not math.isnan(p[1])]) for s in series]
    drawn = [s for s in drawn if s.points]
    low = min((p[0] for s in drawn for p in s.points), default=0.0)
    high = max((p[0] for s in drawn for p in s.points), default=1.0)
    x = linear(low, max(high, low + 0.01), FRAME.left, FRAME.x_end)
    y = linear(0, 1, FRAME.y_end, FRAME.top)
    parts = [
        element("style", Markup(_STYLE)),
        element("rect", class_="paper", width=FRAME.width, height=FRAME.height),
        FRAME.axis_y(y, y_label),
        FRAME.axis_x(x, x_label),
    ]
    for place, curve in enumerate(drawn):
        colour = _COLOURS[(place if curve.colour is None else curve.colour) % len(_COLOURS)]
        dashes = {"stroke_dasharray": "6 4"} if curve.dashed else {}
        points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve.points)
        parts.append(element("polyline", points=points, stroke=colour, **dashes))
        at = FRAME.top + 8 + 20 * place
        legend = f"{FRAME.x_end + 12},{at} {FRAME.x_end + 34},{at}"
        parts.append(element("polyline", points=legend, stroke=colour, **dashes))
        parts.append(text(FRAME.x_end + 40, at + 4, curve.name, "tick"))
    drawing = FRAME.document("curves", title, f"{title}: {', '.join(s.name for s in drawn)}", *parts)
    return str(drawing).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + "\n"


def draw(study: Study, threshold: float, folder: Path) -> list[Path]:
    """Write precision and recall by threshold at two ratios, and the share of shingles by precision; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, str] = {}
    groups = [g for g in range(len(study.true)) if study.true[g].max() >= LEAST]
    for level in (2, 4):
        ratio = f"1/{2**level}"
        for name, values in (("precision", study.precision), ("recall", study.recall)):
            curves = [
                Series(f"{study.names[g]} tokens", list(zip(study.thresholds, values[g, level].tolist(), strict=True)))
                for g in groups
            ]
            title = f"{name.capitalize()} of sampled detection at the ratio {ratio}, by length"
            pictures[f"{name}-{2**level}.svg"] = chart(title, curves, "threshold", name)
    shares = []
    for place, t in enumerate(sorted({study.thresholds[0], 0.7, threshold} & set(study.thresholds))):
        adaptive = [(p, study.share(study.choose(t, p))) for p in PRECISIONS]
        uniform = [(p, study.ratios[study.uniform(t, p)]) for p in PRECISIONS]
        shares.append(Series(f"adaptive, t = {t:g}", adaptive, colour=place))
        shares.append(Series(f"uniform, t = {t:g}", uniform, dashed=True, colour=place))
    title = "Fraction of shingles needed for a required precision"
    pictures["share.svg"] = chart(title, shares, "precision required", "share of shingles")
    for name, picture in pictures.items():
        (folder / name).write_text(picture, encoding="utf-8")
    return [folder / name for name in pictures]
