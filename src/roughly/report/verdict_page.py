"""The page of a learned verdict: weights, calibration, precision and recall, and labelled pairs that it gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from roughly.fast_dataclass import dataclass
from roughly.report.collection_section import BarRow
from roughly.report.data import PairSample
from roughly.report.page_templates import environment
from roughly.report.plots import CURVE_NARROW, CURVE_WIDE, Plot
from roughly.report.samples import PairCard, card
from roughly.report.scale import linear
from roughly.report.svg import Frame, element, line
from roughly.report.wording import count
from roughly.report.write import write_page


@dataclass(frozen=True, slots=True)
class WeightRow:
    """What a comparison adds at most to the log-odds, with its 95 % interval."""

    comparison: str
    meaning: str
    most: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Pairs of a range of probabilities: their mean probability, and the share that are the same."""

    pairs: int
    probability: float
    same: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Precision and recall if pairs of this probability and more are the same."""

    probability: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class WrongPair:
    """A labelled pair on which the verdict is wrong."""

    probability: float
    sample: PairSample


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictData:
    """Everything that the page shows."""

    prior: float
    probability: float
    threshold: float
    shingle_size: int
    f1: float  # on unseen labels
    pairs: int  # that were learnt from
    weights: list[WeightRow]
    calibration: list[CalibrationBin]
    curve: list[CurvePoint]
    wrongly_same: tuple[int, list[WrongPair]]  # (how many, some)
    missed: tuple[int, list[WrongPair]]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without texts."""

        def pairs(found: tuple[int, list[WrongPair]]) -> dict[str, Any]:
            listed = [(one.sample.left_id, one.sample.right_id, one.probability) for one in found[1]]
            return {"count": found[0], "some": listed}

        plain = {name: [asdict(one) for one in getattr(self, name)] for name in ("weights", "calibration", "curve")}
        return plain | {"wrongly_same": pairs(self.wrongly_same), "missed": pairs(self.missed)}


def write_verdict_page(data: VerdictData, path: Path) -> None:
    """Write the page."""
    write_page(path, render_verdict(data))


def render_verdict(data: VerdictData) -> str:
    """The page as text."""
    context = {
        "f1": f"{data.f1:.3f}", "pairs": count(data.pairs), "prior": f"{data.prior:+.2f}",
        "probability": f"{data.probability:g}", "threshold": f"{data.threshold:g}", "size": data.shingle_size,
        "weights": weight_rows(data.weights), "calibration": plot_calibration(data.calibration),
        "curve": plot_precision(data.curve),
        "wrongly_same": (count(data.wrongly_same[0]), _cards(data.wrongly_same[1])),
        "missed": (count(data.missed[0]), _cards(data.missed[1])),
    }  # fmt: skip
    return environment().get_template("verdict.html").render(context) + "\n"


def weight_rows(weights: Sequence[WeightRow]) -> list[BarRow]:
    """The weights as rows of a table with bars."""
    top = max((row.most for row in weights), default=1.0) or 1.0
    return [
        BarRow(
            f"{own.comparison}: {own.meaning}", (f"{own.most:+.2f}", f"{own.low:.2f}–{own.high:.2f}"), own.most / top
        )
        for own in weights
    ]


def plot_calibration(bins: Sequence[CalibrationBin]) -> Plot:
    """The share of the same pairs, by probability."""
    points = [(one.probability, one.same) for one in bins]
    labels = ("probability", "share that are the same")
    return _plot("calibration", "Share of the same pairs, by probability", labels, points)


def plot_precision(curve: Sequence[CurvePoint]) -> Plot:
    """Precision and recall at every probability."""
    points = [(one.recall, one.precision) for one in curve]
    title = "Precision and recall at every probability"
    return _plot("precision-recall", title, ("recall", "precision"), points, diagonal=False)


def _cards(pairs: Sequence[WrongPair]) -> list[PairCard]:
    cards = [(one, card(one.sample.bounded(), "resemblance")) for one in pairs]
    return [
        replace(own, score=f"{one.probability:.3f}", measure="probability", resemblance=own.score) for one, own in cards
    ]


def _plot(
    name: str, title: str, labels: tuple[str, str], points: list[tuple[float, float]], *, diagonal: bool = True
) -> Plot:
    rows = tuple((f"{a:.3f}", f"{b:.3f}") for a, b in points)
    description = "; ".join(f"{labels[0]} {a}: {labels[1]} {b}" for a, b in rows)

    def draw(frame: Frame, own: str) -> Markup:
        x, y = linear(0, 1, frame.left, frame.x_end), linear(0, 1, frame.y_end, frame.top)
        parts = [frame.axis_y(y, labels[1]), frame.axis_x(x, labels[0])]
        if diagonal:
            parts.append(line(x(0), y(0), x(1), y(1), "mark"))
        parts.append(element("polyline", points=" ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points), class_="curve"))
        parts += [element("circle", cx=x(a), cy=y(b), r=3.5, class_="dot") for a, b in points]
        return frame.document(own, title, description, *parts)

    return Plot(draw(CURVE_WIDE, f"{name}-wide"), draw(CURVE_NARROW, f"{name}-narrow"), labels, rows)
