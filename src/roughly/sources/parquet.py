"""Parquet files.

A row group that is not too large is decoded in `parse`, on as many threads as there are; a giant one is read
in slices by `chunks`, so that memory stays bounded however the file was written. Only the columns of a
document are read; `copy` reads them all and keeps the schema. What a column of some Arrow type means as a
text, an id or a date is told in `arrowcolumns`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.errors import InputError
from roughly.settings import ReadOptions
from roughly.sources.arrowcolumns import ColumnReader, filtered, pick
from roughly.sources.collector import numbered
from roughly.sources.files import File
from roughly.sources.part import Chunk, Mask, Parsed, Rows
from roughly.sources.streams import replacing

LARGEST_GROUP = 32 << 20  # bytes of the wanted columns; larger row groups are read in slices
SLICE = 4 << 20
_WRITTEN_GROUP = 64 << 20
_BUFFER = 1 << 20  # a column is read as a stream, not as a whole


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A row group of the file."""

    index: int
    first_row: int
    count: int
    nbytes: int  # of the wanted columns, decompressed


@dataclass(frozen=True, slots=True)
class Undecoded:
    """A row group that `parse` decodes, and which of its rows are wanted."""

    group: RowGroup
    rows: Rows | None


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows that are decoded already."""

    batch: pa.RecordBatch
    rows: Rows


class Parquet:
    """A Parquet file."""

    format = "parquet"

    def __init__(self, file: File, options: ReadOptions, kept_name: str, name: str | None = None) -> None:
        self.name = name or file.name
        self.kept_name = kept_name
        self.size: int | None = file.size
        self._file = file
        self._options = options
        self._metadata: pq.FileMetaData | None = None
        with self._open() as parquet:
            self._metadata = parquet.metadata  # read once: it may be large, and each row group is opened anew
            schema = parquet.schema_arrow
            self._reader = ColumnReader(self.name, name or kept_name, schema, options, self._number)
            self._groups = list(_groups(parquet.metadata, set(self._reader.wanted)))
        self.notes = self._reader.notes
        if not any(group.count for group in self._groups):
            self.notes = [*self.notes, "empty: no documents"]

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Row groups, or slices of those that are too large; with `rows`, only groups that hold some."""
        total = sum(group.nbytes for group in self._groups) or 1
        share = (self.size or total) / total  # so that the chunks' bytes add up to the size of the file
        for group in self._groups:
            wanted = None if rows is None else _between(rows, group.first_row, group.count)
            if wanted is not None and not len(wanted):
                continue
            if group.nbytes <= LARGEST_GROUP and self._options.batch_size is None:
                yield Chunk(group.first_row, Undecoded(group, wanted), int(group.nbytes * share))
            elif group.count:
                yield from self._slices(group, wanted, share)

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of a row group or slice."""
        if isinstance(chunk.data, Slice):
            return self._reader.parse(chunk.data.batch, chunk.data.rows)
        group, wanted = chunk.data.group, chunk.data.rows
        with self._open() as parquet:
            table = parquet.read_row_group(group.index, columns=self._reader.wanted, use_threads=False)
        rows = np.arange(group.first_row, group.first_row + group.count, dtype=np.int64)
        batch = _one_batch(table)
        if wanted is not None:
            batch, rows = pick(batch, wanted - group.first_row), wanted
        return self._reader.parse(batch, rows)

    def copy(self, keep: Mask, folder: Path) -> int:
        """Write the kept rows with all columns, compressed as the file is."""
        with self._open() as parquet:
            codec = _codec(parquet.metadata)
            return write_kept(self._all_batches(parquet), parquet.schema_arrow, keep, folder / self.kept_name, codec)

    def stamp(self) -> int:
        """When the input was last changed."""
        return self._file.changed or 0

    def locate(self, row: int) -> str:
        """The row's number as people count, from 1."""
        return f"row {row + 1}"

    def _number(self, rows: Rows) -> pa.Array:
        return numbered(self.kept_name, rows)

    @contextmanager
    def _open(self) -> Iterator[pq.ParquetFile]:
        try:
            with self._file.open() as raw:
                source = raw if self._file.fs is not None else self._file.path
                with self._parquet_file(source) as parquet:
                    yield parquet
        except InputError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{self.name}: is not a whole Parquet file ({_first_line(error)}); fetch or write it again"
            ) from error

    def _parquet_file(self, source: object) -> pq.ParquetFile:
        return pq.ParquetFile(source, metadata=self._metadata, buffer_size=_BUFFER, pre_buffer=False)

    def _slices(self, group: RowGroup, wanted: Rows | None, share: float) -> Iterator[Chunk]:
        size = self._options.batch_size or max(1, min(1 << 16, SLICE * group.count // max(1, group.nbytes)))
        first = group.first_row
        with self._open() as parquet:
            for batch in parquet.iter_batches(
                size, row_groups=[group.index], columns=self._reader.wanted, use_threads=False
            ):
                rows = np.arange(first, first + batch.num_rows, dtype=np.int64)
                first += batch.num_rows
                if wanted is not None and rows[0] > wanted[-1]:
                    break
                if wanted is not None:
                    rows = _between(wanted, int(rows[0]), batch.num_rows)
                    batch = pick(batch, rows - (first - batch.num_rows))
                if not len(rows):
                    continue
                nbytes = int(batch.nbytes * share)
                for start, count in self._reader.pieces(batch, SLICE):
                    piece = Slice(batch.slice(start, count), rows[start : start + count])
                    yield Chunk(int(piece.rows[0]), piece, nbytes * count // len(rows))

    def _all_batches(self, parquet: pq.ParquetFile) -> Iterator[pa.RecordBatch]:
        for index in range(parquet.num_row_groups):
            group = parquet.metadata.row_group(index)
            size = max(1, min(1 << 16, SLICE * group.num_rows // max(1, group.total_byte_size)))
            yield from parquet.iter_batches(size, row_groups=[index], use_threads=False)


def write_kept(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, keep: Mask, path: Path, codec: str = "zstd"
) -> int:
    """Write the rows that stay into a Parquet file of this schema; returns how many."""
    first = written = 0
    with replacing(path) as out, pq.ParquetWriter(out, schema, compression=codec) as writer:
        pending: list[pa.RecordBatch] = []
        for batch in batches:
            kept = filtered(batch, keep[first : first + batch.num_rows])
            first += batch.num_rows
            written += kept.num_rows
            if kept.num_rows:
                pending.append(kept)
            if sum(waiting.nbytes for waiting in pending) >= _WRITTEN_GROUP:
                writer.write_table(pa.Table.from_batches(pending).cast(schema))
                pending = []
        if pending:
            writer.write_table(pa.Table.from_batches(pending).cast(schema))
    return written


def _codec(metadata: pq.FileMetaData) -> str:
    """How the largest column of the file is compressed."""
    if not metadata.num_row_groups or not metadata.num_columns:
        return "zstd"
    group = metadata.row_group(0)
    columns = (group.column(number) for number in range(group.num_columns))
    name = str(max(columns, key=lambda column: column.total_uncompressed_size).compression).lower()
    return {"uncompressed": "none", "lz4_raw": "lz4", "lzo": "zstd"}.get(name, name)


def _groups(metadata: pq.FileMetaData, wanted: set[str]) -> Iterator[RowGroup]:
    first = 0
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        columns = (group.column(number) for number in range(group.num_columns))
        nbytes = sum(
            column.total_uncompressed_size for column in columns if column.path_in_schema.split(".")[0] in wanted
        )
        yield RowGroup(index, first, group.num_rows, nbytes)
        first += group.num_rows


def _between(rows: Rows, first: int, count: int) -> Rows:
    start, stop = np.searchsorted(rows, [first, first + count])
    return rows[start:stop]


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
