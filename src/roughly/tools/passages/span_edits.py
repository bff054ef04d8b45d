"""The texts without what is removed, or with the spans in a column: the edits of one part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from roughly.tools.passages.mapped_arrays import Ints

MARKS = pa.field(
    "passages",
    pa.list_(
        pa.struct(
            [
                pa.field("start", pa.int64()),
                pa.field("end", pa.int64()),
                pa.field("witness_id", pa.string()),
                pa.field("witness_start", pa.int64()),
            ]
        )
    ),
)
"""The column of `--do mark`."""
Mark = tuple[int, int, str, int]  # start, end, witness_id, witness_start


class SpanRemoval:
    """Cuts spans out of texts."""

    column: pa.Field | None = None

    def __init__(self, rows: Ints, starts: Ints, ends: Ints) -> None:
        """Spans (row, start, end), by row and start."""
        self._first: dict[int, int] = {}
        self._starts, self._ends, self._rows = starts, ends, rows
        for row, first in zip(*np.unique(rows, return_index=True), strict=True):
            self._first[int(row)] = int(first)

    def is_edited(self, row: int) -> bool:
        """Whether something is cut out of the text of a row."""
        return row in self._first

    def text(self, row: int, text: str) -> str:
        """What is left of the text of a row."""
        data, pieces, at = text.encode(), [], 0
        for span in range(self._first[row], len(self._rows)):
            if self._rows[span] != row:
                break
            pieces.append(data[at : self._starts[span]])
            at = int(self._ends[span])
        return b"".join([*pieces, data[at:]]).decode()

    def value(self, row: int) -> Any:
        """No column is added."""
        raise NotImplementedError


class SpanMarks:
    """Adds the spans as a column."""

    column: pa.Field | None = MARKS

    def __init__(self, marks: dict[int, list[Mark]]) -> None:
        self._marks = marks

    def is_edited(self, row: int) -> bool:
        """No text changes."""
        return False

    def text(self, row: int, text: str) -> str:
        """The text as it is."""
        return text

    def value(self, row: int) -> Any:
        """The spans of a row."""
        names = [field.name for field in MARKS.type.value_type]
        return [dict(zip(names, mark, strict=True)) for mark in self._marks.get(row, [])]
