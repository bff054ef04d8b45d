"""The ids of removed documents, one per line, for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from roughly.features.metadata import refuse_damage
from roughly.sources.parquet_open import parquet_batches
from roughly.sources.streams import Compression, replacing


def write_removed(folder: Path, path: Path, compression: Compression | None = None) -> None:
    """Write the ids that the run in `folder` removes, in order; an id with a line break is written as JSON."""
    with replacing(path, compression) as out:
        for batch in table_batches(folder, "documents", ["doc_id", "kept"]):
            removed = batch.filter(pc.invert(batch.column("kept"))).column("doc_id").to_pylist()
            out.write("".join(f"{_on_one_line(doc_id)}\n" for doc_id in removed).encode("utf-8", "surrogatepass"))


def table_batches(folder: Path, name: str, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a table of a run, which is a file, or a folder of files if Spark wrote it."""
    path = folder / f"{name}.parquet"
    with refuse_damage(path, "run dedupe again"):
        yield from parquet_batches(path, columns)


def _on_one_line(doc_id: str) -> str:
    return doc_id if len(doc_id.splitlines()) < 2 else json.dumps(doc_id, ensure_ascii=False)
