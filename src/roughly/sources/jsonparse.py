"""From JSON lines to documents, by three paths with the same result.

The kernel path parses the lines it is sure of (`jsonvalues`), usually all of them. The remaining lines go to the fast
path, pyarrow's JSON reader, which makes no Python object per document. It is used if every remaining line is clearly
one object, and it fails as a whole if any line does not fit the schema. Then the slow path parses line by line with
orjson, so that exactly the bad lines are rejected, each with its reason. A line is good if either pyarrow or orjson
accepts it, and the kernel accepts none that they would refuse; so the result for a line never depends on its
neighbours.

pyarrow's reader must be guarded. It silently accepts several objects on a line, or one over several lines, which would
shift the row numbers; it stops at a NUL byte; and it crashes the process on a `null` outside any object (pyarrow 26).
`_is_plain` excludes all of these.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from roughly.model import Reject
from roughly.sources.collector import (
    Collector,
    excerpt,
    from_columns,
    is_utf8,
    joined,
    joined_texts,
    numbered,
    one_array,
    to_strings,
)
from roughly.sources.columns import Columns, null_problem
from roughly.sources.jsonvalues import ValueFinder
from roughly.sources.part import Mask, Parsed, Rows
from roughly.sources.records import Offsets

_STRAY_NULL = re.compile(rb"\}[ \t\r]*null")
_OPEN, _CLOSE = b"{}"
_BLANK_OR_N = np.isin(np.arange(256), list(b" \t\rn"))
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


class LineParser:
    """Parses lines of one file. `numeric` columns hold whole numbers, as far as the sample shows."""

    def __init__(self, name: str, label: str, columns: Columns, numeric: frozenset[str]) -> None:
        self._name = name
        self._label = label
        self._columns = columns
        self.text_columns = columns.texts
        self.titled = None if columns.by_field.get("title") in numeric else columns.titled
        self._markup = columns.markup
        self._fields = [field for field in columns.by_field if field not in ("text", "doc_id")]
        types = {column: pa.int64() if column in numeric else pa.string() for column in columns.by_field.values()}
        self._schema = pa.schema({**types, **dict.fromkeys(columns.texts, pa.large_string())})
        others = [column for field, column in columns.by_field.items() if field != "text"]
        text = next((column for column in reversed(columns.texts) if column not in others), None)
        strings = [column for column in columns.texts if column != text]
        self._finder = None if text is None else ValueFinder(text, strings, others, columns.doc_id)

    def parse(self, data: bytes | memoryview, ends: Offsets, rows: Rows) -> Parsed:
        """Documents of the lines that end at `ends`."""
        if self._columns.features:
            return self._slowly(*_without_blank_lines(bytes(data), ends, rows))
        if self._finder is None or not len(ends):
            return self.parse_without_kernel(bytes(data), ends, rows)
        values = self._finder.find(data, ends)
        if values.left.all():
            return self.parse_without_kernel(bytes(data), ends, rows)
        rows_taken = rows if values.taken.all() else rows[values.taken]
        batch = self._batch(values.columns, rows_taken)
        if not values.left.any():
            return Parsed(batch)
        rest = self.parse_without_kernel(*choose_lines(values.left, data, ends, rows))
        return Parsed(_in_row_order(batch, rest.batch), rest.rejects)

    def parse_without_kernel(self, data: bytes, ends: Offsets, rows: Rows) -> Parsed:
        """The same, by the two other paths, for lines that the kernel is not sure of."""
        is_plain = _is_plain(data, ends)
        if not is_plain:
            data, ends, rows = _without_blank_lines(data, ends, rows)
            is_plain = _is_plain(data, ends)
        table = self._read(data, ends) if is_plain else None
        return self._slowly(data, ends, rows) if table is None else self._from_table(table, data, ends, rows)

    def _read(self, data: bytes, ends: Offsets) -> pa.Table | None:
        """The fast path: one row per line, or None."""
        if not len(ends) or not is_utf8(data):
            return None
        try:
            table = pyarrow.json.read_json(
                pa.BufferReader(data),
                read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
                parse_options=pyarrow.json.ParseOptions(
                    explicit_schema=self._schema, unexpected_field_behavior="ignore"
                ),
            )
        except pa.ArrowMemoryError:
            raise
        except (pa.ArrowException, OverflowError):
            return None
        return table if table.num_rows == len(ends) else None

    def _from_table(self, table: pa.Table, data: bytes, ends: Offsets, rows: Rows) -> Parsed:
        good = functools.reduce(pc.or_, (table[column].is_valid() for column in self.text_columns))
        if self._columns.doc_id is not None:
            doc_id = table[self._columns.doc_id].cast(pa.string())
            good = pc.and_(good, pc.fill_null(pc.not_equal(doc_id, ""), False))
        rejects: list[Reject] = []
        if not pc.all(good, min_count=0).as_py():
            mask = good.combine_chunks().to_numpy(zero_copy_only=False)
            for index in np.flatnonzero(~mask).tolist():
                line = data[ends[index - 1] if index else 0 : ends[index]]
                rejects.append(self._reject(int(rows[index]), line, str(self._judge(line))))
            table, rows = table.filter(good), rows[mask]
        return Parsed(self._batch(table, rows), rejects)

    def _batch(self, columns: pa.Table | dict[str, pa.Array], rows: Rows) -> pa.RecordBatch:
        ids = numbered(self._label, rows) if self._columns.doc_id is None else columns[self._columns.doc_id]
        others = {field: to_strings(columns[self._columns.by_field[field]]) for field in self._fields}
        text = joined_texts([one_array(columns[column]).cast(pa.large_string()) for column in self.text_columns])
        return from_columns(rows, to_strings(ids), text, markup=self._markup, others=others, source=self._label)

    def _slowly(self, data: bytes, ends: Offsets, rows: Rows) -> Parsed:
        collector = Collector(self._label)
        starts = [0, *ends.tolist()]
        lines = [data[start:end] for start, end in zip(starts, ends.tolist(), strict=False)]
        found = [self._judge(line) for line in lines]
        if self._columns.features:
            from roughly.sources.feature_lists import feature_texts

            good = [one for one in found if isinstance(one, dict)]
            for one, text in zip(good, feature_texts([one[self._columns.text] for one in good]), strict=True):
                one[self._columns.text] = text.as_py()
        for row, line, judged in zip(rows.tolist(), lines, found, strict=True):
            if isinstance(judged, str):
                collector.rejects.append(self._reject(row, line, judged))
                continue
            others = {field: _as_found(judged.get(self._columns.by_field[field])) for field in self._fields}
            doc_id = judged[self._columns.doc_id] if self._columns.doc_id else f"{self._label}:{row + 1}"
            text = joined([judged.get(column) for column in self.text_columns])
            collector.add(row, str(doc_id), text, markup=self._markup, **others)
        return collector.parsed()

    def _judge(self, line: bytes) -> dict[str, Any] | str:
        """The line's object if it is a document, or else why not."""
        try:
            value: Any = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            value = self._second_opinion(line)
            if value is None:
                return f"broken JSON: {error.msg}" if is_utf8(line) else "invalid UTF-8"
        if not isinstance(value, dict):
            return f"not an object but {_kind(value)}"
        if self._columns.features:
            if any(type(item) is float for item in _items(value.get(self._columns.text))):
                value = json.loads(line)  # orjson makes a float of a whole number beyond 64 bits
            if problem := _problem_with_features(value, self._columns.text):
                return problem
        elif problem := _problem_with_texts(value, self.text_columns):
            return problem
        if self._columns.doc_id is not None:
            if isinstance(value.get(self._columns.doc_id), float):
                value = json.loads(line)  # orjson makes a float of a whole number beyond 64 bits
            if problem := _problem(value, self._columns.doc_id, str, int):
                return problem
            if value[self._columns.doc_id] == "":
                return f"{self._columns.doc_id!r} is empty"
        return dict(value)

    def _second_opinion(self, line: bytes) -> dict[str, Any] | None:
        """pyarrow's result for a line that orjson refuses, for instance because of a NaN in another column."""
        line = line.strip(b" \t\r\n")
        if not line or not is_utf8(line) or not _is_plain(line, np.array([len(line)])):
            return None
        table = self._read(line, np.array([len(line)]))
        return None if table is None else table.to_pylist()[0]

    def _reject(self, row: int, line: bytes, reason: str) -> Reject:
        return Reject(self._name, f"line {row + 1}", reason, excerpt(line))


