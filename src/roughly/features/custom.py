"""The caller's own features of any object, as tokens (`sources.feature_lists` hashes them)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json

from roughly.amounts import counted
from roughly.errors import InputError, InputMissing, list_names
from roughly.sources.feature_lists import feature_hashes
from roughly.sources.json_bytes import JsonBytes
from roughly.sources.parquet_open import open_parquet, parquet_table
from roughly.text.canonical import Tokens

AT_ONCE = 8192
"""Objects that are hashed together."""
_SMALL, _BLOCK = 16 << 20, 16 << 20
"""A file of JSON lines that is read at once, which finds a type that fits all of its lines; and a piece of others."""


def hashed_batches(features: Any) -> Iterator[Tokens]:
    """Hashes of the features of each object, in order: an Arrow list column, or an iterable of iterables."""
    if isinstance(features, pa.ChunkedArray):
        for chunk in features.chunks:
            yield from hashed_batches(chunk)
    elif isinstance(features, pa.Array):
        yield from (Tokens(*feature_hashes(features.slice(at, AT_ONCE))) for at in range(0, len(features), AT_ONCE))
    else:
        given, first = iter(features), 0
        while some := list(islice(given, AT_ONCE)):
            yield Tokens(*feature_hashes(some, first))
            first += len(some)


def read_features(
    path: Path, id_column: str = "id", features_column: str = "features"
) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Ids, as strings, and lists of features of a Parquet file or of JSON lines (`.jsonl`, `.jsonl.gz`), in batches."""
    lines = ".jsonl" in path.suffixes
    try:
        for batch in _lines(path) if lines else _rows(path):
            batch.validate(full=True)
            names = batch.schema.names
            missing = [name for name in (id_column, features_column) if name not in names]
            if missing:
                raise InputError(f"{path} has no column {missing[0]!r}; it has {list_names(names)}")
            ids = batch.column(id_column).cast(pa.string())
            if ids.null_count:
                raise InputError(f"{path}: {counted(ids.null_count, 'object')} without an id; give each one")
            yield ids, batch.column(features_column)
    except FileNotFoundError:
        raise InputMissing(f"no such file: {path}") from None
    except (OSError, UnicodeDecodeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
        why = " ".join(str(problem).split())
        raise InputError(f"{path} cannot be read as {'JSON lines' if lines else 'Parquet'}: {why}") from problem


def _lines(path: Path) -> Iterator[pa.RecordBatch]:
    with JsonBytes(path) as file:
        start = file.read(_SMALL)
        if len(start) < _SMALL:
            yield from _batches(pa_json.read_json(pa.BufferReader(start), pa_json.ReadOptions(block_size=_SMALL)))
            return
    with JsonBytes(path) as file:
        options = pa_json.ReadOptions(block_size=_BLOCK)
        with pa_json.open_json(pa.PythonFile(file, "r"), read_options=options) as reader:
            yield from reader


def _rows(path: Path) -> Iterator[pa.RecordBatch]:
    if path.is_dir():
        yield from _batches(parquet_table(path))
        return
    with open_parquet(path, pre_buffer=False) as file:
        if not file.metadata.num_rows:
            yield from _batches(file.schema_arrow.empty_table())
        yield from file.iter_batches(AT_ONCE)


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    """The batches of a table; one without rows has one, so that its columns are known."""
    empty = pa.RecordBatch.from_pylist([], table.schema)
    return table.to_batches() or [empty]
