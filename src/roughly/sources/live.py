"""Documents from an open stream: each is passed on as soon as it is complete.

A run reads whole files twice; a filter in a pipe has to answer before the next document comes. So this reader reads the
available bytes, passes on the complete records, and only then waits for more.

| format | a record is complete |
|---|---|
| `jsonl` | at the end of its line |
| `mbox` | when the next message begins, or at the end: nothing in an mbox says so sooner |
| `eml` | at the end of the stream: it is one message |
| `text`, `html` | at the end of the stream: it is one document |

A record that cannot be used is reported in its place, and the stream continues. A document without an id gets one from
its text, so that the same document always has the same id.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol

import numpy as np

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.collector import excerpt, identify, reason_of
from roughly.sources.columns import choose_columns, text_names
from roughly.sources.encoding import charset_in_html, decode_text
from roughly.sources.jsonparse import LineParser
from roughly.sources.mail import read_mail
from roughly.sources.mbox import ESCAPED, is_dated

FORMATS = ("jsonl", "mbox", "eml", "text", "html")
LONGEST = 256 << 20
"""Bytes of the longest record that is read."""
_PIECE = 1 << 20
_HEADER = re.compile(rb"[!-9;-~]+:(?:[ \t\r\n]|$)")


@dataclass(frozen=True, slots=True)
class Arrived:
    """One record: a document, or the reason why it is not one."""

    record: str  # "line 17", "message 4"
    document: dict[str, Any] | None
    reject: Reject | None = None


class _Format(Protocol):
    def take(self, data: bytes, final: bool) -> tuple[list[Arrived], bytes]:
        """The complete records, and the rest of the data."""
        ...


def read_live(stream: BinaryIO, options: ReadOptions, name: str = "standard input") -> Iterator[list[Arrived]]:
    """The records of a stream, in the groups in which they arrived."""
    if options.format is not None and options.format not in FORMATS:
        raise InputError(f"{options.format!r} cannot be read from a stream; known are {', '.join(FORMATS)}")
    reader: _Format | None = None
    pending, final = b"", False
    while not final:
        piece = _read(stream)
        final = not piece
        pending += piece
        if reader is None:
            pending = pending.removeprefix(codecs.BOM_UTF8)
            head = pending.lstrip(b"\r\n")
            if not final and not _is_enough_to_guess(head):
                continue
            if not head.strip():
                raise InputMissing(f"{name} is empty; there is nothing to match")
            kind = options.format or _guess(head, name)
            if options.features is not None and kind != "jsonl":
                raise InputError(f"{name}: is {kind}; lists of features ({options.features}) are read from jsonl")
            if kind != "jsonl":  # whose lines are counted
                pending = head
            reader = _READERS[kind](name, options)
        found, pending = reader.take(pending, final)
        if found:
            yield found


def _read(stream: Any) -> bytes:
    """The available bytes, at least one; none at the end."""
    data: bytes = stream.read1(_PIECE) if hasattr(stream, "read1") else stream.read(_PIECE)
    return data


def _is_enough_to_guess(data: bytes) -> bool:
    return b"\n" in data or len(data) > 1 << 16


def _guess(data: bytes, name: str) -> str:
    """By the first line: an object, an mbox's `From `, a header."""
    if data.lstrip().startswith(b"{"):
        return "jsonl"
    if data.startswith(b"From "):
        return "mbox"
    if _HEADER.match(data):
        return "eml"
    raise InputError(f"{name}: neither JSON lines nor mail; name the format: --format {', '.join(FORMATS)}")


