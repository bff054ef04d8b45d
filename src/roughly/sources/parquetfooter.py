"""The footer of a Parquet file, taken apart and put together again: Thrift's compact protocol.

Row groups that were encoded as files of their own become one file when their pages follow one another and one
footer names them all. In it only the places of pages, the ordinals of row groups and the number of rows differ from
the footers of the pieces; everything else is carried over as it was found.

A struct is a dict from the number of a field to (its type, its value), in the order of the file; a list is (type of its
items, items). Numbers of fields are those of the format's `parquet.thrift`.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.fast_dataclass import dataclass

Struct = dict[int, tuple[int, Any]]

MAGIC = b"PAR1"
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_WHOLE, _LISTS = (4, 5, 6), (9, 10)
_ROWS, _GROUPS = 3, 4  # of FileMetaData
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7  # of RowGroup
_CHUNK_OFFSET, _CHUNK_METADATA = 2, 3  # of ColumnChunk
_PAGE_OFFSETS = (9, 10, 11)  # of ColumnMetaData: data, index and dictionary pages
_TAIL = 1 << 16  # bytes read at the end of a file: most footers are shorter
_MOST_ROWS = 1 << 62
_MOST_ORDINALS = 1 << 15  # an ordinal has 16 bits; row groups beyond have none


_BYTE_ARRAY = 6
_CODECS = ("none", "snappy", "gzip", "zstd", "brotli", "lz4", "zstd", "lz4")  # LZO, which has no writer, as zstd


@dataclass(frozen=True, slots=True)
class ColumnSize:
    """A column of a row group."""

    path: str
    is_bytes: bool
    codec: str
    values: int
    nbytes: int  # decompressed
    has_dictionary: bool


@dataclass(frozen=True, slots=True)
class GroupSize:
    """A row group with its columns."""

    rows: int
    nbytes: int
    columns: tuple[ColumnSize, ...]


def read_footer(file: BinaryIO) -> bytes:
    """The footer of a Parquet file, which comes before its length and the magic bytes at the end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[-8:-4], "little")
    if tail[-4:] != MAGIC or size < len(MAGIC) + length + 8:
        raise OSError("it does not end with a footer of Parquet, or the footer is encrypted")
    if length + 8 > len(tail):
        file.seek(size - 8 - length)
        tail = file.read(length + 8)
    return tail[-8 - length : -8]


def arrow_metadata(footer: bytes) -> pq.FileMetaData:
    """A footer as Arrow reads it. `write_metadata_file` and `RowGroupMetaData.column` must not be called: they end the
    process where a column lacks what it must have, or where its statistics do not fit its type."""
    return pq.read_metadata(pa.BufferReader(MAGIC + footer + len(footer).to_bytes(4, "little") + MAGIC))


def group_sizes(footer: bytes) -> list[GroupSize]:
    """The row groups of a file, by its footer."""
    from roughly.kernels.parquet_footer import sizes_in_footer

    try:
        groups, columns, names = sizes_in_footer(footer)
    except ValueError as problem:
        raise OSError(str(problem)) from problem
    if (groups < 0).any() or (columns < 0).any():
        raise OSError("columns are encrypted, or their sizes are missing")
    if sum(groups[:, 0].tolist()) > _MOST_ROWS:
        raise OSError("the footer has more rows than a file can have")
    found = [
        ColumnSize(
            name,
            kind == _BYTE_ARRAY,
            _CODECS[codec] if codec < len(_CODECS) else "zstd",
            values,
            nbytes,
            bool(dictionary),
        )
        for name, (_, kind, codec, values, nbytes, dictionary) in zip(names, columns.tolist(), strict=True)
    ]
    cuts = columns[:, 0].searchsorted(range(len(groups) + 1)).tolist()
    return [
        GroupSize(rows, nbytes, tuple(found[start:stop]))
        for (rows, nbytes), (start, stop) in zip(groups.tolist(), pairwise(cuts), strict=True)
    ]


