"""The shape that a paper's figures have, stated so that it can be checked on ours.

| written | holds when |
|---|---|
| `rises = C` | the values of column C never fall from one row to the next by more than `slack` |
| `falls = C` | they never rise by more than `slack` |
| `slows = C` | C rises less from the middle row to the last than from the first to the middle |
| `above = [a, b]`, `column = C` | row a has more in C than row b |
| `level = [a, b]`, `column = C` | rows a and b differ in C by no more than `slack` |
| `beside = [C, D]` | C is at least D, in every row or in row `row` |
| `within = [low, high]`, `column = C` | C is between, in every row or in row `row` |
| `near = tolerance`, `column = C` | C is no further than this from what the paper prints, in every row that it prints |
| `most = a`, `column = C` | no row has more in C than row a |

Rows are named by their first cell. A shape that names a missing row or column is an error. Empty cells (None) are
skipped; if none is left, as when a collection has no long documents, the shape is undecided, and the result says so.
(The page of the docs refuses such shapes: on their own collections all can be decided.)

`found` is the verdict on the default collections that the remarks of the file were written for, `holds` if it is not
given. Where the page has another, a test says whose remarks are to be read again.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.papers.paper_table import Cell, PaperTable

KINDS = ("rises", "falls", "slows", "above", "level", "beside", "within", "near", "most")
VERDICTS = ("holds", "does not hold", "depends on the draw")
_ENTRIES = {*KINDS, "says", "found", "table", "column", "row", "slack", "rows"}


class ShapeUnknown(SettingsError):
    """The table has nothing to decide a shape by."""


@dataclass(frozen=True)
class ShapeResult:
    """A shape, and whether it holds on a result; None if undecided, or if it holds in some of several draws only."""

    says: str
    held: bool | None
    seen: str  # the figures that decided, or why none did
    held_in: int = 0  # draws in which it holds
    draws: int = 0  # draws that decide it, if there were several

    @property
    def word(self) -> str:
        """For people."""
        if self.held is None and self.draws:
            return VERDICTS[2]
        return {True: VERDICTS[0], False: VERDICTS[1], None: "is unknown"}[self.held]

    @property
    def sentence(self) -> str:
        """The statement with the figures, and with the draws if they disagree."""
        some = f", in {self.held_in} of {self.draws} draws" if self.held is None and self.draws else ""
        return f"{self.says}{some} ({self.seen})"


@dataclass(frozen=True)
class ExpectedShape:
    """One statement about a table."""

    says: str
    kind: str
    value: Any
    table: str = ""  # empty: the first
    column: str = ""
    row: str = ""
    rows: tuple[str, ...] = ()  # only these, in this order; empty: all
    slack: float = 0.0
    found: str = VERDICTS[0]  # on the default collections, when the remarks were written

    @classmethod
    def parse(cls, entry: Mapping[str, Any], where: str) -> ExpectedShape:
        """The shape in an entry of a file."""
        kinds = [kind for kind in KINDS if kind in entry]
        problems = [f"{where}, expected: unknown entry {key!r}" for key in entry.keys() - _ENTRIES]
        if "says" not in entry:
            problems.append(f"{where}, expected: says is missing; every shape needs a statement in words")
        if len(kinds) != 1:
            problems.append(f"{where}, expected: one of {', '.join(KINDS)} is needed, not {len(kinds)} of them")
        if entry.get("found", VERDICTS[0]) not in VERDICTS:
            problems.append(f"{where}, expected: found is one of {', '.join(VERDICTS)}, not {entry['found']!r}")
        if problems:
            raise SettingsError(*problems)
        kind, value = kinds[0], entry[kinds[0]]
        pairs = kind in ("above", "level", "beside", "within")
        if pairs and not (isinstance(value, list) and len(value) == 2):
            raise SettingsError(f"{where}, expected: {kind} takes a list of two, not {value!r}")
        column = value if kind in ("rises", "falls", "slows") else entry.get("column", "")
        if kind in ("above", "level", "within", "near", "most") and not column:
            raise SettingsError(f"{where}, expected: {kind} needs a column")
        return cls(
            entry["says"], kind, value, entry.get("table", ""), column, entry.get("row", ""),
            tuple(entry.get("rows", ())), float(entry.get("slack", 0.0)), entry.get("found", VERDICTS[0]),
        )  # fmt: skip

    def check(self, table: PaperTable, paper: Mapping[str, Mapping[str, Any]], where: str) -> ShapeResult:
        """Whether it holds on a table; `paper` has what the paper prints, by row and column."""
        place = f"{where}: the shape “{self.says}”"
        try:
            held, seen = getattr(self, f"_{self.kind}")(table, paper, place)
        except ShapeUnknown as problem:
            return ShapeResult(self.says, None, str(problem))
        return ShapeResult(self.says, held, seen)

    def _column(self, table: PaperTable, name: str, place: str) -> list[tuple[str, float]]:
        """The cells of a column with a number, by row."""
        at = table.place(name, place)
        cells = {str(row[0]): row[at] for row in table.rows}
        chosen = self.rows or ((self.row,) if self.row else tuple(cells))
        missing = [row for row in chosen if row not in cells]
        if missing:
            raise SettingsError(f"{place} names the row {missing[0]!r}; rows are {', '.join(cells)}")
        found = [(row, _number(cells[row], place)) for row in chosen]
        kept = [(row, value) for row, value in found if value is not None]
        if not kept:
            raise ShapeUnknown(f"{name} holds nothing in {', '.join(chosen)}")
        return kept

    def _one(self, table: PaperTable, row: str, place: str) -> float:
        found = dict(ExpectedShape(self.says, self.kind, self.value, column=self.column, row=row)._column(
            table, self.column, place
        ))  # fmt: skip
        return found[row]

    def _steps(self, table: PaperTable, place: str, sign: int) -> tuple[bool, str]:
        found = self._column(table, self.column, place)
        if len(found) < 2:
            raise ShapeUnknown(f"{self.column} holds one value only")
        shown = _path(table, self.column, found, place)
        for (_, a), (row, b) in itertools.pairwise(found):
            if sign * (b - a) < -self.slack:
                return False, f"{shown}; not at {row}"
        return True, shown

    def _rises(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        return self._steps(table, place, 1)

    def _falls(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        return self._steps(table, place, -1)

    def _slows(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        found = self._column(table, self.column, place)
        if len(found) < 3:
            raise ShapeUnknown(f"{self.column} holds fewer than three values")
        first, middle, last = (found[at][1] for at in (0, len(found) // 2, -1))
        column = table.columns[table.place(self.column, place)]
        shown = " → ".join(column.shown(value) for value in (first, middle, last))
        return last - middle < middle - first, shown

    def _above(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        left, right = (self._one(table, row, place) for row in self.value)
        column = table.columns[table.place(self.column, place)]
        return left > right - self.slack, f"{column.shown(left)} against {column.shown(right)}"

    def _level(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        left, right = (self._one(table, row, place) for row in self.value)
        column = table.columns[table.place(self.column, place)]
        return abs(left - right) <= self.slack + 1e-12, f"{column.shown(left)} against {column.shown(right)}"

    def _beside(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        left, right = (dict(self._column(table, name, place)) for name in self.value)
        both = [row for row in left if row in right]
        if not both:
            raise ShapeUnknown(f"no row has both {self.value[0]} and {self.value[1]}")
        column = table.columns[table.place(self.value[0], place)]
        failing = [row for row in both if left[row] < right[row] - self.slack]
        row = failing[0] if failing else both[-1]
        return not failing, f"{row}: {column.shown(left[row])} against {column.shown(right[row])}"

    def _within(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        low, high = self.value
        found = self._column(table, self.column, place)
        column = table.columns[table.place(self.column, place)]
        failing = [(row, value) for row, value in found if not low <= value <= high]
        least, most = min(value for _, value in found), max(value for _, value in found)
        if failing:
            return False, f"{failing[0][0]}: {column.shown(failing[0][1])}"
        return True, column.shown(least) if least == most else f"{column.shown(least)} to {column.shown(most)}"

    def _near(self, table: PaperTable, paper: Mapping[str, Mapping[str, Any]], place: str) -> tuple[bool, str]:
        found = dict(self._column(table, self.column, place))
        printed = {row: cells[self.column] for row, cells in paper.items() if self.column in cells and row in found}
        if not printed:
            raise SettingsError(f"{place} cannot be checked: the paper's {self.column} is not in the file")
        far = {row: abs(found[row] - value) for row, value in printed.items()}
        worst = max(far, key=lambda row: (far[row], row))
        column = table.columns[table.place(self.column, place)]
        seen = f"{worst}: {column.shown(found[worst])}, in the paper {column.shown(printed[worst])}"
        return far[worst] <= self.value + 1e-12, seen

    def _most(self, table: PaperTable, paper: Any, place: str) -> tuple[bool, str]:
        found = dict(self._column(table, self.column, place))
        self._one(table, self.value, place)
        if self.value not in found:
            raise ShapeUnknown(f"{self.column} holds nothing in {self.value}")
        best = max(found, key=lambda row: (found[row], row == self.value))
        column = table.columns[table.place(self.column, place)]
        return best == self.value, f"{best}: {column.shown(found[best])}"


def _number(cell: Cell, place: str) -> float | None:
    if isinstance(cell, str):
        raise SettingsError(f"{place} is about numbers, and {cell!r} is none")
    return cell


def _path(table: PaperTable, name: str, found: list[tuple[str, float]], place: str) -> str:
    column = table.columns[table.place(name, place)]
    shown = [column.shown(value) for _, value in found]
    return " → ".join(shown if len(shown) <= 6 else [*shown[:3], "…", *shown[-2:]])
