"""mbox files: messages one after another, each begun by a line `From sender date`.

A line that starts with `From ` and carries a date as mail programs write it begins a message. Where not even
the file's first line does, any `From ` after a blank line counts. `>From ` inside a message loses one `>`,
as it got one when it was stored.
"""

from __future__ import annotations

import re

import numpy as np

from roughly.errors import InputError
from roughly.model import Reject
from roughly.sources.collector import Collector, excerpt, nothing
from roughly.sources.mail import read_mail
from roughly.sources.part import Chunk, Parsed
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers

DATED = re.compile(
    rb"From [^\n]*\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:[A-Z][a-z]{2} +\d{1,2}|\d{1,2} +[A-Z][a-z]{2})\b"
    rb"[^\n]*\d{1,2}:\d{2}"
)
ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


class Mbox(RecordFile):
    """An mbox file."""

    format = "mbox"
    unit = "message"
    _strict = True

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's messages."""
        records: Records = chunk.data
        if records.reject is not None:
            return Parsed(nothing(), [records.reject])
        ends = self._ends(records.data, True)
        collector = Collector(self.kept_name)
        start = 0
        for row, end in zip(row_numbers(chunk, len(ends)).tolist(), ends.tolist(), strict=True):
            self._add(row, records.data[start:end], collector)
            start = end
        return collector.parsed()

    def _add(self, row: int, stored: bytes, collector: Collector) -> None:
        try:
            mail = read_mail(ESCAPED.sub(rb"\1", stored.partition(b"\n")[2]))
        except InputError as error:
            collector.rejects.append(Reject(self.name, self.locate(row), str(error), excerpt(stored)))
            return
        collector.add(
            row,
            mail.message_id or f"{self.kept_name}:{row + 1}",
            mail.text,
            markup=mail.is_html and self._options.markup != "none",
            title=mail.subject,
            date=mail.date,
        )

    def _starts(self, data: bytes) -> list[int]:
        starts = [0] if self._begins(data, 0) else []
        position = data.find(b"\nFrom ")
        while position >= 0:
            if self._begins(data, position + 1):
                starts.append(position + 1)
            position = data.find(b"\nFrom ", position + 1)
        return starts

    def _begins(self, data: bytes, start: int) -> bool:
        if self._strict:
            return DATED.match(data, start) is not None
        after_blank = start == 0 or data[max(0, start - 3) : start].endswith((b"\n\n", b"\n\r\n"))
        return after_blank and data.startswith(b"From ", start)

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
            raise InputError(f"{self.name}: is not an mbox: no line starts with 'From '. Say what it is: --format")
        self._strict = DATED.match(head, first.start()) is not None
        return head[: first.start()]
