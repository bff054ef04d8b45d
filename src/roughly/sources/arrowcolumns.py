"""Documents from Arrow batches of any schema, from Parquet files and tables in memory.

A text may be stored as string, large string, string view, binary or a dictionary of these; an id also as a
whole number; a title, url, date or source as anything that has a plain written form. All are converted to the types of
`model.DOCUMENTS`. Rows without a text or an id, or whose bytes are not UTF-8, are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from roughly.errors import InputError
from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.collector import excerpt, from_columns, joined_texts
from roughly.sources.columns import choose_columns, null_problem
from roughly.sources.feature_lists import WORD, feature_texts, is_list
from roughly.sources.part import Parsed, Rows

_LETTERS = (
    pt.is_string,
    pt.is_large_string,
    pt.is_string_view,
    pt.is_binary,
    pt.is_large_binary,
    pt.is_binary_view,
    pt.is_null,
)
Numbering = Callable[[Rows], pa.Array]


class ColumnReader:
    """Picks the columns of a document out of batches of one schema."""

    def __init__(self, name: str, source: str, schema: pa.Schema, options: ReadOptions, numbering: Numbering) -> None:
        self._name = name
        self._source = source
        self._numbering = numbering
        kinds = {field.name: field.type for field in schema}
        chosen = choose_columns(name, schema.names, options, usable=lambda field, column: _fits(field, kinds[column]))
        self._by_field, self._markup, self._features = chosen.by_field, chosen.markup, chosen.features
        self.text_columns = chosen.texts
        self.wanted = list(dict.fromkeys([*self._by_field.values(), *chosen.others]))
        for column in self.wanted:
            if schema.names.count(column) > 1:
                raise InputError(
                    f"{name}: has {schema.names.count(column)} columns named {column!r}; rename all but one"
                )
        self.notes = list(chosen.notes)
        for field, column in [*self._by_field.items(), *(("text", column) for column in chosen.others)]:
            listed = self._features and field == "text"
            if not (_lists_features if listed else partial(_fits, field))(schema.field(column).type):
                raise _wrong_type(name, "features" if listed else field, column, schema)
        self.id_column = chosen.doc_id
        is_text = "title" in self._by_field and _fits("text", schema.field(self._by_field["title"]).type)
        self.titled = chosen.titled if is_text else None
        self.of_records = False
        """Whether the batches are of strings or mappings from Python."""

    def parse(self, batch: pa.RecordBatch, rows: Rows) -> Parsed:
        """Documents of a batch whose columns include all of `wanted`."""
        columns = {field: batch.column(column) for field, column in self._by_field.items() if field != "text"}
        problems: dict[int, str] = {}
        if self._features:
            text = self._words(batch.column(self.text_columns[0]), problems)
        else:
            text = self._required(batch, self.text_columns, pa.large_string(), problems)
        if "doc_id" in columns:
            doc_id = self._required(batch, [self._by_field["doc_id"]], pa.string(), problems)
            del columns["doc_id"]
            empty = np.flatnonzero(pc.equal(doc_id, "").fill_null(False).to_numpy(zero_copy_only=False))
            for index in empty.tolist():
                problems.setdefault(index, f"{self._by_field['doc_id']!r} is empty")
        else:
            doc_id = self._numbering(rows)
        others = {field: _written(column) for field, column in columns.items()}
        rejects = [
            Reject(self._name, f"row {rows[index] + 1}", reason, _shown(text[index], doc_id[index]))
            for index, reason in sorted(problems.items())
        ]
        if problems:
            good = np.delete(np.arange(len(rows)), sorted(problems))
            rows, text, doc_id = rows[good], text.take(pa.array(good)), doc_id.take(pa.array(good))
            others = {field: column.take(pa.array(good)) for field, column in others.items()}
        made = from_columns(rows, doc_id, text, markup=self._markup, others=others, source=self._source)
        return Parsed(made, rejects)

    def pieces(self, batch: pa.RecordBatch, most_bytes: int) -> Iterator[tuple[int, int]]:
        """Ranges of rows (first, count) whose texts are about `most_bytes` together."""
        columns = [batch.column(column) for column in self.text_columns]
        if self._features:
            counts = [pc.multiply(pc.list_value_length(columns[0]).cast(pa.int64()), WORD)]
        else:
            counts = [pc.binary_length(plain_column(column)) for column in columns]
        lengths = sum(count.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) for count in counts)
        total = np.cumsum(lengths)
        first = 0
        while first < len(total):
            before = int(total[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(total, before + most_bytes, side="right")))
            yield first, last - first
            first = last

    def _words(self, column: pa.Array, problems: dict[int, str]) -> pa.Array:
        """Texts of the lists of features; a list that is null, or has a null, becomes a problem."""
        if not column.null_count and not column.flatten().null_count:
            return feature_texts(column)
        rows = column.to_pylist()
        for index, row in enumerate(rows):
            if row is None or None in row:
                what = "is null" if row is None else "has a null among its features"
                problems[index], rows[index] = f"{self.text_columns[0]!r} {what}", []
        return feature_texts(rows)

    def _required(
        self, batch: pa.RecordBatch, names: Sequence[str], wanted: pa.DataType, problems: dict[int, str]
    ) -> pa.Array:
        """Columns as strings, joined if there are several; null or undecodable values become `problems`."""
        found = [self._decoded(batch.column(name), name, problems).cast(wanted) for name in names]
        joined = joined_texts(found)
        if joined.null_count:
            for index in np.flatnonzero(joined.is_null().to_numpy(zero_copy_only=False)).tolist():
                problems.setdefault(index, null_problem(names, self.of_records))
        return joined

    def _decoded(self, column: pa.Array, name: str, problems: dict[int, str]) -> pa.Array:
        found = plain_column(column)
        invalid = _invalid_utf8(found)
        for index in invalid:
            problems.setdefault(index, f"{name!r} is invalid UTF-8")
        return _repaired(found) if invalid else found


def _fits(field: str, kind: pa.DataType) -> bool:
    kind = _stored(kind)
    letters = any(is_kind(kind) for is_kind in _LETTERS)
    if field == "text":
        return letters
    if field == "doc_id":
        return letters or bool(pt.is_integer(kind))
    return letters or bool(pt.is_primitive(kind) or pt.is_decimal(kind))


def _lists_features(kind: pa.DataType) -> bool:
    """Whether the lists of a column have values that `feature_lists` hashes."""
    if not is_list(kind):
        return False
    held = _stored(kind.value_type)
    return bool(pt.is_integer(held) or pt.is_floating(held)) or any(is_kind(held) for is_kind in _LETTERS)


def _stored(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _stored(kind.storage_type)
    return _stored(kind.value_type) if pt.is_dictionary(kind) else kind


def plain_column(column: pa.Array) -> pa.Array:
    """Without extension types, dictionaries and views; null columns become strings."""
    if isinstance(column, pa.ExtensionArray):
        return plain_column(column.storage)
    kind = column.type
    if pt.is_dictionary(kind):
        return plain_column(column.dictionary_decode())
    if pt.is_string_view(kind):
        return column.cast(pa.large_string())
    if pt.is_binary_view(kind):
        return column.cast(pa.large_binary())
    return column.cast(pa.string()) if pt.is_null(kind) else column


def _invalid_utf8(column: pa.Array) -> list[int]:
    """Rows that are not UTF-8. Parquet does not check that a string is UTF-8."""
    if not any(is_kind(column.type) for is_kind in _LETTERS):
        return []
    try:
        _as_large_string(column).validate(full=True)
    except pa.ArrowInvalid:
        values = column.cast(pa.large_binary()).to_pylist()
        return [index for index, value in enumerate(values) if value is not None and not _decodes(value)]
    return []


def _as_large_string(column: pa.Array) -> pa.Array:
    if pt.is_binary(column.type):
        return column.view(pa.string())
    return column.view(pa.large_string()) if pt.is_large_binary(column.type) else column


def _decodes(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _repaired(column: pa.Array) -> pa.Array:
    values = column.cast(pa.large_binary()).to_pylist()
    return pa.array(
        [value if value is None else value.decode("utf-8", "replace") for value in values], pa.large_string()
    )


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of ids as strings, as `ColumnReader` gives them."""
    return pa.chunked_array([plain_column(chunk).cast(pa.string()) for chunk in column.chunks], pa.string())


