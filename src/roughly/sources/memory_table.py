"""Tables that a Python caller hands over: in memory, or spooled to Parquet because they can be read only once.

Both copy what stays to a Parquet file with all columns. Without an id column a document's id is its index
from 0, as Python counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.settings import ReadOptions
from roughly.sources.arrowcolumns import ColumnReader, pick
from roughly.sources.files import local_file
from roughly.sources.parquet import SLICE, Parquet, Slice, write_kept
from roughly.sources.part import Chunk, Mask, Parsed, Rows

NAME = "table"
_KEPT_NAME = "table.parquet"
_ROWS = 1 << 14  # looked at in one go


def by_index(rows: Rows) -> pa.Array:
    """Ids that are the index, from 0."""
    return pa.array(rows).cast(pa.string())


class MemoryTable:
    """An Arrow table in memory."""

    format = "table"
    name = NAME
    kept_name = _KEPT_NAME

    def __init__(self, table: pa.Table, options: ReadOptions) -> None:
        self.size: int | None = table.nbytes
        self._table = table
        self._options = options
        self._reader = ColumnReader(NAME, NAME, table.schema, options, by_index)
        self.notes = self._reader.notes if table.num_rows else [*self._reader.notes, "empty: no documents"]

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Slices of about 4 MB of text."""
        first = 0
        for batch in self._batches(self._table.select(self._reader.wanted)):
            numbers = np.arange(first, first + batch.num_rows, dtype=np.int64)
            first += batch.num_rows
            if rows is not None:
                numbers = rows[(rows >= numbers[0]) & (rows <= numbers[-1])]
                batch = pick(batch, numbers - (first - batch.num_rows))
            for start, count in self._reader.pieces(batch, SLICE):
                piece = Slice(batch.slice(start, count), numbers[start : start + count])
                yield Chunk(int(piece.rows[0]), piece, piece.batch.nbytes)

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of a slice."""
        return self._reader.parse(chunk.data.batch, chunk.data.rows)

    def copy(self, keep: Mask, folder: Path) -> int:
        """Write the kept rows with all columns."""
        return write_kept(self._batches(self._table), self._table.schema, keep, folder / self.kept_name)

    def stamp(self) -> int:
        """When the input was last changed."""
        return 0

    def locate(self, row: int) -> str:
        """The row's number as people count, from 1."""
        return f"row {row + 1}"

    def _batches(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        for batch in table.to_batches(max_chunksize=self._options.batch_size or _ROWS):
            if batch.num_rows:
                yield batch


class SpooledTable(Parquet):
    """A table that was spooled to a Parquet file."""

    format = "table"

    def __init__(self, path: Path, options: ReadOptions) -> None:
        super().__init__(local_file(path, path.name), options, _KEPT_NAME, name=NAME)

    def _number(self, rows: Rows) -> pa.Array:
        return by_index(rows)
