"""Ids that occur more than once, in little memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.kernels.hashing import hash_bytes
from roughly.text.canonical import buffers

_HASHED = 1 << 20
"""Ids that are hashed together."""


def repeated_ids(ids: pa.Array) -> pa.Array:
    """The ids that occur more than once: those with equal hashes are compared."""
    pieces = [ids.slice(at, _HASHED) for at in range(0, len(ids), _HASHED)]
    hashes = np.concatenate([np.empty(0, np.uint64), *map(_hashes, pieces)])
    hashes.sort()
    is_same = hashes[1:] == hashes[:-1]
    if not is_same.any():
        return ids[:0]
    wanted = np.unique(hashes[1:][is_same])
    same = pa.chunked_array([piece.filter(pa.array(np.isin(_hashes(piece), wanted))) for piece in pieces])
    counted = pc.value_counts(same.combine_chunks())
    return counted.filter(pc.greater(counted.field("counts"), 1)).field("values")


def _hashes(ids: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.ascontiguousarray(hash_bytes(*buffers(ids))[:, 0])
