"""What reading leaves behind: for each segment of documents their facts and their keys, as Parquet.

A segment is closed every few ten thousand documents. It is the unit of resuming: a run that was killed goes on
after its last whole segment. Texts are not stored; verification reads candidate documents again from the source.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.engines.local.workspace import Workspace
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


class Segments:
    """The segments of one run."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.cursor = Cursor()
        self.bands = 0  # 0: keys are lists
        self._facts: list[pa.RecordBatch] = []
        self._keys: list[Keys] = []
        self._rejects: list[Reject] = []
        self._documents = self._bytes = self._input = 0
        self._next = (0, 0)
        self._recover()

    def _recover(self) -> None:
        while (info := self.workspace.found(self._name(self.cursor.segments))) is not None:
            self.cursor, self.bands = Cursor(**info["cursor"]), info["bands"]

    def add(self, signed: Signed) -> None:
        """Take one chunk's documents; close the segment where it is full."""
        first = self.cursor.documents + self._documents
        numbers = pa.array(np.arange(first, first + signed.facts.num_rows, dtype=np.uint32))
        self._facts.append(pa.RecordBatch.from_arrays([numbers, *signed.facts.columns], schema=_NUMBERED))
        if signed.keys is not None:
            self._keys.append(signed.keys)
            self._bytes += signed.keys.values.nbytes
            self.bands = 0 if signed.keys.offsets is not None else signed.keys.values.shape[1]
        self._rejects += signed.rejects
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
        if self._keys:
            files.append(self._write_keys(name))
        part, chunk = self._next
        self.cursor = Cursor(
            part,
            chunk,
            self.cursor.documents + self._documents,
            self.cursor.rejected + len(self._rejects),
            self.cursor.segments + 1,
            self.cursor.bytes + self._input,
        )
        self.workspace.commit(name, files, {"cursor": asdict(self.cursor), "bands": self.bands})
        self._facts, self._keys, self._rejects = [], [], []
        self._documents = self._bytes = self._input = 0

    def _write_facts(self, name: str) -> Path:
        path = self.workspace.path(f"{name}.facts.parquet")
        pq.write_table(pa.Table.from_batches(self._facts, schema=_NUMBERED), path, compression="lz4")
        return path

    def _write_keys(self, name: str) -> Path:
        path = self.workspace.path(f"{name}.keys.parquet")
        if self.bands:
            values = np.concatenate([keys.values for keys in self._keys])
            table = pa.table({f"band_{b}": np.ascontiguousarray(values[:, b]) for b in range(self.bands)})
        else:
            table = _long(self._keys, self.cursor.documents)
        pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
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
        """The files of one kind ("facts.parquet", "keys.parquet", "rejects.jsonl"), in order."""
        paths = [self.workspace.path(f"{self._name(i)}.{kind}") for i in range(self.cursor.segments)]
        return [path for path in paths if path.exists()]

    def keys_of_band(self, band: int) -> Any:
        """(first document, keys) of each segment for one band."""
        first = 0
        for path in self.files("keys.parquet"):
            column = pq.read_table(path, columns=[f"band_{band}"], use_threads=False).column(0)
            keys = column.combine_chunks().to_numpy() if column.num_chunks != 1 else column.chunk(0).to_numpy()
            yield first, keys
            first += len(keys)


def _long(keys: list[Keys], first: int) -> pa.Table:
    """Rows (doc, key, ask) of keys that are lists."""
    docs, values, asks = [], [], []
    for batch in keys:
        if batch.offsets is None:
            raise TypeError("keys that are lists need offsets")
        counts = np.diff(batch.offsets)
        docs.append(np.repeat(np.arange(first, first + len(counts), dtype=np.uint32), counts))
        values.append(batch.values)
        asks.append(np.ones(len(batch.values), np.bool_) if batch.probes is None else batch.probes)
        first += len(counts)
    return pa.table({"doc": np.concatenate(docs), "key": np.concatenate(values), "ask": np.concatenate(asks)})
