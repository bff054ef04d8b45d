"""`dedupe --plan`: what a run would take, from running a sample of the input.

The sample is the first pieces of files spread over the input, taken along the whole road with the same settings.
Its times and its disk are scaled by bytes; what does not grow with the input (starting up, drawing the report) is
not. Memory is the smaller of what was set and what the sample shows, scaled in the parts that grow.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from roughly import methods
from roughly.engines.local import Workspace
from roughly.job.account import promise
from roughly.job.folder import Place
from roughly.job.session import Session, check_memory
from roughly.settings import Resources, Settings
from roughly.sources import open_parts
from roughly.sources.part import Chunk, Mask, Parsed, Part, ReadOptions, Rows

SAMPLE_BYTES = 64 << 20
SAMPLE_PARTS = 16
_BYTES_A_DOCUMENT = 64
"""Memory that grows with the number of documents, whatever their size: ranks, flags, the filter of keys."""
_FIXED = ("report",)


class _Head:
    """The first pieces of a part, as a part."""

    def __init__(self, part: Part, budget: int) -> None:
        self.part, self.budget = part, budget
        self.name, self.format, self.kept_name = part.name, part.format, part.kept_name
        self.notes, self.size = part.notes, part.size
        self.read = 0

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        if rows is not None:
            yield from self.part.chunks(rows)
            return
        for chunk in self.part.chunks():
            yield chunk
            self.read += chunk.nbytes
            if self.read >= self.budget:
                return

    def parse(self, chunk: Chunk) -> Parsed:
        return self.part.parse(chunk)

    def copy(self, keep: Mask, folder: Path) -> int:
        return 0

    def stamp(self) -> int:
        return self.part.stamp()

    def locate(self, row: int) -> str:
        return self.part.locate(row)


def make_plan(inputs: Sequence[str], settings: Settings, resources: Resources, reading: ReadOptions) -> dict[str, Any]:
    """Expected time, memory and disk, and the recall that the settings give."""
    check_memory(resources)
    methods.check(settings)
    place = Place(None, temp=resources.temp)
    scratch = place.scratch or place.result
    try:
        parts = open_parts(list(inputs), reading, scratch)
        chosen = [parts[i] for i in np.unique(np.linspace(0, len(parts) - 1, SAMPLE_PARTS).astype(int))]
        heads = [_Head(part, SAMPLE_BYTES // len(chosen)) for part in chosen]
        session = Session(heads, settings, resources, Workspace(scratch / "work", {}))
        start = time.perf_counter()
        session.run(scratch / "result")
        seconds = time.perf_counter() - start
        return _extrapolate(parts, heads, session, settings, resources, seconds)
    finally:
        place.release()
        shutil.rmtree(scratch, ignore_errors=True)


def _extrapolate(
    parts: Sequence[Part],
    heads: Sequence[_Head],
    session: Session,
    settings: Settings,
    resources: Resources,
    sample_seconds: float,
) -> dict[str, Any]:
    total = sum(part.size or 0 for part in parts)
    read = max(1, sum(head.read for head in heads))
    scale = max(1.0, total / read)
    assert session.method is not None  # it has run
    counts = session.engine.segments.cursor
    text = session.engine.database.value("SELECT sum(bytes) FROM facts")
    stages = {stage.name: stage for stage in session.meter.stages}
    growing = sum(stage.seconds for stage in stages.values() if stage.name not in _FIXED)
    fixed = sum(stage.seconds for stage in stages.values() if stage.name in _FIXED)
    copying = stages["read"].seconds / 2  # reading again what stays, and writing it
    documents = round(counts.documents * scale)
    peak = max(stage.peak_memory for stage in stages.values())
    return {
        "parts": len(parts),
        "input_bytes": total,
        "documents": documents,
        "text_bytes": round(text * scale),
        "sample_documents": counts.documents,
        "sample_seconds": sample_seconds,
        "threads": resources.threads,
        "seconds": fixed + (growing + copying) * scale,
        "memory": min(resources.memory, peak + _BYTES_A_DOCUMENT * (documents - counts.documents)),
        "memory_limit": resources.memory,
        "disk": round(session.workspace.size() * scale),
        "output_bytes": total,
        "s_curve": promise(session.method, settings.threshold),
    }
