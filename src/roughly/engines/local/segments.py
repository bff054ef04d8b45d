"""What reading leaves behind: for each segment of documents their facts and their keys, as Parquet.

A segment is closed every few ten thousand documents. It is the unit of resuming: a run that was killed goes on
after its last whole segment. Texts are not stored; verification reads candidate documents again from the source.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.engines.local.keys import KeyFile, write_keys
from roughly.engines.local.sketches import SketchFile, write_sketches
from roughly.engines.local.workspace import Workspace
from roughly.features.shingles import Sets
from roughly.methods import Keys
from roughly.model import Reject
from roughly.pipeline import FACTS, Signed

SEGMENT_DOCUMENTS = 100_000
SEGMENT_BYTES = 96 << 20
_NUMBERED = FACTS.insert(0, pa.field("doc", pa.uint32(), nullable=False))


@dataclass
class Cursor:
    """How far reading has come: everything before chunk `chunk` of part `part` is in a segment."""

    part: int = 0
    chunk: int = 0
    documents: int = 0
    rejected: int = 0
    segments: int = 0
    bytes: int = 0  # of input
    counts: dict[str, int] = field(default_factory=dict)  # what the method counted


class Segments:
    """The segments of one run."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.cursor = Cursor()
        self.bands = 0  # 0: keys are lists
        self.most = 0  # of sketches
        self._facts: list[pa.RecordBatch] = []
        self._keys: list[Keys] = []
        self._sketches: list[Sets] = []
        self._rejects: list[Reject] = []
        self._counts: dict[str, int] = {}
        self._documents = self._bytes = self._input = 0
        self._next = (0, 0)
        self._key_counts: list[tuple[int, int, int]] = []  # first document, documents, keys of each segment
        self._recover()

    def _recover(self) -> None:
        while (info := self.workspace.found(self._name(self.cursor.segments))) is not None:
            before, self.cursor, self.bands = self.cursor, Cursor(**info["cursor"]), info["bands"]
            self.most = info["most"]
            self._key_counts.append((before.documents, self.cursor.documents - before.documents, info["keys"]))

    def add(self, signed: Signed) -> None:
        """Take one chunk's documents; close the segment where it is full."""
        first = self.cursor.documents + self._documents
        numbers = pa.array(np.arange(first, first + signed.facts.num_rows, dtype=np.uint32))
        self._facts.append(pa.RecordBatch.from_arrays([numbers, *signed.facts.columns], schema=_NUMBERED))
        if signed.keys is not None:
            self._keys.append(signed.keys)
            self._bytes += signed.keys.values.nbytes
            self.bands = 0 if signed.keys.offsets is not None else signed.keys.values.shape[1]
        if signed.sketch is not None:
            self._sketches.append(signed.sketch)
            self._bytes += signed.sketch.values.nbytes
            self.most = signed.sketch.most
        self._rejects += signed.rejects
        self._counts = _added(self._counts, signed.counts)
        self._documents += signed.facts.num_rows
        self._bytes += signed.facts.nbytes
        self._next = (signed.part, signed.chunk + 1)
        self._input += signed.nbytes
        if self._documents >= SEGMENT_DOCUMENTS or self._bytes >= SEGMENT_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what is held as a segment of its own."""
        if not self._facts and not self._rejects:
            return
        name = self._name(self.cursor.segments)
        files = [self._write_facts(name), self._write_rejects(name)]
        keys = 0
        if self._keys:
            path = self.workspace.path(f"{name}.keys")
            keys = write_keys(path, self._keys)
            files.append(path)
        if self._sketches:
            path = self.workspace.path(f"{name}.sketches")
            write_sketches(path, self._sketches)
            files.append(path)
        self._key_counts.append((self.cursor.documents, self._documents, keys))
        part, chunk = self._next
        self.cursor = Cursor(
            part,
            chunk,
            self.cursor.documents + self._documents,
            self.cursor.rejected + len(self._rejects),
            self.cursor.segments + 1,
            self.cursor.bytes + self._input,
            _added(self.cursor.counts, self._counts),
        )
        info = {"cursor": asdict(self.cursor), "bands": self.bands, "keys": keys, "most": self.most}
        self.workspace.commit(name, files, info)
        self._facts, self._keys, self._sketches, self._rejects, self._counts = [], [], [], [], {}
        self._documents = self._bytes = self._input = 0

    def _write_facts(self, name: str) -> Path:
        path = self.workspace.path(f"{name}.facts.parquet")
        pq.write_table(
            pa.Table.from_batches(self._facts, schema=_NUMBERED), path, compression="lz4", use_dictionary=False
        )
        return path

    def _write_rejects(self, name: str) -> Path:
        path = self.workspace.path(f"{name}.rejects.jsonl")
        with path.open("w", encoding="utf-8") as stream:
            for reject in self._rejects:
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
