"""The caller's own features of any object, as tokens (`sources.feature_lists` hashes them)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from roughly.errors import InputError, InputMissing, list_names
from roughly.sources.feature_lists import feature_hashes
from roughly.text.canonical import Tokens


def hash_features(features: Any) -> Tokens:
    """Hashes of the features of each object, in order: an Arrow list column, or an iterable of iterables."""
    return Tokens(*feature_hashes(features))


def is_parquet(path: Path) -> bool:
    """Whether features are read from this file as Parquet, and not as JSON lines."""
    return ".jsonl" not in path.suffixes


def read_features(path: Path, id_column: str = "id", features_column: str = "features") -> tuple[pa.Array, pa.Array]:
    """Ids, as strings, and lists of features of a Parquet file or of JSON lines (`.jsonl`, `.jsonl.gz`)."""
    lines = not is_parquet(path)
    try:
        table = pa_json.read_json(path) if lines else pq.read_table(path)
    except FileNotFoundError:
        raise InputMissing(f"no such file: {path}") from None
    except (OSError, pa.ArrowInvalid) as problem:
        raise InputError(f"{path} cannot be read as {'JSON lines' if lines else 'Parquet'}: {problem}") from problem
    missing = [name for name in (id_column, features_column) if name not in table.column_names]
    if missing:
        raise InputError(f"{path} has no column {missing[0]!r}; it has {list_names(table.column_names)}")
    ids, lists = (_one(table[name]) for name in (id_column, features_column))
    return ids.cast(pa.string()), lists


def joined_lists(columns: list[pa.Array]) -> pa.Array:
    """Lists of several files as one column; they must hold values of one type."""
    try:
        return pa.concat_arrays(columns)
    except pa.ArrowInvalid as problem:
        raise InputError(f"the files have features of different types: {problem}") from None


def _one(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
