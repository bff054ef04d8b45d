"""Several draws of one experiment: each cell becomes the mean, with the least and the most; a shape must hold in all.

Where sampling, random edits or queries drawn at random decide, one seed says little. An experiment that depends on a
seed is run with several (`SEEDS`), and a shape is held to every draw: it holds if it does in all of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from roughly.papers.expected_shapes import ShapeResult
from roughly.papers.paper_table import Cell, PaperTable, Range

SEEDS = 10
"""Draws of an experiment that depends on a seed."""


def mean_table(draws: Sequence[PaperTable], seeds: Sequence[int]) -> PaperTable:
    """The means of the cells of tables with the same rows and columns, with their ranges."""
    first = draws[0]
    if len(draws) == 1:
        return first
    rows: list[list[Cell]] = []
    ranges: list[list[Range | None]] = []
    for cells in zip(*(table.rows for table in draws), strict=True):
        found = [_mean([row[place] for row in cells]) for place in range(len(first.columns))]
        rows.append([mean for mean, _ in found])
        ranges.append([span for _, span in found])
    if not any(span for row in ranges for span in row):
        return first
    note = f"Means of {len(seeds)} draws (seeds {seeds[0]} to {seeds[-1]}), in brackets the least and the most."
    counts = [note for note in first.notes if any(note not in table.notes for table in draws)]
    if counts:
        note += f" Counts in the text above are those of seed {seeds[0]}."
    return PaperTable(first.title, first.columns, rows, [*first.notes, note], ranges)


def _mean(cells: Sequence[Cell]) -> tuple[Cell, Range | None]:
    values = [cell for cell in cells if cell is not None and not isinstance(cell, str)]
    if not values or (len(values) < len(cells) and any(isinstance(cell, str) for cell in cells)):
        return cells[0], None
    least, most = min(values), max(values)
    return (values[0], None) if least == most else (statistics.fmean(values), (least, most))


def shape_of_all(draws: Sequence[ShapeResult], together: ShapeResult) -> ShapeResult:
    """Whether a shape holds in all draws, with the figures of the means; undecided draws do not count."""
    decided = [own.held for own in draws if own.held is not None]
    if not decided:
        return together
    held = all(decided) if all(decided) or not any(decided) else None
    return ShapeResult(together.says, held, together.seen, sum(decided), len(decided))


def mean_seconds(draws: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """For each activity, the mean and the standard deviation of its processor seconds."""
    names = dict.fromkeys(name for own in draws for name in own)
    measured = {name: [own[name] for own in draws if name in own] for name in names}
    return {name: (statistics.fmean(values), statistics.pstdev(values)) for name, values in measured.items()}
