"""The caller's own features of any object: numbers, strings, bytes or tuples of them, as 64-bit hashes.

"Our general technique only depends on the ability to extract a set of features from objects" (Broder 1997, §6). Once
hashed, features are treated as tokens: single ones form a set, runs of w of them shingles.

A feature is hashed as a text of its type and value, so 1, "1" and b"1" are three features, and the hash is the
same on every machine, in Python and from Arrow.

| feature | hashed as |
|---|---|
| whole number | `i` and its decimal digits |
| float | `f` and the shortest decimal that reads back as the same |
| string | `s` and its UTF-8 |
| bytes | `b` and the bytes |
| tuple | `t`, and for each item its length in bytes, `:` and its text |
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from roughly.errors import InputError, InputMissing
from roughly.text.canonical import Tokens, buffers


def hash_features(features: Any) -> Tokens:
    """Hashes of the features of each object, in order: an Arrow list column, or an iterable of iterables."""
    if isinstance(features, pa.ChunkedArray):
        features = features.combine_chunks()
        features = pa.concat_arrays(features.chunks) if isinstance(features, pa.ChunkedArray) else features
    if isinstance(features, pa.Array):
        return _from_arrow(features)
    rows = [_row(at, row) for at, row in enumerate(features)]
    offsets = np.r_[0, np.cumsum([len(row) for row in rows])].astype(np.int64)
    return Tokens(_hash(list(chain.from_iterable(rows))), offsets)


def read_features(path: Path, id_column: str = "id", features_column: str = "features") -> tuple[pa.Array, pa.Array]:
    """Ids, as strings, and lists of features of a Parquet file or of JSON lines (`.jsonl`, `.jsonl.gz`)."""
    lines = ".jsonl" in path.suffixes
    try:
        table = pa_json.read_json(path) if lines else pq.read_table(path)
    except FileNotFoundError:
        raise InputMissing(f"no such file: {path}") from None
    except (OSError, pa.ArrowInvalid) as problem:
        raise InputError(f"{path} cannot be read as {'JSON lines' if lines else 'Parquet'}: {problem}") from problem
    missing = [name for name in (id_column, features_column) if name not in table.column_names]
    if missing:
        raise InputError(f"{path} has no column {missing[0]!r}; it has {', '.join(table.column_names)}")
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


def _from_arrow(column: pa.Array) -> Tokens:
    if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
        raise InputError(f"features must be a list column, not {column.type}: one list of values per object")
    if column.null_count:
        raise InputError(f"{column.null_count} objects have no list of features: leave them out, or give empty lists")
    offsets = column.offsets.to_numpy().astype(np.int64)
    values = column.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    if values.null_count:
        raise InputError(f"{values.null_count} features are null: leave them out")
    kind = values.type
    if pa.types.is_integer(kind):
        sign = "i"
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        sign = "s"
    else:  # floats, bytes, lists: as Python sees them
        rows = [_row(at, row) for at, row in enumerate(column.to_pylist())]
        return Tokens(_hash(list(chain.from_iterable(rows))), offsets - offsets[0])
    texts = pc.binary_join_element_wise(
        pa.scalar(sign, pa.large_string()), values.cast(pa.large_string()), pa.scalar("", pa.large_string())
    )
    return Tokens(_hash_column(texts), offsets - offsets[0])


def _row(at: int, row: Iterable[Any]) -> list[bytes]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise InputError(
            f"the features of object {at} are {type(row).__name__}, not a list of features: put them in one"
        )
    return [_text(feature) for feature in row]


def _text(feature: Any) -> bytes:
    if isinstance(feature, int | np.integer):
        return b"i%d" % int(feature)
    if isinstance(feature, str):
        return b"s" + feature.encode()
    if isinstance(feature, bytes):
        return b"b" + feature
    if isinstance(feature, float | np.floating):
        return b"f" + repr(float(feature)).encode()
    if isinstance(feature, tuple | list):
        items = [_text(item) for item in feature]
        return b"t" + b"".join(b"%d:%b" % (len(item), item) for item in items)
    raise InputError(f"a feature is a number, a string, bytes or a tuple of these, not {type(feature).__name__}")


def _hash(texts: list[bytes]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    from roughly.kernels.hashing import hash_bytes

    offsets = np.r_[0, np.cumsum([len(text) for text in texts])].astype(np.int64)
    prints = hash_bytes(np.frombuffer(b"".join(texts), np.uint8), offsets)
    return np.ascontiguousarray(prints[:, 0])


def _hash_column(texts: pa.Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    from roughly.kernels.hashing import hash_bytes

    return np.ascontiguousarray(hash_bytes(*buffers(texts))[:, 0])
