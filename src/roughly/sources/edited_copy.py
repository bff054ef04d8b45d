"""Copies of parts with changed texts: records in the part's own format, every other column as it is.

Parquet and tables keep their schema; lines of JSON and CSV are changed only where the text is, and copied byte for byte
where nothing changes; text files are written as UTF-8. Archives and mail hold a text in an encoded form that cannot be
changed in place: their documents are written as JSON lines, and so are text files where a column is added.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError
from roughly.sources.arrowcolumns import filtered, plain_column
from roughly.sources.delimited import Delimited
from roughly.sources.jsonl import JsonLines
from roughly.sources.kept_table import write_kept
from roughly.sources.memory_table import MemoryTable
from roughly.sources.parquet import Parquet
from roughly.sources.part import ALONE, CopyBudget, Mask, Part
from roughly.sources.streams import replacing
from roughly.sources.text_folder import TextFolder

_DECODER = json.JSONDecoder(strict=False)
_WHITE = " \t\r\n"
_FIELDS = ("doc_id", "text", "title", "url", "date", "source")


class TextEdits(Protocol):
    """What is changed in the records of a part."""

    column: pa.Field | None  # of a column that every record gets

    def is_edited(self, row: int) -> bool:
        """Whether the text of a row changes."""
        ...

    def text(self, row: int, text: str) -> str:
        """The new text of a row."""
        ...

    def value(self, row: int) -> Any:
        """The value of the added column."""
        ...


def refuse_joined(parts: Iterable[Part]) -> None:
    """Refuse parts whose text is joined from several columns: it is in none of them, so none can be changed."""
    for part in parts:
        columns = getattr(part, "text_columns", ())
        if len(columns) > 1:
            raise InputError(
                f"{part.name}: the text is joined from the columns {' and '.join(columns)}, so it cannot be changed in "
                "place; name one with --text-column, or add --do report, which changes nothing"
            )


def copy_edited(part: Part, edits: TextEdits, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> None:
    """Write the kept records of a part, with their texts changed, to `folder`."""
    if isinstance(part, Parquet | MemoryTable):
        _copy_columns(part, edits, keep, folder, budget)
    elif isinstance(part, JsonLines):
        part.copy_records(folder, keep, lambda row, line: _edited_line(part.text_columns[0], row, line, edits))
    elif isinstance(part, Delimited):
        _copy_delimited(part, edits, keep, folder)
    elif isinstance(part, TextFolder) and edits.column is None:
        _copy_files(part, edits, keep, folder)
    else:
        _copy_as_lines(part, edits, keep, folder)


def _copy_columns(part: Parquet | MemoryTable, edits: TextEdits, keep: Mask, folder: Path, budget: CopyBudget) -> None:
    name = part.text_columns[0]
    schema = part.schema
    if edits.column is not None:
        schema = schema.append(edits.column)

    def batches() -> Iterator[pa.RecordBatch]:
        first = 0
        for batch in part.all_batches():
            mask = keep[first : first + batch.num_rows]
            rows = first + np.flatnonzero(mask)
            first += batch.num_rows
            batch = filtered(batch, mask)
            if not batch.num_rows:
                continue
            changed = [at for at, row in enumerate(rows.tolist()) if edits.is_edited(row)]
            if changed:
                at = batch.schema.get_field_index(name)
                column = _with_edits(batch.column(at), rows.tolist(), changed, edits)
                batch = batch.set_column(at, name, column)
            if edits.column is not None:
                values = pa.array([edits.value(row) for row in rows.tolist()], edits.column.type)
                batch = pa.RecordBatch.from_arrays([*batch.columns, values], names=schema.names)
            yield batch

    write_kept(batches(), schema, folder / part.kept_name, part.codec, budget)


def _with_edits(column: pa.Array, rows: list[int], changed: list[int], edits: TextEdits) -> pa.Array:
    """The column with some texts replaced; of its own type, where that is not a dictionary or a view."""
    texts = plain_column(column)
    is_changed = np.zeros(len(texts), np.bool_)
    is_changed[changed] = True
    as_text = texts.cast(pa.large_binary()).take(pa.array(changed)).to_pylist()
    new = [edits.text(rows[at], text.decode("utf-8", "replace")) for at, text in zip(changed, as_text, strict=True)]
    return pc.replace_with_mask(texts, pa.array(is_changed), pa.array(new, pa.large_string()).cast(texts.type))


def _edited_line(column: str, row: int, line: bytes, edits: TextEdits) -> bytes:
    """A line of JSON with another text and the added value; a line that is no object is copied as it is."""
    is_edited = edits.is_edited(row)
    if not is_edited and edits.column is None:
        return line
    text = line.decode("utf-8", "surrogateescape")
    try:
        start, end, value, last = _value_range(text, column)
    except (ValueError, RecursionError):
        return line
    if edits.column is not None:
        added = f", {json.dumps(edits.column.name)}: {json.dumps(edits.value(row), ensure_ascii=False)}"
        text = text[:last].rstrip(_WHITE) + added + text[last:]
    if is_edited and start >= 0:
        changed = json.dumps(edits.text(row, value), ensure_ascii=line.isascii())
        text = text[:start] + changed + text[end:]
    return text.encode("utf-8", "surrogateescape")


def _value_range(line: str, key: str) -> tuple[int, int, Any, int]:
    """Where a key's value starts and ends (the last one, if there are several), the value, and the object's brace."""
    start, end, found = -1, -1, None
    at = _skip(line, 0)
    if line[at : at + 1] != "{":
        raise ValueError("no object")
    at = _skip(line, at + 1)
    while line[at : at + 1] == '"':
        name, at = _DECODER.raw_decode(line, at)
        at = _skip(line, _skip(line, at) + 1)
        value, after = _DECODER.raw_decode(line, at)
        if name == key:
            start, end, found = at, after, value
        at = _skip(line, after)
        if line[at : at + 1] == ",":
            at = _skip(line, at + 1)
    return start, end, found, at


def _skip(line: str, at: int) -> int:
    while line[at : at + 1] and line[at] in _WHITE:
        at += 1
    return at


def _copy_delimited(part: Delimited, edits: TextEdits, keep: Mask, folder: Path) -> None:
    number = part.text_number

    def edited(row: int, record: bytes) -> bytes:
        if not record.strip():
            return record
        if edits.is_edited(row):
            fields = next(
                csv.reader(io.StringIO(record.decode("utf-8", "replace"), newline=""), delimiter=part.delimiter)
            )
            fields[number] = edits.text(row, fields[number])
            record = _written(fields, part.delimiter, _line_end(record))
        if edits.column is not None:
            record = _appended(record, json.dumps(edits.value(row), ensure_ascii=False), part.delimiter)
        return record

    def header(line: bytes) -> bytes:
        return line if edits.column is None else _appended(line, edits.column.name, part.delimiter)

    usual = csv.field_size_limit(1 << 31)
    try:
        part.copy_records(folder, keep, edited, header)
    finally:
        csv.field_size_limit(usual)


def _line_end(record: bytes) -> str:
    return "\r\n" if record.endswith(b"\r\n") else "\n" if record.endswith(b"\n") else ""


def _written(fields: list[str], delimiter: str, end: str) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerow(fields)
    return out.getvalue().encode()


def _appended(record: bytes, value: str, delimiter: str) -> bytes:
    end = _line_end(record)
    bare = record[: len(record) - len(end)]
    return bare + delimiter.encode() + _written([value], delimiter, "").rstrip(b"\r\n") + (end or "\n").encode()


def _copy_files(part: TextFolder, edits: TextEdits, keep: Mask, folder: Path) -> None:
    """Files whose text changes are written as UTF-8; the others are copied."""
    changed = np.array([edits.is_edited(row) for row in range(len(keep))], np.bool_)
    part.copy(keep & ~changed, folder)
    rows = np.flatnonzero(keep & changed)
    for chunk in part.chunks(rows):
        batch = part.parse(chunk).batch
        for row, text in zip(batch.column("row").to_pylist(), batch.column("text").to_pylist(), strict=True):
            with replacing(part.kept_path(row, folder)) as out:
                out.write(edits.text(row, text).encode())


def _copy_as_lines(part: Part, edits: TextEdits, keep: Mask, folder: Path) -> None:
    with replacing(folder / f"{part.kept_name}.jsonl") as out:
        for chunk in part.chunks():
            for record in part.parse(chunk).batch.to_pylist():
                row = record["row"]
                if row >= len(keep) or not keep[row]:
                    continue
                if edits.is_edited(row):
                    record["text"] = edits.text(row, record["text"])
                values = {name: record[name] for name in _FIELDS if record[name] is not None}
                if edits.column is not None:
                    values[edits.column.name] = edits.value(row)
                out.write(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
