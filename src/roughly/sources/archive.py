"""The records of WARC and ARC files, one after another, with their place in the file.

FastWARC reads no ARC, says nothing of a file that is cut short, and gives up at the first byte that does not
belong; crawls have all three. Hence this small framing: a header, a length, a block. What is inside a block
is left to FastWARC (`warc`). Blocks are read only if asked for, so a film in the crawl costs no memory.

A record knows where it begins in the file, compressed as that is, if a member of the gzip file begins there
too, as the standard wants it. Such records can be copied without being unpacked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from roughly.sources.streams import Reader

_STEP = 1 << 16
_LONGEST_LINE = 1 << 16
_PEEK = 1 << 16
_ARC_LINE = re.compile(rb"(.+) ([0-9A-Fa-f.:]+|-) (\d{8,17}) (\S+) (?:.* )?(\d+)\r?\n")


class LineReader:
    """Lines and blocks out of a `Reader`."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._buffer = b""

    def place(self) -> int | None:
        """Where the next byte stands in the file; None if it is inside a compressed member."""
        if self.reader.compression is None:
            return self.reader.position - len(self._buffer)
        return None if self._buffer else self.reader.member_start()

    def line(self) -> bytes:
        """The next line; without a newline if it is too long or the file ends."""
        while b"\n" not in self._buffer and len(self._buffer) < _LONGEST_LINE and self._more():
            pass
        end = self._buffer.find(b"\n", 0, _LONGEST_LINE) + 1 or min(len(self._buffer), _LONGEST_LINE)
        found, self._buffer = self._buffer[:end], self._buffer[end:]
        return found

    def block(self, size: int) -> bytes:
        """`size` bytes, or fewer where the file ends."""
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        rest = self.reader.read_block(size - len(found)) if len(found) < size else b""
        return found + rest if rest else found

    def skip_line_ends(self) -> None:
        """Skip line ends, but do not go into the next member."""
        while True:
            self._buffer = self._buffer.lstrip(b"\r\n")
            if self._buffer or (self.reader.compression is not None and self.reader.member_start() is not None):
                return
            if not self._more():
                return

    def _more(self) -> bool:
        piece = self.reader.read(_STEP)
        self._buffer += piece
        return bool(piece)


class ArchiveRecord:
    """One record. Its block can be read until the next record is asked for."""

    def __init__(self, cursor: LineReader, number: int, place: int | None, header: bytes) -> None:
        self.number = number
        self.place = place
        self.header = header
        self.fields: dict[str, str] = {}  # by the names of WARC in lower case; repeated ones joined by a space
        self.length = 0
        self.problem: str | None = None  # why this is no record
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
        self.end: int | None = None  # the place behind the last whole record
        self._cursor = LineReader(reader)
        self._is_arc = False

    @property
    def separator(self) -> bytes:
        """What stands between two records."""
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
        self.damage = cursor.reader.damage

    def _next_start(self, place: int | None, line: bytes) -> tuple[int | None, bytes]:
        """After something that is no record: the next line that begins one."""
        while line and not (_ARC_LINE.fullmatch(line) if self._is_arc else line.startswith(b"WARC/")):
            place, line = self._cursor.place(), self._cursor.line()
        return place, line

    def _read_warc_header(self, record: ArchiveRecord) -> str | None:
        if not record.header.startswith(b"WARC/"):
            return "not a WARC record"
        name = ""
        while (line := self._cursor.line()).strip():
            record.header += line
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if text[0] in " \t" and name:
                record.fields[name] += " " + text.strip()
                continue
            name, _, value = text.partition(":")
            name = name.strip().lower()
            record.fields[name] = f"{record.fields[name]} {value.strip()}" if name in record.fields else value.strip()
        record.header += line
        length = record.fields.get("content-length", "")
        if not length.isdecimal():
            return "a WARC record without a Content-Length"
        record.expect(int(length))
        return None

    def _read_arc_header(self, record: ArchiveRecord) -> str | None:
        found = _ARC_LINE.fullmatch(record.header)
        if found is None:
            return "not an ARC record"
        url, _, date, kind, length = (part.decode("utf-8", "replace") for part in found.groups())
        record.fields = {
            "warc-type": "arc",
            "warc-target-uri": url,
            "warc-date": date,
            "content-type": kind,
        }
        record.expect(int(length))
        return None
