"""JSON lines: one object a line, `.jsonl`, `.ndjson` or `.json`, plain or compressed.

A row is a line, so `row + 1` is the line number that an editor shows; blank lines use up a number and are
nothing else. The fast and the slow road of parsing are in `jsonparse`.
"""

from __future__ import annotations

import codecs
import json

import numpy as np

from roughly.errors import InputError
from roughly.settings import ReadOptions
from roughly.sources.collector import nothing
from roughly.sources.columns import choose_columns
from roughly.sources.encoding import is_utf16_or_32
from roughly.sources.files import File
from roughly.sources.formats import suffix_of
from roughly.sources.jsonparse import LineParser
from roughly.sources.landmarks import Located
from roughly.sources.part import Chunk, Parsed
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers

_SAMPLE = 1000  # lines that are looked at to guess columns


class JsonLines(RecordFile):
    """A file of JSON lines."""

    format = "jsonl"
    unit = "line"
    leaves_landmarks = True

    def __init__(self, file: File, options: ReadOptions, kept_name: str) -> None:
        self._parser: LineParser
        super().__init__(file, options, kept_name)

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's lines."""
        records: Records = self._read_located(chunk.data) if isinstance(chunk.data, Located) else chunk.data
        if records.reject is not None:
            return Parsed(nothing(), [records.reject])
        ends = _line_ends(records.data)
        if len(ends) != records.count:
            raise InputError(f"{self.name}: changed while it was being read; run again when it is complete")
        return self._parser.parse(records.data, ends, row_numbers(chunk, len(ends)))

    def _ends(self, data: bytes, final: bool) -> Offsets:
        return _line_ends(data if final else data[: data.rfind(b"\n") + 1])

    def _cut(self, pending: bytes, block: bytes, final: bool) -> tuple[bytes, int, bytes]:
        """Joined and cut in one go: a block is copied once."""
        cut = len(block) if final else block.rfind(b"\n") + 1
        if not final and not cut:
            return b"", 0, pending + block
        data = b"".join((pending, memoryview(block)[:cut])) if pending or cut < len(block) else block
        return data, len(_line_ends(data)), block[cut:]

    def _is_enough(self, head: bytes) -> bool:
        return b"\n" in head

    def _look(self, head: bytes, whole: bool) -> bytes:
        if is_utf16_or_32(head):
            raise InputError(f"{self.name}: is UTF-16; JSON lines are UTF-8. Convert it: iconv -f UTF-16 -t UTF-8")
        preamble = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
        lines = head[len(preamble) :].split(b"\n")
        self._refuse_one_big_value(lines)
        sample = _objects(lines if whole else lines[:-1])
        columns = list(dict.fromkeys(key for record in sample for key in record))
        if not sample:  # nothing to guess from: an empty file, or all of it is broken and will be rejected
            columns = [self._options.text_column or "text", self._options.id_column or "id"]
        chosen = choose_columns(
            self.name,
            columns,
            self._options,
            usable=lambda field, column: _usable(field, [record.get(column) for record in sample]),
            complete=False,
        )
        if sample:
            self.notes.extend(chosen.notes)
        numeric = frozenset(
            column
            for field, column in chosen.by_field.items()
            if field != "text" and _all_whole([record.get(column) for record in sample])
        )
        self._parser = LineParser(self.name, self.kept_name, chosen, numeric, self._options)
        return preamble

    def _refuse_one_big_value(self, lines: list[bytes]) -> None:
        first = next((line.strip() for line in lines if line.strip()), b"")
        if first == b"{" or (first.startswith(b"[") and suffix_of(self.name) == ".json"):
            raise InputError(
                f"{self.name}: is one JSON value over many lines, not one object a line. "
                f"Convert it: jq -c '.[]' {self.name} > documents.jsonl"
            )


def _line_ends(data: bytes) -> Offsets:
    from roughly.kernels.lines import line_ends

    return line_ends(np.frombuffer(data, np.uint8))


def _objects(lines: list[bytes]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for line in lines:
        try:  # not orjson, which makes a float of a whole number beyond 64 bits
            value = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
        if len(found) == _SAMPLE:
            break
    return found


def _usable(field: str, values: list[object]) -> bool:
    """A text is a string somewhere; an id or another column is mostly strings or whole numbers."""
    if field == "text":
        return any(isinstance(value, str) for value in values)
    present = [value for value in values if value is not None]
    return 2 * sum(isinstance(value, str | int) and not isinstance(value, bool) for value in present) >= len(present)


def _all_whole(values: list[object]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, int) and not isinstance(value, bool) for value in present)
