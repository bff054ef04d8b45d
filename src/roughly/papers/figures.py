"""Pictures of tables as PNG, by matplotlib (the extra `lab`): the same bytes from the same table and matplotlib.

The paper's points are drawn too, dashed, if it prints them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from roughly.errors import SettingsError
from roughly.papers.experiment import FigureSpec
from roughly.papers.paper_table import PaperTable
from roughly.papers.runner import SharedInputs

COLOURS = (
    "#3f51b5", "#c2410c", "#15803d", "#7c3aed", "#111827", "#0e7490", "#be185d", "#4b5563", "#65a30d", "#1d4ed8",
    "#b45309", "#9f1239",
)  # fmt: skip
_LINES = 8
"""Colours that are distinct on thin lines; after these, lines are dotted."""


def need_matplotlib() -> Any:
    """Matplotlib's figures, or how to get them."""
    try:
        from matplotlib.figure import Figure as Drawing
    except ImportError:
        raise SettingsError(
            "pictures need matplotlib; install it with pip install 'roughly[lab]', or leave them out with --no-figures"
        ) from None
    return Drawing


def draw(shared: SharedInputs, path: Path, answers: str = "") -> None:
    """Write the picture of a table, with a digest of answers among its metadata, if given."""
    if shared.figure is None:
        raise ValueError(f"{shared.title} has no figure")
    figure, table = shared.figure, shared.ours
    drawing = need_matplotlib()(figsize=(7.5, 4.2), dpi=110, layout="constrained")
    axes = drawing.subplots()
    places, names = _places(table, figure)
    if figure.kind == "bars":
        _bars(axes, shared, figure)
    else:
        for number, column in enumerate(figure.y):
            colour = COLOURS[number % _LINES]
            style = "-" if number < _LINES else ":"  # a repeated colour
            _curve(axes, places, _values(table, column), colour, style, column)
            printed = [shared.paper.get(str(row[0]), {}).get(column) for row in table.rows]
            if any(value is not None for value in printed):
                _curve(axes, places, printed, colour, "--", f"{column}, in the paper")
    if names and figure.kind != "bars":
        axes.set_xticks(places, names, rotation=30 if max(map(len, names)) > 6 else 0)
    for axis in figure.log:
        getattr(axes, f"set_{axis}scale")("log")
    kinds = {column.kind for column in table.columns if column.name in figure.y}
    if kinds <= {"percent", "share"} and "y" not in figure.log:
        axes.set_ylim(0, 1.03)
    axes.set_xlabel(figure.x_label or figure.x)
    axes.set_ylabel(figure.y_label)
    axes.set_title(figure.title or shared.title, fontsize=10)
    axes.grid(color="#e3e3e8")
    axes.set_axisbelow(True)
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(fontsize=7, frameon=False, loc="best")
    drawing.savefig(
        path, format="png", metadata={"Software": None, "Comment": f"answers {answers}" if answers else None}
    )


def _curve(axes: Any, places: list[float], values: list[Any], colour: str, style: str, label: str) -> None:
    points = [(x, y) for x, y in zip(places, values, strict=True) if y is not None]
    if points:
        axes.plot(*zip(*points, strict=True), style, color=colour, marker="o", markersize=3, label=label)


def _bars(axes: Any, shared: SharedInputs, figure: FigureSpec) -> None:
    table = shared.ours
    series: list[tuple[str, list[Any]]] = []
    for column in figure.y:
        series.append((column, _values(table, column)))
        printed = [shared.paper.get(str(row[0]), {}).get(column) for row in table.rows]
        if any(value is not None for value in printed):
            series.append((f"{column}, in the paper", printed))
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series):
        at = [place + (number - (len(series) - 1) / 2) * width for place in range(len(values))]
        axes.bar(at, [value or 0 for value in values], width, color=COLOURS[number % len(COLOURS)], label=name)
    names = [str(row[table.place(figure.x, "figure")]) for row in table.rows]
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize=8)


def _places(table: PaperTable, figure: FigureSpec) -> tuple[list[float], list[str]]:
    """The positions of the points on the axis, and names if the column has no numbers."""
    at = table.place(figure.x, "figure")
    cells = [row[at] for row in table.rows]
    try:
        return [float(str(cell).replace(",", "")) for cell in cells], []
    except ValueError:
        return [float(place) for place in range(len(cells))], [str(cell) for cell in cells]


def _values(table: PaperTable, name: str) -> list[Any]:
    at = table.place(name, "figure")
    return [row[at] for row in table.rows]
