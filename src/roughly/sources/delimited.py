"""CSV and TSV with a header line, plain or compressed.

Every value is a string, so `007` stays `007` and nothing is taken for a null. Values in quotes may hold
newlines. A row is a record below the header, counted from 0; blank lines use up a number. pyarrow parses
whole chunks; a row with the wrong number of columns, or that is not UTF-8, is rejected and the others go on.
"""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from roughly.errors import InputError
from roughly.model import Reject
from roughly.sources.columns import Columns, choose_columns
from roughly.sources.documents import excerpt, from_columns, is_utf8, nothing, numbered, to_strings
from roughly.sources.encoding import is_utf16_or_32
from roughly.sources.formats import TAB_SUFFIXES, suffix_of
from roughly.sources.part import Chunk, Parsed, Rows
from roughly.sources.quoted import record_ends
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers

_OTHER_DELIMITERS = "\t;|"  # tried where the header has no comma


@dataclass(slots=True)
class _Block:
    """Records of one chunk: their bytes, rows, and those found bad so far (by index, with the reason)."""

    data: bytes
    starts: Offsets
    ends: Offsets
    rows: Rows
    bad: dict[int, str] = field(default_factory=dict)

    def record(self, index: int) -> bytes:
        return self.data[self.starts[index] : self.ends[index]]

    def good(self) -> Offsets:
        return np.delete(np.arange(len(self.rows)), sorted(self.bad))

    def good_data(self) -> bytes:
        return b"".join(map(self.record, self.good())) if self.bad else self.data


class Delimited(RecordFile):
    """A CSV or TSV file."""

    format = "csv"
    unit = "row"
    _delimiter = ","
    _header: list[str]
    _columns: Columns | None = None  # None: the file is empty

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's records."""
        records: Records = chunk.data
        if records.reject is not None or self._columns is None:
            return Parsed(nothing(), [records.reject] if records.reject else [])
        block = self._split(chunk)
        if not is_utf8(block.data):
            block.bad = {index: "invalid UTF-8" for index in block.good().tolist() if not is_utf8(block.record(index))}
        table = self._read(block)
        if table is None:
            self._find_stray_returns(block)
            table = self._read(block)
        if table is None:
            raise InputError(f"{self.name}: {self.locate(chunk.first_row)}: the rows from here on cannot be told apart")
        return self._documents(block, table, self._columns)

    def _split(self, chunk: Chunk) -> _Block:
        data: bytes = chunk.data.data
        ends = self._ends(data, True)
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        rows = row_numbers(chunk, len(ends))
        short = np.flatnonzero(ends - starts <= 2)
        blank = [index for index in short.tolist() if not data[starts[index] : ends[index]].strip(b"\r\n")]
        return _Block(data, np.delete(starts, blank), np.delete(ends, blank), np.delete(rows, blank))

    def _find_stray_returns(self, block: _Block) -> None:
        """pyarrow ends a record at a bare carriage return: find the records that have one."""
        for index in block.good().tolist():
            record = block.record(index)
            alone = _Block(record, np.array([0]), np.array([len(record)]), block.rows[index : index + 1])
            if self._read(alone) is None:
                block.bad[index] = "a carriage return outside quotes"

    def _read(self, block: _Block) -> pa.Table | None:
        """The good records as columns c0, c1…; the wrong ones become bad. None if the number is not right."""
        good = block.good()
        data = block.good_data()
        names = [f"c{index}" for index in range(len(self._header))]
        wrong: dict[int, str] = {}

        def skip(row: pyarrow.csv.InvalidRow) -> str:
            wrong[row.number - 1] = f"{row.actual_columns} columns instead of {row.expected_columns}"
            return "skip"

        if not data.strip(b"\r\n"):
            return pa.table({name: pa.array([], pa.large_string()) for name in names})
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            read_options=pyarrow.csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=self._wanted(),
                column_types=dict.fromkeys(names, pa.large_string()),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        if table.num_rows + len(wrong) != len(good):
            return None
        block.bad |= {int(good[index]): reason for index, reason in wrong.items()}
        return table

    def _wanted(self) -> list[str]:
        chosen = self._columns.by_field.values() if self._columns else []
        return sorted({self._position(column) for column in chosen})

    def _position(self, column: str) -> str:
        return f"c{self._header.index(column)}"

    def _documents(self, block: _Block, table: pa.Table, columns: Columns) -> Parsed:
        if columns.doc_id is not None:
            filled = pc.not_equal(table[self._position(columns.doc_id)], "").to_numpy()
            empty = block.good()[~filled]
            block.bad |= dict.fromkeys(empty.tolist(), f"{columns.doc_id!r} is empty")
            table = table.filter(pa.array(filled))
        rows = block.rows[block.good()]
        values = {name: table[self._position(column)] for name, column in columns.by_field.items()}
        text = values.pop("text").combine_chunks()
        ids = values.pop("doc_id") if columns.doc_id else numbered(self.kept_name, rows)
        batch = from_columns(
            rows,
            to_strings(ids),
            text,
            markup=self._options.markup == "html",
            others={name: to_strings(column) for name, column in values.items()},
            source=self.kept_name,
        )
        rejects = [
            Reject(self.name, self.locate(int(block.rows[index])), reason, excerpt(block.record(index)))
            for index, reason in sorted(block.bad.items())
        ]
        return Parsed(batch, rejects)

    def _ends(self, data: bytes, final: bool) -> Offsets:
        return record_ends(data, ord(self._delimiter), final)

    def _is_enough(self, head: bytes) -> bool:
        return self._cut(head) > 0

    def _look(self, head: bytes, whole: bool) -> bytes:
        if is_utf16_or_32(head):
            raise InputError(f"{self.name}: is UTF-16; save it as UTF-8, or: iconv -f UTF-16 -t UTF-8")
        mark = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
        if b"\n" not in head and b"\r" in head:
            raise InputError(f"{self.name}: its lines end with bare carriage returns; convert it: tr '\\r' '\\n'")
        first = head[len(mark) :].split(b"\n", 1)[0].decode("utf-8", "replace")
        self._delimiter = self._find_delimiter(first)
        ends = self._ends(head[len(mark) :], True)
        if not len(ends):
            return mark
        header = head[len(mark) : len(mark) + ends[0]]
        lines = io.StringIO(header.decode("utf-8", "replace"), newline="")
        self._header = next(csv.reader(lines, delimiter=self._delimiter))
        self._columns = choose_columns(self.name, self._header, self._options)
        self.notes.extend(self._columns.notes)
        return mark + header

    def _find_delimiter(self, header: str) -> str:
        asked = self._options.format
        if asked == "tsv" or (asked is None and suffix_of(self.name) in TAB_SUFFIXES):
            return "\t"
        if "," not in header:
            for delimiter in _OTHER_DELIMITERS:
                if delimiter in header:
                    self.notes.append(f"delimiter: {delimiter!r}")
                    return delimiter
        return ","