def choose_lines(chosen: Mask, data: bytes | memoryview, ends: Offsets, rows: Rows) -> tuple[bytes, Offsets, Rows]:
    """The chosen lines."""
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])[chosen].tolist()
    lines = [data[start:end] for start, end in zip(starts, ends[chosen].tolist(), strict=True)]
    return b"".join(lines), np.cumsum([len(line) for line in lines], dtype=np.int64), rows[chosen]


def _in_row_order(batch: pa.RecordBatch, more: pa.RecordBatch) -> pa.RecordBatch:
    if not more.num_rows:
        return batch
    both = pa.Table.from_batches([batch, more]).combine_chunks()
    (batch,) = both.take(pc.array_sort_indices(one_array(both["row"]))).combine_chunks().to_batches()
    return batch


def _is_plain(data: bytes, ends: Offsets) -> bool:
    """Whether every line begins with { and ends with }, and has nothing that pyarrow fails on.

    A value cannot continue over a line end that has } before it and { after it, so if there are also as many
    objects as lines, there is exactly one on each.
    """
    if not len(ends):
        return False
    letters = np.frombuffer(data, np.uint8)
    starts = np.concatenate([[0], ends[:-1]])
    last = ends - 1
    for ending in b"\n\r":
        last = last - (letters[last] == ending)
    if not ((letters[starts] == _OPEN).all() and (letters[last] == _CLOSE).all()):
        return False
    return b"\0" not in data and not _has_stray_null(data, letters)


