"""A result in the form of a paper's table: for people as Markdown, for programs as JSON.

What was found never differs between two runs; how long it took does, so seconds are kept apart and are printed only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from roughly.errors import SettingsError

Kind = Literal["text", "count", "percent", "share", "number", "fine"]
Cell = str | int | float | None


@dataclass(frozen=True)
class TableColumn:
    """A heading and how its cells are written."""

    name: str
    kind: Kind = "text"

    def shown(self, cell: Cell) -> str:
        """A cell as people read it."""
        if cell is None:
            return "–"
        if isinstance(cell, str):
            return cell.replace("|", "\\|")
        if isinstance(cell, int) and self.kind == "number":
            return f"{cell:,}"
        if isinstance(cell, float) and self.kind == "number" and abs(cell) >= 1e9:
            return f"{cell:.3g}"
        if isinstance(cell, float) and self.kind == "count":
            return f"{cell:,.0f}"
        return {
            "percent": f"{100 * cell:.1f}%",
            "share": f"{cell:.3f}",
            "number": f"{cell:,.2f}",
            "fine": f"{cell:.4f}",
        }.get(self.kind, f"{cell:,}")


@dataclass(frozen=True)
class PaperTable:
    """Rows under columns, with what must be said beside them."""

    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    seconds: Sequence[float] = field(default=())

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {len(row)} cells under {len(self.columns)} columns")

    def place(self, name: str, where: str) -> int:
        """Where a column stands."""
        names = [column.name for column in self.columns]
        if name not in names:
            raise SettingsError(f"{where}: no column {name!r}; columns are {', '.join(names)}")
        return names.index(name)

    def chosen(self, names: Sequence[str], where: str) -> PaperTable:
        """The first column and these others, in this order; all where none is named."""
        if not names:
            return self
        places = [0, *(place for name in names if (place := self.place(name, where)))]
        rows = [[row[place] for place in places] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in places], rows=rows)

    def markdown(self, with_seconds: bool = False) -> str:
        """The table in Markdown; with the seconds each row took, if it has them and they are asked for."""
        timed = with_seconds and len(self.seconds) == len(self.rows)
        columns = [*self.columns, *([TableColumn("Time", "number")] if timed else [])]
        lines = [f"## {self.title}", "", "| " + " | ".join(column.name for column in columns) + " |"]
        lines.append("|" + "|".join("---" if column.kind == "text" else "---:" for column in columns) + "|")
        for number, row in enumerate(self.rows):
            cells = [*row, *([self.seconds[number]] if timed else [])]
            shown = (column.shown(cell) for column, cell in zip(columns, cells, strict=True))
            lines.append("| " + " | ".join(shown) + " |")
        lines += [line for note in self.notes for line in ("", note)]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without the seconds."""
        names = [column.name for column in self.columns]
        return {
            "title": self.title,
            "columns": [dataclasses.asdict(column) for column in self.columns],
            "rows": [dict(zip(names, row, strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }
