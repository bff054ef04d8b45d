"""CSV and TSV with a header line, plain or compressed.

Every value is a string, so `007` stays `007` and nothing is taken for a null. Values in quotes may hold
newlines. A row is a record below the header, counted from 0; blank lines use up a number. Where records end
is told in `quoted`, what they mean in `csvparse`.
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
from roughly.sources.formats import TAB_SUFFIXES, suffix_of
from roughly.sources.part import Chunk, Parsed
from roughly.sources.quoted import record_ends
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers

_OTHER_DELIMITERS = "\t;|"  # tried where the header has no comma


class Delimited(RecordFile):
    """A CSV or TSV file."""

    format = "csv"
    unit = "row"
    _delimiter = ","
    _parser: RowParser | None = None  # None: the file is empty

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's records."""
        records: Records = chunk.data
        if records.reject is not None or self._parser is None:
            return Parsed(nothing(), [records.reject] if records.reject else [])
        if not records.is_last:
            parsed = self._parser.parse_whole(records.data, row_numbers(chunk, records.count))
            if parsed is not None:
                return parsed
        ends = self._ends(records.data, True)
        return self._parser.parse_block(Block.of(records.data, ends, row_numbers(chunk, len(ends))))

    def _ends(self, data: bytes, final: bool) -> Offsets:
        return record_ends(data, ord(self._delimiter), final)

    def _is_enough(self, head: bytes) -> bool:
        return len(self._ends(head, False)) > 0

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
        raw_header = head[len(mark) : len(mark) + ends[0]]
        lines = io.StringIO(raw_header.decode("utf-8", "replace"), newline="")
        header = next(csv.reader(lines, delimiter=self._delimiter))
        columns = choose_columns(self.name, header, self._options)
        self.notes.extend(columns.notes)
        self._parser = RowParser(self.name, self.kept_name, header, self._delimiter, columns, self._options)
        return mark + raw_header

    def _find_delimiter(self, header: str) -> str:
        request = self._options.format
        if request == "tsv" or (request is None and suffix_of(self.name) in TAB_SUFFIXES):
            return "\t"
        if "," not in header:
            for delimiter in _OTHER_DELIMITERS:
                if delimiter in header:
                    self.notes.append(f"delimiter: {delimiter!r}")
                    return delimiter
        return ","
