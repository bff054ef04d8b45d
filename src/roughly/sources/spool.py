"""Input that can be read only once, stored on disk so that it can be read again.

Standard input is stored byte for byte. Iterables of strings or mappings become a Parquet file, a bounded
number of rows at a time. Mappings need not agree: a column may be missing in some, and where the types of a
column differ, it is stored as strings. The text itself must be a string; anything else becomes null, which
is then rejected like any other null. Of a text of several columns all become null then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.errors import DiskFull, InputError
from roughly.sources.columns import GUESSES, text_names
from roughly.sources.encoding import clean
from roughly.sources.streams import compression_of, replacing

_ROWS = 10_000
_BYTES = 4 << 20  # of a batch, as stored
_LETTERS = 16 << 20  # characters of text at a time
_JSON = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
_UNLIKE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError)


def spool_stream(stream: BinaryIO, folder: Path, name: str, most: int | None = None) -> Path:
    """Store a stream of at most this many bytes as `folder / name`, with the suffix of its compression; returns the
    path."""
    head = stream.read(4)
    suffix = {"gzip": ".gz", "zstd": ".zst", None: ""}[compression_of(head)]
    path = folder / f"{name}{suffix}"
    with replacing(path) as out:
        out.write(head)
        while block := stream.read(1 << 20):
            _check(out.tell() + len(block), most)
            out.write(block)
    return path


def _check(size: int, most: int | None) -> None:
    if most is not None and size > most:
        raise DiskFull(
            f"input that can be read only once is stored on disk, and there is room for {most >> 20:,} MB of it; "
            "give files instead, free some space, or raise --temp-limit"
        )


def spooled(folder: Path, name: str) -> Path | None:
    """The complete file that `spool_stream` stored under this name, if any."""
    return next((path for end in ("", ".gz", ".zst") if (path := folder / f"{name}{end}").exists()), None)


def spool_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path, most: int | None = None) -> None:
    """Store record batches as a Parquet file."""
    with replacing(path) as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in batches:
            if batch.num_rows:
                writer.write_batch(batch)
                _check(out.tell(), most)


def table_of_records(records: Sequence[object], text_column: str | None) -> pa.Table | None:
    """Strings or mappings as a table; None where they are too many to be in memory twice."""
    if not records or len(records) > _ROWS:
        return None
    tables = _tables(records, text_column)
    first = next(tables)
    return first if next(tables, None) is None else None


def spool_records(
    records: Iterable[object], text_column: str | None, path: Path, most: int | None = None, codec: str = "zstd"
) -> None:
    """Store strings or mappings as a Parquet file."""
    pieces: list[Path] = []
    stored = 0
    tables = _tables(records, text_column)
    empty = pa.table({text_column or "text": pa.array([], pa.string())})
    table: pa.Table | None = next(tables, empty)
    while table is not None:
        schema = table.schema
        piece = path.with_name(f"{path.stem}-{len(pieces)}.parquet")
        pieces.append(piece)
        with replacing(piece) as out, pq.ParquetWriter(out, schema, compression=codec) as writer:
            while table is not None and table.schema == schema:
                writer.write_table(table)
                _check(stored + out.tell(), most)
                table = next(tables, None)
        stored += piece.stat().st_size
    if len(pieces) == 1:
        pieces[0].replace(path)
        return
    join_pieces(pieces, path)
    for piece in pieces:
        piece.unlink()


def join_pieces(pieces: Sequence[Path], path: Path) -> None:
    """Make one Parquet file of several, whose schemas may differ."""
    from roughly.sources.kept_table import write_kept
    from roughly.sources.parquet_open import parquet_schema

    schema = _common_schema([parquet_schema(piece) for piece in pieces])
    batches = (_as_schema(batch, schema) for piece in pieces for batch in batches_of(piece))
    write_kept(batches, schema, path)


def batches_of(path: Path) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file with all columns, a few megabytes at a time."""
    from roughly.sources.parquet_open import open_parquet

    with open_parquet(path, buffer_size=1 << 20, pre_buffer=False) as file:
        for index in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(index)
            size = max(1, min(_ROWS, _BYTES * group.num_rows // max(1, group.total_byte_size)))
            yield from file.iter_batches(size, row_groups=[index], use_threads=False)


def _tables(records: Iterable[object], text_column: str | None) -> Iterator[pa.Table]:
    """The records in tables of bounded size."""
    rows: list[Mapping[str, Any]] = []
    letters = 0
    for number, record in enumerate(records):
        row = _as_mapping(record, number, text_column or "text")
        rows.append(row)
        for value in row.values():
            if isinstance(value, str):
                letters += len(value)
        if len(rows) >= _ROWS or letters >= _LETTERS:
            yield _table(rows, text_column)
            rows, letters = [], 0
    if rows:
        yield _table(rows, text_column)


def _as_mapping(record: object, number: int, text_column: str) -> Mapping[str, Any]:
    if record is None or isinstance(record, str):
        return {text_column: record}
    if isinstance(record, Mapping):
        return record
    raise InputError(
        f"item {number} of the documents is of type {type(record).__name__}; "
        f"give strings, or mappings such as {{'doc_id': '1', 'text': '…'}}"
    )


def _table(rows: list[Mapping[str, Any]], text_column: str | None) -> pa.Table:
    names = list(map(str, dict.fromkeys(chain.from_iterable(rows))))
    texts = text_names(text_column, names) if text_column else [n for n in names if n.lower() in GUESSES["text"]]
    if text_column and len(texts) > 1:
        rows = [_without_texts(row, texts) for row in rows]
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        if name in texts and any(isinstance(value, str) for value in values):
            values = [value if isinstance(value, str) else None for value in values]
        columns[name] = _column(values)
    return pa.table(columns)


def _without_texts(row: Mapping[str, Any], texts: Sequence[str]) -> Mapping[str, Any]:
    """The row, without any text if one of them is no string."""
    is_bad = any(not isinstance(row.get(name), str | None) for name in texts)
    return {**row, **dict.fromkeys(texts)} if is_bad else row


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except _UNLIKE:
        return pa.array([_as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str | None:
    if value is None:
        return None
    return clean(value) if isinstance(value, str) else orjson.dumps(value, default=str, option=_JSON).decode()


def _common_schema(schemas: list[pa.Schema]) -> pa.Schema:
    if all(schema.equals(schemas[0]) for schema in schemas):
        return schemas[0]
    fields: dict[str, pa.DataType] = {}
    for schema in schemas:
        for field in schema:
            known = fields.setdefault(field.name, field.type)
            if known != field.type:
                fields[field.name] = _common_type(known, field.type)
    return pa.schema(fields)


def _common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    try:
        unified = pa.unify_schemas([pa.schema({"x": one}), pa.schema({"x": other})], promote_options="permissive")
    except pa.ArrowTypeError:
        return pa.string()
    return unified.field("x").type


def _as_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = []
    for field in schema:
        if field.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        column = batch.column(field.name)
        try:
            columns.append(column.cast(field.type))
        except _UNLIKE:
            columns.append(pa.array([_as_text(value) for value in column.to_pylist()], pa.string()))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
