"""What reading writes: for each segment of documents, their facts and keys, as Parquet.

A segment is closed every few ten thousand documents. It is the unit of resuming: a run that was killed continues after
its last whole segment. Texts are not stored; verification reads candidate documents again from the source.

Threads of their own write segments while the next one fills. A complete segment counts only if all before it are
complete.
"""

from __future__ import annotations

import json
from dataclasses import asdict, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.engines.local.keys import KeyFile, write_keys
from roughly.engines.local.sketches import SketchFile, write_sketches
from roughly.engines.workspace import Workspace
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.methods import Keys
from roughly.model import FACTS, NUMBERED_FACTS, Reject
from roughly.pipeline import SignedChunk
from roughly.threads import BackgroundTasks

SEGMENT_DOCUMENTS = 100_000
SEGMENT_BYTES = 96 << 20


@dataclass
class ReadingCursor:
    """Progress of reading: everything before chunk `chunk` of part `part` is in a segment."""

    part: int = 0
    chunk: int = 0
    documents: int = 0
    rejected: int = 0
    segments: int = 0
    bytes: int = 0  # of input
    counts: dict[str, int] = field(default_factory=dict)  # what the method counted


@dataclass
class _Filling:
    """What a segment will hold."""

    facts: list[pa.RecordBatch] = field(default_factory=list)
    keys: list[Keys] = field(default_factory=list)
    sketches: list[Sets] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    bytes: int = 0

    def key_count(self) -> int:
        return sum(batch.values.size for batch in self.keys)


class Segments:
    """The segments of one run."""

    def __init__(self, workspace: Workspace, writers: int = 1) -> None:
        """At most `writers` segments are written at a time, each of `SEGMENT_BYTES` at the most."""
        self.workspace = workspace
        self.cursor = ReadingCursor()  # of all segments that are written or being written
        self.bands = 0  # 0: keys are lists
        self.most = 0  # of sketches
        self._filling = _Filling()
        self._next = ReadingCursor()  # with what is not in a segment yet
        self._key_counts: list[tuple[int, int, int]] = []  # first document, documents, keys of each segment
        self._writing = BackgroundTasks(writers)
        self._recover()

    def _recover(self) -> None:
        while (info := self.workspace.found(self._name(self.cursor.segments))) is not None:
            if info["after"] != [self.cursor.part, self.cursor.chunk]:  # left by a run that was cut otherwise
                break
            before, self.cursor, self.bands = self.cursor, ReadingCursor(**info["cursor"]), info["bands"]
            self.most = info["most"]
            self._key_counts.append((before.documents, self.cursor.documents - before.documents, info["keys"]))
        self._next = self.cursor

    def add(self, signed: SignedChunk) -> None:
        """Add one chunk's documents; close the segment when it is full."""
        filling, before, count = self._filling, self._next, signed.facts.num_rows
        filling.facts.append(signed.facts)
        filling.bytes += signed.facts_bytes
        if signed.keys is not None:
            filling.keys.append(signed.keys)
            filling.bytes += signed.keys.values.nbytes
            self.bands = 0 if signed.keys.offsets is not None else signed.keys.values.shape[1]
        if signed.sketch is not None:
            filling.sketches.append(signed.sketch)
            filling.bytes += signed.sketch.values.nbytes
            self.most = signed.sketch.most
        filling.rejects += signed.rejects
        self._next = ReadingCursor(
            signed.part,
            signed.chunk + signed.ends_chunk,
            before.documents + count,
            before.rejected + len(signed.rejects),
            before.segments,
            before.bytes + signed.nbytes,
            _added(before.counts, signed.counts),
        )
        is_full = self._next.documents - self.cursor.documents >= SEGMENT_DOCUMENTS or filling.bytes >= SEGMENT_BYTES
        if signed.ends_chunk and is_full:
            self._close_segment()

    def finish(self) -> None:
        """Write the documents in memory as a segment, and wait until all is on disk."""
        self._close_segment()
        self._writing.finish()

    def stop(self) -> None:
        """Wait for what is being written and ignore its result, which is no longer needed."""
        self._writing.abandon()

    def _close_segment(self) -> None:
        filling, self._filling = self._filling, _Filling()
        if not filling.facts and not filling.rejects:
            return
        before, self.cursor = self.cursor, replace(self._next, segments=self.cursor.segments + 1)
        self._next = self.cursor
        self._key_counts.append((before.documents, self.cursor.documents - before.documents, filling.key_count()))
        self._writing.do(partial(self._write, filling, before, self.cursor))

    def _write(self, filling: _Filling, before: ReadingCursor, cursor: ReadingCursor) -> None:
        self.workspace.space.check(filling.bytes)
        name = self._name(before.segments)
        files = [self._write_facts(name, filling, before.documents), self._write_rejects(name, filling)]
        if filling.keys:
            files.append(self.workspace.path(f"{name}.keys"))
            write_keys(files[-1], filling.keys)
        if filling.sketches:
            files.append(self.workspace.path(f"{name}.sketches"))
            write_sketches(files[-1], filling.sketches)
        info = {
            "after": [before.part, before.chunk], "cursor": asdict(cursor),
            "bands": self.bands, "keys": filling.key_count(), "most": self.most,
        }  # fmt: skip
        self.workspace.commit(name, files, info)

    def _write_facts(self, name: str, filling: _Filling, first: int) -> Path:
        """Write facts with the documents' numbers, which begin with `first`."""
        path = self.workspace.path(f"{name}.facts.parquet")
        facts = pa.Table.from_batches(filling.facts, schema=FACTS)
        numbers = pa.array(np.arange(first, first + facts.num_rows, dtype=np.uint32))
        table = facts.add_column(0, NUMBERED_FACTS.field(0), numbers).cast(NUMBERED_FACTS)
        pq.write_table(table, path, compression="lz4", use_dictionary=False)
        return path

    def _write_rejects(self, name: str, filling: _Filling) -> Path:
        path = self.workspace.path(f"{name}.rejects.jsonl")
        with path.open("w", encoding="utf-8") as stream:
            for reject in filling.rejects:
                stream.write(json.dumps(asdict(reject), ensure_ascii=False) + "\n")
        return path

    @staticmethod
    def _name(number: int) -> str:
        return f"segment-{number:05d}"

    def files(self, kind: str) -> list[Path]:
        """The files of one kind ("facts.parquet", "rejects.jsonl"), in order."""
        paths = [self.workspace.path(f"{self._name(i)}.{kind}") for i in range(self.cursor.segments)]
        return [path for path in paths if path.exists()]

    def key_files(self) -> list[KeyFile]:
        """The keys of each segment."""
        return [
            KeyFile(self.workspace.path(f"{self._name(i)}.keys"), first, documents, keys)
            for i, (first, documents, keys) in enumerate(self._key_counts)
            if keys
        ]

    def sketch_files(self) -> list[SketchFile]:
        """The sketches of each segment."""
        return [
            SketchFile(path, first, documents, self.most)
            for i, (first, documents, _) in enumerate(self._key_counts)
            if (path := self.workspace.path(f"{self._name(i)}.sketches")).exists()
        ]


def _added(counts: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    return counts | {name: counts.get(name, 0) + number for name, number in more.items()}
