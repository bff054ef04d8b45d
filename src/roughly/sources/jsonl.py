"""JSON lines: one object per line, `.jsonl`, `.ndjson` or `.json`, plain or compressed.

A row is a line, so `row + 1` is the line number that an editor shows; blank lines count too, and are otherwise ignored.
`jsonparse` parses the lines.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator

import numpy as np
import orjson

from roughly.errors import InputError
from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.collector import nothing
from roughly.sources.columns import choose_columns
from roughly.sources.encoding import is_utf16_or_32
from roughly.sources.files import File
from roughly.sources.first_bytes import refuse_foreign
from roughly.sources.formats import suffix_of
from roughly.sources.jsonparse import LineParser, choose_lines
from roughly.sources.landmarks import Located
from roughly.sources.line_ranges import ByteRange, read_located
from roughly.sources.part import Chunk, IdOrigin, Parsed
from roughly.sources.read_limits import ReadLimits
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers

_SAMPLE = 1000  # lines read to guess columns
_FIRST = 100  # lines that are enough if all of them have the same columns with values of the same types


class JsonLines(RecordFile):
    """A file of JSON lines."""

    format = "jsonl"
    unit = "line"
    leaves_landmarks = True

    def __init__(self, file: File, options: ReadOptions, kept_name: str) -> None:
        self._parser: LineParser
        super().__init__(file, options, kept_name)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The keys of the text."""
        return self._parser.text_columns

    @property
    def titled(self) -> str | None:
        """The keys of the title and the text, as `Columns.titled`."""
        return self._parser.titled

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's lines."""
        if isinstance(chunk.data, ByteRange):
            return self._parse_range(chunk.data)
        if isinstance(chunk.data, Located):
            data, ends = read_located(self._file, chunk.data)
            return self._parser.parse(data, ends, chunk.data.rows)
        records: Records = chunk.data
        if records.reject is not None:
            return Parsed(nothing(), [records.reject])
        if records.is_blank:
            return Parsed(nothing(), [])
        ends = _line_ends(records.data)
        return self._parser.parse(records.data, ends, row_numbers(chunk, len(ends)))

    def _parse_range(self, wanted: ByteRange) -> Parsed:
        """Documents of the lines that begin in a range of the file."""
        assert self._ranges_of_lines is not None
        lines = self._ranges_of_lines.read(wanted.number)
        first_row, count = self._ranges_of_lines.first_row(wanted.number), len(lines.ends)
        rows = np.arange(first_row, first_row + count, dtype=np.int64)
        data: bytes | memoryview = lines.data.data
        ends = lines.ends
        longest = self._ranges_of_lines.longest
        too_long = [first_row + count] if lines.too_long else []
        if self._options.largest_record is not None and count:
            is_short = np.diff(ends, prepend=0) <= longest
            if not is_short.all():
                too_long = [*rows[~is_short].tolist(), *too_long]
                data, ends, rows = choose_lines(is_short, data, ends, rows)
        parsed = self._parser.parse(data, ends, rows) if len(rows) else Parsed(nothing())
        reason = ReadLimits(longest).too_long()
        return Parsed(parsed.batch, [*parsed.rejects, *(self._reject(row, reason) for row in too_long)])

    def _reject(self, row: int, reason: str) -> Reject:
        return Reject(self.name, self.locate(row), reason, "")

    def _ends(self, data: bytes, final: bool) -> Offsets:
        return _line_ends(data if final else data[: data.rfind(b"\n") + 1])

    def _cut(self, pending: bytes, block: bytes, final: bool) -> tuple[bytes, int, bytes]:
        """Join and cut in one step: a block is copied once."""
        cut = len(block) if final else block.rfind(b"\n") + 1
        if not final and not cut:
            return b"", 0, pending + block
        data = b"".join((pending, memoryview(block)[:cut])) if pending or cut < len(block) else block
        return data, data.count(b"\n") + (len(data) > 0 and not data.endswith(b"\n")), block[cut:]

    def _next_record(self, data: bytes) -> int | None:
        return data.find(b"\n") + 1 or None

    def _is_enough(self, head: bytes) -> bool:
        return b"\n" in head

    def _look(self, head: bytes, whole: bool) -> bytes:
        refuse_foreign(self.name, head, "JSON lines")
        if is_utf16_or_32(head):
            raise InputError(f"{self.name}: is UTF-16; JSON lines are UTF-8. Convert it: iconv -f UTF-16 -t UTF-8")
        preamble = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
        self._refuse_one_big_value(_lines(head[len(preamble) :], True))
        sample = _objects(_lines(head[len(preamble) :], whole))
        columns = list(dict.fromkeys(key for record in sample for key in record))
        self.columns = columns
        if not sample:  # nothing to guess from: an empty file, or all of it is broken and will be rejected
            columns = [self._options.features or self._options.text_column or "text", self._options.id_column or "id"]
        chosen = choose_columns(
            self.name,
            columns,
            self._options,
            usable=lambda field, column: _usable(field, [record.get(column) for record in sample]),
            complete=False,
        )
        if sample:
            self.notes.extend(chosen.notes)
        self.ids_from = IdOrigin.of(chosen.doc_id)
        numeric = frozenset(
            column
            for field, column in chosen.by_field.items()
            if column not in chosen.texts and _all_whole([record.get(column) for record in sample])
        )
        self._parser = LineParser(self.name, self.kept_name, chosen, numeric)
        return preamble

    def _refuse_one_big_value(self, lines: Iterable[bytes]) -> None:
        first = next((line.strip() for line in lines if line.strip()), b"")
        if first == b"{" or (first.startswith(b"[") and suffix_of(self.name) == ".json"):
            raise InputError(
                f"{self.name}: is one JSON value over many lines, not one object per line. "
                f"Convert it: jq -c '.[]' {self.name} > documents.jsonl"
            )


def _line_ends(data: bytes) -> Offsets:
    from roughly.kernels.lines import line_ends

    return line_ends(np.frombuffer(data, np.uint8))


def _lines(head: bytes, whole: bool) -> Iterator[bytes]:
    """The lines of a file's beginning, one by one: a few are enough. The last may be cut, unless it is the `whole`."""
    start = 0
    while (end := head.find(b"\n", start)) >= 0:
        yield head[start:end]
        start = end + 1
    if whole:
        yield head[start:]


def _objects(lines: Iterable[bytes]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for line in lines:
        value = _value(line) if line.strip() else None
        if isinstance(value, dict):
            found.append(value)
        if len(found) == _SAMPLE or (len(found) == _FIRST and _are_uniform(found)):
            break
    return found


def _are_uniform(records: list[dict[str, object]]) -> bool:
    """Whether all records have the same columns, with values of the same types."""
    kinds = {tuple((name, type(value)) for name, value in record.items()) for record in records}
    return len(kinds) == 1


def _value(line: bytes) -> object:
    """The value of a line, None where it has none; by `json` where orjson refuses it or rounds a whole number."""
    try:
        value = orjson.loads(line)
        if not isinstance(value, dict) or not any(type(held) is float for held in value.values()):
            return value
    except orjson.JSONDecodeError:
        pass
    try:  # a whole number beyond 64 bits stays one here
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _usable(field: str, values: list[object]) -> bool:
    """A text is a string somewhere; an id or another column is mostly strings or whole numbers."""
    if field == "text":
        return any(isinstance(value, str) for value in values)
    present = [value for value in values if value is not None]
    return 2 * sum(isinstance(value, str | int) and not isinstance(value, bool) for value in present) >= len(present)


def _all_whole(values: list[object]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, int) and not isinstance(value, bool) for value in present)
