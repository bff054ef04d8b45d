"""mbox files: messages one after another, each begun by a line `From sender date`.

A line that starts with `From ` and carries a date as mail programs write it begins a message. Where not even
the file's first line does, any `From ` after a blank line counts. `>From ` inside a message loses one `>`,
since one was added when it was stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from roughly.errors import InputError
from roughly.sources.collector import Collector
from roughly.sources.mail import read_mail
from roughly.sources.records import Offsets, RecordByRecord

_DAY = re.compile(rb"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:[A-Z][a-z]{2} +\d{1,2}|\d{1,2} +[A-Z][a-z]{2})\b")
_TIME = re.compile(rb"\d:\d{2}")
ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


def is_dated(data: bytes | bytearray, start: int = 0) -> bool:
    """Whether a line `From sender date` begins here."""
    if not data.startswith(b"From ", start):
        return False
    stop = data.find(b"\n", start)
    stop = len(data) if stop < 0 else stop
    day = _DAY.search(data, start + 5, stop)  # in two steps: one expression for both would be quadratic
    return day is not None and _TIME.search(data, day.end(), stop) is not None


class Mbox(RecordByRecord):
    """An mbox file."""

    format = "mbox"
    unit = "message"
    _strict = True

    def _add(self, row: int, record: bytes, collector: Collector) -> None:
        mail = read_mail(ESCAPED.sub(rb"\1", record.partition(b"\n")[2]))
        collector.add(
            row,
            mail.message_id or f"{self.kept_name}:{row + 1}",
            mail.text,
            markup=mail.is_html and self._options.markup != "none",
            title=mail.subject,
            date=mail.date,
        )

    def _starts(self, data: bytes) -> Iterator[int]:
        if self._begins(data, 0):
            yield 0
        position = data.find(b"\nFrom ")
        while position >= 0:
            if self._begins(data, position + 1):
                yield position + 1
            position = data.find(b"\nFrom ", position + 1)

    def _begins(self, data: bytes, start: int) -> bool:
        if self._strict:
            return is_dated(data, start)
        after_blank = start == 0 or data[max(0, start - 3) : start].endswith((b"\n\n", b"\n\r\n"))
        return after_blank and data.startswith(b"From ", start)

    def _next_record(self, data: bytes) -> int | None:
        return next((start for start in self._starts(data) if start > 0), None)

    def _ends(self, data: bytes, final: bool) -> Offsets:
        ends = [start for start in self._starts(data) if start > 0]
        if final and data:
            ends.append(len(data))
        return np.array(ends, np.int64)

    def _look(self, head: bytes, whole: bool) -> bytes:
        if not head.strip():
            return b""
        first = re.search(rb"^From ", head, re.MULTILINE)
        if first is None:
            raise InputError(f"{self.name}: is not an mbox: no line starts with 'From '. Name the format: --format")
        self._strict = is_dated(head, first.start())
        return head[: first.start()]
