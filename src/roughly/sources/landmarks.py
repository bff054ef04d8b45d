"""Where the blocks of a file stand, noted when it is read first, so that the second reading goes straight to them.

The first reading of a plain local file leaves a landmark for each block: its first row, how many records it has, and
where it stands. Those who then want some rows again (`chunks(rows)`) or all records that stay (`copy`) need not
read the file in order, count records and cut blocks once more on one thread: each thread reads the blocks it is given.
Compressed files and files from elsewhere have no landmarks and are read in order again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from roughly.sources.part import Rows

MOST_BYTES = 32 << 20  # read for one chunk, however few of the rows are wanted


@dataclass(frozen=True, slots=True)
class Landmark:
    """A block of whole records."""

    first_row: int
    count: int
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Located:
    """Rows that `parse` reads itself, and the blocks that hold them."""

    rows: Rows
    blocks: Sequence[Landmark]

    @property
    def nbytes(self) -> int:
        """Bytes to be read."""
        return sum(block.nbytes for block in self.blocks)


def locate_rows(landmarks: Sequence[Landmark], rows: Rows, most_wanted: int) -> Iterator[Located]:
    """The rows in portions of about `most_wanted` bytes; blocks that hold none are passed over."""
    edges = np.searchsorted(rows, [mark.first_row for mark in landmarks] + [np.iinfo(np.int64).max])
    blocks: list[Landmark] = []
    begin, wanted, read = int(edges[0]) if len(edges) else 0, 0, 0
    for mark, first, last in zip(landmarks, edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        last = min(last, int(np.searchsorted(rows, mark.first_row + mark.count)))
        if last == first:
            continue
        if not blocks:
            begin, wanted, read = first, 0, 0
        blocks.append(mark)
        wanted += mark.nbytes * (last - first) // mark.count
        read += mark.nbytes
        if wanted >= most_wanted or read >= MOST_BYTES:
            yield Located(rows[begin:last], blocks)
            blocks = []
        end = last
    if blocks:
        yield Located(rows[begin:end], blocks)
