"""The sizes of row groups and columns in a footer of Parquet (`core/parquet_footer.hpp`)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Offsets


def sizes_in_footer(footer: bytes) -> tuple[Offsets, Offsets, list[str]]:
    """(rows and bytes of each row group; the row group, type, codec, values, bytes and whether there is a dictionary of
    each column; their names). What the footer does not say is −1; a footer that is none is a ValueError."""
    groups, columns, paths, ends = _core.parquet_group_sizes(np.frombuffer(footer, np.uint8))
    text, cuts = paths.tobytes(), [0, *ends.tolist()]
    known: dict[bytes, str] = {}  # row groups have the same columns
    names = [
        known.setdefault(path, path.decode("utf-8", "replace"))
        for path in (text[start:stop] for start, stop in pairwise(cuts))
    ]
    return groups, columns, names