def _written(column: pa.Array) -> pa.Array:
    """As strings; undecodable bytes become U+FFFD, since these columns are no reason to reject a document."""
    found = plain_column(column)
    return (_repaired(found) if _invalid_utf8(found) else found).cast(pa.string())


def _shown(text: pa.Scalar, doc_id: pa.Scalar) -> str:
    return excerpt(text.as_py() or doc_id.as_py() or "")


def _wrong_type(name: str, field: str, column: str, schema: pa.Schema) -> InputError:
    option = {"doc_id": "id-column", "features": field}.get(field, f"{field}-column")
    wanted = {
        "text": "strings", "doc_id": "strings or whole numbers", "features": "lists of strings or whole numbers"
    }.get(field, "plain values")  # fmt: skip
    described = ", ".join(f"{found.name} ({found.type})" for found in schema)
    return InputError(
        f"{name}: column {column!r} holds {schema.field(column).type}, not {wanted}; "
        f"its columns are {described}. Choose another: --{option} NAME"
    )


def pick(batch: pa.RecordBatch, indices: Rows) -> pa.RecordBatch:
    """The rows of a batch at these indices."""
    return without_views(batch).take(pa.array(indices))


def filtered(batch: pa.RecordBatch, keep: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """The kept rows of a batch; rows beyond the mask are removed."""
    mask = np.zeros(batch.num_rows, np.bool_)
    mask[: len(keep)] = keep[: batch.num_rows]
    return without_views(batch).filter(pa.array(mask))


def without_views(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Views as plain strings: pyarrow can neither take nor filter views."""
    columns = [
        plain_column(column) if pt.is_string_view(column.type) or pt.is_binary_view(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
