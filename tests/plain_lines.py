"""A throwaway source: a document per line of a file that ends in `.lines`. `test_new_source.py` reads it."""

from __future__ import annotations

import numpy as np

from roughly.sources.collector import Collector
from roughly.sources.part import Chunk, Parsed
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers


class PlainLines(RecordFile):
    """A file of texts, one per line."""

    format = "lines"
    unit = "line"

    def _look(self, head: bytes, whole: bool) -> bytes:
        return b""

    def _ends(self, data: bytes, final: bool) -> Offsets:
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
        return np.append(ends, len(data)) if final and len(data) and not data.endswith(b"\n") else ends

    def parse(self, chunk: Chunk) -> Parsed:
        """The lines as documents."""
        records: Records = chunk.data
        collector = Collector(self.kept_name)
        lines = records.data.decode().splitlines()
        for row, line in zip(row_numbers(chunk, len(lines)).tolist(), lines, strict=True):
            collector.add(row, f"line {row + 1}", line, markup=False)
        return collector.parsed()
