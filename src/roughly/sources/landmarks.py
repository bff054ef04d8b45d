"""Offsets of the blocks of a file, recorded by the first reading, so that the second one can seek to them.

The first reading of a plain local file records a landmark per block: its first row, its number of records, and its
offset. Reading some rows again (`chunks(rows)`) or copying the kept records (`copy`) then need not read the file in
order, count records and cut blocks on one thread: each thread reads the blocks it is given. Compressed files and files
from elsewhere have no landmarks and are read in order again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
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
    """Rows that `parse` reads itself, and the blocks that contain them."""

    rows: Rows
    blocks: Sequence[Landmark]

    @property
    def nbytes(self) -> int:
        """Bytes to be read."""
        return sum(block.nbytes for block in self.blocks)


def blocks_of(landmarks: Sequence[Landmark]) -> npt.NDArray[np.int64]:
    """A row for each: first row, count, offset, bytes."""
    rows = [(mark.first_row, mark.count, mark.offset, mark.nbytes) for mark in landmarks]
    return np.array(rows, np.int64).reshape(-1, 4)


def locate_rows(landmarks: Sequence[Landmark], rows: Rows, most_wanted: int) -> Iterator[Located]:
    """The rows in portions of about `most_wanted` bytes; blocks without such rows are skipped."""
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