class JoinedFooter:
    """The footer of pieces that follow one another in one file."""

    def __init__(self) -> None:
        self._first: Struct = {}
        self._rows = 0
        self._groups: list[bytes] = []

    def add(self, footer: bytes, shift: int) -> None:
        """Take over the row groups of a piece whose bytes are `shift` bytes further on than in its own file."""
        read = _Reader(footer).struct()
        self._first = self._first or read
        self._rows += read[_ROWS][1]
        for group in read[_GROUPS][1][1]:
            _move(group, shift, len(self._groups))
            self._groups.append(_struct_bytes(group))

    def to_bytes(self) -> bytes:
        """The footer, as it is before its length."""
        out = bytearray()
        fields = self._first | {_ROWS: (self._first[_ROWS][0], self._rows)}
        last = 0
        for number, (kind, value) in fields.items():
            last = _write_header(out, number, kind, last)
            if number == _GROUPS:
                _write_list_header(out, _STRUCT, len(self._groups))
                out += b"".join(self._groups)
            else:
                _write_value(out, kind, value)
        out.append(0)
        return bytes(out)


def read_struct(data: bytes) -> tuple[Struct, int]:
    """The struct that the bytes begin with, and its length."""
    reader = _Reader(data)
    return reader.struct(), reader.at


def split(file: memoryview) -> tuple[memoryview, bytes]:
    """The pages of a whole Parquet file, and its footer."""
    length = int.from_bytes(file[-8:-4], "little")
    return file[len(MAGIC) : -8 - length], bytes(file[-8 - length : -8])


def _move(group: Struct, shift: int, ordinal: int) -> None:
    """Move a row group to another place."""
    _add(group, _GROUP_OFFSET, shift)
    if _ORDINAL in group and ordinal < _MOST_ORDINALS:
        group[_ORDINAL] = group[_ORDINAL][0], ordinal
    else:
        group.pop(_ORDINAL, None)
    for chunk in group[_COLUMNS][1][1]:
        _add(chunk, _CHUNK_OFFSET, shift)
        for field in _PAGE_OFFSETS:
            _add(chunk[_CHUNK_METADATA][1], field, shift)


def _add(struct: Struct, field: int, shift: int) -> None:
    kind, value = struct.get(field, (0, 0))
    if value > 0:  # nothing comes before the magic bytes, so 0 is no place
        struct[field] = kind, value + shift


class _Reader:
    """Reads values from bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind, self._value(kind) if kind not in (_TRUE, _FALSE) else None
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _WHOLE:
            return self._signed()
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind == _STRUCT:
            return self.struct()
        if kind in _LISTS:
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return head & 15, [self._value(head & 15) for _ in range(count)]
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind in (_TRUE, _FALSE, _BYTE):  # truth values in a list have a byte each
            return self._bytes(1)
        raise ValueError(f"type {kind} does not occur in a footer of Parquet")

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self._data):
            raise IndexError("bytes beyond the end")
        return self._data[self.at - count : self.at]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)


def _struct_bytes(struct: Struct) -> bytes:
    out = bytearray()
    _write_value(out, _STRUCT, struct)
    return bytes(out)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if value is None:
        return  # a truth value, which is in the type
    if kind in _WHOLE:
        _write_unsigned(out, value << 1 if value >= 0 else (-value << 1) - 1)
    elif kind == _STRUCT:
        last = 0
        for number, (inner, content) in value.items():
            last = _write_header(out, number, inner, last)
            _write_value(out, inner, content)
        out.append(0)
    elif kind in _LISTS:
        inner, items = value
        _write_list_header(out, inner, len(items))
        for item in items:
            _write_value(out, inner, item)
    else:
        if kind == _BINARY:
            _write_unsigned(out, len(value))
        out += value


def _write_header(out: bytearray, number: int, kind: int, last: int) -> int:
    if 0 < number - last < 16:
        out.append((number - last) << 4 | kind)
    else:
        out.append(kind)
        _write_unsigned(out, number << 1)
    return number


def _write_list_header(out: bytearray, kind: int, count: int) -> None:
    out.append(min(count, 15) << 4 | kind)
    if count >= 15:
        _write_unsigned(out, count)


def _write_unsigned(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