class _Lines:
    """JSON lines. The columns are chosen by the first object that has a text."""

    def __init__(self, name: str, options: ReadOptions) -> None:
        self._name, self._options = name, options
        self._parser: LineParser | None = None
        self._numbered = False
        self._row = 0
        self._skips = False  # the rest of a line that is too long

    def take(self, data: bytes, final: bool) -> tuple[list[Arrived], bytes]:
        cut = len(data) if final else data.rfind(b"\n") + 1
        whole, rest = data[:cut], data[cut:]
        if self._skips:
            whole, rest = whole.partition(b"\n")[2], rest if cut else b""
            self._skips = not cut
        *lines, last = whole.split(b"\n")
        found = self._documents([line + b"\n" for line in lines] + ([last] if last else []))
        if len(rest) > LONGEST:
            found.append(self._rejected(rest[:1000], f"longer than {LONGEST >> 20} MB"))
            self._skips, rest = True, b""
        return found, rest

    def _documents(self, lines: list[bytes]) -> list[Arrived]:
        """Lines one by one until the columns are known, and then all at once."""
        found: list[Arrived] = []
        at = 0
        while self._parser is None and at < len(lines):
            if not lines[at].strip():
                self._row += 1
            elif (problem := self._choose(lines[at])) is not None:
                found.append(self._rejected(lines[at], problem))
            else:
                break
            at += 1
        if self._parser is not None and at < len(lines):
            found += self._parse(self._parser, lines[at:])
        return found

    def _choose(self, line: bytes) -> str | None:
        """Choose the columns by this line; returns what is wrong with it otherwise."""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as problem:
            return f"broken JSON: {problem}"
        if not isinstance(record, dict):
            return "not an object"
        try:
            names = text_names(self._options.text_column or "", record)
            columns = [*record, *(name for name in names if name not in record and len(names) > 1)]
            chosen = choose_columns(
                self._name, columns if any(name in record for name in names) else list(record), self._options,
                usable=lambda field, column: isinstance(record.get(column), str | int if field != "text" else str),
                complete=False,
            )  # fmt: skip
        except InputError as problem:
            return str(problem).removeprefix(f"{self._name}: ")
        numeric = frozenset(
            column for field, column in chosen.by_field.items()
            if column not in chosen.texts and isinstance(record.get(column), int)
        )  # fmt: skip
        self._numbered = chosen.doc_id is None
        self._parser = LineParser(self._name, self._name, chosen, numeric)
        return None

    def _parse(self, parser: LineParser, lines: list[bytes]) -> list[Arrived]:
        ends = np.cumsum([len(line) for line in lines], dtype=np.int64)
        parsed = parser.parse(b"".join(lines), ends, np.arange(self._row, self._row + len(lines)))
        self._row += len(lines)
        rows = {int(reject.record.split()[-1]) - 1: Arrived(reject.record, None, reject) for reject in parsed.rejects}
        for document in parsed.batch.to_pylist():
            row = document.pop("row")
            if self._numbered:
                document["doc_id"] = identify(document["text"])
            rows[row] = Arrived(f"line {row + 1}", document)
        return [rows[row] for row in sorted(rows)]

    def _rejected(self, line: bytes, reason: str) -> Arrived:
        self._row += 1
        record = f"line {self._row}"
        return Arrived(record, None, Reject(self._name, record, reason, excerpt(line)))


class _Mail:
    """One message, or an mbox of them."""

    def __init__(self, name: str, options: ReadOptions, many: bool) -> None:
        self._name, self._options, self._many = name, options, many
        self._strict: bool | None = None
        self._count = 0
        self._seen = 0  # bytes of the current message in which no other message begins

    def take(self, data: bytes, final: bool) -> tuple[list[Arrived], bytes]:
        if not self._many:
            if not final:
                return [], data
            return [self._message(data.partition(b"\n")[2] if data.startswith(b"From ") else data)], b""
        if self._strict is None:
            self._strict = is_dated(data)
        found: list[Arrived] = []
        while (start := self._next(data, final)) is not None:
            found.append(self._message(data[:start].partition(b"\n")[2]))
            data, self._seen = data[start:], 0
        if final and data.strip():
            found.append(self._message(data.partition(b"\n")[2]))
            data = b""
        if len(data) > LONGEST:
            raise InputError(f"{self._name}, message {self._count + 1}: longer than {LONGEST >> 20} MB; is it an mbox?")
        return found, data

    def _next(self, data: bytes, final: bool) -> int | None:
        """Where the next message begins; None while that is not known."""
        at = data.find(b"\nFrom ", max(0, self._seen - 6))
        while at >= 0:
            end = data.find(b"\n", at + 1)
            if end < 0 and not final:
                self._seen = at
                return None
            line = data[at + 1 : end if end >= 0 else len(data)]
            after_blank = data[max(0, at - 2) : at + 1].endswith((b"\n\n", b"\n\r\n"))
            if is_dated(line) if self._strict else after_blank:
                return at + 1
            at = data.find(b"\nFrom ", at + 1)
        self._seen = len(data)
        return None

    def _message(self, data: bytes) -> Arrived:
        self._count += 1
        record = f"message {self._count}"
        try:
            mail = read_mail(ESCAPED.sub(rb"\1", data) if self._many else data)
        except MemoryError:
            raise
        except Exception as problem:
            return Arrived(record, None, Reject(self._name, record, reason_of(problem), excerpt(data)))
        document = {
            "doc_id": mail.message_id or identify(mail.text), "text": mail.text,
            "markup": mail.is_html and self._options.markup != "none", "title": mail.subject, "date": mail.date,
        }  # fmt: skip
        return Arrived(record, document)


class _Whole:
    """All of the stream is one document."""

    def __init__(self, name: str, options: ReadOptions, markup: bool) -> None:
        self._markup = {"html": True, "none": False}.get(options.markup, markup)

    def take(self, data: bytes, final: bool) -> tuple[list[Arrived], bytes]:
        if not final:
            return [], data
        text = decode_text(data, charset_in_html(data) if self._markup else None)
        document = {"doc_id": identify(text), "text": text, "markup": self._markup}
        return [Arrived("document 1", document)], b""


_READERS: dict[str, Any] = {
    "jsonl": _Lines,
    "mbox": lambda name, options: _Mail(name, options, True),
    "eml": lambda name, options: _Mail(name, options, False),
    "text": lambda name, options: _Whole(name, options, False),
    "html": lambda name, options: _Whole(name, options, True),
}
