"""Parquet files.

A row group that is not too large is decoded in `parse`, on all threads. A large one is read in slices, so that memory
is bounded however the file was written: by the thread that takes it from `groups`, or, if it is very large or the
caller asks for `chunks`, while these are produced. One whose dictionary holds a value that is long enough to unfold to
much more than the file has is read in slices too. Only the columns of a document are read; `copy` reads them all and
keeps the schema. `arrowcolumns` converts columns of any Arrow type to texts, ids and dates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.arrowcolumns import ColumnReader, pick
from roughly.sources.collector import nothing, numbered
from roughly.sources.files import File
from roughly.sources.kept_table import WRITTEN_GROUP, kept_batches, write_kept
from roughly.sources.parquet_groups import (
    LARGEST_GROUP,
    LARGEST_OF_ONE_THREAD,
    MOST_UNFOLDED,
    RowGroup,
    fits_one_thread,
    row_groups,
)
from roughly.sources.parquetfooter import GroupSize, arrow_metadata, group_sizes, read_footer
from roughly.sources.part import ALONE, Chunk, CopyBudget, IdOrigin, Mask, Parsed, Rows
from roughly.sources.read_limits import LARGEST_RECORD
from roughly.sources.streams import UNSUSPICIOUS
from roughly.threads import map_in_order

LARGEST_WHOLE = 256 << 20  # the same where a thread's share of the memory is enough for a record of this size
MOST_ROWS_AT_ONCE = 1 << 22  # Arrow reserves memory for all rows that the footer claims
SLICE = 4 << 20
_DECODED_TIMES = (
    3  # memory of decoding per byte of the row group: a value may be stored once in it and occur in many rows
)
_BUFFER = 1 << 20  # a column is read as a stream, not as a whole


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
        from roughly.sources.parquet_pages import large_pages

        self.name = name or file.name
        self.kept_name = kept_name
        self.size: int | None = file.size
        self._file = file
        self._options = options
        self._metadata: pq.FileMetaData | None = None  # read once: it may be large, and each row group is opened again
        with self._open() as parquet:
            schema = parquet.schema_arrow
            self.columns = list(schema.names)
            self._reader = ColumnReader(self.name, name or kept_name, schema, options, self._number)
            self._groups = list(row_groups(self._sizes, set(self._reader.wanted)))
            record = options.record_memory or LARGEST_RECORD
            large = large_pages(file, self._sizes, set(self._reader.wanted), record)
            remedy = "Raise --memory or lower --threads"
            self._refused = {index: self._refuse(self._groups[index], reason, remedy) for index, reason in large}
        self.notes = self._reader.notes
        self.ids_from = IdOrigin.of(self._reader.id_column)
        if not any(group.count for group in self._groups):
            self.notes = [*self.notes, "empty: no documents"]

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Row groups, or slices of those that are too large; with `rows`, only groups that contain some of them."""
        for chunk in self.groups(rows):
            yield from self.pieces(chunk)

    def groups(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """The same, but only slices of row groups that are very large: `pieces` cuts the others."""
        for group in self._groups:
            wanted = None if rows is None else _between(rows, group.first_row, group.count)
            if wanted is not None and not len(wanted):
                continue
            nbytes = int(group.nbytes * self._file_share)
            if group.index in self._refused:
                yield Chunk(group.first_row, self._refused[group.index], nbytes)
            elif fits_one_thread(group):
                yield Chunk(group.first_row, Undecoded(group, wanted), nbytes)
            elif (refusal := self._refusal(group := self._unfolded(group))) is not None:
                yield Chunk(group.first_row, refusal, nbytes)
            elif group.count:
                yield from self._slices(group, wanted)

    def pieces(self, chunk: Chunk) -> Iterator[Chunk]:
        """A chunk, or its slices if it is a large row group."""
        if not isinstance(chunk.data, Undecoded):
            yield chunk
            return
        group = self._unfolded(chunk.data.group)
        if (refusal := self._refusal(group)) is not None:
            yield Chunk(chunk.first_row, refusal, chunk.nbytes)
            return
        share = self._options.record_memory or 0
        largest = max(LARGEST_GROUP, min(LARGEST_WHOLE, share))
        is_small = group.nbytes <= largest and group.count <= MOST_ROWS_AT_ONCE
        if is_small and self._options.batch_size is None:
            yield chunk
        elif group.count:
            yield from self._slices(group, chunk.data.rows, max(SLICE, min(LARGEST_GROUP, share // 4)))

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of a row group or slice."""
        if isinstance(chunk.data, Reject):
            return Parsed(nothing(), [chunk.data])
        if isinstance(chunk.data, Slice):
            return self._reader.parse(chunk.data.batch, chunk.data.rows)
        group, wanted = chunk.data.group, chunk.data.rows
        with self._open() as parquet:
            table = parquet.read_row_group(group.index, columns=self._reader.wanted, use_threads=False)
        batch = _one_batch(table)
        self._check_rows(group, batch.num_rows)
        rows = np.arange(group.first_row, group.first_row + group.count, dtype=np.int64)
        if wanted is not None:
            batch, rows = pick(batch, wanted - group.first_row), wanted
        return self._reader.parse(batch, rows)

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        """Write the kept rows with all columns, compressed as the file is."""
        groups = [
            self._unfolded(group, LARGEST_GROUP)
            for group in row_groups(self._sizes, most=LARGEST_GROUP)
            if self._refusal(self._unfolded(self._groups[group.index])) is None
        ]
        batches = self._kept_batches(groups, keep, budget)
        return write_kept(batches, self.schema, folder / self.kept_name, self.codec, budget)

    @property
    def copy_memory(self) -> int:
        """Memory for copying the file: slices or a small row group as they are read, rows that wait, and as written."""
        return 2 * LARGEST_GROUP + 2 * min(WRITTEN_GROUP, sum(size.nbytes for size in self._sizes))

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
        """All columns of the file."""
        with self._open() as parquet:
            return parquet.schema_arrow

    @property
    def codec(self) -> str:
        """How the file is compressed."""
        return _codec(self._sizes)

    def all_batches(self) -> Iterator[pa.RecordBatch]:
        """All rows with all columns, in order."""
        for group in [self._unfolded(group) for group in row_groups(self._sizes)]:
            if (refusal := self._refusal(self._unfolded(self._groups[group.index]))) is not None:
                raise InputError(f"{self.name}, {refusal.record}: {refusal.reason}")
            yield from self._all_columns(group)

    @property
    def reads_in_parse(self) -> bool:
        """Whether no row group is so large that `groups` decodes it."""
        return all(map(fits_one_thread, self._groups))

    @property
    def largest_group(self) -> int:
        """Bytes of the largest row group that `groups` yields whole."""
        return max((group.nbytes for group in self._groups if fits_one_thread(group)), default=0)

    @cached_property
    def _file_share(self) -> float:
        """Bytes of the file per byte of a row group: those of the chunks add up to the size of the file."""
        total = sum(group.nbytes for group in self._groups) or 1
        return (self.size or total) / total

    def stamp(self) -> int:
        """When the input was last changed."""
        return self._file.changed or 0

    def is_untouched(self) -> bool:
        """Whether the input is as it was when it was opened."""
        return self._file.is_untouched()

    def locate(self, row: int) -> str:
        """The row's number, from 1."""
        return f"row {row + 1}"

    def _number(self, rows: Rows) -> pa.Array:
        return numbered(self.kept_name, rows)

    @contextmanager
    def _open(self, dictionaries: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
        try:
            with self._file.open() as raw:
                if self._metadata is None:
                    footer = read_footer(raw)
                    self._sizes = group_sizes(footer)
                    self._metadata = arrow_metadata(footer)
                source = raw if self._file.fs is not None else self._file.path
                with self._parquet_file(source, dictionaries) as parquet:
                    yield parquet
        except InputError:
            raise
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{self.name}: is not a whole Parquet file ({_first_line(error)}); fetch or write it again"
            ) from error

    def _parquet_file(self, source: object, dictionaries: Sequence[str]) -> pq.ParquetFile:
        return pq.ParquetFile(
            source, metadata=self._metadata, buffer_size=_BUFFER, pre_buffer=False, read_dictionary=list(dictionaries)
        )

    def _unfolded(self, group: RowGroup, most: int = MOST_UNFOLDED) -> RowGroup:
        """The row group; with the bytes that its dictionaries may unfold to, if these are more than `most`.

        One row is enough to see the values of a dictionary.
        """
        if not group.dictionaries:
            return group
        columns = list(group.dictionaries)
        with self._open(columns) as parquet:
            batch = next(parquet.iter_batches(1, row_groups=[group.index], columns=columns, use_threads=False))
        found = [column.dictionary for column in batch.columns if isinstance(column, pa.DictionaryArray)]
        longest = max((pc.max(pc.binary_length(values)).as_py() or 0 for values in found), default=0)
        unfolded = longest * group.count
        return group if unfolded <= most else replace(group, nbytes=max(group.nbytes, unfolded))

    def _refusal(self, group: RowGroup) -> Reject | None:
        """Why the rows of a row group, as `_unfolded` returns it, are not read; None if they are.

        A row group may make its share of what the file may make.
        """
        if group.index not in self._refused and group.nbytes > MOST_UNFOLDED:
            share = self._groups[group.index].nbytes / (sum(group.nbytes for group in self._groups) or 1)
            most = share * max(UNSUSPICIOUS, self._options.largest_ratio * (self.size or 0))
            if group.nbytes > most and self._made(group) > most:
                reason = f"they unpack to more than {self._options.largest_ratio} times the size of the file"
                remedy = "If it is not made to do harm, raise --largest-ratio"
                self._refused[group.index] = self._refuse(group, reason, remedy)
        return self._refused.get(group.index)

    def _made(self, group: RowGroup) -> int:
        """Bytes of a row group, with dictionaries unfolded."""
        from roughly.sources.parquet_pages import unfolded

        with self._open(group.dictionaries) as parquet:
            batches = parquet.iter_batches(row_groups=[group.index], columns=[*group.dictionaries], use_threads=False)
            return self._groups[group.index].nbytes + sum(map(unfolded, batches if group.dictionaries else ()))

    def _refuse(self, group: RowGroup, reason: str, remedy: str) -> Reject:
        rows = f"rows {group.first_row + 1:,} to {group.first_row + group.count:,}"
        return Reject(self.name, rows, f"{reason}; they were not read. {remedy}")

    def _slices(self, group: RowGroup, wanted: Rows | None, most: int = 0) -> Iterator[Chunk]:
        """Slices of a row group, of `most` bytes. If they are chunks, their number must not depend on the memory."""
        most = most or SLICE
        is_unfolded = bool(group.dictionaries) and group.nbytes > MOST_UNFOLDED
        rows_of = LARGEST_GROUP if is_unfolded else most  # few rows have the longest value of a dictionary
        size = max(1, min(1 << 16, rows_of * group.count // max(1, group.nbytes)))
        if self._options.batch_size is not None:
            size = min(size, self._options.batch_size) if is_unfolded else self._options.batch_size
        first = group.first_row
        for batch in self._batches(group, size, self._reader.wanted):
            rows = np.arange(first, first + batch.num_rows, dtype=np.int64)
            first += batch.num_rows
            if wanted is not None and rows[0] > wanted[-1]:
                break
            if wanted is not None:
                rows = _between(wanted, int(rows[0]), batch.num_rows)
                batch = pick(batch, rows - (first - batch.num_rows))
            if not len(rows):
                continue
            nbytes = int(batch.nbytes * self._file_share)
            for start, count in self._reader.pieces(batch, most):
                piece = Slice(batch.slice(start, count), rows[start : start + count])
                yield Chunk(int(piece.rows[0]), piece, nbytes * count // len(rows))

    def _kept_batches(self, groups: list[RowGroup], keep: Mask, budget: CopyBudget) -> Iterator[pa.RecordBatch]:
        """The kept rows with all columns, in order; row groups are decoded on several threads."""

        most = max(LARGEST_GROUP, min(LARGEST_OF_ONE_THREAD, budget.memory // (4 * _DECODED_TIMES)))

        def decode(group: RowGroup) -> Iterable[pa.RecordBatch]:
            kept = kept_batches(self._all_columns(group), keep, group.first_row)
            return list(kept) if group.nbytes <= most else kept  # a giant one a slice at a time, by the caller

        largest = max((group.nbytes for group in groups if group.nbytes <= most), default=0)
        ahead = max(1, min(2 * budget.threads, budget.memory // 2 // max(1, _DECODED_TIMES * largest)))
        threads = min(budget.threads, ahead, len(groups))
        rows = max(1, sum(group.count for group in groups))
        for group, batches in zip(groups, map_in_order(decode, groups, threads, ahead), strict=True):
            yield from batches
            budget.check((self.size or 0) * group.count // rows)

    def _all_columns(self, group: RowGroup) -> Iterator[pa.RecordBatch]:
        size = max(1, min(1 << 16, SLICE * group.count // max(1, group.nbytes)))
        yield from self._batches(group, size)

    def _batches(self, group: RowGroup, size: int, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows of a row group with these columns, or all of them, in batches of this number of rows."""
        read = 0
        with self._open() as parquet:
            for batch in parquet.iter_batches(size, row_groups=[group.index], columns=columns, use_threads=False):
                read += batch.num_rows
                yield batch
        self._check_rows(group, read)  # pyarrow ends without an error at the end of the shortest column

    def _check_rows(self, group: RowGroup, read: int) -> None:
        if read != group.count:
            raise InputError(
                f"{self.name}: is not a whole Parquet file (row group {group.index + 1} has {read:,} whole rows, not "
                f"{group.count:,}); fetch or write it again"
            )


def _codec(sizes: Sequence[GroupSize]) -> str:
    """How the largest column of the file is compressed."""
    columns = sizes[0].columns if sizes else ()
    return max(columns, key=lambda column: column.nbytes).codec if columns else "zstd"


def _between(rows: Rows, first: int, count: int) -> Rows:
    start, stop = np.searchsorted(rows, [first, first + count])
    return rows[start:stop]


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
