"""A bitmap of each set, which rules out most pairs that are too different without reading the sets.

Bit v mod B is flipped for every value v. Two sets differ in at least as many values as their bitmaps differ in bits:
each value that only one of them has flips one bit. So a pair whose bitmaps differ too much is certainly too different.
The number of words affects the time and never the answer; without any, nothing is ruled out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets

Maps = npt.NDArray[np.uint64]  # (documents, words), a power of two of words


def draw(values: Hashes, offsets: Offsets, maps: Maps, first: int) -> None:
    """Flip the bits of each set in `maps`; the first set is that of row `first`."""
    _core.draw_bitmaps(
        np.ascontiguousarray(values, np.uint64), np.ascontiguousarray(offsets, np.int64), maps, int(first)
    )
