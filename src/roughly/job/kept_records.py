"""What is kept of one part, record by record with all its columns, to be written in another format.

JSON lines, Parquet and CSV are read from `kept/`, where they have all their columns. The other formats (text files,
mail, web archives, SGML) have no columns: their documents are read again from the input, with the columns of a document
(`COLUMNS`); the text is as it was read, markup included.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.types as pt

from roughly.errors import InputError
from roughly.sources.parquet_open import parquet_schema
from roughly.sources.part import Part, Rows
from roughly.sources.spool import batches_of
from roughly.sources.streams import Reader
from roughly.threads import read_ahead

Record = dict[str, Any]
COLUMNS = ("doc_id", "text", "title", "url", "date", "source")
"""Columns of documents whose format has none."""
_BLOCK = 4 << 20
_LONGEST_VALUE = (1 << 31) - 1


def records_of(
    part: Part, kept: Path, documents: Callable[[], tuple[Rows, pa.Array]], threads: int
) -> Iterator[Record]:
    """The kept records of a part, in its order. `documents` gives rows and ids of its kept documents."""
    path = kept / part.kept_name
    if part.format == "jsonl":
        yield from (_object(line) for line in lines_of(path) if line.strip())
    elif part.format in ("parquet", "table"):
        for batch in read_ahead(batches_of(path), threads):
            yield from plain_times(batch).to_pylist()
    elif part.format == "csv":
        yield from _csv_records(path, getattr(part, "delimiter", ","))
    else:
        yield from _documents(part, *documents())


def columns_of(part: Part, kept: Path) -> list[str]:
    """The names of all columns of a part, in order."""
    path = kept / part.kept_name
    if part.format in ("parquet", "table"):
        return list(parquet_schema(path).names)
    if part.format == "csv":
        return _header(path, getattr(part, "delimiter", ","))
    if part.format == "jsonl":
        return list(dict.fromkeys(name for line in lines_of(path) if line.strip() for name in _object(line)))
    return list(COLUMNS)


def texts_of_rows(part: Part, rows: Rows) -> Iterator[pa.RecordBatch]:
    """The documents of these rows (ascending), batch by batch."""
    for chunk in part.chunks(rows) if len(rows) else ():
        batch = part.parse(chunk).batch
        found = batch.column("row").to_numpy()
        at = np.minimum(np.searchsorted(rows, found), len(rows) - 1)
        yield batch.filter(pa.array(rows[at] == found))


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, compressed or not, each with its end; the last one gets one too."""
    for block in blocks_of(path):
        yield from block.splitlines(keepends=True) if b"\r" not in block else _split(block)


def blocks_of(path: Path) -> Iterator[bytes]:
    """Whole lines of a file, about 4 MB at a time, without a byte order mark; the last line gets an end."""
    with Reader(path.open("rb"), str(path)) as reader:
        rest, first = b"", True
        while block := reader.read_block(_BLOCK):
            if first:
                block, first = block.removeprefix(b"\xef\xbb\xbf"), False
            cut = block.rfind(b"\n") + 1
            if cut:
                yield rest + block[:cut]
                rest = block[cut:]
            else:
                rest += block
        if rest:
            yield rest + b"\n"


def plain_times(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with times of nanoseconds in microseconds, which Python can represent."""
    fields = [field.with_type(_plain_time(field.type)) for field in batch.schema]
    columns = [
        column if column.type == field.type else column.cast(field.type, safe=False)
        for column, field in zip(batch.columns, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _plain_time(kind: pa.DataType) -> pa.DataType:
    if pt.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pt.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if pt.is_duration(kind) and kind.unit == "ns":
        return pa.duration("us")
    if pt.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain_time(kind.value_type)))
    if pt.is_struct(kind):
        return pa.struct([field.with_type(_plain_time(field.type)) for field in kind])
    return kind


def _split(block: bytes) -> Iterator[bytes]:
    """Lines that end with a line feed: `splitlines` would also cut at a bare carriage return."""
    return (line + b"\n" for line in block.split(b"\n")[:-1])


def _object(line: bytes) -> Record:
    """The object of a line; by `json` where orjson refuses it (NaN) or would round a whole number."""
    try:
        found = orjson.loads(line)
        if float not in map(type, found.values()):
            return dict(found)
    except orjson.JSONDecodeError:
        pass
    return dict(json.loads(line))


def _csv_records(path: Path, delimiter: str) -> Iterator[Record]:
    rows = _csv_rows(path, delimiter)
    header = next(rows, [])
    for row in rows:
        if row:
            yield dict(zip(header, row, strict=False))


def _header(path: Path, delimiter: str) -> list[str]:
    return next(_csv_rows(path, delimiter), [])


def _csv_rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    lines = (line.decode("utf-8", "replace") for line in lines_of(path))
    usual = csv.field_size_limit(_LONGEST_VALUE)
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as problem:
        raise InputError(
            f"{path.name}: cannot be read as CSV: {problem}; write the run to a folder: --report"
        ) from None
    finally:
        csv.field_size_limit(usual)


def _documents(part: Part, rows: Rows, ids: pa.Array) -> Iterator[Record]:
    """Documents with the columns of `COLUMNS`; the ids are those of the run, which may have numbered them."""
    at = 0
    for batch in texts_of_rows(part, rows):
        for record in batch.select(list(COLUMNS[1:])).to_pylist():
            yield {"doc_id": ids[at].as_py(), **record}
            at += 1


def as_csv_value(value: Any) -> str:
    """A value as a cell of CSV: nested values as JSON, null as nothing."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return as_json(value).decode().strip('"') if not isinstance(value, dict | list) else as_json(value).decode()


def as_json(value: Any) -> bytes:
    """A value as JSON; times in ISO 8601, bytes as UTF-8 or, if they are not, in base64."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:  # a whole number beyond 64 bits, or half a surrogate pair
        return json.dumps(value, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            import base64

            return base64.b64encode(data).decode("ascii")
    return str(value)


def as_line(text: str) -> str:
    """A text on one line: line breaks become spaces."""
    return " ".join(io.StringIO(text, newline=None).read().splitlines())
