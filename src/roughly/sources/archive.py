"""The records of WARC and ARC files, one after another, with their offset in the file.

FastWARC reads no ARC, does not report a truncated file, and stops at the first unexpected byte; crawls have all three.
Hence this small parser of the framing: a header, a length, a block. FastWARC parses the block itself (`warc`). Blocks
are read only on demand, so a film in the crawl costs no memory.

A record knows its offset in the compressed file if a gzip member begins there too, as the standard recommends. Such
records can be copied without decompressing them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from roughly.sources.streams import Reader

_STEP = 1 << 16
_LONGEST_LINE = 1 << 16
_PEEK = 1 << 16
_LONGEST_HEADER = 1 << 20
_LONGEST_LENGTH = 18  # digits of a length; no file is longer
_ARC_ADDRESS = re.compile(rb"[0-9A-Fa-f.:]+|-")
_ARC_DATE = re.compile(rb"[0-9]{8,17}")
_ARC_TYPE = re.compile(rb"\S+")
_COUNTED = 1 << 12  # records after which their number is checked
_NOT_LINE_END = re.compile(rb"[^\r\n]")


class LineReader:
    """Lines and blocks from a `Reader`."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._buffer = b""
        self._at = 0  # bytes of the buffer that are used

    @property
    def _left(self) -> int:
        return len(self._buffer) - self._at

    def place(self) -> int | None:
        """Offset of the next byte in the file; None if it is inside a compressed member."""
        if self.reader.compression is None:
            return self.reader.position - self._left
        return None if self._left else self.reader.member_start()

    def line(self) -> bytes:
        """The next line; without a newline if it is too long or the file ends."""
        while True:
            end = self._buffer.find(b"\n", self._at, self._at + _LONGEST_LINE) + 1
            if end or self._left >= _LONGEST_LINE or not self._more():
                return self._take(end - self._at if end else _LONGEST_LINE)

    def block(self, size: int) -> bytes:
        """`size` bytes, or fewer where the file ends."""
        found = self._take(size)
        rest = self.reader.read_block(size - len(found)) if len(found) < size else b""
        return found + rest if rest else found

    def skip_line_ends(self) -> None:
        """Skip line ends, but do not go into the next member."""
        while True:
            text = _NOT_LINE_END.search(self._buffer, self._at)
            self._at = text.start() if text else len(self._buffer)
            if self._left or (self.reader.compression is not None and self.reader.member_start() is not None):
                return
            if not self._more():
                return

    def _take(self, size: int) -> bytes:
        found = self._buffer[self._at : self._at + size]
        self._at += len(found)
        return found

    def _more(self) -> bool:
        piece = self.reader.read(_STEP)
        self._buffer, self._at = self._buffer[self._at :] + piece, 0
        return bool(piece)


class ArchiveRecord:
    """One record. Its block can be read until the next record is read."""

    def __init__(self, cursor: LineReader, number: int, place: int | None, header: bytes) -> None:
        self.number = number
        self.place = place
        self.header = header
        self.fields: dict[str, str] = {}  # by WARC names in lower case; repeated ones joined by a space
        self.length = 0
        self.problem: str | None = None  # why this is not a record
        self._cursor = cursor
        self._peeked = b""
        self._left = 0

    def expect(self, length: int) -> None:
        """Set the length of the block, which begins here."""
        self.length = self._left = length

    def peek(self) -> bytes:
        """The beginning of the block."""
        if not self._peeked:
            self._peeked = self._take(min(_PEEK, self._left))
        return self._peeked

    def pieces(self) -> Iterator[bytes]:
        """The block, piece by piece; fewer bytes than `length` if the file is cut short."""
        if self._peeked:
            yield self._peeked
        while self._left:
            piece = self._take(min(_STEP, self._left))
            if not piece:
                return
            yield piece

    def finish(self) -> bool:
        """Skip what was not read; false if the file ends before the block does."""
        while self._left and self._take(min(_STEP, self._left)):
            pass
        return self._left == 0

    def _take(self, size: int) -> bytes:
        piece = self._cursor.block(size)
        self._left -= len(piece)
        return piece


