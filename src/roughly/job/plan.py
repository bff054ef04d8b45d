"""`dedupe --plan`: estimates of time, memory and disk, from running a sample of the input.

The sample is the first pieces of files spread over the input, run through every stage with the same settings. Costs
that grow with bytes, documents or candidates are scaled by each; fixed costs (starting up, drawing the report) are not.

A small sample of a large collection has few pairs of duplicates, since the other half of a pair is mostly outside of
it. So at least `ASSUMED_SHARE` of the documents are assumed to be candidates, which is usual for crawls, and more if
the sample has more.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from roughly import methods
from roughly.engines.local.engine import LocalEngine
from roughly.engines.local.memory_budget import BASE_MEMORY, record_memory
from roughly.engines.relational.summary import QUARTILES
from roughly.engines.workspace import Workspace
from roughly.errors import InputMissing
from roughly.job.account import promise
from roughly.job.output_folder import OutputFolder
from roughly.job.session import Session, check_memory
from roughly.meter import Meter
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import open_parts
from roughly.sources.part import ALONE, Chunk, CopyBudget, Mask, Parsed, Part, Rows

SAMPLE_BYTES = 64 << 20
SAMPLE_PARTS = 16
ASSUMED_SHARE = 0.3
"""Assumed fraction of documents that share a key."""
_COPYING = {"parquet": 0.7}
"""Time to copy the kept documents, as a multiple of reading them; other formats are copied byte by byte."""
_COPYING_BYTES = 0.2
_CANDIDATE = 3.5
"""Time per candidate (reading it again, verifying it, finding its kind), as a multiple of reading it. Measured on ten
million documents; the few candidates of a sample are far apart and would cost many times as much."""
_BY_DOCUMENT = ("rank", "group", "write")
_STARTING = 2.0
"""Seconds until the first document is read, and for loading kernels."""
_BYTES_A_DOCUMENT = 40
_BYTES_A_CANDIDATE = 300
"""Bytes per document and per candidate, whatever their size: ranks and flags; buckets and bitmaps."""


class _Head:
    """The first pieces of a part, as a part."""

    def __init__(self, part: Part, budget: int) -> None:
        self.part, self.budget = part, budget
        self.name, self.format, self.kept_name = part.name, part.format, part.kept_name
        self.notes, self.size, self.reads_in_parse = part.notes, part.size, False
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

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        return 0

    def stamp(self) -> int:
        return self.part.stamp()

    def locate(self, row: int) -> str:
        return self.part.locate(row)


def make_plan(inputs: Sequence[str], settings: Settings, resources: Resources, reading: ReadOptions) -> dict[str, Any]:
    """Expected time, memory and disk, and the recall that the settings give."""
    check_memory(resources)
    methods.check(settings)
    place = OutputFolder(None, temp=resources.temp)
    scratch = place.scratch or place.result
    try:
        parts = open_parts(list(inputs), replace(reading, record_memory=record_memory(resources)), scratch)
        chosen = [parts[i] for i in np.unique(np.linspace(0, len(parts) - 1, SAMPLE_PARTS).astype(int))]
        heads = [_Head(part, SAMPLE_BYTES // len(chosen)) for part in chosen]
        fixed = _fixed(chosen[0], settings, resources, scratch / "first")
        session, engine = _session(heads, settings, resources, scratch / "work")
        start = time.perf_counter()
        session.run(scratch / "result")
        seconds = time.perf_counter() - start
        return _extrapolate(parts, heads, session, engine, seconds, fixed)
    finally:
        place.release()
        shutil.rmtree(scratch, ignore_errors=True)


def _session(
    heads: Sequence[_Head], settings: Settings, resources: Resources, work: Path
) -> tuple[Session, LocalEngine]:
    workspace = Workspace(work, {}, threads=resources.threads)
    engine = LocalEngine(heads, settings, resources, workspace, Meter())
    return Session(engine, workspace, resources), engine


def _fixed(part: Part, settings: Settings, resources: Resources, scratch: Path) -> dict[str, float]:
    """Seconds of each stage for one piece of a part: mostly fixed costs.

    It also loads the kernels, so that the sample does not.
    """
    (scratch / "result").mkdir(parents=True)
    session, _ = _session([_Head(part, 1)], settings, resources, scratch / "work")
    with suppress(InputMissing):  # a part without documents shows nothing
        session.run(scratch / "result")
    session.engine.close()
    return {stage.name: stage.seconds for stage in session.meter.stages}


def _grown(seconds: float, fixed: float, scale: float) -> float:
    """Seconds of a step on `scale` times the documents, if it takes `fixed` seconds for almost none."""
    return fixed + max(0.0, seconds - fixed) * scale


def _extrapolate(
    parts: Sequence[Part],
    heads: Sequence[_Head],
    session: Session,
    engine: LocalEngine,
    sample_seconds: float,
    fixed: dict[str, float],
) -> dict[str, Any]:
    total = sum(part.size or 0 for part in parts)
    read = max(1, sum(head.read for head in heads))
    scale = max(1.0, total / read)
    assert session.method is not None  # it has run
    resources = session.resources
    sampled = max(1, engine.segments.cursor.documents)
    documents = round(engine.segments.cursor.documents * scale)
    text, tokens = engine.database.table("SELECT sum(bytes) AS b, sum(tokens) AS t FROM facts").to_pylist()[0].values()
    text, tokens = int(text or 0), int(tokens or 0)
    quartiles = engine.database.table(QUARTILES).to_pylist()[0].values()
    lengths = [int(length) for length in quartiles if length is not None]
    stages = {stage.name: stage.seconds for stage in session.meter.stages}

    reading = stages["read"] * scale
    copying = reading * _COPYING.get(parts[0].format, _COPYING_BYTES)
    counting = sum(_grown(stages.get(name, 0.0), fixed.get(name, 0.0), scale) for name in _BY_DOCUMENT)
    counting += sum(stages.get(name, 0.0) for name in ("count", "merge")) * scale
    seen = engine.counts.get("candidate_documents", 0)
    share = max(seen / sampled, ASSUMED_SHARE) if engine.segments.key_files() else 0.0
    verifying = _CANDIDATE * share * reading

    stored = 8 * round(tokens * scale * share)
    in_memory = min(max(0, resources.memory - BASE_MEMORY), stored + round(_BYTES_A_CANDIDATE * share * documents))
    peak = max((stage.peak_memory for stage in session.meter.stages), default=0)
    segments = sum(path.stat().st_size for path in session.workspace.folder.glob("segment-*"))
    return {
        "parts": len(parts),
        "input_bytes": total,
        "documents": documents,
        "text_bytes": round(text * scale),
        "tokens": round(tokens * scale),
        "keys_a_document": sum(file.keys for file in engine.segments.key_files()) / sampled,
        "candidate_share": share,
        "sample_documents": engine.segments.cursor.documents,
        "sample_seconds": sample_seconds,
        "threads": resources.threads,
        "seconds": _STARTING + reading + copying + counting + verifying + stages.get("report", 0.0),
        "memory": min(resources.memory, peak + _BYTES_A_DOCUMENT * documents + in_memory),
        "memory_limit": resources.memory,
        "disk": round(segments * scale) + stored + 24 * documents,
        "output_bytes": total,
        "finds": session.method.finds,
        "s_curve": promise(session.method, session.settings.threshold, lengths),
    }
