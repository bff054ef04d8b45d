"""From CSV records to documents, by a fast and a slow path with the same result.

pyarrow parses the whole chunk. If it finds as many rows as there are records, and nothing in the chunk is unusual, that
is all. Otherwise the records are checked one by one: those that are not UTF-8, that have the wrong number of columns,
or that pyarrow would take for several (it ends a record at a bare carriage return) are rejected, and the others are
parsed as if they were alone in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.model import Reject
from roughly.sources.collector import excerpt, from_columns, is_utf8, joined_texts, numbered, one_array, to_strings
from roughly.sources.columns import Columns
from roughly.sources.part import Parsed, Rows
from roughly.sources.quoted import Offsets, is_left_open

_LINE_ENDS = b"\r\n"
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(slots=True)
class Block:
    """Records of one chunk: their bytes, rows, and those found bad so far (by index, with the reason)."""

    data: bytes
    starts: Offsets
    ends: Offsets
    rows: Rows
    bad: dict[int, str] = field(default_factory=dict)

    @staticmethod
    def of(data: bytes, ends: Offsets, rows: Rows) -> Block:
        """The records that end at `ends`, without those that are only line ends."""
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        letters = np.frombuffer(data, np.uint8)
        is_end = (letters == _LINE_ENDS[0]) | (letters == _LINE_ENDS[1])
        blank = np.flatnonzero(is_end[starts])
        if len(blank):  # those that begin with a line end, and have nothing else
            seen = np.concatenate([[0], np.cumsum(is_end)])
            blank = blank[seen[ends[blank]] - seen[starts[blank]] == ends[blank] - starts[blank]]
        return Block(data, np.delete(starts, blank), np.delete(ends, blank), np.delete(rows, blank))

    def record(self, index: int) -> bytes:
        """The bytes of one record."""
        return self.data[self.starts[index] : self.ends[index]]

    def good(self) -> Offsets:
        """The indices of the records that are not bad."""
        return np.delete(np.arange(len(self.rows)), sorted(self.bad))

    def good_data(self) -> bytes:
        """The bytes of the records that are not bad."""
        return b"".join(map(self.record, self.good())) if self.bad else self.data


class RowParser:
    """Parses records of one file, whose header is known."""

    def __init__(self, name: str, label: str, header: list[str], delimiter: str, columns: Columns) -> None:
        self._name = name
        self._label = label
        self._delimiter = delimiter
        self._markup = columns.markup
        self._names = [f"c{index}" for index in range(len(header))]  # a header may have a name twice
        self._by_field = {name: f"c{header.index(column)}" for name, column in columns.by_field.items()}
        self.text_numbers = [header.index(column) for column in columns.texts]
        self._texts = [f"c{number}" for number in self.text_numbers]
        self._id_name = columns.doc_id
        self.titled = columns.titled
        before = re.escape(delimiter.encode())
        self._quoted = re.compile(rb"(^|[\r\n]|" + before + rb')"(?:[^"]|"")*+"')

    def parse_whole(self, data: bytes, rows: Rows) -> Parsed | None:
        """The fast path: None if anything is unusual. `data` must not end inside quotes."""
        if not is_utf8(data) or data.count(b"\r") != data.count(b"\r\n"):
            return None
        table, wrong = self._read(data)
        if wrong or table.num_rows != len(rows) or not self._has_ids(table).all():
            return None
        return Parsed(self._documents(table, rows))

    def parse_block(self, block: Block) -> Parsed:
        """The slow path: check the records one by one."""
        if not is_utf8(block.data):
            block.bad = {index: "invalid UTF-8" for index in block.good().tolist() if not is_utf8(block.record(index))}
        if len(block.rows) and is_left_open(block.record(-1), ord(self._delimiter)):
            block.bad[len(block.rows) - 1] = "a quote that is never closed"
        table, wrong = self._read(block.good_data())
        for count_rows in (self._count_rows_fast, self._count_rows):
            if table.num_rows + len(wrong) != len(block.good()):
                self._find_stray_returns(block, count_rows)
                table, wrong = self._read(block.good_data())
        if table.num_rows + len(wrong) != len(block.good()):
            raise InputError(f"{self._name}: the rows from row {block.rows[0] + 1} on cannot be separated")
        good = block.good()
        block.bad |= {int(good[index]): reason for index, reason in wrong.items()}
        filled = self._has_ids(table)
        empty = block.good()[~filled].tolist()
        block.bad |= dict.fromkeys(empty, f"{self._id_name!r} is empty")
        batch = self._documents(table.filter(pa.array(filled)), block.rows[block.good()])
        return Parsed(batch, [self._reject(block, index, reason) for index, reason in sorted(block.bad.items())])

    def _find_stray_returns(self, block: Block, count_rows: Callable[[bytes], int]) -> None:
        for index in block.good().tolist():
            if count_rows(block.record(index)) != 1:
                block.bad[index] = "a carriage return outside quotes"

    def _count_rows(self, record: bytes) -> int:
        table, wrong = self._read(record)
        return int(table.num_rows) + len(wrong)

    def _count_rows_fast(self, record: bytes) -> int:
        """The same for most records, without pyarrow, which takes long to begin."""
        if b"\r" not in record:
            return 1
        return sum(1 for row in _LINE_END.split(self._quoted.sub(rb"\1.", record)) if row)

    def _read(self, data: bytes) -> tuple[pa.Table, dict[int, str]]:
        """The records of `data` as columns c0, c1…; and which of them have the wrong number of columns."""
        wrong: dict[int, str] = {}

        def skip(row: pyarrow.csv.InvalidRow) -> str:
            wrong[row.number - 1] = f"{row.actual_columns} columns instead of {row.expected_columns}"
            return "skip"

        if not data.strip(_LINE_ENDS):
            return pa.table({name: pa.array([], pa.large_string()) for name in self._names}), wrong
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            read_options=pyarrow.csv.ReadOptions(column_names=self._names, use_threads=False, block_size=len(data) + 1),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=sorted({*self._by_field.values(), *self._texts}),
                column_types=dict.fromkeys(self._names, pa.large_string()),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        return table, wrong

    def _has_ids(self, table: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        if "doc_id" not in self._by_field:
            return np.ones(table.num_rows, np.bool_)
        return np.asarray(pc.not_equal(table[self._by_field["doc_id"]], "").to_numpy(), np.bool_)

    def _documents(self, table: pa.Table, rows: Rows) -> pa.RecordBatch:
        values = {name: one_array(table[column]) for name, column in self._by_field.items() if name != "text"}
        text = joined_texts([one_array(table[column]) for column in self._texts])
        ids = values.pop("doc_id") if "doc_id" in values else numbered(self._label, rows)
        others = {name: to_strings(column) for name, column in values.items()}
        return from_columns(rows, to_strings(ids), text, markup=self._markup, others=others, source=self._label)

    def _reject(self, block: Block, index: int, reason: str) -> Reject:
        return Reject(self._name, f"row {block.rows[index] + 1}", reason, excerpt(block.record(index)))
