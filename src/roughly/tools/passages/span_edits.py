"""The texts without what is removed, or with the spans in a column: the edits of one part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def _spans_of(rows: Ints, row: int) -> slice:
    """Where the spans of a row are; `rows` has the row of each span, ascending."""
    return slice(*rows.searchsorted((row, row + 1)).tolist())


class SpanRemoval:
    """Cuts spans out of texts."""

    column: pa.Field | None = None

    def __init__(self, rows: Ints, starts: Ints, ends: Ints) -> None:
        """Spans (row, start, end), by row and start."""
        self._rows, self._starts, self._ends = rows, starts, ends

    def is_edited(self, row: int) -> bool:
        """Whether something is cut out of the text of a row."""
        own = _spans_of(self._rows, row)
        return bool(own.start < own.stop)

    def text(self, row: int, text: str) -> str:
        """What is left of the text of a row."""
        data, pieces, at = text.encode(), [], 0
        own = _spans_of(self._rows, row)
        for start, end in zip(self._starts[own].tolist(), self._ends[own].tolist(), strict=True):
            pieces.append(data[at:start])
            at = end
        return b"".join([*pieces, data[at:]]).decode()

    def value(self, row: int) -> None:
        """Nothing: no column is added."""


class SpanMarks:
    """Adds the spans as a column."""

    column: pa.Field | None = MARKS

    def __init__(self, rows: Ints, marks: Sequence[Ints], ids: pa.Array) -> None:
        """Spans (row, start, end, witness, witness_start), by row and start; `marks` has all columns but the row."""
        self._rows, self._marks, self._ids = rows, marks, ids

    def is_edited(self, row: int) -> bool:
        """No text changes."""
        return False

    def text(self, row: int, text: str) -> str:
        """The text as it is."""
        return text

    def value(self, row: int) -> Any:
        """The spans of a row."""
        own = _spans_of(self._rows, row)
        return [
            {"start": start, "end": end, "witness_id": self._ids[witness].as_py(), "witness_start": there}
            for start, end, witness, there in zip(*(column[own].tolist() for column in self._marks), strict=True)
        ]
