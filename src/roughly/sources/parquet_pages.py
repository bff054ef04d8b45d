"""The sizes of a Parquet file's pages: a page is decompressed as a whole, however few of its rows are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from roughly.sources.files import File
from roughly.sources.parquetfooter import GroupSize, Struct, read_footer, read_struct

_GROUPS, _COLUMNS, _METADATA = 4, 1, 3  # of FileMetaData, RowGroup, ColumnChunk
_PATH, _COMPRESSED, _DATA, _DICTIONARY = 3, 7, 9, 11  # of ColumnMetaData
_UNPACKED, _PACKED = 2, 3  # of PageHeader
_WANTED_PAGE, _OTHER_PAGE = 6, 8
"""Largest records that a page may have the size of: a page of the text, and one that is only copied."""
_HEADER, _LONGEST_HEADER = 1 << 10, 1 << 22


def large_pages(file: File, sizes: Sequence[GroupSize], wanted: set[str], record: int) -> Iterator[tuple[int, str]]:
    """Row groups with a page that takes too much memory, where a record may have this many bytes; with the reason."""
    groups: list[Struct] = []
    for index, group in enumerate(sizes):
        for column in group.columns:
            most = record * (_WANTED_PAGE if column.path.split(".")[0] in wanted else _OTHER_PAGE)
            if column.nbytes <= most:
                continue
            try:
                with file.open() as source:
                    groups = groups or read_struct(read_footer(source))[0][_GROUPS][1][1]
                    size = _largest_page(source, groups[index], column.path)
            except (OSError, ValueError, TypeError, LookupError, RecursionError):
                continue  # reading says what is wrong
            if size > most:
                yield index, f"a page of column {column.path!r} unpacks to {size / 1e6:,.0f} MB"
                break


def unfolded(batch: pa.RecordBatch) -> int:
    """Bytes of all values of dictionaries, each as often as it occurs."""
    columns = [column for column in batch.columns if isinstance(column, pa.DictionaryArray)]
    lengths = [pc.binary_length(column.dictionary).cast(pa.int64()).take(column.indices) for column in columns]
    return sum(pc.sum(values).as_py() or 0 for values in lengths)


def _largest_page(source: BinaryIO, group: Struct, column: str) -> int:
    """Bytes that the largest page of a column has when it is decompressed, as the pages say themselves."""
    largest = 0
    for chunk in group[_COLUMNS][1][1]:
        facts = chunk[_METADATA][1]
        if b".".join(facts[_PATH][1][1]).decode() == column:
            at = min(place for field in (_DATA, _DICTIONARY) if (place := _number(facts, field)) > 0)
            end = at + _number(facts, _COMPRESSED)
            while at < end:
                header, length = _header_at(source, at)
                if _PACKED not in header:
                    raise ValueError(f"there is no page at byte {at:,}")
                largest = max(largest, _number(header, _UNPACKED))
                at += length + max(0, _number(header, _PACKED))
    return largest


def _number(struct: Struct, field: int) -> int:
    value: Any = struct.get(field, (0, 0))[1]
    return int(value)


def _header_at(source: BinaryIO, at: int) -> tuple[Struct, int]:
    """The header of a page, and its length; it is short, but may hold values of any length."""
    size = _HEADER
    while True:
        source.seek(at)
        data = source.read(size)
        try:
            return read_struct(data)
        except IndexError:
            if len(data) < size or size >= _LONGEST_HEADER:
                raise OSError(f"the header of the page at byte {at:,} does not end") from None
            size *= 16
