"""CSV and TSV with a header line, plain or compressed.

Every value is a string, so `007` remains `007` and nothing is read as null. Values in quotes may contain newlines. A
row is a record below the header, counted from 0; blank lines count too. `quoted` finds where records end, `csvparse`
parses them.
"""

from __future__ import annotations

import codecs
import csv
import io

from roughly.errors import InputError
from roughly.sources.collector import nothing
from roughly.sources.columns import choose_columns
from roughly.sources.csvparse import Block, RowParser
from roughly.sources.encoding import is_utf16_or_32
from roughly.sources.first_bytes import refuse_foreign
from roughly.sources.formats import TAB_SUFFIXES, suffix_of
from roughly.sources.part import Chunk, IdOrigin, Parsed
from roughly.sources.quoted import record_ends
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers

_OTHER_DELIMITERS = "\t;|"  # tried where the header has no comma


class Delimited(RecordFile):
    """A CSV or TSV file."""

    format = "csv"
    unit = "row"
    can_skip = False  # from inside quotes, a newline does not show whether it ends a record
    delimiter = ","
    _parser: RowParser | None = None  # None: the file is empty

    @property
    def text_number(self) -> int:
        """The number of the column of the text, from 0; the first, if there are several."""
        return 0 if self._parser is None else self._parser.text_numbers[0]

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of the text."""
        return () if self._parser is None else tuple(self.columns[at] for at in self._parser.text_numbers)

    @property
    def titled(self) -> str | None:
        """The columns of the title and the text, as `Columns.titled`."""
        return None if self._parser is None else self._parser.titled

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's records."""
        records: Records = chunk.data
        if records.reject is not None or self._parser is None:
            return Parsed(nothing(), [records.reject] if records.reject else [])
        if records.is_blank:
            return Parsed(nothing(), [])
        if not records.is_last:
            parsed = self._parser.parse_whole(records.data, row_numbers(chunk, records.count))
            if parsed is not None:
                return parsed
        ends = self._ends(records.data, True)
        return self._parser.parse_block(Block.of(records.data, ends, row_numbers(chunk, len(ends))))

    def _ends(self, data: bytes, final: bool) -> Offsets:
        return record_ends(data, ord(self.delimiter), final)

    def _cut(self, pending: bytes, block: bytes, final: bool) -> tuple[bytes, int, bytes]:
        data = pending + block if pending else block
        if final or b'"' in data:
            return super()._cut(b"", data, final)
        cut = data.rfind(b"\n") + 1
        return data[:cut], data.count(b"\n"), data[cut:]

    def _is_enough(self, head: bytes) -> bool:
        return len(self._ends(head, False)) > 0

    def _look(self, head: bytes, whole: bool) -> bytes:
        refuse_foreign(self.name, head, "CSV")
        if is_utf16_or_32(head):
            raise InputError(f"{self.name}: is UTF-16; save it as UTF-8, or: iconv -f UTF-16 -t UTF-8")
        mark = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
        if b"\n" not in head and b"\r" in head:
            raise InputError(f"{self.name}: its lines end with bare carriage returns; convert it: tr '\\r' '\\n'")
        first = head[len(mark) :].split(b"\n", 1)[0].decode("utf-8", "replace")
        self.delimiter = self._find_delimiter(first)
        ends = self._ends(head[len(mark) :], True)
        if not len(ends):
            return mark
        raw_header = head[len(mark) : len(mark) + ends[0]]
        header = _read_header(raw_header.decode("utf-8", "replace"), self.delimiter)
        self.columns = header
        columns = choose_columns(self.name, header, self._options)
        self.notes.extend(columns.notes)
        self.ids_from = IdOrigin.of(columns.doc_id)
        self._parser = RowParser(self.name, self.kept_name, header, self.delimiter, columns)
        return mark + raw_header

    def _find_delimiter(self, header: str) -> str:
        format = self._options.format
        if format == "tsv" or (format is None and suffix_of(self.name) in TAB_SUFFIXES):
            return "\t"
        if "," not in header:
            for delimiter in _OTHER_DELIMITERS:
                if delimiter in header:
                    self.notes.append(f"delimiter: {delimiter!r}")
                    return delimiter
        return ","


def _read_header(header: str, delimiter: str) -> list[str]:
    usual = csv.field_size_limit(len(header) + 1)  # a name may be longer than the module allows
    try:
        return next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter))
    finally:
        csv.field_size_limit(usual)
