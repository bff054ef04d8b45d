"""A result in the form of a paper's table: for people as Markdown, for programs as JSON.

Results never differ between two runs; seconds do, so they are separate. Of several draws a cell has the mean, and a
range.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass

Kind = Literal["text", "count", "percent", "share", "number", "fine"]
Cell = str | int | float | None
Range = tuple[float, float]
"""The least and the most of several draws."""


def rounded(value: Any, digits: int = 9) -> Any:
    """Floats to some digits, wherever they are in a value: the last ones depend on the machine."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, Mapping):
        return {name: rounded(own, digits) for name, own in value.items()}
    return [rounded(own, digits) for own in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class TableColumn:
    """A heading and how its cells are written."""

    name: str
    kind: Kind = "text"

    def shown(self, cell: Cell) -> str:
        """A cell as people read it, the same on every machine."""
        if cell is None:
            return "–"
        if isinstance(cell, str):
            return cell.replace("|", "\\|")
        cell = rounded(cell, 14)  # papers print up to twelve
        if isinstance(cell, int) and self.kind == "number":
            return f"{cell:,}"
        if isinstance(cell, float) and self.kind == "number" and abs(cell) >= 1e9:
            return f"{cell:.3g}"
        if isinstance(cell, float) and self.kind == "count":  # a mean of draws
            return f"{cell:,.0f}" if cell.is_integer() or abs(cell) >= 100 else f"{cell:,.1f}"
        return {
            "percent": f"{100 * cell:.1f}%",
            "share": f"{cell:.3f}",
            "number": f"{cell:,.2f}",
            "fine": f"{cell:.4f}",
        }.get(self.kind, f"{cell:,}")


@dataclass(frozen=True)
class PaperTable:
    """Rows under columns, with notes."""

    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    ranges: Sequence[Sequence[Range | None]] = field(default=())  # of several draws, as rows; empty: one draw

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {len(row)} cells under {len(self.columns)} columns")

    def place(self, name: str, where: str) -> int:
        """The position of a column."""
        names = [column.name for column in self.columns]
        if name not in names:
            raise SettingsError(f"{where}: no column {name!r}; columns are {', '.join(names)}")
        return names.index(name)

    def chosen(self, names: Sequence[str], where: str) -> PaperTable:
        """The first column and these others, in this order; all if none is named."""
        if not names:
            return self
        places = [0, *(place for name in names if (place := self.place(name, where)))]
        rows = [[row[place] for place in places] for row in self.rows]
        ranges = [[row[place] for place in places] for row in self.ranges]
        return replace(self, columns=[self.columns[place] for place in places], rows=rows, ranges=ranges)

    def range_of(self, row: int, place: int) -> Range | None:
        """The range of a cell; None if all draws gave the same, or there was one."""
        return self.ranges[row][place] if self.ranges else None

    def shown(self, row: int, place: int) -> str:
        """A cell as people read it, with its range in brackets."""
        column, span = self.columns[place], self.range_of(row, place)
        written = column.shown(self.rows[row][place])
        return written if span is None else f"{written} ({column.shown(span[0])}–{column.shown(span[1])})"

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [f"## {self.title}", "", "| " + " | ".join(column.name for column in self.columns) + " |"]
        lines.append("|" + "|".join("---" if column.kind == "text" else "---:" for column in self.columns) + "|")
        for number in range(len(self.rows)):
            lines.append("| " + " | ".join(self.shown(number, place) for place in range(len(self.columns))) + " |")
        lines += [line for note in self.notes for line in ("", note)]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        names = [column.name for column in self.columns]
        return {
            "title": self.title,
            "columns": [dataclasses.asdict(column) for column in self.columns],
            "rows": [dict(zip(names, row, strict=True)) for row in self.rows],
            "notes": list(self.notes),
            **({"ranges": self._ranges(names)} if self.ranges else {}),
        }

    def _ranges(self, names: list[str]) -> list[dict[str, list[float]]]:
        """For each row, the least and the most of the cells that vary."""
        return [
            {name: list(span) for name, span in zip(names, row, strict=True) if span is not None} for row in self.ranges
        ]
