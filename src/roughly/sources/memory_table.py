"""Tables from a Python caller: in memory, or spooled to Parquet because they can be read only once.

Both copy the kept rows to a Parquet file with all columns. Without an id column a document's id is its position from 0,
as Python counts, or the index of a pandas frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.model import DOCUMENTS
from roughly.settings import ReadOptions
from roughly.sources.arrowcolumns import ColumnReader, pick
from roughly.sources.columns import NUMBERED
from roughly.sources.files import local_file
from roughly.sources.kept_table import kept_batches, write_kept
from roughly.sources.parquet import SLICE, Parquet, Slice
from roughly.sources.part import ALONE, INDEX, POSITION, Chunk, CopyBudget, IdOrigin, Mask, Parsed, Rows

NAME = "table"
_KEPT_NAME = f"{NAME}.parquet"
_ROWS = 1 << 14  # processed at once


def by_position(rows: Rows) -> pa.Array:
    """Ids that are positions, from 0."""
    return pa.array(rows).cast(pa.string())


class MemoryTable:
    """An Arrow table in memory. Without an id column, `ids` are the ids of its rows, or else positions; `ids_note` says
    why, where it is not obvious. `id_prefix` precedes all ids, so that several tables can have the same ones.
    `of_records`: the rows were strings or mappings."""

    format = "table"

    def __init__(
        self,
        table: pa.Table,
        options: ReadOptions,
        *,
        name: str = NAME,
        ids: Sequence[str] | None = None,
        id_prefix: str = "",
        ids_note: str = "",
        of_records: bool = False,
    ) -> None:
        self.name, self.kept_name = name, f"{name}.parquet"
        self.size: int | None = table.nbytes
        self._table = table
        self._options = options
        self._ids, self._prefix = None if ids is None else pa.array(ids, pa.string()), id_prefix
        self._reader = ColumnReader(name, name, table.schema, options, self._number)
        self._reader.of_records = of_records
        self.ids_from = IdOrigin.of(self._reader.id_column, POSITION if ids is None else INDEX)
        self.notes = [ids_note if ids_note and note == NUMBERED else note for note in self._reader.notes]
        if not table.num_rows:
            self.notes.append("empty: no documents")

    def _number(self, rows: Rows) -> pa.Array:
        return by_position(rows) if self._ids is None else self._ids.take(pa.array(rows))

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
        parsed = self._reader.parse(chunk.data.batch, chunk.data.rows)
        if not self._prefix:
            return parsed
        at, batch = DOCUMENTS.get_field_index("doc_id"), parsed.batch
        ids = pc.binary_join_element_wise(self._prefix, batch.column(at), "")
        return Parsed(batch.set_column(at, DOCUMENTS.field(at), ids), parsed.rejects)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of the text."""
        return self._reader.text_columns

    @property
    def titled(self) -> str | None:
        """The columns of the title and the text, as `Columns.titled`."""
        return self._reader.titled

    @property
    def schema(self) -> pa.Schema:
        """All columns of the table."""
        return self._table.schema

    @property
    def codec(self) -> str:
        """How a copy is compressed."""
        return "zstd"

    def all_batches(self) -> Iterator[pa.RecordBatch]:
        """All rows with all columns, in order."""
        yield from self._batches(self._table)

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        """Write the kept rows with all columns."""
        batches = kept_batches(self._batches(self._table), keep)
        return write_kept(batches, self._table.schema, folder / self.kept_name, budget=budget)

    def stamp(self) -> int:
        """When the input was last changed."""
        return 0

    def is_untouched(self) -> bool:
        """Whether the input is as it was when it was opened."""
        return True

    def locate(self, row: int) -> str:
        """The row's number, from 1."""
        return f"row {row + 1}"

    def _batches(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        for batch in table.to_batches(max_chunksize=self._options.batch_size or _ROWS):
            if batch.num_rows:
                yield batch


class SpooledTable(Parquet):
    """A table that was spooled to a Parquet file."""

    format = "table"

    def __init__(self, path: Path, options: ReadOptions, *, of_records: bool = False) -> None:
        super().__init__(local_file(path, path.name), options, _KEPT_NAME, name=NAME)
        self._reader.of_records = of_records
        self.ids_from = IdOrigin.of(self._reader.id_column, POSITION)

    def _number(self, rows: Rows) -> pa.Array:
        return by_position(rows)
