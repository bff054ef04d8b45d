"""Keys of documents as an index stores them: as members of the table of keys, and packed into bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from roughly.index.matching.signed_batch import KeyRows

Ints = npt.NDArray[np.int64]


def members_of(keys: KeyRows, rows: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """(keys, members) of the documents at these rows, whose contents have these numbers."""
    if not len(keys.keys):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    number_of = np.full(int(max(keys.owners.max(), rows.max())) + 1, -1, np.int64)
    number_of[rows] = numbers
    content = number_of[keys.owners]
    use = content >= 0
    return keys.keys[use], 2 * content[use] + keys.is_probe[use]


def pack_keys(keys: KeyRows, rows: Ints) -> list[bytes]:
    """The keys of each document, followed by one byte per key that says whether it is a probe."""
    starts = np.searchsorted(keys.owners, rows, "left")
    stops = np.searchsorted(keys.owners, rows, "right")
    return [
        keys.keys[a:b].tobytes() + keys.is_probe[a:b].tobytes()
        for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
    ]


def unpack_keys(packed: Sequence[bytes]) -> KeyRows:
    """The keys that `pack_keys` packed; their owners are numbered 0, 1, …"""
    counts = {len(body) // 9 for body in packed}
    if len(counts) == 1:  # all have the same number of keys, such as one per band or one per lexicon
        count = counts.pop()
        table = np.frombuffer(b"".join(packed), np.uint8).reshape(len(packed), 9 * count)
        keys = np.ascontiguousarray(table[:, : 8 * count]).view(np.int64).ravel()
        is_probe = np.ascontiguousarray(table[:, 8 * count :]).view(np.bool_).ravel()
        return KeyRows(np.repeat(np.arange(len(packed)), count), keys, is_probe)
    sizes = [len(body) // 9 for body in packed]
    each_keys = [np.frombuffer(body, np.int64, size) for body, size in zip(packed, sizes, strict=True)]
    each_probe = [np.frombuffer(body, np.bool_, size, 8 * size) for body, size in zip(packed, sizes, strict=True)]
    owners = np.repeat(np.arange(len(packed)), np.array(sizes, np.int64))
    return KeyRows(
        owners,
        np.concatenate([np.empty(0, np.int64), *each_keys]),
        np.concatenate([np.empty(0, np.bool_), *each_probe]),
    )