class Archive:
    """Iterates over records. Afterwards `damage` says whether the file ended early, and at which record."""

    def __init__(self, reader: Reader) -> None:
        self.damage: str | None = None
        self.count = 0  # of whole records
        self.end: int | None = None  # offset after the last whole record
        self._cursor = LineReader(reader)
        self._is_arc = False

    @property
    def separator(self) -> bytes:
        """Skip what is between two records."""
        return b"\n" if self._is_arc else b"\r\n\r\n"

    def __iter__(self) -> Iterator[ArchiveRecord]:
        cursor = self._cursor
        cursor.skip_line_ends()
        place, line = cursor.place(), cursor.line()
        self._is_arc = line.startswith(b"filedesc:")
        while line:
            record = ArchiveRecord(cursor, self.count, place, line)
            record.problem = self._read_arc_header(record) if self._is_arc else self._read_warc_header(record)
            yield record
            if not record.finish():
                short = f"truncated: the file ends inside a record of {record.length} bytes"
                self.damage = cursor.reader.damage or short
                return
            self.count += 1
            cursor.skip_line_ends()
            place, line = cursor.place(), cursor.line()
            if record.problem is not None:
                place, line = self._next_start(place, line)
            self.end = place
            if line and self.count % _COUNTED == 0 and cursor.reader.is_crowded(self.count):
                break
        self.damage = cursor.reader.damage

    def _next_start(self, place: int | None, line: bytes) -> tuple[int | None, bytes]:
        """After something that is not a record: find the next line that begins one."""
        while line and not (_arc_fields(line) if self._is_arc else line.startswith(b"WARC/")):
            place, line = self._cursor.place(), self._cursor.line()
        return place, line

    def _read_warc_header(self, record: ArchiveRecord) -> str | None:
        if not record.header.startswith(b"WARC/"):
            return "not a WARC record"
        lines, size = [record.header], len(record.header)
        while (line := self._cursor.line()).strip():
            lines.append(line)
            size += len(line)
            if size > _LONGEST_HEADER:
                return f"a WARC header longer than {_LONGEST_HEADER >> 20} MB"
        record.header = b"".join([*lines, line])
        record.fields = _warc_fields(lines[1:])
        return _expect(record, record.fields.get("content-length", ""), "a WARC record")

    def _read_arc_header(self, record: ArchiveRecord) -> str | None:
        found = _arc_fields(record.header)
        if found is None:
            return "not an ARC record"
        url, date, kind, length = (part.decode("utf-8", "replace") for part in found)
        record.fields = {
            "warc-type": "arc",
            "warc-target-uri": url,
            "warc-date": date,
            "content-type": kind,
        }
        return _expect(record, length, "an ARC record")


def _expect(record: ArchiveRecord, length: str, what: str) -> str | None:
    """Set the length of the block; returns what is wrong with it otherwise."""
    if not length.isdecimal():
        return f"{what} without a Content-Length"
    if len(length) > _LONGEST_LENGTH:
        return f"{what} with a length of {len(length)} digits"
    record.expect(int(length))
    return None


def _warc_fields(lines: list[bytes]) -> dict[str, str]:
    """The fields of a header by their names in lower case; repeated and continued ones are joined by a space."""
    values: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text[0] in " \t" and name:
            values[name].append(text.strip())
            continue
        name, _, value = text.partition(":")
        name = name.strip().lower()
        values.setdefault(name, []).append(value.strip())
    return {name: " ".join(found) for name, found in values.items()}


def _arc_fields(line: bytes) -> tuple[bytes, bytes, bytes, bytes] | None:
    """URL, date, media type and length of a line `URL address date type … length`; the URL may contain spaces.

    If several places look like address and date, the last one counts that has a type and a length after it.
    """
    words = line.removesuffix(b"\n").removesuffix(b"\r").split(b" ")
    if not line.endswith(b"\n") or not words[-1].isdigit():
        return None
    for at in range(len(words) - 4, 0, -1):
        address, date, kind = words[at : at + 3]
        if _ARC_DATE.fullmatch(date) and _ARC_ADDRESS.fullmatch(address) and _ARC_TYPE.fullmatch(kind):
            url = b" ".join(words[:at])
            return (url, date, kind, words[-1]) if url else None
    return None