def _has_stray_null(data: bytes, letters: npt.NDArray[np.uint8]) -> bool:
    """Whether a `null` follows an object; checked at each }, which is faster than a search."""
    closing = np.flatnonzero(letters[:-1] == _CLOSE)
    closing = closing[_BLANK_OR_N[letters[closing + 1]]]
    return any(_STRAY_NULL.match(data, position) for position in closing.tolist())


def _without_blank_lines(data: bytes, ends: Offsets, rows: Rows) -> tuple[bytes, Offsets, Rows]:
    lines = [
        line.strip(b" \t\r\n") + b"\n"
        for line in (data[start:end] for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False))
    ]
    filled: npt.NDArray[np.bool_] = np.array([len(line) > 1 for line in lines], np.bool_)
    kept = [line for line in lines if len(line) > 1]
    return b"".join(kept), np.cumsum([len(line) for line in kept], dtype=np.int64), rows[filled]


def _problem(value: dict[str, Any], column: str, *wanted: type) -> str | None:
    if column not in value:
        return f"no {column!r}"
    found = value[column]
    if not isinstance(found, wanted) or isinstance(found, bool):
        words = "a string" if len(wanted) == 1 else "a string or a whole number"
        return f"{column!r} is null" if found is None else f"{column!r} is {_kind(found)}, not {words}"
    return None


def _problem_with_texts(value: dict[str, Any], columns: Sequence[str]) -> str | None:
    if len(columns) == 1:
        return _problem(value, columns[0], str)
    present = [column for column in columns if value.get(column) is not None]
    problems = [problem for column in present if (problem := _problem(value, column, str))]
    return problems[0] if problems else None if present else null_problem(columns)


def _problem_with_features(value: dict[str, Any], column: str) -> str | None:
    if column not in value:
        return f"no {column!r}"
    found = value[column]
    if not isinstance(found, list):
        return f"{column!r} is {_kind(found)}, not a list of strings or whole numbers"
    bad = [item for item in found if isinstance(item, bool) or not isinstance(item, str | int | float)]
    return f"{column!r} has {_kind(bad[0])} among its features, not a string or a whole number" if bad else None


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def _as_found(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
