"""What is stored of a text for comparison, as bytes: the text, its shingle set, or a sample of that set.

A text is compressed (zstd). Sets are hashes, which do not compress: first the limit up to which the set is complete,
then 8 bytes per value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import zstandard

from roughly.errors import IndexDamaged
from roughly.features.shingle_sets import Sets
from roughly.features.sketch import EVERY, limits_of

_LEVEL = 3
MARK_WORDS = 16
_LONGEST_TEXT = 1 << 30  # readers reject longer lines
REMEDY = "restore the index from a copy, or import it again"


def pack_texts(texts: pa.Array) -> list[bytes]:
    """Compress each text."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True)
    return [compressor.compress(text) for text in texts.cast(pa.large_binary()).to_pylist()]


def unpack_texts(bodies: Sequence[bytes]) -> pa.Array:
    """The texts that `pack_texts` packed."""
    decompressor = zstandard.ZstdDecompressor()
    for body in bodies:
        text_bytes(body)
    try:
        texts = pa.array([decompressor.decompress(body) for body in bodies], pa.large_binary())
        return texts.cast(pa.large_string())
    except (zstandard.ZstdError, pa.ArrowInvalid) as problem:
        raise IndexDamaged(f"a text of the index is damaged ({problem}); {REMEDY}") from problem


def text_bytes(body: bytes) -> int:
    """The bytes of a packed text, as its header says. One above every limit of the readers is refused."""
    try:
        size: int = zstandard.frame_content_size(body)
    except zstandard.ZstdError as problem:
        raise IndexDamaged(f"a text of the index is damaged ({problem}); {REMEDY}") from problem
    if not 0 <= size <= _LONGEST_TEXT:
        raise IndexDamaged(f"a text of the index says that it has {size:,} bytes, which no text has; {REMEDY}")
    return size


def pack_sets(sets: Sets) -> list[bytes]:
    """The limit of each set, then its values."""
    limits = limits_of(sets)
    data = np.ascontiguousarray(sets.values).tobytes()
    ends = (8 * sets.offsets).tolist()
    heads = [limit.to_bytes(8, "little") for limit in limits.tolist()]
    return [head + data[ends[i] : ends[i + 1]] for i, head in enumerate(heads)]


def unpack_sets(bodies: Sequence[bytes], most: int = 0) -> Sets:
    """The sets that `pack_sets` packed."""
    words = np.frombuffer(b"".join(bodies), np.uint64)
    sizes = np.array([len(body) // 8 for body in bodies], np.int64)
    heads = np.zeros(len(bodies), np.int64)
    np.cumsum(sizes[:-1], out=heads[1:])
    limits = words[heads] if len(bodies) else np.empty(0, np.uint64)
    values = np.delete(words, heads)
    offsets = np.zeros(len(bodies) + 1, np.int64)
    np.cumsum(sizes - 1, out=offsets[1:])
    whole = most == 0 and bool((limits == EVERY).all())
    return Sets(values, offsets, None if whole else limits, most)


def marks_of(sets: Sets) -> list[bytes]:
    """The bitmap of each set, which rules out with certainty, and without the set, most sets that differ too much."""
    from roughly.kernels.bitmaps import draw

    maps = np.zeros((len(sets), MARK_WORDS), np.uint64)
    draw(sets.values, sets.offsets, maps, 0)
    return [row.tobytes() for row in maps]


def unpack_marks(marks: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    """Bitmaps as rows of 64-bit words."""
    stored = [stored_bytes(mark) for mark in marks]
    if any(len(mark) != 8 * MARK_WORDS for mark in stored):
        raise IndexDamaged(f"a bitmap of the index is damaged; {REMEDY}")
    return np.frombuffer(b"".join(stored), np.uint64).reshape(-1, MARK_WORDS)


def stored_bytes(value: Any) -> bytes:
    """The bytes of a column. SQLite may give a number instead, of which `bytes` would make as many zeros."""
    if not isinstance(value, bytes | memoryview):
        raise IndexDamaged(f"the index has {type(value).__name__} where it has bytes; {REMEDY}")
    return bytes(value)
