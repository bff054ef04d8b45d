"""Lines: where they end, and those of a file, read by ranges or by their numbers without holding the GIL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Bytes, Offsets, frozen


def line_ends(data: Bytes) -> Offsets:
    """Where each line ends, its line feed included; the last may lack it."""
    return _core.line_ends(frozen(data, np.uint8, "data"))


class LineRange(NamedTuple):
    """The lines that begin in a range of bytes of a file."""

    data: Bytes
    ends: Offsets  # where each line ends in `data`
    begin: int  # where the first line begins in the file
    too_long: bool  # whether the next line also begins in the range but is longer than allowed
    size: int  # of the file
    changed: int  # when the file was last changed, in ns


def read_line_range(path: bytes, first: int, start: int, stop: int, longest: int) -> LineRange:
    """Read the lines that begin in start … stop. The file's first line begins at `first`."""
    if not 0 <= first <= start <= stop:
        raise ValueError(
            f"a range begins at the first line or later and ends after its start, not {first}, {start}, {stop}"
        )
    return LineRange(*_core.read_line_range(path, first, start, stop, longest))


def read_chosen_lines(path: bytes, blocks: Offsets, rows: Offsets) -> tuple[Bytes, Offsets, bool, int, int]:
    """Read lines by their row numbers, which ascend, from blocks (first row, lines, offset, bytes) that hold them.

    Returns the lines, where each ends, whether a block is not what it says, and size and last change of the file.
    """
    return _core.read_chosen_lines(path, np.ascontiguousarray(blocks), np.ascontiguousarray(rows))
