"""Features of any object: lists of numbers, strings, bytes or tuples of them, as 64-bit hashes, or as words.

"Our general technique only depends on the ability to extract a set of features from objects" (Broder 1997, §6). Once
hashed, features are treated as tokens: single ones form a set, runs of w of them shingles. Readers make a text of an
object: each feature is a word, the sixteen hex digits of its hash; so whatever compares texts compares objects.

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

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError
from roughly.sources.json_bytes import DEEPEST

Hashes = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
WORD = 17
"""Bytes of a word, with the blank after it."""
_WORDS = re.compile(r"(?:[0-9a-f]{16} )*")


def feature_hashes(features: Any, first: int = 0) -> tuple[Hashes, Offsets]:
    """Hashes of the features of each object, in order, and where those of each begin and end.

    `features` is an Arrow list column, or an iterable of iterables; errors number its objects from `first`.
    """
    if isinstance(features, pa.ChunkedArray):
        features = features.combine_chunks()
        features = pa.concat_arrays(features.chunks) if isinstance(features, pa.ChunkedArray) else features
    if isinstance(features, pa.Array):
        return _from_arrow(features)
    return _hashed([_row(at, row) for at, row in enumerate(features, first)])


def feature_texts(features: Any) -> pa.Array:
    """The same as texts, with a word per feature."""
    hashes, offsets = feature_hashes(features)
    letters = np.full((len(hashes), WORD), ord(" "), np.uint8)
    digits = hashes.astype(">u8").view(np.uint8).reshape(-1, 8)
    letters[:, 0:16:2], letters[:, 1:16:2] = _DIGITS[digits >> 4], _DIGITS[digits & 15]
    ends = pa.py_buffer(np.ascontiguousarray(offsets * WORD))
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, [None, ends, pa.py_buffer(letters)])


def is_of_features(text: str) -> bool:
    """Whether a text was made by `feature_texts`."""
    return _WORDS.fullmatch(text) is not None


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type has a list per object."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _hashed(rows: list[list[bytes]]) -> tuple[Hashes, Offsets]:
    from roughly.kernels.hashing import hash_bytes

    texts = list(chain.from_iterable(rows))
    data = np.frombuffer(b"".join(texts), np.uint8)
    return np.ascontiguousarray(hash_bytes(data, _ends(texts))[:, 0]), _ends(rows)


def _ends(items: list[Any]) -> Offsets:
    ends: Offsets = np.r_[0, np.cumsum([len(item) for item in items])].astype(np.int64)
    return ends


def _from_arrow(column: pa.Array) -> tuple[Hashes, Offsets]:
    from roughly.kernels.hashing import hash_bytes

    if not is_list(column.type):
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
        return _hashed([_row(at, row) for at, row in enumerate(column.to_pylist())])
    texts = pc.binary_join_element_wise(
        pa.scalar(sign, pa.large_string()), values.cast(pa.large_string()), pa.scalar("", pa.large_string())
    )
    _, positions, data = texts.buffers()
    places = np.frombuffer(positions, np.int64)[: len(texts) + 1] if len(texts) else np.zeros(1, np.int64)
    letters = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return np.ascontiguousarray(hash_bytes(letters, places)[:, 0]), offsets - offsets[0]


def _row(at: int, row: Iterable[Any]) -> list[bytes]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise InputError(
            f"the features of object {at} are {type(row).__name__}, not a list of features: put them in one"
        )
    return [_text(feature) for feature in row]


def _text(feature: Any, depth: int = 1) -> bytes:
    if isinstance(feature, int | np.integer):
        try:
            return b"i%d" % int(feature)
        except ValueError as problem:  # more digits than Python writes by default
            raise InputError(
                "a feature is a whole number of more digits than Python writes; make it a text"
            ) from problem
    if isinstance(feature, str):
        return b"s" + feature.encode("utf-8", "surrogatepass")
    if isinstance(feature, bytes):
        return b"b" + feature
    if isinstance(feature, float | np.floating):
        return b"f" + repr(float(feature)).encode()
    if isinstance(feature, tuple | list):
        if depth > DEEPEST:
            raise InputError(f"a feature has tuples nested more than {DEEPEST} deep; flatten them")
        items = [_text(item, depth + 1) for item in feature]
        return b"t" + b"".join(b"%d:%b" % (len(item), item) for item in items)
    raise InputError(f"a feature is a number, a string, bytes or a tuple of these, not {type(feature).__name__}")
