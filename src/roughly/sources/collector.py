"""Record batches of the schema `model.DOCUMENTS`, the same from every reader.

Fast readers pass Arrow columns (`from_columns`); readers that see one document at a time collect them (`Collector`).
Both give a batch of exactly that schema.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import RoughlyError
from roughly.model import DOCUMENTS, Reject
from roughly.sources.part import Parsed, Rows

_EXCERPT = 200  # characters of a rejected record that are shown


def from_columns(
    rows: Rows,
    doc_id: pa.Array,
    text: pa.Array,
    *,
    markup: bool,
    others: dict[str, pa.Array],
    source: str,
) -> pa.RecordBatch:
    """A batch of Arrow columns. Where they give no source, it is `source`."""
    count = len(rows)
    columns = {
        "row": pa.array(rows, pa.int64()),
        "doc_id": doc_id,
        "text": text,
        "markup": pa.repeat(pa.scalar(markup), count),
        **others,
    }
    given = columns.get("source")
    columns["source"] = pa.repeat(pa.scalar(source), count) if given is None else pc.fill_null(given, source)
    arrays = [columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in DOCUMENTS]
    return pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS)


def joined_texts(columns: Sequence[pa.Array]) -> pa.Array:
    """Columns of large strings, joined by line breaks; null and empty ones are left out, and null if all are null."""
    if len(columns) == 1:
        return columns[0]
    missing, line = pa.scalar(None, pa.large_string()), pa.scalar("\n", pa.large_string())

    def pair(left: pa.Array, right: pa.Array) -> pa.Array:  # skipping nulls, pyarrow would leave rows of nulls out
        return pc.coalesce(pc.binary_join_element_wise(left, right, line), left, right)

    filled = [pc.if_else(pc.equal(column, ""), missing, column) for column in columns]
    return pc.coalesce(functools.reduce(pair, filled), *columns)


def joined(texts: Sequence[str | None]) -> str:
    """The same for the columns of one document."""
    return "\n".join(text for text in texts if text)


def numbered(label: str, rows: Rows) -> pa.Array:
    """Ids like `news.jsonl:17`, counted from 1."""
    return pc.binary_join_element_wise(pa.scalar(label), pa.array(rows + 1).cast(pa.string()), ":")


def identify(text: str) -> str:
    """An id made from the text."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def is_utf8(data: bytes | memoryview) -> bool:
    """Whether the bytes are valid UTF-8, without making a string of them."""
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as one array, without a copy if it is one already."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def to_strings(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as one array of strings."""
    return one_array(column).cast(pa.string())


def excerpt(record: bytes | str) -> str:
    """The beginning of a rejected record, as printable text."""
    text = record[: _EXCERPT * 4].decode("utf-8", "replace") if isinstance(record, bytes) else record
    return text.strip()[:_EXCERPT]


def reason_of(problem: Exception) -> str:
    """Why a record is rejected; an unexpected error is named."""
    return (
        str(problem) if isinstance(problem, RoughlyError) else f"cannot be read ({type(problem).__name__}: {problem})"
    )


class Collector:
    """Documents and rejects of one chunk, added one by one in row order."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._columns: dict[str, list[object]] = {field.name: [] for field in DOCUMENTS}
        self.rejects: list[Reject] = []

    def add(self, row: int, doc_id: str, text: str, *, markup: bool = False, **others: str | None) -> None:
        """One document; `others` are `title`, `url`, `date`, `source`."""
        values: dict[str, object] = {"row": row, "doc_id": doc_id, "text": text, "markup": markup, **others}
        if values.get("source") is None:
            values["source"] = self._source
        for name, column in self._columns.items():
            column.append(values.get(name))

    def parsed(self) -> Parsed:
        """All that was added."""
        arrays = [pa.array(self._columns[field.name], field.type) for field in DOCUMENTS]
        return Parsed(pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS), self.rejects)


def nothing() -> pa.RecordBatch:
    """A batch of no documents."""
    return pa.RecordBatch.from_pylist([], schema=DOCUMENTS)
